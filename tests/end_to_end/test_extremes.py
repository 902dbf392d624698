"""Numbers at the edge of what can be counted: right, or refused at the door, never wrapped around."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import shoal
from support.run_command import run, write


def people(times: list[int], x: list[float], y: list[float] | None = None, users: int = 6) -> pa.Table:
    """Everybody at the same times and places."""
    return pa.table(
        {
            "user": [f"u{user}" for user in range(users) for _ in times],
            "time": times * users,
            "x": x * users,
            "y": (y or [0.0] * len(x)) * users,
        }
    )


def inside(published: shoal.Published, times: list[int], x: list[float]) -> bool:
    """Whether each record has a box for each sample, in the units of the published table."""
    rows = published.to_arrow().to_pylist()
    records = {row["record"] for row in rows}
    return all(
        any(
            row["t_start"].timestamp() <= t < row["t_end"].timestamp()
            and row["x_min"] <= place < row["x_max"]
            for row in rows
            if row["record"] == record
        )
        for record in records
        for t, place in zip(times, x, strict=True)
    )


@pytest.mark.parametrize("step", ["1s", "1min"])
def test_a_century_of_whole_trajectories(step: str) -> None:
    """68 years of seconds are more than 32 bits hold; a century of minutes is not."""
    times = [-2_000_000_000, 1_700_000_000]
    events = people(times, [5.0, 5.0])
    if step == "1s":
        with pytest.raises(shoal.InputError, match="more than 2,147,483,647"):
            shoal.anonymize(events, k=2, whole=True, step=step)
        return
    assert inside(shoal.anonymize(events, k=2, whole=True, step=step), times, [5.0, 5.0])


def test_stray_times_a_century_apart_in_short_epochs() -> None:
    times = [-2_000_000_000, 1_700_000_000]
    published = shoal.anonymize(people(times, [5.0, 5.0]), k=2, tau="1min", epsilon="1min")
    assert inside(published, times, [5.0, 5.0])


@pytest.mark.parametrize("value", ["99999999999999999999d", "99999999999d"])
@pytest.mark.parametrize("name", ["--tau", "--epsilon"])
def test_absurd_durations_are_refused(name: str, value: str, tmp_path: Path) -> None:
    events = write(people([0, 60], [1.0, 2.0]), tmp_path / "events.csv")
    options = {"--tau": "1min", "--epsilon": "1min"} | {name: value}
    done = run(
        "anonymize",
        events,
        "-o",
        tmp_path / "out.csv",
        "--k",
        2,
        *(word for pair in options.items() for word in pair),
    )
    assert done.code == 2
    assert "at most 2,147,483,647 steps" in done.err
    assert {path.name for path in tmp_path.iterdir()} == {"events.csv"}


def test_a_tau_longer_than_the_data_is_one_window() -> None:
    times = [600 * turn for turn in range(6)]
    events = people(times, [100.0 * turn for turn in range(6)])
    long, longer = (
        shoal.anonymize(events, k=2, tau=tau, epsilon="10min").outcome.boxes for tau in ("1h", "1000d")
    )
    assert [column.tolist() for column in long] == [column.tolist() for column in longer]


@pytest.mark.parametrize(
    ("cell", "x"), [("1.1m", 7.7), ("7.7m", 993.3), ("33.3m", 33.3 * 7), ("0.1m", 0.3), ("100m", -0.1)]
)
def test_published_edges_hold_the_sample(cell: str, x: float) -> None:
    """Division and multiplication round differently; the published metres are what counts."""
    assert inside(shoal.anonymize(people([0], [x]), k=2, whole=True, cell=cell), [0], [x])


def test_every_tenth_of_a_metre_lies_in_its_cell() -> None:
    x = [round(0.1 * i, 1) for i in range(-2000, 2000, 7)]
    times = [60 * i for i in range(len(x))]
    events = people(times, x, users=2)
    published = shoal.anonymize(events, k=2, whole=True, cell="0.1m")
    assert inside(published, times, x)


def test_places_as_far_out_as_cells_can_be_counted() -> None:
    far = 100.0 * 2**30
    events = pa.table({"user": ["a", "b"], "time": [0, 0], "x": [far, -far], "y": [-far, far]})
    published = shoal.anonymize(events, k=2, whole=True)
    assert published.summary["longer_side_km"]["median"] == pytest.approx((2**31 + 1) * 0.1)
    row = published.to_arrow().to_pylist()[0]
    assert (row["x_min"], row["x_max"]) == (-far, far + 100)


def test_numpy_numbers_are_numbers() -> None:
    events = people([0, 60], [1.0, 2.0])
    published = shoal.anonymize(
        events, k=np.int64(2), whole=True, seed=np.int64(3), space_weight=np.float32(1), workers=np.int32(1)
    )
    assert published.manifest["promise"]["k"] == 2


def test_dates_written_as_numbers_are_reported() -> None:
    events = people([20240501, 20240502], [1.0, 2.0])
    warnings = shoal.anonymize(events, k=2, whole=True).summary["warnings"]
    assert any("12 of 12 rows are at midnight, as dates without a time" in warning for warning in warnings)


def test_sites_at_zero_are_no_place() -> None:
    sites = pa.table({"site": ["A", "Z"], "lat": [48.1, 0.0], "lon": [2.1, 0.0]})
    events = pa.table({"user": ["a", "b", "a"], "time": [0, 0, 0], "site": ["A", "A", "Z"]})
    assert shoal.anonymize(events, sites=sites, k=2, whole=True).summary["rows_dropped"] == {
        "position 0/0": 1
    }
    with pytest.raises(shoal.InputError, match="1 position 0/0"):
        shoal.anonymize(events, sites=sites, k=2, whole=True, strict=True)
