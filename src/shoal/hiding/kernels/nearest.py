"""The cheapest members for each owner of a window: a search down the tree of cost bounds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Floats, Int32s, Int64s
from shoal.core.compiled import jit, jit_inline, jit_no_arrays
from shoal.hiding.kernels.cost_bounds import BRANCHES, OWN, Tree, add_bounds
from shoal.hiding.kernels.edge_cost import edge_cost, make_scratch, write_outlines
from shoal.hiding.kernels.heap import drop_top, push
from shoal.hiding.kernels.reuse import ReuseRule, mark_forbidden
from shoal.hiding.kernels.window import WindowArrays


class Search(NamedTuple):
    """Scratch for one search.

    mark: who may not be found; keys, items: a heap of users and blocks to look at; own: outlines of the owner's record;
    bound, inexact: of the entries of one block.
    """

    mark: Int32s
    keys: Floats
    items: Int64s
    own: Floats
    bound: Floats
    inexact: Floats


@jit
def nearest(
    arrays: WindowArrays,
    tree: Tree,
    rule: ReuseRule,
    owners: Int32s,
    begin: int,
    end: int,
    member: Int32s,
    cost: Floats,
    priced: Int64s,
) -> None:
    """For owners[begin .. end - 1], find the cheapest members of their group whom the rule allows, by exact cost.

    member (int32, -1 for none) and cost (float64, inf for none) have a line per entry of owners, cheapest first; priced
    (int64) says how many members had to be priced. Entries of the tree are looked at in the order of their bounds, and
    none whose bound is too large. Equal costs keep the order in which they were found.
    """
    room = len(arrays.user) + len(tree.first)
    scratch = make_scratch(arrays)
    search = Search(
        np.full(len(arrays.user), -1, np.int32),
        np.empty(room),
        np.empty(room, np.int64),
        np.empty((arrays.row.shape[1], OWN)),
        np.empty(BRANCHES),
        np.empty(BRANCHES),
    )
    find_nearest(arrays, tree, rule, owners, begin, end, member, cost, priced, scratch, search)


@jit_no_arrays
def find_nearest(  # type: ignore[no-untyped-def]
    arrays: WindowArrays,
    tree: Tree,
    rule: ReuseRule,
    owners: Int32s,
    begin: int,
    end: int,
    member: Int32s,
    cost: Floats,
    priced: Int64s,
    scratch,
    search: Search,
) -> None:
    """See nearest."""
    width, n_epochs, n_users = member.shape[1], arrays.row.shape[1], len(arrays.user)
    mark, keys, items, own, bound, inexact = search
    for line in range(begin, end):
        owner = int(owners[line])
        mark_forbidden(arrays, rule, owner, mark)
        for column in range(width):
            member[line, column], cost[line, column] = -1, np.inf
        priced[line] = 0
        write_outlines(arrays, owner, own)
        waiting, block = 0, int(tree.top[owner])
        while True:
            for e in range(BRANCHES):
                bound[e], inexact[e] = 0.0, 0.0
            for w in range(n_epochs):
                row = arrays.row[owner, w]
                if row >= 0:
                    add_bounds(
                        tree.outline[block, w], own[w], arrays.base[row], arrays.weight, bound, inexact
                    )
            first = tree.first[block]
            for e in range(tree.size[block]):
                is_user = first < n_users
                if bound[e] >= cost[line, width - 1] or (is_user and mark[first + e] == owner):
                    continue
                if is_user and inexact[e] == 0:
                    insert(member[line], cost[line], first + e, bound[e])
                    priced[line] += 1
                else:
                    waiting = push(keys, items, waiting, bound[e], first + e)
            while waiting and items[0] < n_users and keys[0] < cost[line, width - 1]:
                other = items[0]
                waiting = drop_top(keys, items, waiting)
                price = edge_cost(arrays, owner, other, own, cost[line, width - 1], scratch)
                priced[line] += 1
                if price < cost[line, width - 1]:
                    insert(member[line], cost[line], other, price)
            if not waiting or keys[0] >= cost[line, width - 1]:
                break
            block = items[0] - n_users
            waiting = drop_top(keys, items, waiting)


@jit_inline
def insert(member: Int32s, cost: Floats, other: int, price: float) -> None:
    """Put a member in its place among the cheapest; the last one falls out."""
    slot = len(member) - 1
    while slot > 0 and cost[slot - 1] > price:
        cost[slot], member[slot] = cost[slot - 1], member[slot - 1]
        slot -= 1
    cost[slot], member[slot] = price, other
