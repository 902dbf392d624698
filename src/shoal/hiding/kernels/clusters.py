"""Clusters over whole trajectories: what they cost, and how they are grown.

Everybody of a cluster holds the samples of everybody else, so its records are the same, box for box, and a cluster of n
users costs n times what the merge of all their samples costs. Over whole trajectories a window is one epoch and nobody
has a past, so a user is one row of the pools. Users are numbered in the window (int32); costs are float64.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.core.arrays import Floats, Int32s, Int64s
from shoal.core.compiled import jit, jit_inline, jit_inline_allocating
from shoal.hiding.kernels.cost_bounds import OWN, one_box_cost, write_outline
from shoal.hiding.kernels.heap import drop_top, push
from shoal.hiding.kernels.merge import best_cuts
from shoal.hiding.kernels.pools import Pools, copy_row, longest_row, room_for_pools, unite_rows, write_union
from shoal.hiding.kernels.rings import RingCandidates
from shoal.hiding.kernels.window import WindowArrays


class UserClusters(NamedTuple):
    """A partition of a window's users: cluster c is member[c, : size[c]] (int32), and cost[c] is that of one record.

    Those of a pattern group are a range, in the order of the groups. ``member`` has 2k - 1 columns, -1 where a cluster
    has fewer users: one of 2k would cost no less than the two clusters of k that it can be cut into.
    """

    member: Int32s
    size: Int32s
    cost: Floats


class Joins(NamedTuple):
    """Users who might join clusters: cluster c might be joined by user[start[c] .. start[c + 1] - 1]."""

    user: Int32s
    start: Int64s


class ClusterRoom(NamedTuple):
    """Scratch. Row 0 of ``pool`` is a cluster, ``outline`` its outline, ``union`` the cluster with one more user."""

    pool: Pools
    union: Pools
    place_a: Int32s
    place_b: Int32s
    cost: Floats
    previous: Int32s
    outline: Floats


@jit_inline_allocating
def make_cluster_room(arrays: WindowArrays, n_users: int) -> Any:
    """Scratch for so many users, whoever they are."""
    rows, room = n_users // 2 + 2, n_users * longest_row(arrays.raw) + 1
    return ClusterRoom(
        room_for_pools(rows, room),
        room_for_pools(rows, room),
        np.empty(room, np.int32),
        np.empty(room, np.int32),
        np.empty(room),
        np.empty(room, np.int32),
        np.empty(OWN),
    )


@jit
def write_cluster(arrays: WindowArrays, users: Int32s, without: int, room: Any) -> None:
    """Write the pool of all these users but ``without`` (-1: of all) to ``room``; at least one is left.

    Users are united two by two, then the unions two by two: a slot is written as often as the users can be halved, and
    not as often as there are users.
    """
    raw, one, other = arrays.raw, room.pool, room.union
    n_left = 0
    for user in users:
        n_left += user != without
    levels, rows = 1, (n_left + 1) // 2
    while rows > 1:
        levels, rows = levels + 1, (rows + 1) // 2
    if levels % 2 == 0:
        one, other = other, one  # so that the last level ends in room.pool
    one.ptr[0], other.ptr[0] = 0, 0
    rows, waiting = 0, -1
    for user in users:
        if user == without:
            continue
        if waiting < 0:
            waiting = int(arrays.row[user, 0])
        else:
            n = unite_rows(raw, waiting, raw, arrays.row[user, 0], one, rows, room.place_a, room.place_b)
            one.ptr[rows + 1] = one.ptr[rows] + n
            rows, waiting = rows + 1, -1
    if waiting >= 0:
        one.ptr[rows + 1] = one.ptr[rows] + copy_row(raw, waiting, one, rows)
        rows += 1
    while rows > 1:
        for pair in range(rows // 2):
            n = unite_rows(one, 2 * pair, one, 2 * pair + 1, other, pair, room.place_a, room.place_b)
            other.ptr[pair + 1] = other.ptr[pair] + n
        if rows % 2:
            other.ptr[rows // 2 + 1] = other.ptr[rows // 2] + copy_row(one, rows - 1, other, rows // 2)
        rows = (rows + 1) // 2
        one, other = other, one
    write_outline(room.pool, 0, room.outline)


@jit_inline
def pool_cost(arrays: WindowArrays, room: Any) -> float:
    """The cost of the cluster in ``room``."""
    return best_cuts(room.pool, 0, room.pool.ptr[1], arrays.weight, np.inf, room.cost, room.previous)


@jit_inline
def joint_cost(arrays: WindowArrays, room: Any, user: int, limit: float) -> float:
    """The cost of the cluster in ``room`` with one more user: exact if it is below ``limit``, else that or more."""
    row = arrays.row[user, 0]
    price = one_box_cost(room.outline, arrays.raw, row, arrays.weight)
    if price >= 0:
        return price
    n = write_union(room.pool, 0, arrays.raw, row, room.union, 0, room.place_a, room.place_b)
    return best_cuts(room.union, 0, n, arrays.weight, limit, room.cost, room.previous)


@jit_inline_allocating
def users_of_cluster(clusters: UserClusters, c: int) -> Int32s:
    """The users of a cluster."""
    return clusters.member[c, : clusters.size[c]]


@jit
def price_clusters(arrays: WindowArrays, clusters: UserClusters, begin: int, end: int) -> None:
    """Set the cost of clusters begin .. end - 1."""
    room = make_cluster_room(arrays, clusters.member.shape[1])
    for c in range(begin, end):
        write_cluster(arrays, users_of_cluster(clusters, c), -1, room)
        clusters.cost[c] = pool_cost(arrays, room)


@jit
def price_joins(
    arrays: WindowArrays,
    clusters: UserClusters,
    without: Int32s,
    joins: Joins,
    begin: int,
    end: int,
    cost: Floats,
) -> None:
    """cost[q] = cost of cluster c without user without[c] and with joins.user[q], for clusters begin .. end - 1.

    A user who comes back to its own cluster costs what that costs now.
    """
    room = make_cluster_room(arrays, clusters.member.shape[1] + 1)
    for c in range(begin, end):
        write_cluster(arrays, users_of_cluster(clusters, c), without[c], room)
        for q in range(joins.start[c], joins.start[c + 1]):
            user = joins.user[q]
            cost[q] = clusters.cost[c] if user == without[c] else joint_cost(arrays, room, user, np.inf)


@jit_inline
def added_by(arrays: WindowArrays, room: Any, user: int) -> float:
    """What the cluster in ``room`` costs with one more user, less what that user costs alone.

    A wide record must be somewhere, and where records are wide already it adds little.
    """
    return float(joint_cost(arrays, room, user, np.inf) - arrays.base[arrays.row[user, 0]])


@jit
def grow_clusters(
    arrays: WindowArrays,
    k: int,
    candidates: RingCandidates,
    seeds: Int32s,
    first: int,
    last: int,
    order: Int32s,
) -> None:
    """Write users first .. last - 1 into order[first .. last - 1]: cluster after cluster of k, then the remainder.

    seeds: these users, in the order in which they are given a cluster if they have none by then. It is joined by the
    free candidate of any of its users who adds least, or by anybody who is free if no candidate is. Nobody adds less to
    a cluster that has grown, so what a user added before is a bound, and few are priced again.
    """
    room = make_cluster_room(arrays, k + 1)
    n = last - first
    free = np.ones(n, np.bool_)
    seen, priced_at = np.full(n, -1, np.int32), np.zeros(n, np.int32)
    keys, items = np.empty(n), np.empty(n, np.int64)
    place = first
    for seed in seeds:
        if not free[seed - first]:
            continue
        free[seed - first] = False
        order[place] = seed
        if last - place < k:
            place += 1
            continue
        n_waiting, newest = 0, int(seed)
        for size in range(1, k):
            write_cluster(arrays, order[place : place + size], -1, room)
            for entry in range(candidates.ptr[newest], candidates.ptr[newest + 1]):
                user = candidates.member[entry] - first
                if free[user] and seen[user] != seed:
                    seen[user], priced_at[user] = seed, size
                    key = added_by(arrays, room, user + first)
                    n_waiting = push(keys, items, n_waiting, key, user)
            if n_waiting == 0:
                for user in range(n):
                    if free[user]:
                        seen[user], priced_at[user] = seed, size
                        key = added_by(arrays, room, user + first)
                        n_waiting = push(keys, items, n_waiting, key, user)
            cheapest = items[0]
            n_waiting = drop_top(keys, items, n_waiting)
            while priced_at[cheapest] < size:
                priced_at[cheapest] = size
                key = added_by(arrays, room, cheapest + first)
                n_waiting = push(keys, items, n_waiting, key, cheapest)
                cheapest = items[0]
                n_waiting = drop_top(keys, items, n_waiting)
            free[cheapest] = False
            newest = int(cheapest) + first
            order[place + size] = newest
        place += k


@jit
def place_remainder(
    arrays: WindowArrays, clusters: UserClusters, begin: int, end: int, remainder: Int32s
) -> None:
    """Let each of these users join the cluster among begin .. end - 1 whose records then cost least more in all."""
    room = make_cluster_room(arrays, clusters.member.shape[1] + 1)
    for user in remainder:
        best, least, cost_there = -1, np.inf, 0.0
        for c in range(begin, end):
            size, cost = clusters.size[c], clusters.cost[c]
            if size < clusters.member.shape[1] and cost < least:  # as much is added at least
                write_cluster(arrays, users_of_cluster(clusters, c), -1, room)
                joint = joint_cost(arrays, room, user, (least + size * cost) / (size + 1))
                if (size + 1) * joint - size * cost < least:
                    best, least, cost_there = c, (size + 1) * joint - size * cost, joint
        clusters.member[best, clusters.size[best]] = user
        clusters.size[best] += 1
        clusters.cost[best] = cost_there
