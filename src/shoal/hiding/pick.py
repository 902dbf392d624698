"""The cheapest permutation without fixed points along given edges: a sparse assignment problem."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from ortools.graph.python.linear_sum_assignment import SimpleLinearSumAssignment

from shoal.errors import UnfinishedError
from shoal.samples import Int32s

Costs = npt.NDArray[np.float64]

_LARGEST = 2**57  # ortools multiplies costs by the number of nodes in 64 bits, and wants room to spare


class Edges(NamedTuple):
    """Directed candidates owner <- member with their costs."""

    owner: Int32s
    member: Int32s
    cost: Costs


def cheapest_permutation(n: int, edges: Edges) -> Int32s:
    """member[i] for each owner i: everybody picks one and is picked once, at the least total cost.

    Where the edges allow no such permutation, as many users as possible are served and the others get -1.
    """
    cost = _whole_numbers(edges.cost, n)
    member = _assign(n, edges.owner, edges.member, cost)
    if member is not None:
        return member
    nobody = np.arange(n, dtype=np.int32)
    prohibitive = np.full(n, (int(cost.max(initial=0)) + 1) * (n + 1), np.int64)
    member = _assign(
        n,
        np.concatenate([edges.owner, nobody]),
        np.concatenate([edges.member, nobody]),
        np.concatenate([cost, prohibitive]),
    )
    if member is None:
        raise UnfinishedError("Self-check failed: an assignment that always has a solution was given none.")
    member[member == nobody] = -1
    return member


def _whole_numbers(cost: Costs, n: int) -> npt.NDArray[np.int64]:
    """Costs as integers: exactly where they are whole numbers of moderate size, else scaled to fit the solver."""
    bound = _LARGEST / (n + 2) ** 2 - 1
    largest = float(cost.max(initial=1.0))
    scale = bound / largest if largest > bound or not np.array_equal(cost, np.rint(cost)) else 1.0
    return np.rint(cost * min(scale, 1e6)).astype(np.int64)


def _assign(n: int, owner: Int32s, member: Int32s, cost: npt.NDArray[np.int64]) -> Int32s | None:
    """The cheapest perfect assignment, or None if there is none."""
    # The solver wants a node to occur on either side before it can tell that it has no partner.
    if len(np.unique(owner)) < n or len(np.unique(member)) < n:
        return None
    solver = SimpleLinearSumAssignment()
    solver.add_arcs_with_cost(owner.astype(np.int32), member.astype(np.int32), cost)
    status = solver.solve()
    if status == SimpleLinearSumAssignment.INFEASIBLE:
        return None
    if status != SimpleLinearSumAssignment.OPTIMAL:
        raise UnfinishedError("Self-check failed: the assignment solver ran out of range.")
    return np.fromiter((solver.right_mate(i) for i in range(n)), np.int32, n)
