"""Candidate edges of a window: each owner's nearest members whom it may have, and the edges back from these."""

from __future__ import annotations

import numpy as np

from shoal.core.arrays import Floats, Int32s, Int64s
from shoal.core.options import Reuse
from shoal.core.workers import Workers
from shoal.hiding.kernels.candidate_edges import (
    EdgeList,
    NearestLists,
    ReverseLists,
    count_edges,
    forbid_back,
    write_edges,
    write_reverse_lists,
)
from shoal.hiding.kernels.cost_bounds import Tree, build_tree
from shoal.hiding.kernels.edge_cost import edge_costs
from shoal.hiding.kernels.nearest import nearest
from shoal.hiding.kernels.reuse import ReuseRule, allowed_edges, windows_since_served
from shoal.hiding.kernels.window import WindowArrays
from shoal.hiding.matching.assignment import Edges, Group
from shoal.hiding.reuse import History, reuse_weight

CANDIDATES = 16  # nearest members considered for each owner; more change the total cost by less than 1 %


def build_search_tree(arrays: WindowArrays) -> Tree:
    """The tree of cost bounds that the search for the nearest members goes down."""
    return build_tree(arrays.row, arrays.raw, arrays.first, arrays.last)


def _searched(
    arrays: WindowArrays, tree: Tree, rule: ReuseRule, owners: Int32s, width: int, workers: Workers
) -> tuple[Int32s, Floats]:
    member, cost = np.empty((len(owners), width), np.int32), np.empty((len(owners), width))
    priced = np.empty(len(owners), np.int64)
    workers.for_blocks(
        len(owners),
        lambda begin, end: nearest(arrays, tree, rule, owners, begin, end, member, cost, priced),
    )
    return member, cost


def nearest_members(
    arrays: WindowArrays, owners: Int32s, width: int, workers: Workers
) -> tuple[Int32s, Floats]:
    """The cheapest members of some owners and their costs, a line per owner, as if nobody had served before."""
    rule = History(int(arrays.user.max(initial=0)) + 1, Reuse.ONCE, 0).rule(0)
    return _searched(arrays, build_search_tree(arrays), rule, owners, width, workers)


def nearest_costs(arrays: WindowArrays, width: int, workers: Workers) -> Floats:
    """For every user of a window, the total cost of its cheapest members, as if nobody had served before."""
    _, cost = nearest_members(arrays, np.arange(len(arrays.user), dtype=np.int32), width, workers)
    total: Floats = cost.sum(axis=1)
    return total


def nearest_edges(arrays: WindowArrays, tree: Tree, rule: ReuseRule, width: int, workers: Workers) -> Edges:
    """The edges of every owner to its nearest members, and the edges back."""
    n = len(arrays.user)
    found = NearestLists(*_searched(arrays, tree, rule, np.arange(n, dtype=np.int32), width, workers))
    back = ReverseLists(np.empty(n + 1, np.int64), np.empty(found.member.size, np.int32))
    write_reverse_lists(found.member, back.first, back.member)
    workers.for_blocks(n, lambda begin, end: forbid_back(arrays, rule, back, begin, end))
    first = np.empty(n + 1, np.int64)
    count_edges(found, back, first)
    total = int(first[-1])
    edges = Edges(np.empty(total, np.int32), np.empty(total, np.int32), np.empty(total))
    listed = EdgeList(first, *edges)
    workers.for_blocks(n, lambda begin, end: write_edges(arrays, found, back, begin, end, listed))
    return edges


def with_nearest(
    known: Edges,
    arrays: WindowArrays,
    tree: Tree,
    rule: ReuseRule,
    owners: Int32s,
    width: int,
    workers: Workers,
) -> Edges:
    """The known edges, and those of some owners to their nearest members and back."""
    member, cost = _searched(arrays, tree, rule, owners, width, workers)
    found = member >= 0
    owner = np.repeat(owners, found.sum(axis=1))
    forth = added(known, Edges(owner, member[found], cost[found]), len(arrays.user))
    order = np.argsort(member[found], kind="stable")
    back = _unknown(forth, member[found][order], owner[order], len(arrays.user))
    return added(forth, _allowed(arrays, rule, *back, workers), len(arrays.user))


def all_edges(arrays: WindowArrays, groups: Int32s, workers: Workers) -> Edges:
    """Every edge inside some groups, given by their first users: the complete graph that candidates replace."""
    return _priced(arrays, *_complete_graph(groups, arrays.last[groups]), workers)


def with_reused(
    known: Edges, arrays: WindowArrays, rule: ReuseRule, group: Group, window: int, workers: Workers
) -> Edges:
    """Relax the rule of reuse: all edges inside a group, with members that served before at a prohibitive price.

    The price falls with the time since the member last served (hiding.reuse).
    """
    owner, member = _complete_graph(np.array([group.first]), np.array([group.last]))
    age = np.empty(len(owner), np.int32)
    windows_since_served(arrays, rule, owner, member, window, age)
    fits = age >= 0
    edges = _priced(arrays, owner[fits], member[fits], workers)
    again = age[fits] > 0
    prohibitive = edges.cost.max(initial=0.0) * (group.last - group.first + 1) + 1
    edges.cost[again] += prohibitive * reuse_weight(age[fits][again])
    return added(edges, known, len(arrays.user))


def _complete_graph(first: Int32s, last: Int32s) -> tuple[Int32s, Int32s]:
    """All ordered pairs of different users inside each range."""
    owners, members = [], []
    for begin, end in zip(first.tolist(), last.tolist(), strict=True):
        users = np.arange(begin, end, dtype=np.int32)
        owner, member = np.repeat(users, len(users)), np.tile(users, len(users))
        owners.append(owner[owner != member])
        members.append(member[owner != member])
    return np.concatenate(owners), np.concatenate(members)


def _allowed(arrays: WindowArrays, rule: ReuseRule, owner: Int32s, member: Int32s, workers: Workers) -> Edges:
    """Those pairs, sorted by owner, whose member may serve the owner, with their costs."""
    allowed = np.empty(len(owner), np.bool_)
    allowed_edges(arrays, rule, owner, member, allowed)
    return _priced(arrays, owner[allowed], member[allowed], workers)


def _priced(arrays: WindowArrays, owner: Int32s, member: Int32s, workers: Workers) -> Edges:
    """Edges with their exact costs."""
    cost = np.empty(len(owner))
    workers.for_blocks(len(owner), lambda begin, end: edge_costs(arrays, owner, member, begin, end, cost))
    return Edges(owner, member, cost)


def _keys(owner: Int32s, member: Int32s, n: int) -> Int64s:
    return owner.astype(np.int64) * n + member


def _unknown(known: Edges, owner: Int32s, member: Int32s, n: int) -> tuple[Int32s, Int32s]:
    """The pairs that are not among the known edges."""
    fresh = ~np.isin(_keys(owner, member, n), _keys(known.owner, known.member, n))
    return owner[fresh], member[fresh]


def sorted_edges(edges: Edges, n: int) -> Edges:
    """Edges sorted by owner and member."""
    order = np.argsort(_keys(edges.owner, edges.member, n))
    return Edges(edges.owner[order], edges.member[order], edges.cost[order])


def added(known: Edges, more: Edges, n: int) -> Edges:
    """Both sets of edges, by owner and member; an edge in both keeps the known cost."""
    owner = np.concatenate([known.owner, more.owner])
    member = np.concatenate([known.member, more.member])
    _, first = np.unique(_keys(owner, member, n), return_index=True)
    return Edges(owner[first], member[first], np.concatenate([known.cost, more.cost])[first])
