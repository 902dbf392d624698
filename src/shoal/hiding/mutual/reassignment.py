"""Improve the rings of a window: one user leaves each ring, and all of them are assigned to rings at the least cost.

Clusters (clusters.py) are improved in the same way, with ``possible_places`` and ``cheapest_places`` of this file.
"""

from __future__ import annotations

import numpy as np

from shoal.core.arrays import Floats, Int32s, Int64s, Integers
from shoal.core.workers import Workers
from shoal.errors import UnfinishedError
from shoal.hiding.kernels.ring_exchange import price_places
from shoal.hiding.kernels.rings import EdgePenalties, RingCandidates, Rings
from shoal.hiding.kernels.window import WindowArrays
from shoal.hiding.matching.assignment import Edges, cheapest_permutations

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
    moving = rings.order[vacant]
    origin, target = possible_places(candidates, rings.ring, moving)
    user, ring = moving[origin], target.astype(np.int32)
    reuse, cost = np.empty(len(user), np.int64), np.empty(len(user))
    workers.for_blocks(
        len(user),
        lambda begin, end: price_places(
            arrays, penalties, k - 1, rings, vacant, user, ring, begin, end, reuse, cost
        ),
    )
    prohibitive = float(cost.max(initial=0.0)) * (n_rings + 1) + 1
    everywhere = np.zeros(1, np.int32), np.full(1, n_rings, np.int32)
    goes_to, chosen = cheapest_places(origin, target, cost + prohibitive * reuse, *everywhere, workers)
    rings.order[vacant[goes_to]] = moving
    rings.slot[moving] = vacant[goes_to]
    rings.ring[moving] = goes_to
    rings.reuse[goes_to], rings.cost[goes_to] = reuse[chosen], cost[chosen]


def possible_places(candidates: RingCandidates, ring_of: Integers, moving: Int32s) -> tuple[Int64s, Int64s]:
    """Pairs of the rings from which and to which a user may go: its own, and those in which a candidate stays.

    ring_of: the ring (or cluster) of every user. moving[r]: the user who leaves ring r. Pairs come in order.
    """
    n_rings = len(moving)
    stays_in = ring_of.astype(np.int64)
    stays_in[moving] = -1
    length = (candidates.ptr[1:] - candidates.ptr[:-1])[moving]
    entry = np.repeat(candidates.ptr[moving] - np.cumsum(length) + length, length) + np.arange(length.sum())
    target = stays_in[candidates.member[entry]]
    origin = np.repeat(np.arange(n_rings), length)
    home = np.arange(n_rings)
    keys = np.unique(np.concatenate([(origin * n_rings + target)[target >= 0], home * (n_rings + 1)]))
    return np.divmod(keys, n_rings)


def cheapest_places(
    origin: Int64s, target: Int64s, price: Floats, first: Int32s, last: Int32s, workers: Workers
) -> tuple[Int32s, Int64s]:
    """To which ring (or cluster) the user of each goes at the least price in all; and which of the pairs these are.

    Pairs of an origin and a target come in order, and nobody leaves the rings first[g] .. last[g] - 1 of its group.
    """
    n_rings = int(last[-1])
    # The least that a ring costs in any case is left out: the solver then has more digits for the differences.
    least = np.full(n_rings, np.inf)
    np.minimum.at(least, target, price)
    edges = Edges(origin.astype(np.int32), target.astype(np.int32), price - least[target])
    goes_to = cheapest_permutations(edges, n_rings, first, last, workers)
    if goes_to.min() < 0:
        raise UnfinishedError("Self-check failed: users whose places were free found none.")
    return goes_to, np.searchsorted(origin * n_rings + target, np.arange(n_rings) * n_rings + goes_to)
