"""Rings made cheaper by exchanging users between them, until no exchange among candidates helps; see rings.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.core.arrays import Floats, Int32s, Int64s
from shoal.core.compiled import jit, jit_inline, jit_inline_allocating
from shoal.hiding.kernels.improving import LEAST_GAIN, next_waiting
from shoal.hiding.kernels.rings import (
    EdgePenalties,
    RingCandidates,
    Rings,
    make_room,
    ring_bound,
    ring_cost,
    ring_reuse,
    users_of,
)
from shoal.hiding.kernels.window import WindowArrays


@jit_inline
def swap(rings: Rings, a: int, b: int) -> None:
    """Let two users change places."""
    place, other = rings.slot[a], rings.slot[b]
    rings.order[place], rings.order[other] = b, a
    rings.slot[a], rings.slot[b] = other, place
    rings.ring[a], rings.ring[b] = rings.ring[b], rings.ring[a]


@jit
def swap_if_better(
    arrays: WindowArrays, penalties: EdgePenalties, width: int, rings: Rings, a: int, b: int, scratch: Any
) -> bool:
    """Let two users change places if that gives less reuse, or as much reuse at less cost; return whether they did."""
    one, other = rings.ring[a], rings.ring[b]
    same = one == other
    old_reuse = rings.reuse[one] + (0 if same else rings.reuse[other])
    old_cost = rings.cost[one] + (0.0 if same else rings.cost[other])
    swap(rings, a, b)
    here, there = users_of(rings, one), users_of(rings, other)
    reuse = ring_reuse(penalties, here, width)
    reuse_there = reuse if same else ring_reuse(penalties, there, width)
    reuse_total = reuse + (0 if same else reuse_there)
    if reuse_total <= old_reuse:
        limit = np.inf if reuse_total < old_reuse else old_cost * (1 - LEAST_GAIN)
        bound = 0.0 if same else ring_bound(arrays, there, width)
        if bound + ring_bound(arrays, here, width) < limit:
            cost = ring_cost(arrays, penalties, here, width, limit - bound, scratch)
            cost_there = cost
            if not same and cost + bound < limit:
                cost_there = ring_cost(arrays, penalties, there, width, limit - cost, scratch)
            if cost + (0.0 if same else max(cost_there, bound)) < limit:
                rings.reuse[one], rings.cost[one] = reuse, cost
                rings.reuse[other], rings.cost[other] = reuse_there, cost_there
                return True
    swap(rings, a, b)
    return False


@jit_inline_allocating
def improve_place(
    arrays: WindowArrays,
    penalties: EdgePenalties,
    width: int,
    candidates: RingCandidates,
    rings: Rings,
    user: int,
    scratch: Any,
) -> int:
    """Find the user a better place, beside a candidate or elsewhere in its long ring.

    Returns the user with whom it changed places, -1 for none.
    """
    own = rings.ring[user]
    if rings.start[own + 1] - rings.start[own] > width + 1:
        for place in range(rings.start[own], rings.start[own + 1]):
            partner = int(rings.order[place])
            if partner != user and swap_if_better(arrays, penalties, width, rings, user, partner, scratch):
                return partner
    for entry in range(candidates.ptr[user], candidates.ptr[user + 1]):
        beside = candidates.member[entry]
        ring = rings.ring[beside]
        if ring == own:
            continue
        for place in range(rings.start[ring], rings.start[ring + 1]):
            partner = int(rings.order[place])
            if partner != beside and swap_if_better(arrays, penalties, width, rings, user, partner, scratch):
                return partner
    return -1


@jit
def exchange(
    arrays: WindowArrays,
    penalties: EdgePenalties,
    width: int,
    candidates: RingCandidates,
    first: int,
    last: int,
    rings: Rings,
) -> None:
    """Exchange users first .. last - 1, a pattern group, between their rings until no exchange helps.

    A user is looked at again whenever its ring has changed.
    """
    scratch = make_room(arrays, width)
    waiting = np.ones(last - first, np.bool_)
    place = next_waiting(waiting, 0)
    while place >= 0:
        waiting[place] = False
        user = first + place
        partner = improve_place(arrays, penalties, width, candidates, rings, user, scratch)
        if partner >= 0:
            for ring in (rings.ring[user], rings.ring[partner]):
                for one in users_of(rings, ring):
                    waiting[one - first] = True
        place = next_waiting(waiting, place)


@jit
def price_rings(
    arrays: WindowArrays, penalties: EdgePenalties, width: int, begin: int, end: int, rings: Rings
) -> None:
    """Set reuse and cost of rings begin .. end - 1."""
    scratch = make_room(arrays, width)
    for ring in range(begin, end):
        users = users_of(rings, ring)
        rings.reuse[ring] = ring_reuse(penalties, users, width)
        rings.cost[ring] = ring_cost(arrays, penalties, users, width, np.inf, scratch)


@jit
def price_places(
    arrays: WindowArrays,
    penalties: EdgePenalties,
    width: int,
    rings: Rings,
    vacant: Int64s,
    user: Int32s,
    ring: Int32s,
    begin: int,
    end: int,
    reuse: Int64s,
    cost: Floats,
) -> None:
    """reuse[q] and cost[q] = reuse and cost of ring[q] with user[q] in its vacant place, for q in begin .. end - 1.

    vacant[r]: the vacant place of ring r, as an index into rings.order.
    """
    scratch = make_room(arrays, width)
    for q in range(begin, end):
        there = ring[q]
        reuse[q], cost[q] = rings.reuse[there], rings.cost[there]
        if there != rings.ring[user[q]]:
            users = users_of(rings, there).copy()
            users[vacant[there] - rings.start[there]] = user[q]
            reuse[q] = ring_reuse(penalties, users, width)
            cost[q] = ring_cost(arrays, penalties, users, width, np.inf, scratch)
