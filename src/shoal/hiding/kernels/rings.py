"""What it costs users to hide each other: rings, in which everybody has the next k - 1 users as its hiding set.

In a ring of k users these are all the others, so that everybody hides everybody: full consistency. A longer ring, for
what is left where the number of users is no multiple of k, still lets everybody pick k - 1 and be picked k - 1 times.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.core.arrays import Floats, Int32s, Int64s
from shoal.core.compiled import inner, kernel, making
from shoal.hiding.kernels.merge import best_cuts, space_cost
from shoal.hiding.kernels.pools import longest_row, room_for_union, write_union
from shoal.hiding.kernels.search import WindowArrays


class Ties(NamedTuple):
    """What edges owner <- member cost beside the merge; owner i's are entries ptr[i] .. ptr[i + 1] - 1, by member.

    reuse: int64, how recently the member served the owner, 0 if it may serve. surcharge: float64.
    """

    ptr: Int64s
    member: Int32s
    reuse: Int64s
    surcharge: Floats


@inner
def find_tie(ties: Ties, owner: int, member: int) -> int:
    """The entry of an edge, -1 if it has none."""
    low, high = ties.ptr[owner], ties.ptr[owner + 1]
    end = high
    while low < high:
        middle = (low + high) // 2
        if ties.member[middle] < member:
            low = middle + 1
        else:
            high = middle
    return int(low) if low < end and ties.member[low] == member else -1


@inner
def next_in(ring: Int32s, owner: int, step: int) -> int:
    """The user so many steps on from the ring's owner-th, round the ring."""
    place = owner + step
    return int(ring[place - len(ring) if place >= len(ring) else place])


@kernel
def ring_reuse(ties: Ties, ring: Int32s, width: int) -> int:
    """How much reuse there is in a ring where everybody has the next ``width`` users: 0 if all of them may serve."""
    total = 0
    for owner in range(len(ring)):
        for step in range(1, width + 1):
            entry = find_tie(ties, ring[owner], next_in(ring, owner, step))
            if entry >= 0:
                total += ties.reuse[entry]
    return total


@kernel
def ring_bound(arrays: WindowArrays, ring: Int32s, width: int) -> float:
    """At most the cost of a ring: every box must touch every user, and the boxes must hold every slot."""
    pools, raw, total = arrays.pools, arrays.raw, 0.0
    for owner in range(len(ring)):
        for w in range(arrays.row.shape[1]):
            row = arrays.row[ring[owner], w]
            if row < 0:
                continue
            a = pools.touch
            late, early, east, west, north, south = (
                a[row, 0],
                a[row, 1],
                a[row, 2],
                a[row, 3],
                a[row, 4],
                a[row, 5],
            )
            first, last = pools.ptr[row], pools.ptr[row + 1]
            n, t0, t1 = last - first, pools.slot[first].t, pools.slot[last - 1].t
            for step in range(1, width + 1):
                other = arrays.row[next_in(ring, owner, step), w]
                b = raw.touch
                late, early = max(late, b[other, 0]), min(early, b[other, 1])
                east, west = max(east, b[other, 2]), min(west, b[other, 3])
                north, south = max(north, b[other, 4]), min(south, b[other, 5])
                first, last = raw.ptr[other], raw.ptr[other + 1]
                n, t0, t1 = max(n, last - first), min(t0, raw.slot[first].t), max(t1, raw.slot[last - 1].t)
            if late > early:  # two users apart in time: one box holds all
                n = t1 - t0 + 1
            span = max(east - west, 0) + max(north - south, 0) + 2
            total += max(arrays.base[row], n * space_cost(span, arrays.weight))
    return total


@kernel
def ring_cost(
    arrays: WindowArrays,
    ties: Ties,
    ring: Int32s,
    width: int,
    limit: float,
    scratch: Any,
) -> float:
    """What the records of a ring cost together where everybody has the next ``width`` users, surcharges included.

    Exact if that is below ``limit``, else ``limit`` or more.
    """
    total = 0.0
    for owner in range(len(ring)):
        for step in range(1, width + 1):
            entry = find_tie(ties, ring[owner], next_in(ring, owner, step))
            if entry >= 0:
                total += ties.surcharge[entry]
        for w in range(arrays.row.shape[1]):
            row = arrays.row[ring[owner], w]
            if row >= 0 and total < limit:
                total += record_cost(arrays, ring, owner, width, w, limit - total, scratch)
        if total >= limit:
            break
    return total


@inner
def record_cost(
    arrays: WindowArrays, ring: Int32s, owner: int, width: int, w: int, limit: float, scratch: Any
) -> float:
    """Cost of the record of the ring's owner-th user in the window's w-th epoch."""
    one, other, place_a, place_b, cost, previous = scratch
    member = arrays.row[next_in(ring, owner, 1), w]
    n = write_union(arrays.pools, arrays.row[ring[owner], w], arrays.raw, member, one, 0, place_a, place_b)
    for step in range(2, width + 1):
        one.ptr[1] = n
        member = arrays.row[next_in(ring, owner, step), w]
        n = write_union(one, 0, arrays.raw, member, other, 0, place_a, place_b)
        one, other = other, one
    return best_cuts(one, 0, n, arrays.weight, limit, cost, previous)


@making
def make_room(arrays: WindowArrays, width: int) -> Any:
    """Scratch for the merge of a record and ``width`` more users."""
    room = longest_row(arrays.pools) + width * longest_row(arrays.raw) + 1
    return (
        room_for_union(room),
        room_for_union(room),
        np.empty(room, np.int32),
        np.empty(room, np.int32),
        np.empty(room),
        np.empty(room, np.int32),
    )


class Rings(NamedTuple):
    """A partition of a window's users: ring r is order[start[r] .. start[r + 1] - 1].

    A pattern group's users first .. last - 1 stand in order[first .. last - 1]. slot: the inverse of order. ring: the
    ring of every user. reuse (int64), cost (float64): of every ring.
    """

    order: Int32s
    start: Int64s
    slot: Int32s
    ring: Int32s
    reuse: Int64s
    cost: Floats


class Candidates(NamedTuple):
    """With whom each user might share a ring: user i with member[ptr[i] .. ptr[i + 1] - 1], cheapest first."""

    ptr: Int64s
    member: Int32s


@making
def users_of(rings: Rings, ring: int) -> Int32s:
    """The users of a ring, in their order."""
    return rings.order[rings.start[ring] : rings.start[ring + 1]]
