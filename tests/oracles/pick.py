"""The cheapest hiding sets of one pattern group, found without cleverness (docs/how-it-works.md).

``cost_matrix[i][j]`` is the cost of j joining the hiding set of i, None where it may not. The diagonal is
never used. Each user picks k-1 others and is picked k-1 times: a (k-1)-factor.
"""

from itertools import combinations

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

Factor = tuple[float, list[set[int]]]


def factor_cost(cost_matrix, chosen):
    return sum(cost_matrix[i][j] for i, members in enumerate(chosen) for j in members)


def is_factor(cost_matrix, chosen, k: int) -> bool:
    n = len(cost_matrix)
    pairs = [(i, j) for i, members in enumerate(chosen) for j in members]
    return (
        len(chosen) == n
        and all(len(members) == len(set(members)) == k - 1 for members in chosen)
        and all(sum(j == user for _, j in pairs) == k - 1 for user in range(n))
        and all(i != j and cost_matrix[i][j] is not None for i, j in pairs)
    )


def all_factors(cost_matrix, k: int, chosen=()):
    """Yield every factor that begins with the rows already chosen."""
    n = len(cost_matrix)
    if len(chosen) == n:
        yield list(chosen)
        return
    i = len(chosen)
    allowed = [
        j
        for j in range(n)
        if j != i and cost_matrix[i][j] is not None and sum(j in members for members in chosen) < k - 1
    ]
    for members in combinations(allowed, k - 1):
        yield from all_factors(cost_matrix, k, (*chosen, set(members)))


def cheapest_factor(cost_matrix, k: int) -> Factor | None:
    """The least cost and one factor that reaches it, by trying all; None where there is no factor."""
    if len(cost_matrix) > 6:
        raise ValueError(f"too many factors to try with {len(cost_matrix)} users: use cheapest_factor_lp")
    priced = [(factor_cost(cost_matrix, chosen), chosen) for chosen in all_factors(cost_matrix, k)]
    return min(priced, key=lambda entry: entry[0]) if priced else None


def cheapest_factor_lp(cost_matrix, k: int) -> Factor | None:
    """The same for some 200 users, as a linear program over the edges, each between 0 and 1.

    The constraints are those of a bipartite graph, so the vertices are integral and simplex ends in one. The
    outcome is checked to be a factor, and its cost is added up from the matrix itself.
    """
    n = len(cost_matrix)
    edges = [(i, j) for i in range(n) for j in range(n) if i != j and cost_matrix[i][j] is not None]
    if not edges:
        return None
    columns = np.arange(len(edges))
    rows = np.concatenate([[i for i, _ in edges], [n + j for _, j in edges]])
    degree = coo_array((np.ones(2 * len(edges)), (rows, np.tile(columns, 2))), shape=(2 * n, len(edges)))
    solution = linprog(
        [float(cost_matrix[i][j]) for i, j in edges],
        A_eq=degree.tocsr(),
        b_eq=np.full(2 * n, k - 1),
        bounds=(0, 1),
        method="highs-ds",
    )
    if solution.status == 2:
        return None
    if solution.status != 0:
        raise RuntimeError(f"the linear program did not finish: {solution.message}")
    chosen = [set() for _ in range(n)]
    for (i, j), share in zip(edges, solution.x, strict=True):
        if share > 0.5:
            chosen[i].add(j)
    if not is_factor(cost_matrix, chosen, k):
        raise RuntimeError("the linear program ended outside the vertices")
    return factor_cost(cost_matrix, chosen), chosen
