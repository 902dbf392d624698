"""Who is tried on how many stretches: a fair share of the time each, of the same hours."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.evaluate.planning import points_of
from shoal.evaluate.sharing import MOST_STRETCHES, share_out
from shoal.evaluate.stretches import Census, choose_stretches, halved
from shoal.promise import Grid

DAY = 48
POINTS = points_of([2, 3, 5], ["30min", "1h", "2h"], ["30min"], Grid())
WEEKS = Census(1_000, np.tile(np.concatenate([np.full(16, 2_000), np.full(32, 20_000)]), 14).astype(np.int64))


def shared(budget_s: float, census: Census = WEEKS) -> dict:
    return share_out(POINTS, census, budget_s, DAY, seed=0)


@pytest.mark.parametrize("budget_s", [1, 100, 1e9])
def test_stretches_are_nested_apart_and_stand_for_all(budget_s: float) -> None:
    found = shared(budget_s)
    for point, stretches in found.items():
        assert sum(stretch.samples for stretch in stretches) == WEEKS.samples.sum()
        epochs = [epoch for stretch in stretches for epoch in stretch.epochs(point.promise.reach)]
        assert len(set(epochs)) == len(epochs)
        assert 1_000 <= min(epochs) <= max(epochs) < 1_000 + len(WEEKS.samples)
    for tau in {point.tau for point in POINTS}:
        few, some, many = (
            {each.first for each in found[point]} for point in reversed(POINTS) if point.tau == tau
        )
        assert few <= some <= many


def test_cheap_points_see_more() -> None:
    number = {(point.k, point.tau): len(stretches) for point, stretches in shared(100).items()}
    assert number[2, 30] > number[5, 30] >= number[5, 120] >= 1
    assert number[2, 30] > number[2, 120]
    assert set(map(len, shared(0.001).values())) == {1}
    assert set(map(len, shared(1e9).values())) == {MOST_STRETCHES}


def test_short_data_have_fewer_stretches_and_very_short_ones_none() -> None:
    two_days, hours = (Census(0, np.full(n, 1_000)) for n in (2 * DAY, 8))
    number = {(point.k, point.tau): len(stretches) for point, stretches in shared(1e9, two_days).items()}
    assert number[2, 30] > number[2, 120] >= 1
    found = {(point.k, point.tau): len(stretches) for point, stretches in shared(1e9, hours).items()}
    assert found[2, 120] == 0


def test_halving_keeps_hours_and_days_apart() -> None:
    eight = choose_stretches(WEEKS, 8, 1, DAY, seed=0)
    four = halved(eight, DAY)
    assert {stretch.first for stretch in four} < {stretch.first for stretch in eight}
    assert sum(stretch.samples for stretch in four) == WEEKS.samples.sum()
    parts = sorted(stretch.first % DAY for stretch in eight)
    assert [parts.index(hour) // 2 for hour in sorted(stretch.first % DAY for stretch in four)] == [
        0,
        1,
        2,
        3,
    ]
