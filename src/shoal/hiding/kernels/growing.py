"""Begin with rings that are grown user by user, those first who are hardest to serve."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.core.arrays import Bools, Int32s
from shoal.core.compiled import inner, kernel
from shoal.hiding.kernels.rings import Candidates, Ties, make_room, ring_bound, ring_cost, ring_reuse
from shoal.hiding.kernels.search import WindowArrays


@inner
def cost_alone(arrays: WindowArrays, user: int) -> float:
    """What the user's record costs in the window as it is."""
    total = 0.0
    for w in range(arrays.row.shape[1]):
        if arrays.row[user, w] >= 0:
            total += arrays.base[arrays.row[user, w]]
    return total


@inner
def cheaper_with(
    arrays: WindowArrays, ties: Ties, ring: Int32s, user: int, least: tuple[int, float], scratch: Any
) -> tuple[int, float]:
    """What a ring would take with this user as its last, (reuse, cost), where that is less than ``least``.

    What the user's record costs already is left out: a wide one must be somewhere, and takes others in for little.
    """
    ring[-1] = user
    width = len(ring) - 1
    reuse = ring_reuse(ties, ring, width)
    if reuse > least[0]:
        return least
    already = cost_alone(arrays, user)
    limit = least[1] + already if reuse == least[0] else np.inf
    if ring_bound(arrays, ring, width) >= limit:
        return least
    cost = ring_cost(arrays, ties, ring, width, limit, scratch)
    return (reuse, cost - already) if cost < limit else least


@inner
def join_cheapest(
    arrays: WindowArrays,
    ties: Ties,
    candidates: Candidates,
    first: int,
    last: int,
    free: Bools,
    ring: Int32s,
    scratch: Any,
) -> None:
    """Fill the last place of a ring with the free user who makes it cheapest: a candidate of its users, or anybody."""
    best, least = -1, (1, 0.0)  # candidates only as long as they may serve
    for place in range(len(ring) - 1):
        for entry in range(candidates.ptr[ring[place]], candidates.ptr[ring[place] + 1]):
            user = int(candidates.member[entry])
            if free[user - first]:
                found = cheaper_with(arrays, ties, ring, user, least, scratch)
                if found < least:
                    best, least = user, found
    if best < 0:
        seed, least = int(ring[0]), (2**62, np.inf)
        for step in range(1, last - first):
            for user in (seed + step, seed - step):
                if first <= user < last and free[user - first]:
                    found = cheaper_with(arrays, ties, ring, user, least, scratch)
                    if found < least:
                        best, least = user, found
    ring[-1] = best
    free[best - first] = False


@kernel
def grow(
    arrays: WindowArrays,
    ties: Ties,
    k: int,
    candidates: Candidates,
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
                join_cheapest(arrays, ties, candidates, first, last, free, ring, scratch)
            place += k
        else:
            place += 1


@kernel
def extend_cheapest(arrays: WindowArrays, ties: Ties, k: int, first: int, last: int, order: Int32s) -> None:
    """Put last, before the remainder of order[first .. last - 1], the ring of k that takes it in at the least cost."""
    n_left = (last - first) % k
    if n_left == 0:
        return
    scratch = make_room(arrays, k - 1)
    ring = np.empty(k + n_left, np.int32)
    ring[k:] = order[last - n_left : last]
    best, least = -1, (2**62, np.inf)
    for place in range(first, last - n_left, k):
        ring[:k] = order[place : place + k]
        reuse = ring_reuse(ties, ring, k - 1) - ring_reuse(ties, ring[:k], k - 1)
        if reuse > least[0]:
            continue
        before = ring_cost(arrays, ties, ring[:k], k - 1, np.inf, scratch)
        limit = least[1] + before if reuse == least[0] else np.inf
        if ring_bound(arrays, ring, k - 1) < limit:
            cost = ring_cost(arrays, ties, ring, k - 1, limit, scratch)
            if cost < limit:
                best, least = place, (reuse, cost - before)
    final = last - n_left - k
    for step in range(k):
        order[best + step], order[final + step] = order[final + step], order[best + step]
