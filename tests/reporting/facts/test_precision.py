"""Precision by hour and by area, held to a slow oracle that is written from the meaning."""

from __future__ import annotations

import random
from collections import defaultdict
from datetime import datetime
from statistics import median
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from shoal.core.boxes import Boxes
from shoal.core.promise import Grid
from shoal.core.zones import Zone
from shoal.reporting.facts.precision import measure_precision

GRID = Grid(cell_m=200.0, step_s=60)
MONDAY = 1_709_510_400 // 60  # 2024-03-04, in slots
CELL_KM = 0.2

Row = tuple[int, int, int, int, int, int, int]  # record, t0, t1, x0, x1, y0, y1


def make_rows(seed: int, n_days: int, n: int = 400) -> list[Row]:
    """Boxes of a few records, in a region that is wider than high."""
    rng = random.Random(seed)
    rows = []
    for _ in range(n):
        t, x, y = MONDAY + rng.randrange(n_days * 1440), rng.randrange(-200, 200), rng.randrange(60)
        far = rng.randint(0, 15)
        rows.append((rng.randrange(6), t, t + rng.randint(0, 50), x, x + far, y, y + rng.randint(0, 15)))
    return rows


def as_boxes(rows: list[Row]) -> Boxes:
    owner, t0, t1, *sides = np.array(rows, np.int64).T
    return Boxes(owner.astype(np.int32), t0, t1, *(side.astype(np.int32) for side in sides))


def km_of(row: Row) -> float:
    """The longer side of a box, both ends included."""
    return max(row[4] - row[3] + 1, row[6] - row[5] + 1) * CELL_KM


def told(groups: dict[object, list[Row]], k: int) -> dict[object, float]:
    """Medians where at least k records stand behind them."""
    return {
        name: median(km_of(row) for row in rows)
        for name, rows in groups.items()
        if len({row[0] for row in rows}) >= k
    }


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "America/New_York", "Asia/Kathmandu"])
@pytest.mark.parametrize("n_days", [2, 9])
@pytest.mark.parametrize("k", [1, 3, 5])
def test_by_the_hour_on_the_clock_of_the_zone(zone: str, n_days: int, k: int) -> None:
    rows = make_rows(k, n_days, n=300)
    found = measure_precision(as_boxes(rows), GRID, Zone(zone), k).hourly
    groups: dict[object, list[Row]] = defaultdict(list)
    for row in rows:
        local = datetime.fromtimestamp(row[1] * GRID.step_s, ZoneInfo(zone))
        groups[local.hour + (24 * local.weekday() if n_days > 4 else 0)].append(row)
    n_hours = 168 if n_days > 4 else 24
    assert len(found.km) == len(found.minutes) == n_hours
    shown = {hour: km for hour, km in enumerate(found.km.tolist()) if not np.isnan(km)}
    assert shown == pytest.approx(told(groups, k))
    for hour in shown:
        assert found.minutes[hour] == median(row[2] - row[1] + 1 for row in groups[hour])


@pytest.mark.parametrize("k", [1, 2, 4])
def test_by_area_where_at_least_k_records_are(k: int) -> None:
    rows = make_rows(10 + k, 2)
    area = measure_precision(as_boxes(rows), GRID, Zone("UTC"), k).area

    def middle(row: Row) -> tuple[float, float]:
        return (row[3] + row[4] + 1) / 2 * CELL_KM, (row[5] + row[6] + 1) / 2 * CELL_KM

    west, south = (min(row[axis] for row in rows) * CELL_KM // (5 * area.side) * 5 for axis in (3, 5))
    groups: dict[object, list[Row]] = defaultdict(list)
    for row in rows:
        x, y = middle(row)
        groups[x // area.side - west, y // area.side - south].append(row)
    shown = {(round(s.x / area.side), round(s.y / area.side)): s for s in area.squares}
    assert {place: square.km for place, square in shown.items()} == pytest.approx(told(groups, k))
    assert len(shown) < len(groups) or k == 1
    for place, square in shown.items():
        assert square.boxes == len(groups[place])
        assert square.records == len({row[0] for row in groups[place]})
    assert area.width > 2 * area.height


def test_the_spans_of_all_boxes() -> None:
    rows = make_rows(20, 2, n=50)
    found = measure_precision(as_boxes(rows), GRID, Zone("UTC"), 2)
    assert found.km.tolist() == pytest.approx([km_of(row) for row in rows])
    assert found.minutes.tolist() == [row[2] - row[1] + 1 for row in rows]
    assert (found.raw_km, found.raw_minutes) == (CELL_KM, 1)
