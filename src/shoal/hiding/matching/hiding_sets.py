"""The hiding sets of a window: the cheapest k-pick under the joint cost, as k - 1 permutations in sequence.

Why a sequence of assignments: docs/decisions/0002-assignments-in-sequence.md.
"""

from __future__ import annotations

import numpy as np

from shoal.core.arrays import Bools, Int32s
from shoal.core.workers import Workers
from shoal.errors import UnfinishedError
from shoal.hiding.kernels.cost_bounds import Tree
from shoal.hiding.kernels.reuse import ReuseRule, windows_since_served
from shoal.hiding.kernels.window import WindowArrays
from shoal.hiding.leakage.surcharge import LeakageContext, leakage_surcharge
from shoal.hiding.matching.assignment import (
    Edges,
    Group,
    cheapest_permutation,
    cheapest_permutations,
    edges_inside,
    edges_of,
)
from shoal.hiding.matching.candidates import (
    CANDIDATES,
    build_search_tree,
    nearest_edges,
    with_nearest,
    with_reused,
)
from shoal.hiding.merging import costs_of, with_members
from shoal.hiding.window import HidingSets, check_groups, first_users, member_rows

_WIDENING = 8  # times as many candidates for an owner who is not served


def choose_hiding_sets(
    window: int,
    arrays: WindowArrays,
    k: int,
    rule: ReuseRule,
    workers: Workers,
    leakage: LeakageContext | None = None,
) -> HidingSets:
    """k - 1 permutations of every group, one after the other, each the cheapest on top of those before it.

    rule: whom earlier windows forbid. leakage: if given, members who would let other epochs leak are dearer.
    """
    n = len(arrays.user)
    check_groups(arrays, k)
    picked = np.full((n, k - 1), -1, np.int32)
    relaxed, exposure = np.zeros(n, np.int32), np.zeros(n, np.uint8)
    tree = build_search_tree(arrays)
    for turn in range(k - 1):
        rule = rule._replace(picked=picked)
        edges = nearest_edges(arrays, tree, rule, CANDIDATES, workers)
        if leakage is not None:
            dearer = leakage_surcharge(leakage, arrays, rule, edges, workers)
            edges.cost[:] += dearer.of_edge
            exposure = dearer.exposure
        member, again = _permutation(window, arrays, tree, rule, edges, workers)
        picked[:, turn] = member
        relaxed += again
        if turn < k - 2:
            pools = with_members(arrays.pools, arrays.raw, member_rows(arrays, member), workers)
            arrays = arrays._replace(pools=pools, base=costs_of(pools, arrays.weight, workers))
    return HidingSets(arrays.user, arrays.user[picked], relaxed, exposure[picked[:, 0]])


def _permutation(
    window: int, arrays: WindowArrays, tree: Tree, rule: ReuseRule, edges: Edges, workers: Workers
) -> tuple[Int32s, Bools]:
    """The cheapest permutation of every group, and the owners who had to reuse a member; edges go by owner."""
    n = len(arrays.user)
    first = first_users(arrays)
    member = cheapest_permutations(edges, n, first, arrays.last[first], workers)
    again = np.zeros(n, np.bool_)
    for begin in np.unique(arrays.first[member < 0]).tolist():
        group = Group(begin, int(arrays.last[begin]))
        known = edges_of(edges, *group)
        served = member[begin : group.last] >= 0
        member[begin : group.last] = _permutation_with_more(
            window, arrays, tree, rule, known, group, served, workers
        )
        owners = np.arange(begin, group.last, dtype=np.int32)
        age = np.empty(len(owners), np.int32)
        windows_since_served(arrays, rule, owners, member[owners], window, age)
        again[owners] = age > 0
    return member, again


def _permutation_with_more(
    window: int,
    arrays: WindowArrays,
    tree: Tree,
    rule: ReuseRule,
    edges: Edges,
    group: Group,
    served: Bools,
    workers: Workers,
) -> Int32s:
    """The cheapest permutation of a group whose known edges do not serve everybody.

    Owners who are not served get more candidates. If an owner is not served by all members that it may have, the group
    has too few partners left, and the rule of reuse is relaxed for it.
    """
    others = group.last - group.first - 1
    width = np.full(others + 1, CANDIDATES)
    reusing = False
    while True:
        unserved = np.flatnonzero(~served).astype(np.int32)
        if reusing:
            raise UnfinishedError("Self-check failed: a group that may reuse members found no permutation.")
        if (width[unserved] >= others).any():
            reusing = True
            edges = with_reused(edges, arrays, rule, group, window, workers)
        else:
            width[unserved] *= _WIDENING
            widest = min(int(width[unserved].max()), others)
            owners = unserved + np.int32(group.first)
            edges = with_nearest(edges, arrays, tree, rule, owners, widest, workers)
        member = cheapest_permutation(others + 1, edges_inside(edges, group.first))
        served = member >= 0
        if served.all():
            return member + np.int32(group.first)
