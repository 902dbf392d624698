"""Events that look odd: degrees or cells as metres, dates without a time of day. Told, with what to do, and read."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest

from shoal.core.promise import Grid
from shoal.reading.plausibility import FarPlaces
from support.reading import read_with

pytestmark = pytest.mark.usefixtures("by_command")

Place = Callable[[random.Random], tuple[float, float]]


def warnings_of(
    place: Place, rows: int = 400, outliers: int = 0, names: str = "xy", **options: object
) -> list[str]:
    """What is said of events at such places, and of some far away."""
    rng = random.Random(1)
    where = [place(rng) for _ in range(rows - outliers)] + [(9e6 + 1000 * i, -9e6) for i in range(outliers)]
    x, y = zip(*where, strict=True)
    table = pa.table(
        {"user": [f"u{i % 9}" for i in range(rows)], "time": [1_710_000_000 + 700 * i for i in range(rows)]}
        | dict(zip(names if names == "xy" else ("lon", "lat"), (x, y), strict=True))
    )
    return read_with(table, **options).read_summary.warnings


def city(rng: random.Random) -> tuple[float, float]:
    return 650_000 + rng.uniform(0, 20_000), 6_860_000 + rng.uniform(0, 20_000)


def paris(rng: random.Random) -> tuple[float, float]:
    return rng.uniform(2.2, 2.5), rng.uniform(48.8, 48.9)


def fiji(rng: random.Random) -> tuple[float, float]:
    return rng.choice((-179.99, 179.99)) * rng.uniform(0.999, 1), rng.uniform(-18, -17)


def cells(rng: random.Random) -> tuple[float, float]:
    return rng.randrange(1, 201), rng.randrange(1, 201)


def building(rng: random.Random) -> tuple[float, float]:
    return 650_000 + rng.uniform(0, 80), 6_860_000 + rng.uniform(0, 80)


DEGREES = "x and y look like degrees, and were read as metres: name them with --lon-column and --lat-column"
CELLS = "Nearly all rows are within 10 cells of each other: if x and y count cells, multiply them"


@pytest.mark.parametrize("outliers", [0, 15])
@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (city, None),
        (paris, DEGREES),
        (fiji, DEGREES),
        (lambda rng: paris(rng)[::-1], DEGREES),
        (cells, CELLS),
        (building, CELLS),
        (lambda _: (650_000.5, 6_860_000.5), None),
        (lambda _: (2.35, 48.85), None),  # one place, of which nothing is lost
        (lambda rng: (rng.uniform(0, 20_000), 5), None),
    ],
)
def test_metres_that_are_none(place: Place, expected: str | None, outliers: int) -> None:
    if outliers and expected is None:
        outliers = 0
    found = warnings_of(place, outliers=outliers)
    assert len(found) == (expected is not None)
    assert all(warning.startswith(str(expected)) for warning in found)


def test_it_depends_on_the_cell_and_not_on_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    assert warnings_of(cells, grid=Grid(cell_m=5.0)) == []
    assert warnings_of(cells, grid=Grid(cell_m=50.0)) == warnings_of(cells)
    assert warnings_of(paris, names="degrees") == []
    monkeypatch.setattr("shoal.reading.tables.BATCH_ROWS", 7)
    assert [each[:9] for each in warnings_of(cells)] == [CELLS[:9]]
    assert warnings_of(city) == []
    monkeypatch.setattr("shoal.reading.plausibility._MOST_STRETCHES", 1)
    assert [each[:9] for each in warnings_of(cells)] == [CELLS[:9]]
    monkeypatch.setattr("shoal.reading.plausibility._MOST_COORDINATES", 1)
    assert warnings_of(cells) == []


@pytest.mark.parametrize("zone", ["UTC", "Europe/Paris", "Asia/Kathmandu"])
@pytest.mark.parametrize("step_s", [60, 900, 3600])
def test_dates_without_a_time_of_day(zone: str, step_s: int) -> None:
    """Most rows at midnight, over changes of clocks; not so where times are spread, or only minutes after midnight."""
    days = [datetime(2024, 3, 1) + timedelta(days=day) for day in range(250)]

    def told(clock: Callable[[int], timedelta]) -> list[str]:
        times = [(day + clock(number)).isoformat() for number, day in enumerate(days)]
        table = pa.table({"user": ["u"] * 250, "time": times, "x": range(0, 250_000, 1000), "y": [0] * 250})
        return read_with(table, timezone=zone, grid=Grid(step_s=step_s)).read_summary.warnings

    expected = "at midnight, as dates without a time of day are read: name the column that has both with --time-column"
    (warning,) = told(lambda _: timedelta())
    assert warning.startswith(f"250 of 250 rows are {expected}")
    (warning,) = told(lambda number: timedelta(minutes=7 * (number % 5 == 0)))
    assert expected in warning
    assert told(lambda number: timedelta(hours=number % 24)) == []
    assert told(lambda number: timedelta(seconds=1 + number % 50)) == []
    assert told(lambda number: timedelta(hours=number % 2)) == []


def test_rows_at_midnight_mean_nothing_with_long_steps() -> None:
    table = pa.table(
        {"user": ["u", "v"], "time": ["2024-05-17", "2024-05-18"], "x": [0, 5000], "y": [0, 5000]}
    )
    assert read_with(table, timezone="UTC", grid=Grid(step_s=86_400)).read_summary.warnings == []


def far_rows(places: list[tuple[float, float]], *, geographic: bool = True) -> int:
    """Rows far from all others, one at each place, which come in two batches."""
    far = FarPlaces(geographic=geographic)
    for part in (places[::2], places[1::2]):
        if part:
            first, second = np.array(part, float).T
            far.add(first, second, np.ones(len(part), np.int64))
    return far.n_rows()


def test_places_far_from_all_others() -> None:
    """A few rows count, many are a second place of observation."""
    city = [(-4.02 + place / 1000, 5.3) for place in range(100)]
    assert far_rows(city) == 0
    assert far_rows([*city, (0.001, 0.001)] * 2) == 2
    assert far_rows([*city, (-7.5, 5.3)]) == 0  # squares -8 and -5: two empty ones between them
    assert far_rows([*city, (-8.5, 5.3)]) == 1
    assert far_rows([*city, *[(30.0, 10.0)] * 5]) == 5
    assert far_rows([*city, *[(30.0, 10.0)] * 6]) == 0
    assert far_rows([(1.0, 1.0), (50.0, 50.0)]) == 0  # which is right?


def test_places_on_both_sides_of_the_date_line_are_close() -> None:
    assert far_rows([*[(179.9, -17.0)] * 50, (-179.9, -17.0)]) == 0
    assert far_rows([*[(179.9, -17.0)] * 50, (-170.0, -17.0)]) == 1


def test_far_in_metres() -> None:
    town = [(500_000.0 + place, 4_000_000.0) for place in range(60)]
    assert far_rows([*town, (550_000.0, 4_350_000.0)], geographic=False) == 0
    assert far_rows([*town, (0.0, 0.0)], geographic=False) == 1
