"""Let those whom a long ring has too many go to another one: the best place for a group's remainder."""

from __future__ import annotations

import numpy as np

from shoal.core.arrays import Int32s
from shoal.core.compiled import inner, kernel
from shoal.hiding.kernels.rings import Rings, Ties, make_room, ring_bound, ring_cost, ring_reuse, users_of
from shoal.hiding.kernels.search import WindowArrays

_LEAST_GAIN = 1e-9  # share of the cost: less is rounding, and might be gained for ever


@inner
def seat(rings: Rings, ring: int, place: int, users: Int32s) -> None:
    """Give the places from ``place`` on to these users of a ring."""
    for step in range(len(users)):
        rings.order[place + step] = users[step]
        rings.slot[users[step]] = place + step
        rings.ring[users[step]] = ring


@kernel
def move_remainder(arrays: WindowArrays, ties: Ties, width: int, first: int, last: int, rings: Rings) -> bool:
    """Move neighbours in the long ring of users first .. last - 1 to where there is less reuse then, or less cost.

    Says whether anybody moved. There is a long ring where the users are no multiple of width + 1; it comes last.
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
    fewest, least = 0, -_LEAST_GAIN * rings.cost[long]
    stay_reuse, stay_cost, ring_total = 0, 0.0, 0.0
    for _ in range(len(turned)):
        turned = np.roll(turned, 1)
        stay[:], ring[k:] = turned[:k], turned[k:]
        own_reuse = ring_reuse(ties, stay, width)
        own_cost = ring_cost(arrays, ties, stay, width, np.inf, scratch)
        for host in range(rings.ring[rings.order[first]], long):
            ring[:k] = users_of(rings, host)
            reuse = own_reuse + ring_reuse(ties, ring, width) - rings.reuse[long] - rings.reuse[host]
            if reuse > fewest:
                continue
            before = rings.cost[long] + rings.cost[host] - own_cost
            limit = before + least if reuse == fewest else np.inf
            if ring_bound(arrays, ring, width) >= limit:
                continue
            cost = ring_cost(arrays, ties, ring, width, limit, scratch)
            if cost < limit:
                best, fewest, least = host, reuse, cost - before
                best_stay[:], best_ring[:] = stay, ring
                stay_reuse, stay_cost, ring_total = own_reuse, own_cost, cost
    if best < 0:
        return False
    rings.reuse[long] += rings.reuse[best] + fewest - stay_reuse
    rings.reuse[best] = stay_reuse
    rings.cost[best], rings.cost[long] = stay_cost, ring_total
    seat(rings, best, rings.start[best], best_stay)
    seat(rings, long, rings.start[long], best_ring)
    return True
