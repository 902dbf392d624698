"""Clusters over whole trajectories: everybody of a cluster holds everybody else, so that its records are identical.

Nobody has a past there and no epoch leaks into another, so rings, reuse and surcharges (selector.py) play no part, and
one merge prices all records of a cluster.
"""

from __future__ import annotations

import numpy as np

from shoal.core.arrays import Floats, Int32s, Int64s
from shoal.core.workers import Workers
from shoal.hiding.kernels.cluster_exchange import exchange_users
from shoal.hiding.kernels.clusters import (
    Joins,
    UserClusters,
    grow_clusters,
    place_remainder,
    price_clusters,
    price_joins,
)
from shoal.hiding.kernels.reuse import ReuseRule
from shoal.hiding.kernels.rings import RingCandidates
from shoal.hiding.kernels.window import WindowArrays
from shoal.hiding.matching.candidates import CANDIDATES, build_search_tree, nearest_edges, sorted_edges
from shoal.hiding.mutual.candidates import (
    added_cost,
    both_ways,
    cheapest_first,
    hardest_first,
    with_the_hardest,
)
from shoal.hiding.mutual.pairs import pair_up
from shoal.hiding.mutual.reassignment import cheapest_places, possible_places
from shoal.hiding.mutual.spread import join_narrow
from shoal.hiding.window import HidingSets, check_groups, first_users

_MOST_SWEEPS = 60  # sweeps of k rounds
_WORTHWHILE = 1e-4  # of the cost, gained in a round on average over a sweep


def choose_clusters(
    window: int,
    arrays: WindowArrays,
    k: int,
    rule: ReuseRule,
    workers: Workers,
    min_spread_cells: int = 1,
) -> HidingSets:
    """The hiding sets of a window of one epoch in which everybody has all others of a cluster of k to 2k - 1 users.

    min_spread_cells: how many cells the longer side of a cluster has at least; larger clusters see to that.
    """
    check_groups(arrays, k)
    clusters = find_clusters(window, arrays, k, rule, workers)
    if min_spread_cells > 1:
        clusters = join_narrow(arrays, clusters, min_spread_cells)
    return hiding_sets_of(arrays, clusters)


def find_clusters(
    window: int, arrays: WindowArrays, k: int, rule: ReuseRule, workers: Workers
) -> UserClusters:
    """Clusters of every group: pairs by assignment, larger ones grown and reassigned; then users are exchanged."""
    n = len(arrays.user)
    edges = sorted_edges(nearest_edges(arrays, build_search_tree(arrays), rule, CANDIDATES, workers), n)
    adds = added_cost(arrays, both_ways(edges, n))
    hardest, candidates = hardest_first(arrays, adds), cheapest_first(adds, n)
    if k == 2:
        clusters = _cut(arrays, k, pair_up(arrays, rule, edges, CANDIDATES, workers), workers)
    else:
        clusters = _grown(arrays, k, candidates, hardest, workers)
    candidates = with_the_hardest(arrays, candidates, hardest)
    if k > 2:
        _reassign(arrays, k, candidates, clusters, window, workers)
    ranges = _ranges(arrays, k)
    workers.for_each(
        len(ranges), lambda group: exchange_users(arrays, k, candidates, *ranges[group], clusters)
    )
    return clusters


def hiding_sets_of(arrays: WindowArrays, clusters: UserClusters) -> HidingSets:
    """Everybody's hiding set: all others of its cluster, and -1 in the columns that only larger clusters need."""
    n, most = len(arrays.user), int(clusters.size.max(initial=1))
    sets = np.full((n, most - 1), -1, np.int32)
    for size in np.unique(clusters.size).tolist():
        member = clusters.member[clusters.size == size, :size]
        for place in range(size):
            sets[member[:, place], : size - 1] = arrays.user[np.delete(member, place, axis=1)]
    return HidingSets(arrays.user, sets, np.zeros(n, np.int32), np.zeros(n, np.uint8))


def _ranges(arrays: WindowArrays, k: int) -> list[tuple[int, int, int, int]]:
    """The first user of every group and the one after its last, its first cluster and the one after its last."""
    first = first_users(arrays)
    end = np.cumsum((arrays.last[first] - first) // k)
    return [
        (begin, int(arrays.last[begin]), int(stop) - (int(arrays.last[begin]) - begin) // k, int(stop))
        for begin, stop in zip(first.tolist(), end, strict=True)
    ]


def _grown(
    arrays: WindowArrays, k: int, candidates: RingCandidates, hardest: Int32s, workers: Workers
) -> UserClusters:
    """Clusters grown from users who are hard to serve, or from those who are easy to serve, whichever cost less.

    The former is better for small k. With a large k the places where many people are go first, and the people who are
    left share wide clusters.
    """
    ranges = _ranges(arrays, k)
    found = []
    for turn in (1, -1):
        order = np.empty(len(arrays.user), np.int32)

        def grow(group: int, turn: int = turn, order: Int32s = order) -> None:
            first, last, _, _ = ranges[group]
            seeds = np.ascontiguousarray(hardest[first:last][::turn])
            grow_clusters(arrays, k, candidates, seeds, first, last, order)

        workers.for_each(len(ranges), grow)
        found.append(_cut(arrays, k, order, workers))
    one, other = found
    for _, _, begin, end in ranges:
        part = slice(begin, end)
        if (other.size * other.cost)[part].sum() < (one.size * one.cost)[part].sum():
            one.member[part], one.size[part] = other.member[part], other.size[part]
            one.cost[part] = other.cost[part]
    return one


def _cut(arrays: WindowArrays, k: int, order: Int32s, workers: Workers) -> UserClusters:
    """Clusters of users who stand in order, the remainder of each group at its end, where it is cheapest."""
    ranges = _ranges(arrays, k)
    n_clusters = ranges[-1][3] if ranges else 0
    clusters = UserClusters(
        np.full((n_clusters, 2 * k - 1), -1, np.int32), np.full(n_clusters, k, np.int32), np.empty(n_clusters)
    )
    for first, _, begin, end in ranges:
        clusters.member[begin:end, :k] = order[first : first + (end - begin) * k].reshape(-1, k)
    workers.for_blocks(n_clusters, lambda begin, end: price_clusters(arrays, clusters, begin, end))

    def place_rest(group: int) -> None:
        first, last, begin, end = ranges[group]
        place_remainder(arrays, clusters, begin, end, order[first + (end - begin) * k : last])

    workers.for_each(len(ranges), place_rest)
    return clusters


def _total(clusters: UserClusters) -> float:
    """The cost of all records."""
    return float((clusters.size * clusters.cost).sum())


def _reassign(
    arrays: WindowArrays,
    k: int,
    candidates: RingCandidates,
    clusters: UserClusters,
    seed: int,
    workers: Workers,
) -> None:
    """Reassign users, round after round, as long as that gains enough.

    In every round each cluster gives up one of its users, drawn at random, and gets one. The cost of a cluster then
    depends on one choice only, so the cheapest choice is an assignment, and found exactly.
    """
    rng = np.random.default_rng(seed)
    n_clusters = len(clusters.size)
    turn = np.tile(np.arange(k), (n_clusters, 1))
    before = _total(clusters)
    for _ in range(_MOST_SWEEPS):
        turn = rng.permuted(turn, axis=1)
        for number in range(k):
            place = np.where(clusters.size > k, rng.integers(0, clusters.size), turn[:, number])
            _reassign_places(arrays, k, candidates, clusters, place, workers)
        after = _total(clusters)
        if after > (1 - _WORTHWHILE * k) * before:
            break
        before = after


def _reassign_places(
    arrays: WindowArrays,
    k: int,
    candidates: RingCandidates,
    clusters: UserClusters,
    place: Int64s,
    workers: Workers,
) -> None:
    """Assign the users at ``place``, one of each cluster, to these places at the least cost."""
    n_clusters = len(clusters.size)
    moving = clusters.member[np.arange(n_clusters), place]
    cluster_of = np.empty(len(arrays.user), np.int64)
    there = clusters.member >= 0
    cluster_of[clusters.member[there]] = np.repeat(np.arange(n_clusters), there.sum(axis=1))
    origin, target = possible_places(candidates, cluster_of, moving)
    price = _price_joins(arrays, clusters, moving, origin, target, workers)
    first, last = np.array(_ranges(arrays, k), np.int32)[:, 2:].T.copy()
    goes_to, chosen = cheapest_places(origin, target, price * clusters.size[target], first, last, workers)
    clusters.member[goes_to, place[goes_to]] = moving
    clusters.cost[goes_to] = price[chosen]


def _price_joins(
    arrays: WindowArrays,
    clusters: UserClusters,
    moving: Int32s,
    origin: Int64s,
    target: Int64s,
    workers: Workers,
) -> Floats:
    """What a record of each target costs with the user who comes from the origin instead of the target's own."""
    n_clusters = len(moving)
    by_target = np.argsort(target, kind="stable")
    start = np.searchsorted(target[by_target], np.arange(n_clusters + 1))
    joins = Joins(moving[origin[by_target]], start)
    cost, price = np.empty(len(target)), np.empty(len(target))
    workers.for_blocks(
        n_clusters, lambda begin, end: price_joins(arrays, clusters, moving, joins, begin, end, cost)
    )
    price[by_target] = cost
    return price
