"""The promise on small worlds, judged by brute force over every user and every interval."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from engine import release
from oracles.attacker import reuse_errors, truthfulness_errors, violations
from oracles.casual_worlds import random_case
from oracles.patterns import invariant_errors, pattern_groups, permutation_errors
from shoal.errors import InputError

CASES_PER_SEED = 40


def windows_of(epochs: set[int], reach: int) -> range:
    """Every window that meets one of these epochs, those reaching beyond the data included."""
    return range(min(epochs) - reach, max(epochs) + 1)


@pytest.mark.parametrize("seed", range(24))
def test_random_worlds_keep_every_guarantee(seed: int) -> None:
    rng = random.Random(seed)
    outcomes: Counter[str] = Counter()
    for _ in range(CASES_PER_SEED):
        world, k, tau, epsilon = random_case(rng)
        if rng.random() < 0.1:
            tau = epsilon = None
        reuse = rng.choice(["once", "pair", "spaced"])
        weight = rng.choice([1.0, 2.0, 1.5])
        try:
            result = release(world, k, tau, epsilon, reuse=reuse, weight=weight, seed=rng.randrange(5))
        except InputError:
            outcomes["refused"] += 1
            continue
        outcomes["published"] += 1
        outcomes["suppressed"] += bool(result.suppressed)
        context = f"{world=} {k=} {tau=} {epsilon=} {reuse=} {weight=}"
        assert not violations(world, result.records, k, tau, epsilon), context
        assert not truthfulness_errors(world, result.records, result.suppressed, epsilon), context
        reach = 0 if tau is None else -(-tau // epsilon)
        users = list(result.records)
        windows = windows_of({epoch for epochs in result.presence.values() for epoch in epochs}, reach)
        assert not invariant_errors(result.presence, windows, reach, users, k), context
        repeated, counted = len(reuse_errors(result.hiding_sets, reuse, reach)), result.outcome.relaxations
        if reuse == "pair":  # the oracle counts a pair once a window even where it serves both ways again
            assert repeated <= counted <= 2 * repeated, context
        else:
            assert repeated == counted, context
        for window, sets in result.hiding_sets.items():
            groups = pattern_groups(result.presence, window, reach, users)
            assert not permutation_errors(sets, groups, k), context
    assert outcomes["published"] > CASES_PER_SEED / 3
