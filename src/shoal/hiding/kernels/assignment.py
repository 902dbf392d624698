"""The cheapest assignment along given edges, group by group: shortest augmenting paths (Jonker and Volgenant 1987).

Members have prices. Owners first bid for the member that is cheapest after its price, which serves most of them; the
others are then served one by one, each along the cheapest chain of owners who pass on their members.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Floats, Int32s, Int64s
from shoal.core.compiled import jit, jit_inline, jit_no_arrays
from shoal.hiding.kernels.heap import drop_top, push

_ROUNDS = 2  # of bidding
_BIDS = 16  # per owner and round: beyond that, placing them one by one is quicker


class AssignmentEdges(NamedTuple):
    """Edges owner <- member with their costs, by owner; those of owner i are first[i] .. first[i + 1] - 1."""

    first: Int64s
    owner: Int32s
    member: Int32s
    cost: Floats


class Market(NamedTuple):
    """The state of an assignment in one group.

    edge[i] (int64): the edge by which owner i has a member, -1 for none. holder[j] (int32): the owner who has member j,
    -1 for nobody. price[j] (float64): what member j takes off the cost of its edges.
    """

    edge: Int64s
    holder: Int32s
    price: Floats


class Paths(NamedTuple):
    """Scratch for the search of one path.

    far: the distance of each member; came: the edge by which it is reached; reached, final: the owner in whose search
    the member was reached, and became final; listed: the final members; keys, items: a heap of members to look at.
    """

    far: Floats
    came: Int64s
    reached: Int32s
    final: Int32s
    listed: Int32s
    keys: Floats
    items: Int64s


@jit
def assign_groups(
    candidates: AssignmentEdges, first: Int32s, last: Int32s, begin: int, end: int, member: Int32s
) -> None:
    """member[i] (int32) = the member of owner i, for owners first[g] .. last[g] - 1 of groups g in begin .. end - 1.

    Every owner gets one member and every user becomes one, at the least total cost. Where the edges do not allow that,
    as many owners as possible are served, and the others get -1. Edges stay inside their group.
    """
    largest, edges = 0, 0
    for g in range(begin, end):
        largest = max(largest, last[g] - first[g])
        edges = max(edges, candidates.first[last[g]] - candidates.first[first[g]])
    market = Market(np.empty(largest, np.int64), np.empty(largest, np.int32), np.empty(largest))
    paths = Paths(
        np.empty(largest), np.empty(largest, np.int64), np.empty(largest, np.int32), np.empty(largest, np.int32),
        np.empty(largest, np.int32), np.empty(edges + 1), np.empty(edges + 1, np.int64),
    )  # fmt: skip
    waiting = np.empty(largest, np.int32)
    for g in range(begin, end):
        assign_group(candidates, first[g], last[g], market, paths, waiting, member)


@jit_no_arrays
def assign_group(
    candidates: AssignmentEdges,
    first: int,
    last: int,
    market: Market,
    paths: Paths,
    waiting: Int32s,
    member: Int32s,
) -> None:
    """Assign one group, whose users are numbered from its first here."""
    n = last - first
    for i in range(n):
        market.edge[i], market.holder[i], market.price[i] = -1, -1, np.inf
        paths.reached[i], paths.final[i] = -1, -1
        waiting[i] = i
    for edge in range(candidates.first[first], candidates.first[last]):
        j = candidates.member[edge] - first
        market.price[j] = min(market.price[j], candidates.cost[edge])
    left = n
    for _ in range(_ROUNDS):
        left = bid(candidates, first, market, waiting, left)
    for place in range(left):
        find_path(candidates, first, waiting[place], market, paths)
    for i in range(n):
        edge = market.edge[i]
        member[first + i] = -1 if edge < 0 else candidates.member[edge]


@jit_inline
def bid(candidates: AssignmentEdges, first: int, market: Market, waiting: Int32s, n: int) -> int:
    """Every waiting owner takes its cheapest member and makes it as dear as its second; return how many wait again."""
    place, left, bids = 0, 0, _BIDS * n
    while place < n:
        i = waiting[place]
        place += 1
        bids -= 1
        best, second, cheapest, runner_up = -1, -1, np.inf, np.inf
        for edge in range(candidates.first[first + i], candidates.first[first + i + 1]):
            cost = candidates.cost[edge] - market.price[candidates.member[edge] - first]
            if cost < cheapest:
                second, runner_up = best, cheapest
                best, cheapest = edge, cost
            elif cost < runner_up:
                second, runner_up = edge, cost
        if second < 0:  # no choice: a path will have to be found
            waiting[left] = i
            left += 1
            continue
        j = candidates.member[best] - first
        dearer = market.price[j] - (runner_up - cheapest)
        if dearer < market.price[j]:
            market.price[j] = dearer
        elif market.holder[j] >= 0:
            best = second
            j = candidates.member[best] - first
        other = market.holder[j]
        market.edge[i], market.holder[j] = best, i
        if other >= 0:
            market.edge[other] = -1
            if runner_up > cheapest and bids > 0:
                place -= 1
                waiting[place] = other
            else:
                waiting[left] = other
                left += 1
    return left


@jit_inline
def find_path(candidates: AssignmentEdges, first: int, start: int, market: Market, paths: Paths) -> None:
    """Serve one more owner along the cheapest chain from it to a member whom nobody has, if there is one."""
    n_listed, n_heap, goal = 0, 0, -1
    i, before = start, 0.0
    while True:
        for edge in range(candidates.first[first + i], candidates.first[first + i + 1]):
            j = candidates.member[edge] - first
            if paths.final[j] == start:
                continue
            far = candidates.cost[edge] - market.price[j] - before
            if paths.reached[j] != start or far < paths.far[j]:
                paths.reached[j], paths.far[j], paths.came[j] = start, far, edge
                n_heap = push(paths.keys, paths.items, n_heap, far, j)
        while n_heap > 0 and paths.final[paths.items[0]] == start:
            n_heap = drop_top(paths.keys, paths.items, n_heap)
        if n_heap == 0:
            return
        goal = paths.items[0]
        if market.holder[goal] < 0:
            break
        n_heap = drop_top(paths.keys, paths.items, n_heap)
        paths.final[goal] = start
        paths.listed[n_listed] = goal
        n_listed += 1
        i = market.holder[goal]
        before = candidates.cost[market.edge[i]] - market.price[goal] - paths.far[goal]
    for place in range(n_listed):
        j = paths.listed[place]
        market.price[j] += paths.far[j] - paths.far[goal]
    j = goal
    while True:
        edge = paths.came[j]
        i = candidates.owner[edge] - first
        former = market.edge[i]
        market.edge[i], market.holder[j] = edge, i
        if i == start:
            return
        j = candidates.member[former] - first
