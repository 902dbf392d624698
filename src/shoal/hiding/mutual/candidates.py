"""Candidates for rings, and what edges cost beside the merge: reuse, and the surcharge on leaking members."""

from __future__ import annotations

import numpy as np

from shoal.core.arrays import Floats, Int32s
from shoal.hiding.kernels.reuse import ReuseRule, write_forbidden
from shoal.hiding.kernels.rings import EdgePenalties, RingCandidates, Rings
from shoal.hiding.kernels.window import WindowArrays
from shoal.hiding.matching.assignment import Edges
from shoal.hiding.reuse import reuse_weight

_HARD = 6  # one user in so many counts as hard to serve
_OTHERS = 16  # users about as hard to serve who become candidates as well


def edge_penalties(
    window: int, arrays: WindowArrays, rule: ReuseRule, edges: Edges, surcharge: Floats
) -> EdgePenalties:
    """Reuse and surcharge of every edge that has either; the longer ago a member served, the less its reuse counts."""
    n = len(arrays.user)
    owner, member, when = _forbidden(arrays, rule)
    keys = owner.astype(np.int64) * n + member
    latest_first = np.lexsort((-when, keys))
    keys, place = np.unique(keys[latest_first], return_index=True)
    age = np.abs(window - when[latest_first][place].astype(np.int64))
    dearer = surcharge != 0  # never former members: those are no candidates
    keys = np.concatenate([keys, edges.owner[dearer].astype(np.int64) * n + edges.member[dearer]])
    order = np.argsort(keys)
    reuse = np.concatenate([reuse_weight(age), np.zeros(int(dearer.sum()), np.int64)])
    extra = np.concatenate([np.zeros(len(age)), surcharge[dearer]])
    ptr = np.searchsorted(keys[order], np.arange(n + 1, dtype=np.int64) * n)
    return EdgePenalties(ptr, (keys[order] % max(n, 1)).astype(np.int32), reuse[order], extra[order])


def _forbidden(arrays: WindowArrays, rule: ReuseRule) -> tuple[Int32s, Int32s, Int32s]:
    """Every owner and member whom earlier windows forbid, both numbered in the window, and when the member served."""
    room = int(rule.past.length[arrays.user].sum())
    owner, member, when = (np.empty(room, np.int32) for _ in range(3))
    n = write_forbidden(arrays, rule, owner, member, when)
    return owner[:n], member[:n], when[:n]


def both_ways(edges: Edges, n: int) -> Edges:
    """The edges between users who may serve each other, at the cost of both directions."""
    forth = edges.owner.astype(np.int64) * n + edges.member
    back = edges.member.astype(np.int64) * n + edges.owner
    place = np.minimum(np.searchsorted(forth, back), len(forth) - 1)
    mutual = forth[place] == back if len(forth) else np.zeros(0, np.bool_)
    return Edges(edges.owner[mutual], edges.member[mutual], (edges.cost + edges.cost[place])[mutual])


def costs_before(arrays: WindowArrays) -> Floats:
    """The cost of every user's record in the window before anybody joins it."""
    total: Floats = np.where(arrays.row >= 0, arrays.base[arrays.row], 0.0).sum(axis=1)
    return total


def added_cost(arrays: WindowArrays, mutual: Edges) -> Edges:
    """Mutual edges at what they add to the costs that both records have already."""
    already = costs_before(arrays)
    return mutual._replace(cost=mutual.cost - already[mutual.owner] - already[mutual.member])


def cheapest_first(adds: Edges, n: int) -> RingCandidates:
    """Every user's candidates, in the order of what a pair with them adds to the costs of both records."""
    order = np.lexsort((adds.cost, adds.owner))
    return RingCandidates(np.searchsorted(adds.owner, np.arange(n + 1)), adds.member[order])


def hardest_first(arrays: WindowArrays, adds: Edges) -> Int32s:
    """The users of each group, beginning with the one whose cheapest partner adds most."""
    cheapest = np.full(len(arrays.user), np.inf)
    np.minimum.at(cheapest, adds.owner, adds.cost)
    return np.lexsort((-cheapest, arrays.first)).astype(np.int32)


def with_the_hardest(arrays: WindowArrays, candidates: RingCandidates, hardest: Int32s) -> RingCandidates:
    """The candidates, and for users hardest to serve also others like them.

    A ring whose boxes one such user has made wide takes in another at little cost.
    """
    rank = np.empty(len(hardest), np.int64)
    rank[hardest] = np.arange(len(rank)) - arrays.first[hardest]
    hard = np.flatnonzero(rank * _HARD < arrays.last - arrays.first)
    length = np.diff(candidates.ptr)
    near = np.arange(-_OTHERS // 2, _OTHERS // 2 + 1)
    place = rank[hard][:, None] + near
    there = (place >= 0) & (near != 0) & (place < (arrays.last - arrays.first)[hard][:, None])
    owner = np.concatenate(
        [np.repeat(np.arange(len(rank)), length), np.broadcast_to(hard[:, None], place.shape)[there]]
    )
    member = np.concatenate([candidates.member, hardest[(arrays.first[hard][:, None] + place)[there]]])
    order = np.argsort(owner, kind="stable")
    return RingCandidates(np.searchsorted(owner[order], np.arange(len(rank) + 1)), member[order])


def with_everybody(arrays: WindowArrays, candidates: RingCandidates, rings: Rings) -> RingCandidates:
    """The candidates, and all users of their group for users in whose ring a member is reused."""
    concerned = (rings.reuse > 0)[rings.ring]
    lists = [
        np.arange(arrays.first[user], arrays.last[user], dtype=np.int32)
        if concerned[user]
        else candidates.member[candidates.ptr[user] : candidates.ptr[user + 1]]
        for user in range(len(concerned))
    ]
    ptr = np.concatenate([[0], np.cumsum([len(members) for members in lists])]).astype(np.int64)
    return RingCandidates(ptr, np.concatenate(lists))
