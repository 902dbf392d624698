"""The cheapest permutation without fixed points along given edges: a sparse assignment problem."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Floats, Int32s, Int64s
from shoal.core.workers import Workers
from shoal.hiding.kernels.assignment import AssignmentEdges, assign_groups

_TOGETHER = 64  # users: smaller groups are assigned together, up to about so many


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
    """member[i] for each owner i: everybody has one member and is one, at the least total cost; edges go by owner.

    Where the edges allow no such permutation, as many owners as possible are served and the others get -1.
    """
    with Workers(1) as workers:
        return cheapest_permutations(edges, n, np.zeros(1, np.int32), np.full(1, n, np.int32), workers)


def cheapest_permutations(edges: Edges, n: int, first: Int32s, last: Int32s, workers: Workers) -> Int32s:
    """The cheapest permutation of each of several groups, which together are owners 0 .. n - 1."""
    candidates = AssignmentEdges(edge_starts(edges.owner, n), *edges)
    member = np.empty(n, np.int32)
    bounds = _shares(first, last)
    workers.for_each(
        len(bounds) - 1,
        lambda share: assign_groups(candidates, first, last, bounds[share], bounds[share + 1], member),
    )
    return member


def edge_starts(owner: Int32s, n: int) -> Int64s:
    """Where the edges of each of n owners begin; edges go by owner."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(owner, minlength=n))])


def _shares(first: Int32s, last: Int32s) -> Int64s:
    """Where to cut a list of groups into shares for the workers: several groups in one only where they are small."""
    crowd = np.cumsum(last - first) // _TOGETHER
    starts = np.flatnonzero(np.diff(crowd, prepend=-1)) if len(first) else np.zeros(0, np.int64)
    return np.append(starts, len(first))
