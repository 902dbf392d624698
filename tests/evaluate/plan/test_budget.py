"""Who is tried on how many stretches: a fair share of the time each."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.core.promise import Grid
from shoal.evaluate.plan.planning import points_of
from shoal.evaluate.plan.stretches import (
    ENOUGH_STRETCHES,
    MOST_STRETCHES,
    Census,
    StretchBudget,
    share_budget,
)

DAY = 48
POINTS = points_of([2, 3, 5], ["30min", "1h", "2h"], ["30min"], Grid())
WEEKS = Census(1_000, np.tile(np.concatenate([np.full(16, 2_000), np.full(32, 20_000)]), 14).astype(np.int64))


def shared(budget_s: float, census: Census = WEEKS) -> StretchBudget:
    return share_budget(POINTS, census, budget_s, DAY, seed=0)


@pytest.mark.parametrize("budget_s", [1, 100, 1e9])
def test_stretches_lie_apart_for_every_tau_and_stand_for_all(budget_s: float) -> None:
    stretches, number = shared(budget_s)
    assert len(stretches) == max(number.values())
    assert sum(stretch.samples for stretch in stretches) == WEEKS.samples.sum()
    epochs = [epoch for stretch in stretches for epoch in stretch.epochs(POINTS[-1].promise.reach)]
    assert len(set(epochs)) == len(epochs)
    assert 1_000 <= min(epochs) <= max(epochs) < 1_000 + len(WEEKS.samples)


def test_cheap_points_see_more() -> None:
    number = {(point.k, point.tau): n for point, n in shared(100).number.items()}
    assert number[2, 30] > number[5, 30] >= number[5, 120] >= 1
    assert number[2, 30] > number[2, 120]
    assert set(shared(0.001).number.values()) == {1}
    rich = {(point.k, point.tau): n for point, n in shared(1e9).number.items()}
    assert {n for (_, tau), n in rich.items() if tau == 30} == {MOST_STRETCHES}
    assert {n for (_, tau), n in rich.items() if tau > 30} == {ENOUGH_STRETCHES}


def test_short_data_have_fewer_stretches_and_very_short_ones_none() -> None:
    a_day, hours, moment = (Census(0, np.full(n, 1_000)) for n in (DAY, 8, 3))
    assert MOST_STRETCHES > len(shared(1e9, a_day).stretches) > len(shared(1e9, hours).stretches) > 0
    assert shared(1e9, moment).stretches == []
