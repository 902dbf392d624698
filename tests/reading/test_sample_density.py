"""Seconds between samples, counted stretch by stretch of time: the same as from all samples at once."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest

from shoal.reading.plausibility import SampleDensity


def slow(rows: list[tuple[int, int]], n_users: int) -> list[int]:
    """The upper median of the gaps of each user with at least five, where it is at most fifteen seconds."""
    medians = []
    for user in range(n_users):
        seconds = sorted({when for owner, when in rows if owner == user})
        gaps = sorted(after - before for before, after in pairwise(seconds))
        if len(gaps) >= 5 and gaps[len(gaps) // 2] <= 15:
            medians.append(gaps[len(gaps) // 2])
    return medians


@pytest.mark.parametrize("seed", range(5))
def test_cut_anywhere(seed: int) -> None:
    rng = random.Random(seed)
    told = 0
    for _ in range(100):
        n_users = rng.randrange(1, 5)
        span = rng.choice((40, 120, 400))
        rows = [
            (user, rng.randrange(-span, span)) for user in range(n_users) for _ in range(rng.randrange(1, 30))
        ]
        density = SampleDensity(n_users)
        cuts = sorted(rng.randrange(-span, span) for _ in range(rng.randrange(4)))
        for begin, end in pairwise([-(10**6), *cuts, 10**6]):
            inside = [row for row in rows if begin <= row[1] < end]
            rng.shuffle(inside)
            user, when = np.array(inside, np.int64).reshape(-1, 2).T
            density.add(user.astype(np.int32), when)
        dense = slow(rows, n_users)
        warnings = density.warnings()
        assert bool(warnings) == (len(dense) > 0 and 2 * len(dense) >= n_users)
        assert all(f"within {int(np.median(dense))} s" in warning for warning in warnings)
        told += len(warnings)
    assert 20 < told < 80


def test_of_many_users_some_are_asked() -> None:
    """Every fifth of a thousand; who is asked depends on the number of users alone."""
    density = SampleDensity(1000)
    for when in range(6):
        density.add(np.arange(1000, dtype=np.int32), np.full(1000, 5 * when))
    assert len(density.warnings()) == 1
