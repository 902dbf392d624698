"""The real data beside the project, where it is there: nothing suppressed, at the loss we promise."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
import pytest

import shoal
from support.paths import DATA

YJMOB = DATA / "yjmob100k_1k_users.parquet"


@pytest.fixture(scope="module")
def events() -> pa.Table:
    """Days 0 to 2 of the YJMob extract, in metres."""
    if not YJMOB.exists():
        pytest.skip(f"needs {YJMOB.name} in $SHOAL_DATA or ../shared/data")
    table = pyarrow.parquet.read_table(YJMOB)
    table = table.filter(pc.less(table["t"], 3 * 86_400))
    for axis in ("x", "y"):
        metres = pc.multiply(pc.cast(table[axis], pa.float64()), 500.0)
        table = table.set_column(table.schema.get_field_index(axis), axis, metres)
    return table


def test_nothing_of_yjmob_is_suppressed_and_boxes_cost_at_most_250(events: pa.Table) -> None:
    summary = shoal.anonymize(events, k=2, tau="60min", epsilon="60min", harden=0).summary
    assert summary["users"] == summary["records"] == 948
    assert summary["suppressed_samples"] == 0
    assert summary["relaxations"] == 0
    assert summary["cost_per_box"] <= 250


def test_hardening_by_default_costs_at_most_a_quarter(events: pa.Table) -> None:
    plain, hardened = (
        shoal.anonymize(events, k=2, tau="60min", epsilon="60min", harden=level).summary
        for level in (0, None)
    )
    assert plain["harden"] == 0
    assert hardened["harden"] == 1
    assert hardened["suppressed_samples"] == hardened["relaxations"] == 0
    assert plain["cost_per_box"] < hardened["cost_per_box"] <= 1.25 * plain["cost_per_box"]


def test_rows_in_another_order_give_the_same_boxes(events: pa.Table) -> None:
    day = events.filter(pc.less(events["t"], 86_400))
    forwards = shoal.anonymize(day, k=3, tau="60min", epsilon="60min", workers=1)
    backwards = shoal.anonymize(day.take(list(range(len(day)))[::-1]), k=3, tau="60min", epsilon="60min")
    for ours, theirs in zip(forwards.outcome.boxes, backwards.outcome.boxes, strict=True):
        assert ours.tolist() == theirs.tolist()
