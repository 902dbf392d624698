"""The cheapest permutation without fixed points along given edges: a sparse assignment problem."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from ortools.graph.python.linear_sum_assignment import SimpleLinearSumAssignment

from shoal.errors import UnfinishedError
from shoal.samples import Floats, Int32s, Int64s

_LARGEST = (
    2**60
)  # the solver's prices grow to the largest cost times the square of the number of nodes, in 64 bits


class Edges(NamedTuple):
    """Directed candidates owner <- member with their costs."""

    owner: Int32s
    member: Int32s
    cost: Floats


class Group(NamedTuple):
    """Users first .. last - 1 of a window, who hide among themselves."""

    first: int
    last: int


def edges_of(edges: Edges, first: int, last: int) -> Edges:
    """The edges of owners first .. last - 1; edges go by owner."""
    part = slice(*np.searchsorted(edges.owner, (first, last)))
    return Edges(edges.owner[part], edges.member[part], edges.cost[part])


def edges_inside(edges: Edges, first: int) -> Edges:
    """Edges inside a group, with its users numbered from 0."""
    shift = np.int32(first)
    return Edges(edges.owner - shift, edges.member - shift, edges.cost)


def cheapest_permutation(n: int, edges: Edges) -> Int32s:
    """member[i] for each owner i: everybody picks one and is picked once, at the least total cost.

    Where the edges allow no such permutation, as many users as possible are served and the others get -1.
    """
    member = _assign(n, edges.owner, edges.member, _whole_numbers(edges.cost, _LARGEST / (n + 2) ** 2))
    if member is not None:
        return member
    nobody = np.arange(n, dtype=np.int32)
    cost = _whole_numbers(edges.cost, _LARGEST / (n + 2) ** 3 - 1)
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


def _whole_numbers(cost: Floats, bound: float) -> Int64s:
    """Costs as integers up to a bound: exactly where they are such integers, else scaled to fit."""
    largest = float(cost.max(initial=1.0))
    fits = largest <= bound and np.array_equal(cost, np.rint(cost))
    return np.rint(cost if fits else cost * (min(bound, 2.0**52) / largest)).astype(np.int64)


def _assign(n: int, owner: Int32s, member: Int32s, cost: Int64s) -> Int32s | None:
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
