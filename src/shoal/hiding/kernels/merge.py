"""k-merge: the cheapest boxes that hold all samples of several people, each box with a sample of everyone.

The cost of a box is c = span_t * (span_x + span_y)^p, with spans in slots and cells, ends included; p is the space
weight (docs/how-it-works.md, "k-merge: the cheapest boxes"). Costs are float64, and whole numbers where p is. A pool
has one row for each time, in increasing order, so a cut between rows never separates samples of one time.

Boxes may have to be spread, too: long enough on their longer side. k-merge needs one thing of the boxes that are
allowed: slots that may be a box may be one with others added, too. Then a box that ends at cut e begins at or before
B(e), the latest cut from which slots up to e may be a box; and one that begins at or before B(B(e)) is never needed,
since it can be split at B(e) into two that are allowed and cost no more together. "Holds everybody and is so long" is
such a property, since holding more people's slots never makes a box shorter. So it suffices to move every ``start`` of
a pool, which is B, back to where the slots are spread enough (require_spread).

Where boxes have limits, one above them costs so many times as much (``LimitedCost``). What contains a box above a limit
is above it, too, so splitting a box still costs no more, k-merge stays exact, and every bound made of spans still is
one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from shoal.core.arrays import Floats, Int32s, Int64s
from shoal.core.compiled import jit, jit_inline
from shoal.hiding.kernels.pools import Pools, longest_row


class LimitedCost(NamedTuple):
    """How boxes cost that have limits; it stands where else the space weight, p, stands alone.

    A box of more than ``most_cells`` cells on its longer side, or of more than ``most_slots`` slots, costs ``factor``
    times as much as it would, so that it is avoided where that is possible.
    """

    weight: float
    most_cells: int
    most_slots: int
    factor: float


CostRule = float | LimitedCost  # p alone where boxes have no limits


def strictly(rule: CostRule) -> CostRule:
    """The same costs, but infinite for a pool that has no boxes within the limits: to compare, not to make boxes."""
    return rule._replace(factor=math.inf) if isinstance(rule, LimitedCost) else rule


def exponent_of(rule: CostRule) -> float:
    """p, the exponent of space in the cost of a box."""
    return rule.weight if isinstance(rule, LimitedCost) else rule


def times_above(slots: float, width: float, height: float, rule: CostRule) -> float:
    """How many times its plain cost a box costs; width and height are differences of cells."""
    if not isinstance(rule, LimitedCost):
        return 1.0
    above = (slots > rule.most_slots) | (width >= rule.most_cells) | (height >= rule.most_cells)
    return rule.factor if above else 1.0


@overload(exponent_of)
def _exponent_of(rule):  # type: ignore[no-untyped-def]
    """What is compiled of it: a choice by type, so that boxes without limits take no more time."""
    if isinstance(rule, types.NamedTuple):
        return lambda rule: rule.weight
    return lambda rule: rule


@overload(times_above)
def _times_above(slots, width, height, rule):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """See _exponent_of."""
    if not isinstance(rule, types.NamedTuple):
        return lambda slots, width, height, rule: 1.0  # noqa: ARG005

    def limited(slots, width, height, rule):  # type: ignore[no-untyped-def]
        above = (slots > rule.most_slots) | (width >= rule.most_cells) | (height >= rule.most_cells)
        return rule.factor if above else 1.0

    return limited


@jit_inline
def linear_box_cost(slots: float, cells: float, weight: float) -> float:  # noqa: ARG001
    """The cost of a box for p = 1."""
    return float(slots * float(cells))


@jit_inline
def power_box_cost(slots: float, cells: float, weight: float) -> float:
    """The cost of a box for any p, without a choice: for loops that go several boxes at a time."""
    return float(slots * float(cells) ** weight)


@jit_inline
def box_cost(slots: float, cells: float, weight: float) -> float:
    """The cost of a box for any p; the usual ones are spared the power."""
    if weight == 1.0:
        return linear_box_cost(slots, cells, weight)
    if weight == 2.0:
        return float(slots * (float(cells) * float(cells)))
    return power_box_cost(slots, cells, weight)


@jit_inline
def hull_cost(slots: float, width: float, height: float, rule: CostRule) -> float:
    """The cost of a box, dearer above its limits; width and height are differences of cells."""
    return box_cost(slots, width + height + 2, exponent_of(rule)) * times_above(slots, width, height, rule)


@jit_inline
def best_cuts(
    pools: Pools, first: int, n: int, weight: CostRule, limit: float, cost: Floats, previous: Int32s
) -> float:
    """Fill cost[0..n] and previous[0..n] for the n slots from index ``first`` on; return the cost of all of them.

    cost[e] is the least cost of slots 0 .. e - 1, and previous[e] where their last group begins. Among groups of equal
    cost the shortest wins, so that the result depends on nothing but the samples. Costs of ``limit`` or more are not
    followed up: a result of ``limit`` or more is only known to be that.
    """
    cost[0] = 0.0
    last_useful = pools.slot[first + n - 1].start
    for end in range(1, n + 1):
        cost[end] = np.inf
        latest = pools.slot[first + end - 1]
        nearest = latest.start
        if nearest < 0 or (last_useful < end < n):
            continue  # the slots before the cut, or those after it, lack somebody
        farthest = pools.slot[first + nearest - 1].start + 1 if nearest > 0 else 0
        x0, x1, y0, y1 = latest.x0, latest.x1, latest.y0, latest.y1
        for begin in range(end - 1, farthest - 1, -1):
            slot = pools.slot[first + begin]
            x0, x1 = min(x0, slot.x0), max(x1, slot.x1)
            y0, y1 = min(y0, slot.y0), max(y1, slot.y1)
            if begin > nearest or cost[begin] >= limit:
                continue
            total = cost[begin] + hull_cost(latest.t - slot.t + 1, x1 - x0, y1 - y0, weight)
            if total < cost[end]:
                cost[end], previous[end] = total, begin
    return float(cost[n])


@jit_inline
def write_boxes(pools: Pools, first: int, n: int, previous: Int32s, box: Int32s, line: int) -> int:
    """Write the groups that ``best_cuts`` found as boxes from ``line`` on, by time; return how many there are."""
    groups, cut = 0, n
    while cut > 0:
        groups, cut = groups + 1, previous[cut]
    cut = n
    for q in range(line + groups - 1, line - 1, -1):
        earlier = previous[cut]
        slot = pools.slot[first + earlier]
        box[q, 0], box[q, 1] = slot.t, pools.slot[first + cut - 1].t
        box[q, 2], box[q, 3], box[q, 4], box[q, 5] = slot.x0, slot.x1, slot.y0, slot.y1
        for later in range(first + earlier + 1, first + cut):
            slot = pools.slot[later]
            box[q, 2], box[q, 3] = min(box[q, 2], slot.x0), max(box[q, 3], slot.x1)
            box[q, 4], box[q, 5] = min(box[q, 4], slot.y0), max(box[q, 5], slot.y1)
        cut = earlier
    return groups


@jit
def merge_costs(pools: Pools, weight: CostRule, begin: int, end: int, out: Floats) -> None:
    """out[i] (float64) = cost of the optimal merge of row i, for rows begin .. end - 1."""
    room = longest_row(pools) + 1
    cost, previous = np.empty(room), np.empty(room, np.int32)
    for row in range(begin, end):
        n = pools.ptr[row + 1] - pools.ptr[row]
        out[row] = best_cuts(pools, pools.ptr[row], n, weight, np.inf, cost, previous)


@jit
def merge_boxes(pools: Pools, weight: CostRule, begin: int, end: int, count: Int64s, box: Int32s) -> None:
    """Write the optimal merge of rows begin .. end - 1.

    ``box`` (int32, 6 columns: t0, t1, x0, x1, y0, y1) has a line per slot; row i uses the first count[i] lines from
    ptr[i] on, ordered by time.
    """
    room = longest_row(pools) + 1
    cost, previous = np.empty(room), np.empty(room, np.int32)
    for row in range(begin, end):
        first = pools.ptr[row]
        n = pools.ptr[row + 1] - first
        best_cuts(pools, first, n, weight, np.inf, cost, previous)
        count[row] = write_boxes(pools, first, n, previous, box, first)


@jit
def require_spread(pools: Pools, cells: int, begin: int, end: int) -> None:
    """Change ``start`` in rows begin .. end - 1 so that complete groups have ``cells`` cells on their longer side."""
    for row in range(begin, end):
        first = pools.ptr[row]
        for q in range(first, pools.ptr[row + 1]):
            slot = pools.slot[q]
            x0, x1, y0, y1 = slot.x0, slot.x1, slot.y0, slot.y1
            since = q
            while max(x1 - x0, y1 - y0) + 1 < cells and since > first:
                since -= 1
                other = pools.slot[since]
                x0, x1 = min(x0, other.x0), max(x1, other.x1)
                y0, y1 = min(y0, other.y0), max(y1, other.y1)
            spread = max(x1 - x0, y1 - y0) + 1 >= cells
            slot.start = min(slot.start, since - first) if spread else -1
