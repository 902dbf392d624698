"""The cheapest permutation against exact oracles, on graphs that have one and graphs that do not."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from oracles.pick import cheapest_factor, cheapest_factor_lp
from shoal.core.workers import Workers
from shoal.hiding.matching.assignment import Edges, cheapest_permutation, cheapest_permutations


def as_edges(matrix: list[list[float | None]]) -> Edges:
    rows = [
        (i, j, cost)
        for i, line in enumerate(matrix)
        for j, cost in enumerate(line)
        if cost is not None and i != j
    ]
    owner, member, cost = zip(*rows, strict=True) if rows else ((), (), ())
    return Edges(np.array(owner, np.int32), np.array(member, np.int32), np.array(cost, float))


def random_matrix(rng: random.Random, n: int, density: float, largest: float) -> list[list[float | None]]:
    return [
        [None if i == j or rng.random() > density else float(rng.randint(0, int(largest))) for j in range(n)]
        for i in range(n)
    ]


def total(matrix: list[list[float | None]], member: np.ndarray) -> float:
    return sum(matrix[i][j] or 0.0 for i, j in enumerate(member.tolist()))


@pytest.mark.parametrize("seed", range(5))
def test_small_graphs_equal_brute_force(seed: int) -> None:
    rng = random.Random(seed)
    infeasible = 0
    for _ in range(150):
        n = rng.randint(2, 6)
        matrix = random_matrix(rng, n, rng.choice([1.0, 0.7, 0.4]), rng.choice([1, 10, 1e6]))
        member = cheapest_permutation(n, as_edges(matrix))
        best = cheapest_factor(matrix, 2)
        if best is None:
            infeasible += 1
            assert (member < 0).any()
            served = member[member >= 0]
            assert len(set(served.tolist())) == len(served)
            continue
        assert sorted(member.tolist()) == list(range(n))
        assert total(matrix, member) == best[0]
    assert infeasible > 5


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e9, 1e15])
def test_larger_graphs_equal_linear_programming(scale: float) -> None:
    """Costs of any size."""
    rng = random.Random(1)
    matrix = random_matrix(rng, 120, 0.3, 1e4)
    scaled = [[None if cost is None else cost * scale for cost in line] for line in matrix]
    member = cheapest_permutation(120, as_edges(scaled))
    best = cheapest_factor_lp(matrix, 2)
    assert best is not None
    assert total(matrix, member) == pytest.approx(best[0], rel=1e-6)


def test_nobody_is_left_out_without_need() -> None:
    """Two outliers share their only candidate: one of them must stay unserved, nobody else."""
    matrix: list[list[float | None]] = [[None] * 5 for _ in range(5)]
    for i, j in [(0, 2), (1, 2), (2, 3), (3, 4), (4, 2), (2, 4), (4, 3), (3, 2)]:
        matrix[i][j] = 1.0
    member = cheapest_permutation(5, as_edges(matrix))
    assert (member < 0).sum() == 2
    assert set(np.flatnonzero(member < 0)) <= {0, 1}


def test_groups_are_served_each_for_itself() -> None:
    """Many groups of all sizes at once, on one thread and on two, against an exact solver for each."""
    rng = np.random.default_rng(5)
    for _ in range(40):
        sizes = rng.integers(2, 30, rng.integers(1, 60))
        last = np.cumsum(sizes).astype(np.int32)
        first = (last - sizes).astype(np.int32)
        rows = []
        for begin, end in zip(first.tolist(), last.tolist(), strict=True):
            price = rng.integers(0, rng.choice([1, 4, 1000]), (end - begin, end - begin)).astype(float)
            there = (rng.random(price.shape) < rng.choice([0.3, 1.0])) & ~np.eye(end - begin, dtype=bool)
            owner, member = np.nonzero(there)
            rows.append((owner + begin, member + begin, price[there]))
        owner, member, cost = (np.concatenate(column) for column in zip(*rows, strict=True))
        edges = Edges(owner.astype(np.int32), member.astype(np.int32), cost)
        with Workers(1) as one, Workers(2) as two:
            found = [cheapest_permutations(edges, int(last[-1]), first, last, each) for each in (one, two)]
        assert np.array_equal(*found)
        for begin, end, (owner, member, cost) in zip(first, last, rows, strict=True):
            price = np.full((end - begin, end - begin), 1e9)
            price[owner - begin, member - begin] = cost
            best = price[linear_sum_assignment(price)]
            ours = found[0][begin:end]
            assert (ours < 0).sum() == (best == 1e9).sum()
            served = ours[ours >= 0]
            assert len(set(served.tolist())) == len(served)
            if len(served) == end - begin:
                assert price[np.arange(end - begin), ours - begin].sum() == best.sum()


@pytest.mark.parametrize("kind", ["all alike", "contended", "one way round"])
def test_hard_graphs_take_no_longer_than_a_moment(kind: str) -> None:
    """Everybody costs the same, everybody wants the same few, or there is just one permutation."""
    n, rng = 10_000, np.random.default_rng(2)
    owner = np.repeat(np.arange(n, dtype=np.int32), 20)
    if kind == "contended":
        few = rng.integers(0, 100, (n, 10))
        member = np.concatenate([few, rng.integers(100, n, (n, 10))], axis=1)
        member[:, -1] = (np.arange(n) + 1) % n
        cost = np.where(member < 100, member, 1000.0 + rng.integers(0, 1000, member.shape))
    else:
        width = 20 if kind == "all alike" else 1
        member = (np.arange(n)[:, None] + 1 + np.arange(width)) % n
        owner, cost = np.repeat(np.arange(n, dtype=np.int32), width), np.full(member.shape, 5.0)
    edges = Edges(owner, member.ravel().astype(np.int32), cost.ravel())
    began = time.process_time()
    found = cheapest_permutation(n, edges)
    assert time.process_time() - began < 5
    assert sorted(found.tolist()) == list(range(n))
