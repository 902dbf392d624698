"""Full consistency, the variant the paper argues against: groups of k users who all hide each other.

The users of a pattern group are cut into rings of k. Where their number is no multiple of k, the last ring has up to
2k - 1 users, and each of these has the k - 1 that come next round it: k-pick, as mutual as it can be.
"""

from __future__ import annotations

import numpy as np

from shoal.blocks import Workers
from shoal.errors import UnfinishedError
from shoal.hiding.company import Company
from shoal.hiding.matching import CANDIDATES, Picks
from shoal.hiding.neighbours import no_edges, with_nearest
from shoal.hiding.pairs import both_ways, pair_up
from shoal.hiding.pick import Edges
from shoal.hiding.reuse import History
from shoal.kernels.exchange import Candidates, Rings, exchange, price_rings
from shoal.kernels.growing import extend_cheapest, grow
from shoal.kernels.rings import Ties
from shoal.kernels.search import Barred, WindowArrays
from shoal.samples import Bools, Floats, Int32s, Int64s


def choose_mutual(
    window: int,
    arrays: WindowArrays,
    k: int,
    history: History,
    workers: Workers,
    company: Company | None = None,
) -> Picks:
    """Rings of every pattern group: found user by user (k = 2: by assignment), then bettered by exchanges.

    Reuse counts before any cost. Who is left with a member that served before may exchange with everybody.
    """
    n = len(arrays.user)
    if n and int((arrays.last - arrays.first).min()) < k:
        raise UnfinishedError("Self-check failed: a presence pattern is shared by fewer than k users.")
    everybody = np.arange(n, dtype=np.int32)
    barred = history.barred(window, np.empty((n, 0), np.int32))
    edges = with_nearest(no_edges(), arrays, barred, everybody, CANDIDATES, workers)
    surcharge = np.zeros(len(edges.owner))
    if company is not None:
        surcharge = company.surcharge(window, arrays, barred, edges, workers)
        edges.cost[:] += surcharge
    ties = _ties(window, arrays, barred, edges, surcharge)
    mutual = both_ways(edges, n)
    candidates = _candidates(mutual, n)
    groups = np.unique(arrays.first)
    order = np.empty(n, np.int32)
    if k == 2:
        order = pair_up(arrays, barred, edges, CANDIDATES, workers)
    else:
        seeds = _seeds(arrays, mutual, k)

        def grow_one(number: int) -> None:
            first = int(groups[number])
            last = int(arrays.last[first])
            grow(arrays, ties, k, candidates, seeds[first:last], first, last, order)

        workers.each(len(groups), grow_one, _nothing)

    def extend_one(number: int) -> None:
        first = int(groups[number])
        extend_cheapest(arrays, ties, k, first, int(arrays.last[first]), order)

    workers.each(len(groups), extend_one, _nothing)
    rings = _rings(arrays, order, k)
    workers.over(len(rings.cost), lambda begin, end: price_rings(arrays, ties, k - 1, begin, end, rings))

    def exchange_one(number: int) -> None:
        first = int(groups[number])
        exchange(arrays, ties, k - 1, candidates, first, int(arrays.last[first]), rings)

    workers.each(len(groups), exchange_one, _nothing)
    return _picks(arrays, rings, k, ties)


def _nothing() -> None:
    pass


def _ties(window: int, arrays: WindowArrays, barred: Barred, edges: Edges, surcharge: Floats) -> Ties:
    """Members that served before, and edges that are dearer than their merge."""
    n = len(arrays.user)
    length = barred.length[arrays.user]
    owner = np.repeat(np.arange(n, dtype=np.int32), length)
    entry = np.arange(len(owner)) - np.repeat(np.cumsum(length) - length, length)
    member = arrays.place[barred.past[arrays.user[owner], entry]]
    when = barred.when[arrays.user[owner], entry]
    counts = (member >= 0) & (when >= barred.since)
    owner, member, when = owner[counts], member[counts], when[counts]
    latest = np.lexsort((-when, member, owner))
    keys = owner[latest].astype(np.int64) * n + member[latest]
    keys, first = np.unique(keys, return_index=True)
    age = window - when[latest][first].astype(np.int64)
    dearer = surcharge != 0
    keys = np.concatenate([keys, edges.owner[dearer].astype(np.int64) * n + edges.member[dearer]])
    order = np.argsort(keys, kind="stable")
    nothing = np.zeros(int(dearer.sum()), np.int64)
    reuse = np.concatenate([age.max(initial=0) + 2 - age, nothing])[order]
    extra = np.concatenate([np.zeros(len(age)), surcharge[dearer]])[order]
    ptr = np.searchsorted(keys[order], np.arange(n + 1, dtype=np.int64) * n)
    return Ties(ptr, (keys[order] % n).astype(np.int32), reuse, extra)


def _candidates(mutual: Edges, n: int) -> Candidates:
    order = np.lexsort((mutual.cost, mutual.owner))
    return Candidates(np.searchsorted(mutual.owner, np.arange(n + 1)), mutual.member[order])


def _seeds(arrays: WindowArrays, mutual: Edges, k: int) -> Int32s:
    """The users of each group, the one whose cheapest partner costs most first."""
    cheapest = np.full(len(arrays.user), np.inf)
    np.minimum.at(cheapest, mutual.owner, mutual.cost)
    return np.lexsort((-cheapest, arrays.first)).astype(np.int32)


def _rings(arrays: WindowArrays, order: Int32s, k: int) -> Rings:
    n = len(order)
    sizes = []
    for first in np.unique(arrays.first).tolist():
        size = int(arrays.last[first]) - first
        sizes += [k] * (size // k - 1) + [k + size % k]
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    slot = np.empty(n, np.int32)
    slot[order] = np.arange(n, dtype=np.int32)
    ring = np.empty(n, np.int32)
    ring[order] = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    return Rings(order, start, slot, ring, np.zeros(len(sizes), np.int64), np.zeros(len(sizes)))


def _picks(arrays: WindowArrays, rings: Rings, k: int, ties: Ties) -> Picks:
    size = np.diff(rings.start)[rings.ring]
    begin = rings.start[rings.ring]
    steps = np.arange(1, k)
    place = begin[:, None] + (rings.slot - begin)[:, None] % size[:, None]
    place = begin[:, None] + ((rings.slot - begin)[:, None] + steps) % size[:, None]
    member = rings.order[place]
    n = len(member)
    keys = np.repeat(np.arange(n), np.diff(ties.ptr)) * n + ties.member
    again = np.isin(np.arange(n)[:, None] * n + member, keys[ties.reuse > 0])
    return Picks(arrays.user, arrays.user[member], again.sum(axis=1).astype(np.int32))
