"""k-merge against brute force over every partition."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest

from oracles.merge import (
    brute_force_merge,
    is_valid_merge,
    merge_cost,
    quadratic_merge_cost,
    random_partition,
)
from shoal.hiding.kernels.merge import best_cuts
from shoal.hiding.kernels.pools import Pools
from support.pool_cases import merge, pool_of

CASES_PER_SEED = 1_000


def random_trajectories(rng: random.Random, most_times: int) -> list[list[tuple[int, int, int]]]:
    """2 to 5 short trajectories on few slots, so that ties in time and shared places are common."""
    n_slots = rng.randint(1, most_times)
    reach = rng.choice([0, 1, 4, 40])
    start = rng.choice([0, 1000])
    return [
        [
            (start + rng.randrange(n_slots), rng.randint(-reach, reach), rng.randint(-reach, reach))
            for _ in range(rng.choice([1, 1, 2, 3, 5]))
        ]
        for _ in range(rng.randint(2, 5))
    ]


@pytest.mark.parametrize("seed", range(20))
def test_equals_brute_force(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(CASES_PER_SEED):
        trajectories = random_trajectories(rng, most_times=8)
        p = rng.choice([1, 2])
        cost, boxes = merge(trajectories, float(p))
        best, partitions = brute_force_merge(trajectories, p)
        assert cost == best, trajectories
        assert boxes in partitions, trajectories


@pytest.mark.parametrize("weight", [0.0, 0.5, 1.5, 3.0])
def test_other_space_weights_equal_brute_force(weight: float) -> None:
    rng = random.Random(7)
    for _ in range(200):
        trajectories = random_trajectories(rng, most_times=7)
        cost, boxes = merge(trajectories, weight)
        assert cost == pytest.approx(brute_force_merge(trajectories, weight)[0], rel=1e-12)
        assert is_valid_merge(boxes, trajectories)


@pytest.mark.parametrize("seed", range(6))
def test_long_trajectories_are_never_beaten(seed: int) -> None:
    rng = random.Random(100 + seed)
    for _ in range(15):
        n_slots = rng.choice([60, 300])
        trajectories = [
            [
                (rng.randrange(n_slots), rng.randint(0, 300), rng.randint(0, 300))
                for _ in range(rng.randint(1, 60))
            ]
            for _ in range(rng.randint(2, 8))
        ]
        p = rng.choice([1, 2])
        cost, boxes = merge(trajectories, float(p))
        assert is_valid_merge(boxes, trajectories)
        assert merge_cost(boxes, p) == cost == quadratic_merge_cost(trajectories, p)
        for _ in range(30):
            assert cost <= merge_cost(random_partition(trajectories, rng), p)


def test_the_paper_would_separate_what_happens_at_once() -> None:
    """Two samples of one slot stay in one box although a cut between them would cost less."""
    trajectories = [[(0, 0, 0), (0, 90, 0)], [(0, 0, 0), (0, 90, 0)]]
    assert merge(trajectories) == (92.0, ((0, 0, 0, 90, 0, 0),))


def test_among_equal_costs_the_last_group_is_the_shortest() -> None:
    """Both users are in the first and the last of three slots: the middle one costs the same on either side."""
    trajectories = [[(0, 0, 0), (1, 0, 0), (2, 0, 0)], [(0, 0, 0), (2, 0, 0)]]
    assert merge(trajectories) == (6.0, ((0, 1, 0, 0, 0, 0), (2, 2, 0, 0, 0, 0)))


def test_compiled_code_equals_its_source() -> None:
    rng = random.Random(3)
    for _ in range(50):
        pool = pool_of(random_trajectories(rng, most_times=12))
        n = len(pool.slot)
        results = []
        limit = rng.choice([np.inf, 30.0])
        for function in (best_cuts, best_cuts.py_func):
            cost, previous = np.empty(n + 1), np.zeros(n + 1, np.int32)
            total = function(pool, 0, n, 1.0, limit, cost, previous)
            results.append(total if total < limit else np.inf)
        assert results[0] == results[1]


def test_a_limit_only_cuts_off_what_exceeds_it() -> None:
    rng = random.Random(9)
    for _ in range(2_000):
        pool = pool_of(random_trajectories(rng, most_times=15))
        n = len(pool.slot)
        cost, previous = np.empty(n + 1), np.zeros(n + 1, np.int32)
        exact = best_cuts(pool, 0, n, 1.0, np.inf, cost, previous)
        for limit in (exact - 1, exact, exact + 1, exact / 2):
            found = best_cuts(pool, 0, n, 1.0, limit, cost, previous)
            assert found == exact if exact < limit else found >= limit


def test_a_machine_like_device_costs_no_more_than_its_slots() -> None:
    """Tens of thousands of samples in one epoch collapse to its slots, and merge in a moment."""
    rng = random.Random(5)
    machine = [(rng.randrange(1440), rng.randint(0, 5), rng.randint(0, 5)) for _ in range(50_000)]
    person = [(rng.randrange(1440), rng.randint(0, 400), rng.randint(0, 400)) for _ in range(3)]
    pool = pool_of([machine, person])
    assert len(pool.slot) <= 1440
    merge([machine[:10], person])  # compiled by now
    began = time.process_time()
    cost, boxes = merge([machine, person])
    assert time.process_time() - began < 5.0
    assert is_valid_merge(boxes, [machine, person])
    assert merge_cost(boxes, 1) == cost


def test_a_pool_knows_who_must_be_touched() -> None:
    pool: Pools = pool_of([[(1, 10, 0), (4, 20, 0)], [(6, 50, 3)]])
    assert pool.touch.tolist() == [[6, 4, 50, 20, 3, 0]]
