"""Candidate edges of a window: an edge for every member that a search found, and the edge back from that member.

Owners and members are numbered in the window (int32); costs are float64.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Floats, Int32s, Int64s
from shoal.core.compiled import jit, jit_inline, jit_no_arrays
from shoal.hiding.kernels.cost_bounds import OWN
from shoal.hiding.kernels.edge_cost import edge_cost, make_scratch, write_outlines
from shoal.hiding.kernels.reuse import ReuseRule, mark_forbidden
from shoal.hiding.kernels.window import WindowArrays


class NearestLists(NamedTuple):
    """The result of a search: per owner a line of members (-1 for none) and of costs, cheapest first."""

    member: Int32s
    cost: Floats


class ReverseLists(NamedTuple):
    """The users who found owner i without being found by it: member[first[i] .. first[i + 1] - 1]; -1: forbidden."""

    first: Int64s
    member: Int32s


class EdgeList(NamedTuple):
    """All candidate edges by owner; those of owner i begin at first[i]."""

    first: Int64s
    owner: Int32s
    member: Int32s
    cost: Floats


@jit_no_arrays
def write_reverse_lists(member: Int32s, first: Int64s, back: Int32s) -> None:
    """Write ReverseLists for the members that a search found; ``back`` has room for as many entries as were found."""
    n, width = member.shape
    first[:] = 0
    for writing in range(2):
        for i in range(n):
            for column in range(width):
                j = member[i, column]
                if j < 0:
                    break
                listed = False
                for other in member[j]:
                    listed |= other == i
                if listed:
                    continue
                if writing:
                    back[first[j]] = i
                first[j] += 1
        if not writing:
            total = 0
            for i in range(n):
                first[i], total = total, total + first[i]
    for i in range(n, 0, -1):
        first[i] = first[i - 1]
    first[0] = 0


@jit
def forbid_back(arrays: WindowArrays, rule: ReuseRule, back: ReverseLists, begin: int, end: int) -> None:
    """Make -1 of the entries of owners begin .. end - 1 in ``back`` who may not serve them."""
    mark = np.full(len(arrays.user), -1, np.int32)
    for owner in range(begin, end):
        if back.first[owner] < back.first[owner + 1]:
            mark_forbidden(arrays, rule, owner, mark)
        for entry in range(back.first[owner], back.first[owner + 1]):
            if mark[back.member[entry]] == owner:
                back.member[entry] = -1


@jit_no_arrays
def count_edges(found: NearestLists, back: ReverseLists, first: Int64s) -> None:
    """first[i] = where the edges of owner i begin once they are listed; one number more than owners."""
    total = 0
    for owner in range(len(first) - 1):
        first[owner] = total
        for member in found.member[owner]:
            total += member >= 0
        for entry in range(back.first[owner], back.first[owner + 1]):
            total += back.member[entry] >= 0
    first[len(first) - 1] = total


@jit
def write_edges(
    arrays: WindowArrays, found: NearestLists, back: ReverseLists, begin: int, end: int, listed: EdgeList
) -> None:
    """List the edges of owners begin .. end - 1: those found, then the edges back, which are priced here."""
    own = np.empty((arrays.row.shape[1], OWN))
    list_edges(arrays, found, back, begin, end, listed, own, make_scratch(arrays))


@jit_no_arrays
def list_edges(  # type: ignore[no-untyped-def]
    arrays: WindowArrays,
    found: NearestLists,
    back: ReverseLists,
    begin: int,
    end: int,
    listed: EdgeList,
    own: Floats,
    scratch,
) -> None:
    """See write_edges."""
    for owner in range(begin, end):
        at = listed.first[owner]
        for column in range(found.member.shape[1]):
            if found.member[owner, column] >= 0:
                at = write_edge(listed, at, owner, found.member[owner, column], found.cost[owner, column])
        if at < listed.first[owner + 1]:
            write_outlines(arrays, owner, own)
        for entry in range(back.first[owner], back.first[owner + 1]):
            member = back.member[entry]
            if member >= 0:
                price = edge_cost(arrays, owner, member, own, np.inf, scratch)
                at = write_edge(listed, at, owner, member, price)


@jit_inline
def write_edge(listed: EdgeList, at: int, owner: int, member: int, cost: float) -> int:
    """List one edge; return where the next one goes."""
    listed.owner[at], listed.member[at], listed.cost[at] = owner, member, cost
    return at + 1
