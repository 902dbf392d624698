"""A heap of numbered things, the one of least key on top: two arrays and a length."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Bytes, Floats, Int32s, Int64s
from shoal.core.compiled import jit, jit_inline, jit_inline_allocating, jit_no_arrays
from shoal.hiding.kernels.cost_bounds import (
    BRANCHES,
    OWN,
    PRICE,
    Tree,
    add_bounds,
    one_box_cost,
    write_outline,
)
from shoal.hiding.kernels.merge import best_cuts
from shoal.hiding.kernels.pools import Pools, longest_row, room_for_union, write_union


@jit_inline
def push(keys: Floats, items: Int64s, n: int, key: float, item: int) -> int:
    """Add an item to a heap of n; return how many there are."""
    place = n
    while place > 0:
        above = (place - 1) >> 1
        if keys[above] <= key:
            break
        keys[place], items[place] = keys[above], items[above]
        place = above
    keys[place], items[place] = key, item
    return n + 1


@jit_inline
def drop_top(keys: Floats, items: Int64s, n: int) -> int:
    """Take the top off a heap of n; return how many are left."""
    n -= 1
    key, item = keys[n], items[n]
    place = 0
    while True:
        below = 2 * place + 1
        if below >= n:
            break
        if below + 1 < n and keys[below + 1] < keys[below]:
            below += 1
        if keys[below] >= key:
            break
        keys[place], items[place] = keys[below], items[below]
        place = below
    keys[place], items[place] = key, item
    return n


class WindowArrays(NamedTuple):
    """What the search knows of one window; users are numbered so that a pattern group is a range.

    pools: what each record holds so far, raw: each user's own samples; both have the same rows, one per user and
    epoch. row[i, w]: row of user i in the window's w-th epoch, -1 when absent. base[row]: cost of that pool alone.
    last[i]: end of the group of user i, first[i]: its beginning. user[i]: number of the user in the whole dataset,
    place: the inverse, -1 for the absent.
    """

    pools: Pools
    raw: Pools
    row: Int64s
    base: Floats
    first: Int32s
    last: Int32s
    user: Int32s
    place: Int32s
    weight: float


class Past(NamedTuple):
    """The members that users had: those of user u are entries first[u] .. first[u] + length[u] - 1, in order of time.

    member: who it was, when: in which window, alone (uint8): how alone that member was in it, in sixtieths (see
    hiding.company).
    """

    member: Int32s
    when: Int32s
    alone: Bytes
    first: Int64s
    length: Int32s


class Barred(NamedTuple):
    """Who may not be picked: past members whose window is ``since`` or later.

    picked[i]: members user i of this window has already been given in it (numbered in the window, -1 for none).
    """

    past: Past
    since: int
    picked: Int32s


@jit_inline
def write_outlines(arrays: WindowArrays, owner: int, own: Floats) -> None:
    """What ``edge_cost`` needs to know of an owner's record: a line per epoch of the window."""
    for w in range(arrays.row.shape[1]):
        if arrays.row[owner, w] >= 0:
            write_outline(arrays.pools, arrays.row[owner, w], own[w])


@jit_inline
def edge_cost(  # type: ignore[no-untyped-def]
    arrays: WindowArrays, owner: int, member: int, own: Floats, limit: float, scratch
) -> float:
    """Exact cost of the edge owner <- member if that is below ``limit``, else ``limit`` or more (where costs are not
    whole numbers, to the last digit).

    own: the owner's outlines. Epochs in which all must be in one box come first; in the others the record costs no less
    than it does alone, so often there is no need to look at them.
    """
    union, place_a, place_b, cost, previous = scratch
    known, alone = 0.0, 0.0
    for w in range(arrays.row.shape[1]):
        row = arrays.row[owner, w]
        if row >= 0:
            price = one_box_cost(own[w], arrays.raw, arrays.row[member, w], arrays.weight)
            own[w, PRICE] = price
            if price < 0:
                alone += arrays.base[row]
            else:
                known += price
    if alone == 0:
        return known
    for w in range(arrays.row.shape[1]):
        row = arrays.row[owner, w]
        if row >= 0 and own[w, PRICE] < 0:
            if known + alone >= limit:
                return known + alone
            alone -= arrays.base[row]
            other = arrays.row[member, w]
            n = write_union(arrays.pools, row, arrays.raw, other, union, 0, place_a, place_b)
            known += best_cuts(union, 0, n, arrays.weight, limit - known - alone, cost, previous)
    return known


@jit_inline_allocating
def make_scratch(arrays: WindowArrays):  # type: ignore[no-untyped-def]
    """Room for one union and its partition."""
    room = longest_row(arrays.pools) + longest_row(arrays.raw) + 1
    return (
        room_for_union(room),
        np.empty(room, np.int32),
        np.empty(room, np.int32),
        np.empty(room),
        np.empty(room, np.int32),
    )


@jit_inline
def mark_barred(arrays: WindowArrays, barred: Barred, owner: int, mark: Int32s) -> None:
    """mark[j] = owner for every j that the owner may not pick, itself included."""
    mark[owner] = owner
    past, user = barred.past, arrays.user[owner]
    for entry in range(past.first[user], past.first[user] + past.length[user]):
        if past.when[entry] >= barred.since:
            place = arrays.place[past.member[entry]]
            if place >= 0:
                mark[place] = owner
    for entry in range(barred.picked.shape[1]):
        if barred.picked[owner, entry] >= 0:
            mark[barred.picked[owner, entry]] = owner


class Search(NamedTuple):
    """Room for one search: who may not be found, what is waiting to be looked at, outlines of the owner, and bounds."""

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
    barred: Barred,
    owners: Int32s,
    begin: int,
    end: int,
    member: Int32s,
    cost: Floats,
    priced: Int64s,
) -> None:
    """For owners[begin .. end - 1] find the cheapest members of their group, by exact cost.

    member (-1 for none) and cost (inf for none) have a line per entry of owners, cheapest first; priced says how many
    members had to be priced for it. What is likely to be cheap is looked at first, and nothing that could not be among
    the cheapest. Equal costs keep the order in which they were met.
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
    find_nearest(arrays, tree, barred, owners, begin, end, member, cost, priced, scratch, search)


@jit_no_arrays
def find_nearest(  # type: ignore[no-untyped-def]
    arrays: WindowArrays,
    tree: Tree,
    barred: Barred,
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
        mark_barred(arrays, barred, owner, mark)
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


@jit
def edge_costs(
    arrays: WindowArrays, owner: Int32s, member: Int32s, begin: int, end: int, cost: Floats
) -> None:
    """cost[q] (float64) = exact cost of the edge owner[q] <- member[q], for q in begin .. end - 1.

    Owners should come in runs."""
    own = np.empty((arrays.row.shape[1], OWN))
    price_edges(arrays, owner, member, begin, end, cost, own, make_scratch(arrays))


@jit_no_arrays
def price_edges(  # type: ignore[no-untyped-def]
    arrays: WindowArrays,
    owner: Int32s,
    member: Int32s,
    begin: int,
    end: int,
    cost: Floats,
    own: Floats,
    scratch,
) -> None:
    """See edge_costs."""
    for q in range(begin, end):
        if q == begin or owner[q] != owner[q - 1]:
            write_outlines(arrays, int(owner[q]), own)
        cost[q] = edge_cost(arrays, int(owner[q]), int(member[q]), own, np.inf, scratch)
