"""The lower bound on the cost of boxes against an exhaustive search, on worlds small enough for one."""

from __future__ import annotations

import random
import sys
from functools import cache
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest

from oracles.merge import quadratic_merge_cost
from oracles.patterns import pattern_groups
from shoal.core.promise import Promise
from shoal.core.workers import Workers
from support.release_worlds import Release, World, as_samples, release

pytest.importorskip("scipy")
sys.path.append(
    str(Path(__file__).parents[2] / "benchmarks")
)  # behind the tests, which have a `reading`, too

import lower_bound

EPSILON = 5
Sets = dict[int, frozenset[int]]


def world_of(rng: random.Random, n_users: int, n_epochs: int) -> World:
    """Users who are nearly always there, with few samples, often at the same time or place."""
    return {
        user: {
            (epoch * EPSILON + rng.randrange(EPSILON), rng.randint(0, 12), rng.randint(0, 3))
            for epoch in range(n_epochs)
            for _ in range(rng.randint(1, 2))
            if epoch == 0 or rng.random() < 0.97
        }
        for user in range(n_users)
    }


def choices(groups: list[list[int]], k: int) -> list[Sets]:
    """All hiding sets of a window: k - 1 permutations without fixed points in every group, no member twice."""
    of_groups = []
    for group in groups:
        moved = [
            each for each in permutations(group) if all(a != b for a, b in zip(group, each, strict=True))
        ]
        found = set()
        for picks in product(moved, repeat=k - 1):
            lines = [frozenset(members) for members in zip(*picks, strict=True)]
            if all(len(members) == k - 1 for members in lines):
                found.add(tuple(zip(group, lines, strict=True)))
        of_groups.append(sorted(found, key=repr))
    return [dict(pair for group in each for pair in group) for each in product(*of_groups)]


def optimum(world: World, result: Release, k: int, reach: int, n_epochs: int) -> float | None:
    """The least cost of all boxes, over all hiding sets in which nobody serves twice; None where there are none."""
    users = sorted(result.presence)

    @cache
    def cost(epoch: int, together: frozenset[int]) -> float:
        inside = [[sample for sample in world[user] if sample[0] // EPSILON == epoch] for user in together]
        return float(quadratic_merge_cost(inside))

    windows = list(range(max(n_epochs - reach, 1)))
    options = []
    for window in windows:
        groups = [list(group) for group in pattern_groups(result.presence, window, reach, users).values()]
        there = [
            group
            for group in groups
            if any(set(range(window, window + reach + 1)) & result.presence[u] for u in group)
        ]
        options.append(choices(there, k))
    best = None
    for picked in product(*options):
        pairs = [(owner, member) for sets in picked for owner, own in sets.items() for member in own]
        if len(set(pairs)) < len(pairs):
            continue
        total = sum(
            cost(
                epoch,
                frozenset({user}).union(
                    *(
                        sets.get(user, ())
                        for window, sets in zip(windows, picked, strict=True)
                        if window <= epoch <= window + reach
                    )
                ),
            )
            for user, epochs in result.presence.items()
            for epoch in epochs
        )
        best = total if best is None else min(best, total)
    return best


@pytest.mark.parametrize("nearest", [2, 3, 40])
@pytest.mark.parametrize(
    ("k", "reach", "n_users", "n_epochs"),
    [(2, 1, 4, 2), (2, 1, 4, 3), (2, 1, 4, 4), (2, 2, 4, 4), (2, 1, 5, 3), (3, 1, 5, 3)],
)
def test_no_release_costs_less(
    k: int, reach: int, n_users: int, n_epochs: int, nearest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lower_bound, "_NEAREST", nearest)
    rng, shares = random.Random(repr((k, reach, n_users, n_epochs))), []
    for _ in range(4):
        world = world_of(rng, n_users, n_epochs)
        result = release(world, k, reach * EPSILON, EPSILON)
        best = optimum(world, result, k, reach, n_epochs)
        if best is None or not result.outcome.n_boxes:
            continue
        with Workers(1) as workers:
            bound = lower_bound.lower_bound(
                as_samples(world), Promise(k, reach * EPSILON, EPSILON), workers, 60
            )
        assert bound.plain <= bound.best <= best * (1 + 1e-9)
        assert best <= result.outcome.box_sizes.cost or result.outcome.relaxations
        shares.append(bound.best / best)
        if n_epochs == reach + 1 and k == 2:  # one window: nothing but an assignment problem
            assert bound.best == pytest.approx(best)
    assert shares
    assert np.mean(shares) > 0.7


def test_pairs_are_kept_apart() -> None:
    """Two couples, each at a place of its own, in two windows: a pair serves once, so each must part once."""
    world: World = {
        user: {(epoch * EPSILON, 100 * (user // 2), 0) for epoch in range(3)} for user in range(4)
    }
    with Workers(1) as workers:
        bound = lower_bound.lower_bound(as_samples(world), Promise(2, EPSILON, EPSILON), workers, 200)
    result = release(world, 2, EPSILON, EPSILON)
    best = optimum(world, result, 2, 1, 3)
    assert best is not None
    assert bound.plain < bound.best <= best
    assert bound.best > 0.95 * best
