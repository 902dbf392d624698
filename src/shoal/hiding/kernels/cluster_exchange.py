"""Clusters made cheaper by exchanging and moving users between them, until neither helps; see clusters.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.core.arrays import Floats, Int32s, Int64s
from shoal.core.compiled import jit, jit_inline_allocating
from shoal.hiding.kernels.clusters import (
    UserClusters,
    joint_cost,
    make_cluster_room,
    pool_cost,
    users_of_cluster,
    write_cluster,
)
from shoal.hiding.kernels.improving import next_waiting
from shoal.hiding.kernels.rings import RingCandidates
from shoal.hiding.kernels.window import WindowArrays

_LEAST_GAIN = 1e-3  # share of the cost of two clusters: less is not worth the search


@jit
def price_without(arrays: WindowArrays, clusters: UserClusters, c: int, room: Any, without: Floats) -> None:
    """without[u] = cost of cluster c without user u, for each of its users."""
    users = users_of_cluster(clusters, c)
    for user in users:
        write_cluster(arrays, users, user, room)
        without[user] = pool_cost(arrays, room)


@jit_inline_allocating
def swap_if_better(
    arrays: WindowArrays, clusters: UserClusters, without: Floats, one: int, a: int, other: int, rooms: Any
) -> bool:
    """Let user ``a`` of cluster ``one`` and a user of cluster ``other`` change places if that costs less; whether so.

    The first room holds cluster ``one`` without ``a``.
    """
    here, there = clusters.size[one], clusters.size[other]
    total = (here * clusters.cost[one] + there * clusters.cost[other]) * (1 - _LEAST_GAIN)
    users = users_of_cluster(clusters, other)
    for place in range(there):
        b = users[place]
        limit = (total - there * without[b]) / here
        if without[a] >= limit:
            continue
        cost = joint_cost(arrays, rooms[0], b, limit)
        if cost >= limit:
            continue
        write_cluster(arrays, users, b, rooms[1])
        limit = (total - here * cost) / there
        cost_there = joint_cost(arrays, rooms[1], a, limit)
        if cost_there < limit:
            own = users_of_cluster(clusters, one)
            own[np.flatnonzero(own == a)[0]], users[place] = b, a
            clusters.cost[one], clusters.cost[other] = cost, cost_there
            return True
    return False


@jit_inline_allocating
def move_if_better(
    arrays: WindowArrays, clusters: UserClusters, without: Floats, one: int, a: int, other: int, room: Any
) -> bool:
    """Let user ``a`` leave cluster ``one`` for cluster ``other`` if that costs less; return whether it did."""
    here, there = clusters.size[one], clusters.size[other]
    total = (here * clusters.cost[one] + there * clusters.cost[other]) * (1 - _LEAST_GAIN)
    limit = (total - (here - 1) * without[a]) / (there + 1)
    if clusters.cost[other] >= limit:
        return False
    write_cluster(arrays, users_of_cluster(clusters, other), -1, room)
    cost = joint_cost(arrays, room, a, limit)
    if cost >= limit:
        return False
    own = users_of_cluster(clusters, one)
    own[np.flatnonzero(own == a)[0]] = own[-1]
    own[-1] = -1
    clusters.member[other, there] = a
    clusters.size[one], clusters.size[other] = here - 1, there + 1
    clusters.cost[one], clusters.cost[other] = without[a], cost
    return True


@jit_inline_allocating
def improve_user(
    arrays: WindowArrays,
    k: int,
    candidates: RingCandidates,
    clusters: UserClusters,
    label: Int64s,
    without: Floats,
    user: int,
    looked_at: Int32s,
    rooms: Any,
) -> int:
    """Find the user a better cluster, one in which a candidate is; return which it is, -1 for none."""
    own = label[user]
    write_cluster(arrays, users_of_cluster(clusters, own), user, rooms[0])
    for entry in range(candidates.ptr[user], candidates.ptr[user + 1]):
        other = label[candidates.member[entry]]
        if other == own or looked_at[other] == user:
            continue
        looked_at[other] = user
        movable = clusters.size[own] > k and clusters.size[other] < clusters.member.shape[1]
        if movable and move_if_better(arrays, clusters, without, own, user, other, rooms[1]):
            return int(other)
        if swap_if_better(arrays, clusters, without, own, user, other, rooms):
            return int(other)
    return -1


@jit
def exchange_users(
    arrays: WindowArrays,
    k: int,
    candidates: RingCandidates,
    first: int,
    last: int,
    begin: int,
    end: int,
    clusters: UserClusters,
) -> None:
    """Exchange users first .. last - 1 between their clusters begin .. end - 1, and move them, until neither helps.

    Two users are exchanged only if one of their clusters would cost less without its user: with large clusters few
    would. A user is looked at again whenever its cluster has changed.
    """
    rooms = (
        make_cluster_room(arrays, clusters.member.shape[1] + 1),
        make_cluster_room(arrays, clusters.member.shape[1] + 1),
    )
    label, without = np.empty(len(arrays.user), np.int64), np.empty(len(arrays.user))
    looked_at = np.full(len(clusters.size), -1, np.int32)
    for c in range(begin, end):
        label[users_of_cluster(clusters, c)] = c
        price_without(arrays, clusters, c, rooms[0], without)
    waiting = np.ones(last - first, np.bool_)
    place = next_waiting(waiting, 0)
    while place >= 0:
        waiting[place] = False
        own = label[first + place]
        looked_at[:] = -1
        other = improve_user(arrays, k, candidates, clusters, label, without, first + place, looked_at, rooms)
        if other >= 0:
            for c in (own, other):
                price_without(arrays, clusters, c, rooms[0], without)
                for one in users_of_cluster(clusters, c):
                    label[one] = c
                    waiting[one - first] = True
        place = next_waiting(waiting, place)
