"""Who is cheapest to hide with: nearest neighbours and edges under the joint k-merge cost (design 3.3).

The cost of an edge owner <- member is the sum, over the epochs of a window, of the optimal merge of what the owner's
record holds there already (its pool) and the member's own samples.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiled import inner, kernel
from shoal.kernels.merge import best_cuts, space_cost
from shoal.kernels.pools import Pools, write_union
from shoal.samples import Bools, Floats, Int32s, Int64s


class WindowArrays(NamedTuple):
    """What the search knows of one window; users are numbered so that a pattern group is a range.

    pools: what each record holds so far, raw: each user's own samples; both have the same rows, one per user and
    epoch. row[i, w]: row of user i in the window's w-th epoch, -1 when absent. base[row]: cost of that pool alone.
    last[i]: end of the group of user i, first[i]: its beginning. user[i]: number of the user in the whole dataset,
    place: the inverse, -1 for the absent.
    """

    pools: Pools
    raw: Pools
    row: Int64s
    base: Floats
    first: Int32s
    last: Int32s
    user: Int32s
    place: Int32s
    weight: float


class Barred(NamedTuple):
    """Who may not be picked: past[u, :length[u]] lists members that user u had, in window when[u, ...] each.

    A past member is barred if its window is ``since`` or later. picked[i]: members user i of this window has already
    been given in it (numbered in the window, -1 for none).
    """

    past: Int32s
    when: Int32s
    length: Int32s
    since: int
    picked: Int32s


@inner
def lower_bound(arrays: WindowArrays, owner: int, member: int) -> float:
    """At most the cost of the edge: every box must touch every user, and the boxes must hold every slot."""
    pools, raw = arrays.pools, arrays.raw
    total = 0.0
    for w in range(arrays.row.shape[1]):
        row, other = arrays.row[owner, w], arrays.row[member, w]
        if row < 0:
            continue
        n = max(pools.ptr[row + 1] - pools.ptr[row], raw.ptr[other + 1] - raw.ptr[other])
        a, b = pools.touch, raw.touch
        if max(a[row, 0], b[other, 0]) > min(
            a[row, 1], b[other, 1]
        ):  # two users apart in time: one group holds all
            t0 = min(pools.t[pools.ptr[row]], raw.t[raw.ptr[other]])
            t1 = max(pools.t[pools.ptr[row + 1] - 1], raw.t[raw.ptr[other + 1] - 1])
            n = t1 - t0 + 1
        span_x = max(max(a[row, 2], b[other, 2]) - min(a[row, 3], b[other, 3]), 0)
        span_y = max(max(a[row, 4], b[other, 4]) - min(a[row, 5], b[other, 5]), 0)
        total += max(arrays.base[row], n * space_cost(span_x + span_y + 2, arrays.weight))
    return total


@inner
def edge_cost(arrays: WindowArrays, owner: int, member: int, limit: float, scratch) -> float:  # type: ignore[no-untyped-def]
    """Exact cost of the edge owner <- member if that is below ``limit``, else ``limit`` or more."""
    union, place_a, place_b, cost, previous = scratch
    total = 0.0
    for w in range(arrays.row.shape[1]):
        row = arrays.row[owner, w]
        if row >= 0:
            other = arrays.row[member, w]
            n = write_union(arrays.pools, row, arrays.raw, other, union, 0, place_a, place_b)
            total += best_cuts(union, 0, n, arrays.weight, limit - total, cost, previous)
    return total


@inner
def make_scratch(arrays: WindowArrays):  # type: ignore[no-untyped-def]
    """Room for one union and its partition."""
    longest, longest_raw = 0, 0
    for row in range(len(arrays.raw.ptr) - 1):
        longest = max(longest, arrays.pools.ptr[row + 1] - arrays.pools.ptr[row])
        longest_raw = max(longest_raw, arrays.raw.ptr[row + 1] - arrays.raw.ptr[row])
    room = longest + longest_raw + 1
    union = Pools(
        np.zeros(2, np.int64),
        np.empty(room, np.int32),
        np.empty(room, np.int32),
        np.empty(room, np.int32),
        np.empty(room, np.int32),
        np.empty(room, np.int32),
        np.empty(room, np.int32),
        np.empty((1, 6), np.int32),
    )
    return union, np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room), np.empty(room, np.int32)


@inner
def mark_barred(arrays: WindowArrays, barred: Barred, owner: int, mark: Int32s) -> None:
    """mark[j] = owner for every j that the owner may not pick, itself included."""
    mark[owner] = owner
    user = arrays.user[owner]
    for entry in range(barred.length[user]):
        if barred.when[user, entry] >= barred.since:
            place = arrays.place[barred.past[user, entry]]
            if place >= 0:
                mark[place] = owner
    for entry in range(barred.picked.shape[1]):
        if barred.picked[owner, entry] >= 0:
            mark[barred.picked[owner, entry]] = owner


@kernel
def nearest(
    arrays: WindowArrays, barred: Barred, owners: Int32s, begin: int, end: int, member: Int32s, cost: Floats
) -> None:
    """For owners[begin .. end - 1] find the cheapest members of their group, by exact cost.

    member (-1 for none) and cost (inf for none) have a line per entry of owners, cheapest first; equal costs keep the
    order in which users are met, which is outwards from the owner. Users that lie near each other should have near
    numbers: the search then meets good members early and the bound spares the rest.
    """
    width = member.shape[1]
    scratch = make_scratch(arrays)
    mark = np.full(len(arrays.user), -1, np.int32)
    for line in range(begin, end):
        owner = int(owners[line])
        mark_barred(arrays, barred, owner, mark)
        member[line, :] = -1
        cost[line, :] = np.inf
        first, last = arrays.first[owner], arrays.last[owner]
        for step in range(1, max(owner - first, last - 1 - owner) + 1):
            for side in range(2):
                other = owner + step if side == 0 else owner - step
                if other < first or other >= last or mark[other] == owner:
                    continue
                worst = cost[line, width - 1]
                if lower_bound(arrays, owner, other) >= worst:
                    continue
                price = edge_cost(arrays, owner, other, worst, scratch)
                if price >= worst:
                    continue
                slot = width - 1
                while slot > 0 and cost[line, slot - 1] > price:
                    cost[line, slot] = cost[line, slot - 1]
                    member[line, slot] = member[line, slot - 1]
                    slot -= 1
                cost[line, slot], member[line, slot] = price, other


@kernel
def edge_costs(
    arrays: WindowArrays, owner: Int32s, member: Int32s, begin: int, end: int, cost: Floats
) -> None:
    """cost[q] (float64) = exact cost of the edge owner[q] <- member[q], for q in begin .. end - 1."""
    scratch = make_scratch(arrays)
    for q in range(begin, end):
        cost[q] = edge_cost(arrays, int(owner[q]), int(member[q]), np.inf, scratch)


@kernel
def allowed_edges(
    arrays: WindowArrays, barred: Barred, owner: Int32s, member: Int32s, allowed: Bools
) -> None:
    """allowed[q] (bool) = whether owner[q] may pick member[q]; owners should come in runs."""
    mark = np.full(len(arrays.user), -1, np.int32)
    for q in range(len(owner)):
        if q == 0 or owner[q] != owner[q - 1]:
            mark_barred(arrays, barred, int(owner[q]), mark)
        allowed[q] = mark[member[q]] != owner[q]


@kernel
def windows_since(
    arrays: WindowArrays, barred: Barred, owner: Int32s, member: Int32s, window: int, age: Int32s
) -> None:
    """age[q] = windows since owner[q] last had member[q]; 0 if never, -1 if it has it in this window already."""
    for q in range(len(owner)):
        user, other = arrays.user[owner[q]], arrays.user[member[q]]
        age[q] = 0
        for entry in range(barred.length[user]):
            if barred.past[user, entry] == other and barred.when[user, entry] >= barred.since:
                age[q] = window - barred.when[user, entry]
        for entry in range(barred.picked.shape[1]):
            if barred.picked[owner[q], entry] == member[q]:
                age[q] = -1
