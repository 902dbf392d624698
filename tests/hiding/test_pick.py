"""The cheapest permutation against exact oracles, on graphs that have one and graphs that do not."""

from __future__ import annotations

import random

import numpy as np
import pytest

from oracles.pick import cheapest_factor, cheapest_factor_lp
from shoal.hiding.pick import Edges, cheapest_permutation


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
    """Costs of any size: the solver's range is 64 bits, and what does not fit is scaled, not lost."""
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
