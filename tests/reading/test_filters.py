"""What is left out by choice: places, people seldom seen, samples closer than a period; and the hint that GPS is."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reading import oracle
from reading.refusals import refusal
from shoal.core.options import ReadingOptions
from shoal.core.promise import Grid
from shoal.errors import ParameterError
from shoal.reading import Events
from support.reading import read_with

pytestmark = pytest.mark.usefixtures("by_command")

GRID = Grid(cell_m=10.0, step_s=1)
ROWS = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 300_000), st.integers(0, 30), st.integers(0, 30)),
    min_size=1,
    max_size=40,
)


def table(rows: list[tuple[str, int, float, float]], *names: str) -> pa.Table:
    return pa.table(dict(zip(("user", "time", *names), map(list, zip(*rows, strict=True)), strict=True)))


def read(rows: list[tuple[str, int, float, float]], *names: str, **options: object) -> Events:
    return read_with(table(rows, *(names or ("x", "y"))), grid=GRID, **options)


def cells(rows: list[tuple[str, int, float, float]]) -> list[tuple[str, int, int, int]]:
    return sorted({(user, t, int(x // 10), int(y // 10)) for user, t, x, y in rows})


@settings(max_examples=60, deadline=None)
@given(ROWS, st.sampled_from([1, 60, 7_000]), st.randoms(use_true_random=False))
def test_resample_keeps_the_first_of_each_period(rows: list, period: int, order: random.Random) -> None:
    firsts = {}
    for user, t, x, y in rows:
        key = user, t // period
        firsts[key] = min(firsts.get(key, (t, x // 10, y // 10)), (t, x // 10, y // 10))
    expected = sorted((user, *sample) for (user, _), sample in firsts.items())
    shuffled = order.sample(rows, len(rows))
    events = read(shuffled, resample=f"{period}s")
    assert oracle.rows_of(events.samples) == expected
    reason = "not the first in its --resample period"
    assert events.read_summary.dropped.get(reason, 0) == len(rows) - len(expected)
    assert events.read_summary.duplicates == 0


def test_resample_over_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.reading.tables.BATCH_ROWS", 3)
    rows = [("a", t, 0, 0) for t in (50, 59, 70, 3, 65, 8, 119, 120)]
    assert read(rows, resample="1min").samples.t.tolist() == [3, 65, 120]


@settings(max_examples=60, deadline=None)
@given(ROWS, st.integers(1, 4), st.sampled_from(["UTC", "Asia/Tokyo", "America/New_York"]))
def test_min_days_active_counts_days_of_the_zone(rows: list, days: int, zone: str) -> None:
    seen: dict[str, set] = {}
    for user, t, _, _ in rows:
        seen.setdefault(user, set()).add(datetime.fromtimestamp(t, UTC).astimezone(ZoneInfo(zone)).date())
    kept = [row for row in rows if len(seen[row[0]]) >= days]
    if not kept:
        message = refusal(lambda: read(rows, min_days_active=days, timezone=zone), ())
        assert "user active on fewer than --min-days-active days" in message
        return
    events = read(rows, min_days_active=days, timezone=zone)
    assert oracle.rows_of(events.samples) == cells(kept)
    reason = "user active on fewer than --min-days-active days"
    assert events.read_summary.dropped.get(reason, 0) == len(rows) - len(kept)
    assert events.read_summary.users_seldom_seen == sum(len(their) < days for their in seen.values())


def test_days_are_counted_after_place_and_period_are_chosen() -> None:
    rows = [("a", 5, 5, 5), ("a", 86_405, 500, 500), ("b", 5, 5, 5), ("b", 86_405, 5, 5)]
    events = read(rows, bbox="0,0,10,10", min_days_active=2)
    assert events.samples.users.tolist() == ["b"]
    assert list(events.read_summary.dropped.values()) == [1, 1]
    assert events.read_summary.users_seldom_seen == 1


def test_the_remedy_is_for_most_of_the_rows() -> None:
    rows = [("a", 5, 5, 5), ("b", 5, 5, 5), ("", 5, 5, 5)]
    assert "widen" in refusal(lambda: read(rows, min_days_active=2), ())
    assert "--user-column" in refusal(lambda: read([*rows[:1], *[("", 5, 5, 5)] * 2], min_days_active=2), ())


def test_bbox_in_metres_has_its_edges() -> None:
    rows = [("a", t, x, y) for t, (x, y) in enumerate([(0, 0), (10, 20), (10.1, 5), (5, 20.1), (-0.1, 5)])]
    assert read(rows, bbox="0,0,10,20").samples.t.tolist() == [0, 1]
    assert read(rows, bbox=(0, 0, 10, 20)).read_summary.dropped == {"outside --bbox": 3}


def test_bbox_in_degrees_and_across_the_date_line() -> None:
    rows = [("a", t, -17.0, lon) for t, lon in enumerate((178.0, 179.5, -179.5, -178.0))]
    assert read(rows, "lat", "lon", bbox="179,-18,-179,-16").samples.t.tolist() == [1, 2]
    assert read(rows, "lat", "lon", bbox="-180,-18,-179,-16").samples.t.tolist() == [2]
    assert "in degrees" in refusal(lambda: read(rows, "lat", "lon", bbox="179,-18,181,-16"), ())


def test_bbox_by_site_and_the_centre_of_what_is_left() -> None:
    events = table([("a", 1, "s", 0), ("b", 1, "far", 0), ("b", 2, "s", 0)], "site", "note")
    sites = pa.table({"site": ["s", "far"], "lat": [48.2, -33.0], "lon": [2.3, 151.0]})
    found = read_with(events, grid=GRID, sites=sites, bbox="0,40,10,50")
    assert found.read_summary.dropped == {"outside --bbox": 1}
    assert found.projection is not None
    assert np.abs(found.samples.x).max() < 10_000  # near the centre, which the far site has not moved


@pytest.mark.parametrize(
    "wrong",
    [("1,2,3", None, None), ("1,2,3,nan", None, None), (5, None, None), (None, True, None), (None, 1.5, None),
     (None, 0, None), (None, None, 5), (None, None, "1.5s"), (None, None, "0s"), ([1, 2, "x", 4], None, None)],
)  # fmt: skip
def test_filters_that_make_no_sense(wrong: tuple) -> None:
    with pytest.raises(ParameterError):
        ReadingOptions(**dict(zip(("bbox", "min_days_active", "resample"), wrong, strict=True)))


def test_choice_is_no_fault() -> None:
    rows = [("a", 5, 5, 5), ("a", 6, 500, 500)]
    filters = {"bbox": "0,0,10,10", "min_days_active": 1, "resample": "1min"}
    assert len(read_with(table(rows, "x", "y"), grid=GRID, **filters, strict=True).samples) == 1


# ---- density -----------------------------------------------------------------------------------------------------


def every(seconds: int, users: int = 4, samples: int = 30) -> list[tuple[str, int, float, float]]:
    return [
        (f"u{user}", 1_000_000 + seconds * turn, 10 * turn, 300 * user)
        for user in range(users)
        for turn in range(samples)
    ]


def test_gps_is_noticed_whatever_the_order_of_rows() -> None:
    rows = every(5)
    warnings = read(rows).read_summary.warnings
    assert warnings == [
        "Samples follow each other within 5 s, as GPS devices record them: --resample 5min or the like keeps the"
        " first of each period."
    ]
    assert read(random.Random(1).sample(rows, len(rows))).read_summary.warnings == warnings
    assert read(rows, resample="5min").read_summary.warnings == []


def calls(users: int, samples: int) -> list[tuple[str, int, float, float]]:
    """Users of other names, a call an hour."""
    return [(f"caller{user}", t, x, y) for user, t, x, y in every(3600, users, samples)]


def test_half_of_the_users_are_enough_for_gps() -> None:
    assert len(read(every(15) + calls(4, 30)).read_summary.warnings) == 1
    assert read(every(15) + calls(5, 30)).read_summary.warnings == []
    assert read(every(16)).read_summary.warnings == []


def test_only_users_with_samples_left_are_asked() -> None:
    """A few devices between thousands of people elsewhere."""
    rows = [("z" + user, t, x, y) for user, t, x, y in every(5)]
    others = [(f"{name}{number:04d}", 5, 1e6, 1e6) for number in range(2000) for name in ("a", "zz")]
    assert len(read(rows + others, bbox="-1,-1,1000,1000").read_summary.warnings) == 1


@pytest.mark.parametrize(
    "rows",
    [every(60), every(5, samples=4), every(5) + every(600, users=9)[120:], every(5, users=1) + calls(99, 3)],
)
def test_calls_are_not_gps(rows: list) -> None:
    """Calls, a handful of samples, and one device among many, even where these have a handful of samples each."""
    assert read(rows).read_summary.warnings == []
