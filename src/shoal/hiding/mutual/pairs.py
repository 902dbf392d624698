"""Pairs for k = 2: an assignment, its cycles split into pairs, again for the users left out; then improved."""

from __future__ import annotations

import numpy as np

from shoal.core.arrays import Floats, Int32s
from shoal.core.workers import Workers
from shoal.hiding.kernels.pairs import PairGraph, alternate, split_into_pairs
from shoal.hiding.kernels.reuse import ReuseRule
from shoal.hiding.kernels.window import WindowArrays
from shoal.hiding.matching.assignment import Edges, cheapest_permutation, edges_inside, edges_of
from shoal.hiding.matching.candidates import added, build_search_tree, nearest_edges, sorted_edges
from shoal.hiding.mutual.candidates import both_ways, costs_before


def pair_up(arrays: WindowArrays, rule: ReuseRule, edges: Edges, width: int, workers: Workers) -> Int32s:
    """The users of a window, each followed by its partner, group by group; an odd user stands last in its group.

    edges: the candidates. Users who may not serve each other are paired only where nobody else is left.
    """
    partner, edges = _first_pairs(arrays, rule, edges, width, workers)
    mutual = both_ways(edges, len(partner))
    paid = _paid(mutual, partner)
    groups = np.unique(arrays.first).tolist()
    workers.for_each(len(groups), lambda number: _improve(arrays, mutual, partner, paid, groups[number]))
    return _in_pairs(arrays, partner)


def _first_pairs(
    arrays: WindowArrays, rule: ReuseRule, edges: Edges, width: int, workers: Workers
) -> tuple[Int32s, Edges]:
    """A partner for every user but an odd one, and all edges considered.

    Users whom cycles of odd length leave out are paired with each other, along candidate edges found among them.
    """
    n = len(arrays.user)
    partner = np.full(n, -1, np.int32)
    left = np.arange(n, dtype=np.int32)
    part, known = arrays, edges
    while True:
        found = _partners(part, both_ways(edges, len(left)))
        paired = found >= 0
        partner[left[paired]] = left[found[paired]]
        left = left[~paired]
        if not paired.any() or not len(left):
            break
        part = restricted_to(arrays, left)
        nobody = rule._replace(picked=np.empty((len(left), 0), np.int32))
        edges = sorted_edges(nearest_edges(part, build_search_tree(part), nobody, width, workers), len(left))
        known = added(known, Edges(left[edges.owner], left[edges.member], edges.cost), n)
    return _with_others(arrays, partner, left), known


def _with_others(arrays: WindowArrays, partner: Int32s, left: Int32s) -> Int32s:
    """Pair the users left, who may not serve each other, in their order; an odd user of a group gets no partner."""
    for first in np.unique(arrays.first[left]).tolist():
        some = left[arrays.first[left] == first]
        one, other = some[: len(some) // 2 * 2 : 2], some[1::2]
        partner[one], partner[other] = other, one
    return partner


def _paid(mutual: Edges, partner: Int32s) -> Floats:
    """The cost of every user's pair; more than that of all others together where the two may not serve each other."""
    n = len(partner)
    key = np.arange(n, dtype=np.int64) * n + partner
    keys = mutual.owner.astype(np.int64) * n + mutual.member
    place = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
    prohibitive = float(mutual.cost.max(initial=1.0)) * (n + 1)
    known = keys[place] == key if len(keys) else np.zeros(n, np.bool_)
    return np.where(known, mutual.cost[place] if len(keys) else 0.0, prohibitive)


def _improve(arrays: WindowArrays, mutual: Edges, partner: Int32s, paid: Floats, first: int) -> None:
    """Improve the pairs of a group. An odd user counts as paired with "nobody", a partner whom everybody can have."""
    last = int(arrays.last[first])
    n, shift = last - first, np.int32(first)
    inside = edges_inside(edges_of(mutual, first, last), first)
    partners, costs = partner[first:last] - shift, paid[first:last].copy()
    if n % 2:
        odd = int(np.flatnonzero(partner[first:last] < 0)[0])
        inside, unpaired = _with_nobody(inside, n, costs_before(arrays)[first:last])
        partners[odd], costs[odd] = n, unpaired[odd]
        partners, costs = np.append(partners, np.int32(odd)), np.append(costs, unpaired[odd])
    order = np.lexsort((inside.cost, inside.owner))
    ptr = np.searchsorted(inside.owner[order], np.arange(len(partners) + 1))
    alternate(PairGraph(ptr, inside.member[order], inside.cost[order]), partners, costs)
    partner[first:last] = np.where(partners[:n] < n, partners[:n] + shift, -1)


def _with_nobody(edges: Edges, n: int, already: Floats) -> tuple[Edges, Floats]:
    """The edges of n users and edges to "nobody", who has number n; and what the latter cost.

    A user without a partner will join a pair and make three of it. Half of what its cheapest pair would add is the
    estimate.
    """
    unpaired = np.full(n, float(edges.cost.max(initial=1.0)))
    added_by_pair = edges.cost - already[edges.owner] - already[edges.member]
    np.minimum.at(unpaired, edges.owner, already[edges.owner] + added_by_pair / 2)
    everybody, nobody = np.arange(n, dtype=np.int32), np.full(n, n, np.int32)
    extended = Edges(
        np.concatenate([edges.owner, everybody, nobody]),
        np.concatenate([edges.member, nobody, everybody]),
        np.concatenate([edges.cost, unpaired, unpaired]),
    )
    return extended, unpaired


def restricted_to(arrays: WindowArrays, users: Int32s) -> WindowArrays:
    """The window as if only these users, in increasing order, were there."""
    place = np.full(len(arrays.place), -1, np.int32)
    place[arrays.user[users]] = np.arange(len(users), dtype=np.int32)
    return arrays._replace(
        row=arrays.row[users],
        first=np.searchsorted(users, arrays.first[users]).astype(np.int32),
        last=np.searchsorted(users, arrays.last[users]).astype(np.int32),
        user=arrays.user[users],
        place=place,
    )


def _partners(arrays: WindowArrays, edges: Edges) -> Int32s:
    """Partners along these edges, -1 for none, from the cheapest permutation of every group."""
    partner = np.empty(len(arrays.user), np.int32)
    for first in np.unique(arrays.first).tolist():
        last = int(arrays.last[first])
        part = edges_inside(edges_of(edges, first, last), first)
        member = cheapest_permutation(last - first, part)
        cost = np.zeros(last - first)
        led = np.flatnonzero(member >= 0)
        keys = part.owner.astype(np.int64) * (last - first) + part.member
        cost[led] = part.cost[np.searchsorted(keys, led * (last - first) + member[led])]
        found = np.empty(last - first, np.int32)
        split_into_pairs(member, cost, found)
        partner[first:last] = np.where(found < 0, -1, found + np.int32(first))
    return partner


def _in_pairs(arrays: WindowArrays, partner: Int32s) -> Int32s:
    """The users in an order in which partners follow each other; a user without one is last in its group."""
    number = np.arange(len(partner), dtype=np.int32)
    leader = np.where(partner < 0, number, np.minimum(number, partner))
    return np.lexsort((number, leader, partner < 0, arrays.first)).astype(np.int32)
