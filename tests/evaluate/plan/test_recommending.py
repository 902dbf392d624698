"""Which promise a plan recommends: against the rule, written out, on random plans."""

from __future__ import annotations

import random

import pytest

from shoal.evaluate.plan.forecasting import Forecast
from shoal.evaluate.plan.planning import Plan
from shoal.evaluate.plan.recommending import recommend_promise
from shoal.utility.read_share import PeriodOutlook


def forecast(
    k: int,
    tau: float,
    epsilon: float,
    km: float,
    *,
    suppressed: float = 0.0,
    reused: float = 0.0,
    boxes: int = 10,
) -> Forecast:
    return Forecast(k, tau, epsilon, 1, km, 5.0, suppressed, reused, boxes, 1.0, 1.0, 1, False, 0)


def by_hand(rows: list[Forecast]) -> Forecast | None:
    """The rule, one promise after the other."""
    left = [row for row in rows if row.n_boxes > 0]
    fine = [row for row in left if row.suppressed_share <= 0.01 and row.reused_share <= 0.01]
    best = None
    for row in fine:
        if any(row.longer_side_km_median > 3 * other.longer_side_km_median for other in fine):
            continue
        better = best is None or row.k > best.k
        if best is not None and row.k == best.k:
            better = row.tau_min > best.tau_min or (
                row.tau_min == best.tau_min and row.epsilon_min < best.epsilon_min
            )
        best = row if better else best
    if best is None and left:
        best = min(left, key=lambda row: row.suppressed_share + row.reused_share)
    return best


@pytest.mark.parametrize("seed", range(200))
def test_the_strongest_that_costs_little_more(seed: int) -> None:
    rng = random.Random(seed)
    rows = [
        forecast(
            k, tau, epsilon, rng.choice([0.5, 1.0, 1.5, 3.0, 4.0]),
            suppressed=rng.choice([0, 0, 0.01, 0.02, 0.3]), reused=rng.choice([0, 0, 0.005, 0.2]),
            boxes=rng.choice([0, 10, 10]),
        )
        for k in (2, 3, 5) for tau in (30, 60) for epsilon in (30, 10) if rng.random() < 0.6
    ]  # fmt: skip
    assert recommend_promise(rows) == by_hand(rows)


def test_a_plan_says_it_as_options() -> None:
    rows = [forecast(2, 30, 30, 1.0), forecast(3, 90, 30, 1.5)]
    periods = [PeriodOutlook("never", 1.0), PeriodOutlook("1d", 0.4), PeriodOutlook("6h", 0.1)]
    assert Plan(rows, 1, 1, [], periods).recommended == (3, "90min", "30min", "6h")
    assert Plan(rows, 1, 1, [], []).recommended == (3, "90min", "30min", None)
    assert Plan([forecast(2, 30, 30, 1.0, boxes=0)], 1, 1, [], periods).recommended is None
    assert Plan(rows, 1, 1, [], periods).to_dict()["recommended"]["k"] == 3


def test_names_change_no_sooner_than_tau() -> None:
    periods = [PeriodOutlook("never", 1.0), PeriodOutlook("1d", 0.4), PeriodOutlook("1h", 0.1)]
    assert Plan([forecast(2, 30, 30, 1.0)], 1, 1, [], periods).recommended == (2, "30min", "30min", "1h")
    assert Plan([forecast(2, 120, 30, 1.0)], 1, 1, [], periods).recommended == (2, "2h", "30min", "1d")
    assert Plan([forecast(2, 2_880, 30, 1.0)], 1, 1, [], periods).recommended == (2, "2d", "30min", None)
