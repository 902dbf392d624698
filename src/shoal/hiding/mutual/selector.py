"""The selector ``mutual``: full consistency, the variant the paper argues against, in which k users hide each other.

The users of a pattern group are cut into rings of k. Where their number is no multiple of k, the last ring has up to
2k - 1 users, and each of these has the k - 1 that come next round it: k-pick, as mutual as it can be. Over whole
trajectories there are clusters instead (clusters.py), in which everybody has everybody else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from shoal.core.arrays import Bytes, Int32s
from shoal.core.workers import Workers
from shoal.hiding.kernels.reuse import ReuseRule
from shoal.hiding.kernels.ring_exchange import exchange, price_rings
from shoal.hiding.kernels.rings import (
    EdgePenalties,
    RingCandidates,
    Rings,
    extend_cheapest,
    grow,
    move_remainder,
)
from shoal.hiding.kernels.window import WindowArrays
from shoal.hiding.leakage.surcharge import LeakageContext, Surcharge, leakage_surcharge
from shoal.hiding.matching.candidates import CANDIDATES, build_search_tree, nearest_edges, sorted_edges
from shoal.hiding.mutual.candidates import (
    added_cost,
    both_ways,
    cheapest_first,
    edge_penalties,
    hardest_first,
    with_everybody,
    with_the_hardest,
)
from shoal.hiding.mutual.clusters import choose_clusters
from shoal.hiding.mutual.pairs import pair_up
from shoal.hiding.mutual.reassignment import reassign
from shoal.hiding.selector import CausalSelector, OpenWindow
from shoal.hiding.window import HidingSets, check_groups

_SMALL = 200  # users: in a larger group it does not matter which ring takes in the remainder


class MutualSelector(CausalSelector):
    """Decides each window on its own, in shards, on threads."""

    takes_witnesses: ClassVar[bool] = False

    def choose(self, window: OpenWindow) -> HidingSets:
        """Rings of every shard of the window; clusters over whole trajectories."""
        setup, arrays = self._setup, self.shards_of(window)
        if setup.promise.whole:
            return choose_clusters(
                window.number, arrays, setup.promise.k, window.rule, setup.workers, setup.min_spread_cells
            )
        return choose_mutual(
            window.number, arrays, setup.promise.k, window.rule, setup.workers, window.leakage
        )


def choose_mutual(
    window: int,
    arrays: WindowArrays,
    k: int,
    rule: ReuseRule,
    workers: Workers,
    leakage: LeakageContext | None = None,
) -> HidingSets:
    """Rings of every group: pairs by assignment, longer rings grown and reassigned; then users are exchanged.

    Reuse counts before any cost. leakage: if given, members who would let other epochs leak are dearer.
    """
    n = len(arrays.user)
    check_groups(arrays, k)
    edges = sorted_edges(nearest_edges(arrays, build_search_tree(arrays), rule, CANDIDATES, workers), n)
    dearer = Surcharge(np.zeros(len(edges.owner)), np.zeros(n, np.uint8))
    if leakage is not None:
        dearer = leakage_surcharge(leakage, arrays, rule, edges, workers)
        edges.cost[:] += dearer.of_edge
    penalties = edge_penalties(window, arrays, rule, edges, dearer.of_edge)
    adds = added_cost(arrays, both_ways(edges, n))
    hardest = hardest_first(arrays, adds)
    candidates = cheapest_first(adds, n)
    if k == 2:
        order = pair_up(arrays, rule, edges, CANDIDATES, workers)
    else:
        order = _grown(arrays, penalties, k, candidates, hardest, workers)
    rings = _closed(arrays, penalties, k, order, workers)
    candidates = with_the_hardest(arrays, candidates, hardest)
    if k > 2:
        reassign(arrays, penalties, k, candidates, rings, window, workers)
    _exchange(arrays, penalties, k, candidates, rings, workers)
    if rings.reuse.any():
        _exchange(arrays, penalties, k, with_everybody(arrays, candidates, rings), rings, workers)
    return _next_in_ring(arrays, penalties, k, rings, dearer.exposure)


def _grown(
    arrays: WindowArrays,
    penalties: EdgePenalties,
    k: int,
    candidates: RingCandidates,
    seeds: Int32s,
    workers: Workers,
) -> Int32s:
    """The users in order, ring after ring, the remainder of each group at its end."""
    order = np.empty(len(arrays.user), np.int32)

    def grow_group(first: int, last: int) -> None:
        grow(arrays, penalties, k, candidates, seeds[first:last], first, last, order)

    _each_group(arrays, grow_group, workers)
    return order


def _closed(arrays: WindowArrays, penalties: EdgePenalties, k: int, order: Int32s, workers: Workers) -> Rings:
    """Rings of users in such an order; the remainder of each group joins the ring that takes it in most cheaply."""
    _each_group(
        arrays, lambda first, last: extend_cheapest(arrays, penalties, k, first, last, order), workers
    )
    sizes: list[int] = []
    for first in np.unique(arrays.first).tolist():
        n = int(arrays.last[first]) - first
        sizes += [k] * (n // k - 1) + [k + n % k]
    slot, ring = np.empty_like(order), np.empty_like(order)
    slot[order] = np.arange(len(order), dtype=np.int32)
    ring[order] = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    rings = Rings(order, start, slot, ring, np.zeros(len(sizes), np.int64), np.zeros(len(sizes)))
    workers.for_blocks(
        len(sizes), lambda begin, end: price_rings(arrays, penalties, k - 1, begin, end, rings)
    )
    return rings


def _exchange(
    arrays: WindowArrays,
    penalties: EdgePenalties,
    k: int,
    candidates: RingCandidates,
    rings: Rings,
    workers: Workers,
) -> None:
    """Exchange users inside every group, and move the remainder of a small group, until neither helps."""

    def exchange_group(first: int, last: int) -> None:
        exchange(arrays, penalties, k - 1, candidates, first, last, rings)
        while last - first <= _SMALL and move_remainder(arrays, penalties, k - 1, first, last, rings):
            exchange(arrays, penalties, k - 1, candidates, first, last, rings)

    _each_group(arrays, exchange_group, workers)


def _each_group(arrays: WindowArrays, call: Callable[[int, int], object], workers: Workers) -> None:
    """Call ``call(first, last)`` for every pattern group."""
    groups = np.unique(arrays.first).tolist()
    workers.for_each(len(groups), lambda number: call(groups[number], int(arrays.last[groups[number]])))


def _next_in_ring(
    arrays: WindowArrays, penalties: EdgePenalties, k: int, rings: Rings, exposure: Bytes
) -> HidingSets:
    """Everybody's hiding set: the next k - 1 users round the ring."""
    begin, size = rings.start[rings.ring][:, None], np.diff(rings.start)[rings.ring][:, None]
    member = rings.order[begin + (rings.slot[:, None] - begin + np.arange(1, k)) % size]
    n = len(member)
    former = np.repeat(np.arange(n), np.diff(penalties.ptr)) * n + penalties.member
    again = np.isin(np.arange(n)[:, None] * n + member, former[penalties.reuse > 0])
    relaxed = again.sum(axis=1).astype(np.int32)
    return HidingSets(arrays.user, arrays.user[member], relaxed, exposure[member[:, 0]])
