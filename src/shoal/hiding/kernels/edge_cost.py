"""The joint cost of an edge owner <- member: what the owner's record costs in a window once the member has joined it.

The record holds the members of earlier windows already, so the cost is that of all of them together, summed over the
window's epochs (docs/how-it-works.md, "Choosing who hides whom").
"""

from __future__ import annotations

import numpy as np

from shoal.core.arrays import Floats, Int32s
from shoal.core.compiled import jit, jit_inline, jit_inline_allocating, jit_no_arrays
from shoal.hiding.kernels.cost_bounds import OWN, PRICE, one_box_cost, write_outline
from shoal.hiding.kernels.merge import best_cuts
from shoal.hiding.kernels.pools import longest_row, room_for_pools, write_union
from shoal.hiding.kernels.window import WindowArrays


@jit_inline
def write_outlines(arrays: WindowArrays, owner: int, own: Floats) -> None:
    """Write the outlines of an owner's record, a line per epoch of the window: ``edge_cost`` starts from them."""
    for w in range(arrays.row.shape[1]):
        if arrays.row[owner, w] >= 0:
            write_outline(arrays.pools, arrays.row[owner, w], own[w])


@jit_inline
def edge_cost(  # type: ignore[no-untyped-def]
    arrays: WindowArrays, owner: int, member: int, own: Floats, limit: float, scratch
) -> float:
    """Exact cost of the edge owner <- member if it is below ``limit``, else ``limit`` or more.

    Where costs are not whole numbers, "below" is up to the last digit. own: the owner's outlines. Epochs in which all
    must be in one box come first. In the other epochs the record costs no less than before the member joins, and often
    that is enough to reach the limit.
    """
    union, place_a, place_b, cost, previous = scratch
    known, least = 0.0, 0.0
    for w in range(arrays.row.shape[1]):
        row = arrays.row[owner, w]
        if row >= 0:
            price = one_box_cost(own[w], arrays.raw, arrays.row[member, w], arrays.weight)
            own[w, PRICE] = price
            if price < 0:
                least += arrays.base[row]
            else:
                known += price
    if least == 0:
        return known
    for w in range(arrays.row.shape[1]):
        row = arrays.row[owner, w]
        if row >= 0 and own[w, PRICE] < 0:
            if known + least >= limit:
                return known + least
            least -= arrays.base[row]
            other = arrays.row[member, w]
            n = write_union(arrays.pools, row, arrays.raw, other, union, 0, place_a, place_b)
            known += best_cuts(union, 0, n, arrays.weight, limit - known - least, cost, previous)
    return known


@jit_inline_allocating
def make_scratch(arrays: WindowArrays):  # type: ignore[no-untyped-def]
    """Scratch for one union and its partition."""
    room = longest_row(arrays.pools) + longest_row(arrays.raw) + 1
    return (
        room_for_pools(1, room),
        np.empty(room, np.int32),
        np.empty(room, np.int32),
        np.empty(room),
        np.empty(room, np.int32),
    )


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
