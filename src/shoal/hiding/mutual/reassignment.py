"""Improve the rings of a window: one user leaves each ring, and all of them are assigned to rings at the least cost."""

from __future__ import annotations

import numpy as np

from shoal.core.arrays import Int32s, Int64s
from shoal.core.workers import Workers
from shoal.errors import UnfinishedError
from shoal.hiding.kernels.ring_exchange import price_places
from shoal.hiding.kernels.rings import EdgePenalties, RingCandidates, Rings
from shoal.hiding.kernels.window import WindowArrays
from shoal.hiding.matching.assignment import Edges, cheapest_permutation

_ROUNDS = 12  # at most, for each place of a ring
_WORTHWHILE = 5e-4  # of the cost, gained in as many rounds as a ring has places


def reassign(
    arrays: WindowArrays,
    penalties: EdgePenalties,
    k: int,
    candidates: RingCandidates,
    rings: Rings,
    seed: int,
    workers: Workers,
) -> None:
    """Reassign users, round after round, as long as that gains enough.

    In every round each ring gives up one of its users, drawn at random, and gets one. The cost of a ring then depends
    on one choice only, so the cheapest choice is an assignment, and found exactly.
    """
    rng = np.random.default_rng(seed)
    turn = rng.permuted(np.tile(np.arange(k), (len(rings.cost), 1)), axis=1)
    before = _total(rings)
    for number in range(_ROUNDS * k):
        if number % k == 0:
            turn = rng.permuted(turn, axis=1)
        sizes = np.diff(rings.start)
        place = np.where(sizes > k, rng.integers(0, sizes), turn[:, number % k])
        _reassign_places(arrays, penalties, k, candidates, rings, rings.start[:-1] + place, workers)
        if number % k == k - 1:
            after = _total(rings)
            if after[0] == before[0] and after[1] > (1 - _WORTHWHILE) * before[1]:
                break
            before = after


def _total(rings: Rings) -> tuple[int, float]:
    return int(rings.reuse.sum()), float(rings.cost.sum())


def _reassign_places(
    arrays: WindowArrays,
    penalties: EdgePenalties,
    k: int,
    candidates: RingCandidates,
    rings: Rings,
    vacant: Int64s,
    workers: Workers,
) -> None:
    """Assign the users at ``vacant``, one place of each ring, to these places at the least cost."""
    n_rings = len(vacant)
    user, ring = _possible_places(candidates, rings, vacant)
    reuse, cost = np.empty(len(user), np.int64), np.empty(len(user))
    workers.for_blocks(
        len(user),
        lambda begin, end: price_places(
            arrays, penalties, k - 1, rings, vacant, user, ring, begin, end, reuse, cost
        ),
    )
    prohibitive = float(cost.max(initial=0.0)) * (n_rings + 1) + 1
    price = cost + prohibitive * reuse
    # The least that a ring costs in any case is left out: the solver then has more digits for the differences.
    least = np.full(n_rings, np.inf)
    np.minimum.at(least, ring, price)
    goes_to = cheapest_permutation(n_rings, Edges(rings.ring[user], ring, price - least[ring]))
    if goes_to.min() < 0:
        raise UnfinishedError("Self-check failed: users whose places were free found none.")
    keys = rings.ring[user].astype(np.int64) * n_rings + ring
    chosen = np.searchsorted(keys, np.arange(n_rings) * n_rings + goes_to)
    moved = rings.order[vacant]
    rings.order[vacant[goes_to]] = moved
    rings.slot[moved] = vacant[goes_to]
    rings.ring[moved] = goes_to
    rings.reuse[goes_to], rings.cost[goes_to] = reuse[chosen], cost[chosen]


def _possible_places(candidates: RingCandidates, rings: Rings, vacant: Int64s) -> tuple[Int32s, Int32s]:
    """Pairs of a user at ``vacant`` and a ring that it may go to: its own, and those in which a candidate stays."""
    n_rings = len(vacant)
    moving = rings.order[vacant]
    stays = np.ones(len(rings.order), np.bool_)
    stays[moving] = False
    length = (candidates.ptr[1:] - candidates.ptr[:-1])[moving]
    entry = np.repeat(candidates.ptr[moving] - np.cumsum(length) + length, length) + np.arange(length.sum())
    beside = candidates.member[entry]
    origin = np.repeat(np.arange(n_rings), length)[stays[beside]]
    home = np.arange(n_rings)
    target = np.concatenate([rings.ring[beside[stays[beside]]], home])
    keys = np.unique(np.concatenate([origin, home]) * n_rings + target)
    return moving[keys // n_rings], (keys % n_rings).astype(np.int32)
