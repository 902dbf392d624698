"""Borders at which records get new names, against an oracle that watches the clock minute by minute."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest

from oracles.parts import borders
from shoal.core.boxes import Boxes
from shoal.core.parts import find_parts
from shoal.core.periods import ONE_PERIOD, Periods, find_periods
from shoal.core.promise import Grid, Promise
from shoal.core.zones import Zone

HOUR_S, DAY_S = 3600, 86_400
SPRING, AUTUMN = 1_711_756_800, 1_729_900_800  # the days before both changes of clocks of 2024 in Europe


@pytest.mark.parametrize(
    "zone", ["UTC", "Asia/Kolkata", "Europe/Paris", "America/St_Johns", "Australia/Lord_Howe"]
)
@pytest.mark.parametrize("begin_s", [SPRING, AUTUMN])
def test_borders_are_those_of_the_clock(zone: str, begin_s: int) -> None:
    rng = random.Random(begin_s + len(zone))
    for period_s in (HOUR_S // 2, 3 * HOUR_S, 6 * HOUR_S, 12 * HOUR_S, DAY_S, 2 * DAY_S, 7 * DAY_S):
        step_s = rng.choice([60, 900])
        epsilon = rng.choice([None, 1, 2, 7, 30, 45])
        first = begin_s // step_s + rng.randint(-50, 50)
        last = first + rng.randint(1, 3 * DAY_S // step_s)
        promise = Promise(2, epsilon, epsilon)
        found = find_periods(period_s, first, last, promise, Grid(100.0, step_s), Zone(zone))
        assert found.borders.tolist() == borders(first, last, period_s, zone, epsilon, step_s)


def test_names_that_never_change_are_one_period() -> None:
    never = find_periods(None, 0, 10**6, Promise(2, 30, 30), Grid(), Zone("UTC"))
    assert never is ONE_PERIOD
    assert never.n_periods == 1
    assert never.of(np.array([-5, 0, 10**9])).tolist() == [0, 0, 0]


def test_the_period_of_a_slot_begins_with_its_border() -> None:
    assert Periods(np.array([10, 20])).of(np.array([9, 10, 19, 20])).tolist() == [0, 1, 1, 2]


def test_parts_of_boxes_in_any_pieces() -> None:
    """Each user and period with boxes is one part, however the boxes come."""
    rng = np.random.default_rng(3)
    for _ in range(50):
        n, n_users = int(rng.integers(1, 60)), int(rng.integers(1, 6))
        t0, owner = np.sort(rng.integers(0, 40, n)), rng.integers(0, n_users, n).astype(np.int32)
        zero = np.zeros(n, np.int32)
        boxes = Boxes(owner, t0, t0, zero, zero, zero, zero)
        cuts = [0, *np.sort(rng.integers(0, n, 3)).tolist(), n]
        pieces = [Boxes._make(column[a:b] for column in boxes) for a, b in pairwise(cuts)]
        periods = Periods(np.unique(rng.integers(1, 40, 3)))
        parts = find_parts(pieces, periods, n_users)
        expected: dict[tuple[int, int], int] = {}
        for user, t in zip(owner.tolist(), t0.tolist(), strict=True):
            period = sum(border <= t for border in periods.borders.tolist())
            expected[period, user] = expected.get((period, user), 0) + 1
        assert dict(
            zip(
                zip(parts.period.tolist(), parts.user.tolist(), strict=True),
                parts.sizes.tolist(),
                strict=True,
            )
        ) == dict(sorted(expected.items()))
        places = parts.find(np.array([0, n_users - 1]), np.array([0, 99]))
        assert (places[0] >= 0) == ((0, 0) in expected)
        assert places[1] == -1
