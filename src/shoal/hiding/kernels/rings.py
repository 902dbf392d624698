"""Rings, in which everybody has the next k - 1 users as its hiding set: their cost, and how they are grown.

In a ring of k users these are all the others, so that everybody hides everybody: full consistency. Where the users of a
group are no multiple of k, one ring is longer; in it, too, everybody has k - 1 members and is one k - 1 times. Users
are numbered in the window (int32); costs are float64; ``width`` is k - 1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.core.arrays import Bools, Floats, Int32s, Int64s
from shoal.core.compiled import jit, jit_inline, jit_inline_allocating
from shoal.hiding.kernels.improving import LEAST_GAIN
from shoal.hiding.kernels.merge import best_cuts, box_cost, exponent_of
from shoal.hiding.kernels.pools import longest_row, room_for_pools, write_union
from shoal.hiding.kernels.window import WindowArrays


class EdgePenalties(NamedTuple):
    """What edges owner <- member cost beside the merge; owner i's are entries ptr[i] .. ptr[i + 1] - 1, by member.

    reuse (int64): hiding.reuse.reuse_weight, 0 if the member may serve. surcharge (float64): of a leaking member.
    """

    ptr: Int64s
    member: Int32s
    reuse: Int64s
    surcharge: Floats


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


class RingCandidates(NamedTuple):
    """With whom each user might share a ring: user i with member[ptr[i] .. ptr[i + 1] - 1], cheapest first."""

    ptr: Int64s
    member: Int32s


@jit_inline
def find_penalty(penalties: EdgePenalties, owner: int, member: int) -> int:
    """The entry of an edge, -1 if it has none."""
    low, high = penalties.ptr[owner], penalties.ptr[owner + 1]
    end = high
    while low < high:
        middle = (low + high) // 2
        if penalties.member[middle] < member:
            low = middle + 1
        else:
            high = middle
    return int(low) if low < end and penalties.member[low] == member else -1


@jit_inline
def next_in(ring: Int32s, owner: int, step: int) -> int:
    """The user that stands ``step`` places after the ring's owner-th, round the ring."""
    place = owner + step
    return int(ring[place - len(ring) if place >= len(ring) else place])


@jit
def ring_reuse(penalties: EdgePenalties, ring: Int32s, width: int) -> int:
    """How much reuse there is in a ring where everybody has the next ``width`` users: 0 if all of them may serve."""
    total = 0
    for owner in range(len(ring)):
        for step in range(1, width + 1):
            entry = find_penalty(penalties, ring[owner], next_in(ring, owner, step))
            if entry >= 0:
                total += penalties.reuse[entry]
    return total


@jit
def ring_bound(arrays: WindowArrays, ring: Int32s, width: int) -> float:
    """A lower bound on the cost of a ring: every box must touch every user, and the boxes must hold every slot."""
    pools, raw, total = arrays.pools, arrays.raw, 0.0
    for owner in range(len(ring)):
        for w in range(arrays.row.shape[1]):
            row = arrays.row[ring[owner], w]
            if row < 0:
                continue
            a = pools.touch
            late, early = a[row, 0], a[row, 1]
            east, west, north, south = a[row, 2], a[row, 3], a[row, 4], a[row, 5]
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
            total += max(arrays.base[row], box_cost(n, span, exponent_of(arrays.weight)))
    return total


@jit
def ring_cost(
    arrays: WindowArrays,
    penalties: EdgePenalties,
    ring: Int32s,
    width: int,
    limit: float,
    scratch: Any,
) -> float:
    """The cost of all records of a ring where everybody has the next ``width`` users, surcharges included.

    Exact if it is below ``limit``, else ``limit`` or more.
    """
    total = 0.0
    for owner in range(len(ring)):
        for step in range(1, width + 1):
            entry = find_penalty(penalties, ring[owner], next_in(ring, owner, step))
            if entry >= 0:
                total += penalties.surcharge[entry]
        for w in range(arrays.row.shape[1]):
            row = arrays.row[ring[owner], w]
            if row >= 0 and total < limit:
                total += record_cost(arrays, ring, owner, width, w, limit - total, scratch)
        if total >= limit:
            break
    return total


@jit_inline
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


@jit_inline_allocating
def make_room(arrays: WindowArrays, width: int) -> Any:
    """Scratch for the merge of a record and ``width`` more users."""
    room = longest_row(arrays.pools) + width * longest_row(arrays.raw) + 1
    return (
        room_for_pools(1, room),
        room_for_pools(1, room),
        np.empty(room, np.int32),
        np.empty(room, np.int32),
        np.empty(room),
        np.empty(room, np.int32),
    )


@jit_inline_allocating
def users_of(rings: Rings, ring: int) -> Int32s:
    """The users of a ring, in their order."""
    return rings.order[rings.start[ring] : rings.start[ring + 1]]


@jit_inline
def cost_before(arrays: WindowArrays, user: int) -> float:
    """The cost of the user's record in the window before anybody joins it."""
    total = 0.0
    for w in range(arrays.row.shape[1]):
        if arrays.row[user, w] >= 0:
            total += arrays.base[arrays.row[user, w]]
    return total


@jit_inline
def cheaper_with(
    arrays: WindowArrays,
    penalties: EdgePenalties,
    ring: Int32s,
    user: int,
    least: tuple[int, float],
    scratch: Any,
) -> tuple[int, float]:
    """(reuse, cost) of a ring with this user in its last place if that is less than ``least``, else ``least``.

    The cost of the user's record before is left out: a wide record must be somewhere, and takes others in for little.
    """
    ring[-1] = user
    width = len(ring) - 1
    reuse = ring_reuse(penalties, ring, width)
    if reuse > least[0]:
        return least
    already = cost_before(arrays, user)
    limit = least[1] + already if reuse == least[0] else np.inf
    if ring_bound(arrays, ring, width) >= limit:
        return least
    cost = ring_cost(arrays, penalties, ring, width, limit, scratch)
    return (reuse, cost - already) if cost < limit else least


@jit_inline
def join_cheapest(
    arrays: WindowArrays,
    penalties: EdgePenalties,
    candidates: RingCandidates,
    first: int,
    last: int,
    free: Bools,
    ring: Int32s,
    scratch: Any,
) -> None:
    """Fill the last place of a ring with the free user who makes it cheapest: a candidate, or else anybody."""
    best, least = -1, (1, 0.0)  # candidates only as long as they may serve
    for place in range(len(ring) - 1):
        for entry in range(candidates.ptr[ring[place]], candidates.ptr[ring[place] + 1]):
            user = int(candidates.member[entry])
            if free[user - first]:
                found = cheaper_with(arrays, penalties, ring, user, least, scratch)
                if found < least:
                    best, least = user, found
    if best < 0:
        seed, least = int(ring[0]), (2**62, np.inf)
        for step in range(1, last - first):
            for user in (seed + step, seed - step):
                if first <= user < last and free[user - first]:
                    found = cheaper_with(arrays, penalties, ring, user, least, scratch)
                    if found < least:
                        best, least = user, found
    ring[-1] = best
    free[best - first] = False


@jit
def grow(
    arrays: WindowArrays,
    penalties: EdgePenalties,
    k: int,
    candidates: RingCandidates,
    seeds: Int32s,
    first: int,
    last: int,
    order: Int32s,
) -> None:
    """Write users first .. last - 1 into order[first .. last - 1], ring after ring of k, the remainder at the end.

    seeds: these users in the order in which they are given a ring, if they have none by then.
    """
    scratch = make_room(arrays, k - 1)
    free = np.ones(last - first, np.bool_)
    place = first
    for seed in seeds:
        if not free[seed - first]:
            continue
        free[seed - first] = False
        order[place] = seed
        if last - place >= k:
            for size in range(2, k + 1):
                ring = order[place : place + size]
                join_cheapest(arrays, penalties, candidates, first, last, free, ring, scratch)
            place += k
        else:
            place += 1


@jit
def extend_cheapest(
    arrays: WindowArrays, penalties: EdgePenalties, k: int, first: int, last: int, order: Int32s
) -> None:
    """Move the ring of k that takes in the remainder of order[first .. last - 1] most cheaply to just before it."""
    n_left = (last - first) % k
    if n_left == 0:
        return
    scratch = make_room(arrays, k - 1)
    ring = np.empty(k + n_left, np.int32)
    ring[k:] = order[last - n_left : last]
    best, least = -1, (2**62, np.inf)
    for place in range(first, last - n_left, k):
        ring[:k] = order[place : place + k]
        reuse = ring_reuse(penalties, ring, k - 1) - ring_reuse(penalties, ring[:k], k - 1)
        if reuse > least[0]:
            continue
        before = ring_cost(arrays, penalties, ring[:k], k - 1, np.inf, scratch)
        limit = least[1] + before if reuse == least[0] else np.inf
        if ring_bound(arrays, ring, k - 1) < limit:
            cost = ring_cost(arrays, penalties, ring, k - 1, limit, scratch)
            if cost < limit:
                best, least = place, (reuse, cost - before)
    final = last - n_left - k
    for step in range(k):
        order[best + step], order[final + step] = order[final + step], order[best + step]


@jit_inline
def place_in_ring(rings: Rings, ring: int, place: int, users: Int32s) -> None:
    """Give the places from ``place`` on to these users of a ring."""
    for step in range(len(users)):
        rings.order[place + step] = users[step]
        rings.slot[users[step]] = place + step
        rings.ring[users[step]] = ring


@jit
def move_remainder(
    arrays: WindowArrays, penalties: EdgePenalties, width: int, first: int, last: int, rings: Rings
) -> bool:
    """Move the remainder of the long ring of users first .. last - 1 to a ring where it gives less reuse, or less cost.

    Returns whether anybody moved. There is a long ring where the users are no multiple of width + 1; it comes last.
    """
    k = width + 1
    n_left = (last - first) % k
    if n_left == 0:
        return False
    scratch = make_room(arrays, width)
    long = rings.ring[rings.order[last - 1]]
    turned = users_of(rings, long).copy()
    stay, ring = np.empty(k, np.int32), np.empty(k + n_left, np.int32)
    best_stay, best_ring, best = stay.copy(), ring.copy(), -1
    fewest, least = 0, -LEAST_GAIN * rings.cost[long]
    stay_reuse, stay_cost, ring_total = 0, 0.0, 0.0
    for _ in range(len(turned)):
        turned = np.roll(turned, 1)
        stay[:], ring[k:] = turned[:k], turned[k:]
        own_reuse = ring_reuse(penalties, stay, width)
        own_cost = ring_cost(arrays, penalties, stay, width, np.inf, scratch)
        for host in range(rings.ring[rings.order[first]], long):
            ring[:k] = users_of(rings, host)
            reuse = own_reuse + ring_reuse(penalties, ring, width) - rings.reuse[long] - rings.reuse[host]
            if reuse > fewest:
                continue
            before = rings.cost[long] + rings.cost[host] - own_cost
            limit = before + least if reuse == fewest else np.inf
            if ring_bound(arrays, ring, width) >= limit:
                continue
            cost = ring_cost(arrays, penalties, ring, width, limit, scratch)
            if cost < limit:
                best, fewest, least = host, reuse, cost - before
                best_stay[:], best_ring[:] = stay, ring
                stay_reuse, stay_cost, ring_total = own_reuse, own_cost, cost
    if best < 0:
        return False
    rings.reuse[long] += rings.reuse[best] + fewest - stay_reuse
    rings.reuse[best] = stay_reuse
    rings.cost[best], rings.cost[long] = stay_cost, ring_total
    place_in_ring(rings, best, rings.start[best], best_stay)
    place_in_ring(rings, long, rings.start[long], best_ring)
    return True
