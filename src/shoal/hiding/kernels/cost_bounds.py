"""A tree over the users of a window, and lower bounds on the cost of an edge to any user below one of its nodes.

Why the bounds are bounds. Boxes are disjoint in time and each holds everybody. So the first one holds everybody's first
sample, and all of a pool's slots until everybody has been met (its *head*); the last one likewise (its *tail*). If one
side can only be in one box, that box holds everything: then the bound is the cost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Floats, Int32s, Int64s
from shoal.core.compiled import jit, jit_inline
from shoal.hiding.kernels.merge import (
    CostRule,
    exponent_of,
    hull_cost,
    linear_box_cost,
    power_box_cost,
    times_above,
)
from shoal.hiding.kernels.pools import Pools, in_one_box

BRANCHES = 16  # entries below a node
OWN, PRICE = 21, 20  # numbers in the outline of a pool; the last is room for a price

# Columns of a block's outlines: the least of what is below an entry, then the largest.
_T0, _T1, _X1, _Y1, _HEAD_X1, _HEAD_Y1, _TAIL_X1, _TAIL_Y1, _LEAST_SLOTS = range(9)
_LATEST_T0, _LATEST_T1, _X0, _Y0, _HEAD_X0, _HEAD_Y0, _TAIL_X0, _TAIL_Y0, _MOST_SLOTS = range(9, 18)
_COLUMNS, _LEAST = 18, 9


class Tree(NamedTuple):
    """Blocks of up to BRANCHES entries; an entry is a user of the window or another block.

    outline (float64, since the search spends its time on these numbers, and processors compare several at once): by
    block and epoch, then, flat, by column and entry (see ``at``), bounds on what is below the entry: first the least
    values (columns _T0 .. _LEAST_SLOTS), then the largest (_LATEST_T0 .. _MOST_SLOTS). They are: time of the first and
    of the last sample; ends of x and y over all samples, over the first slot and over the last slot, where the least
    values are of the upper ends and the largest of the lower ends; number of slots. first[b] (int32): the first entry,
    a user or, counted from the number of users on, a block; size[b]: how many entries. top[i]: the block above the
    whole group of user i.
    """

    outline: Floats
    first: Int32s
    size: Int32s
    top: Int32s


def build_tree(row: Int64s, raw: Pools, first: Int32s, last: Int32s) -> Tree:
    """The tree over users whose groups are ranges (see WindowArrays)."""
    n, n_epochs = row.shape
    outline = np.zeros((n_epochs, _COLUMNS, n))
    _write_users(row, raw, outline)
    group = np.unique(first).astype(np.int64)
    begin, end = group, last[group].astype(np.int64)
    outlines, firsts, counts = [], [], []
    n_blocks, shift = 0, 0
    while True:
        blocks = -(-(end - begin) // BRANCHES)
        after = np.cumsum(blocks)
        number = np.arange(after[-1]) - np.repeat(after - blocks, blocks)
        starts = np.repeat(begin, blocks) + BRANCHES * number
        sizes = np.minimum(np.repeat(end, blocks) - starts, BRANCHES)
        entries = starts[:, None] + np.minimum(np.arange(BRANCHES), sizes[:, None] - 1)
        outlines.append(outline[:, :, entries].transpose(2, 0, 1, 3).reshape(len(starts), n_epochs, -1))
        firsts.append(starts + shift)
        counts.append(sizes)
        outline = np.concatenate(
            [
                np.minimum.reduceat(outline[:, :_LEAST], starts, axis=2),
                np.maximum.reduceat(outline[:, _LEAST:], starts, axis=2),
            ],
            axis=1,
        )
        begin, end = after - blocks, after
        if blocks.max() == 1:
            break
        shift = n + n_blocks
        n_blocks += len(starts)
    top = np.repeat(np.arange(len(group)) + n_blocks, last[group] - group)
    return Tree(
        np.concatenate(outlines),
        np.concatenate(firsts).astype(np.int32),
        np.concatenate(counts).astype(np.int32),
        top.astype(np.int32),
    )


@jit
def _write_users(row: Int64s, raw: Pools, outline: Floats) -> None:
    for i in range(row.shape[0]):
        for w in range(row.shape[1]):
            at = row[i, w]
            if at < 0:
                continue
            out = outline[w, :, i]
            head, tail = raw.slot[raw.ptr[at]], raw.slot[raw.ptr[at + 1] - 1]
            out[_T0], out[_LATEST_T0] = head.t, head.t
            out[_T1], out[_LATEST_T1] = tail.t, tail.t
            out[_X0], out[_X1] = raw.touch[at, 2], raw.touch[at, 3]
            out[_Y0], out[_Y1] = raw.touch[at, 4], raw.touch[at, 5]
            out[_HEAD_X0], out[_HEAD_X1] = head.x0, head.x1
            out[_HEAD_Y0], out[_HEAD_Y1] = head.y0, head.y1
            out[_TAIL_X0], out[_TAIL_X1] = tail.x0, tail.x1
            out[_TAIL_Y0], out[_TAIL_Y1] = tail.y0, tail.y1
            n_slots = raw.ptr[at + 1] - raw.ptr[at]
            out[_LEAST_SLOTS], out[_MOST_SLOTS] = n_slots, n_slots


@jit_inline
def write_outline(pools: Pools, row: int, out: Floats) -> None:
    """Write the outline of a pool, from which bounds are computed, into ``out`` (float64, OWN numbers).

    Hull (0-5), touch in time (6, 7), end of the head and its hull (8-12), beginning of the tail and its hull (13-17),
    number of slots (18), whether the pool can only be in one box (19).
    """
    begin, end = pools.ptr[row], pools.ptr[row + 1]
    head = begin
    while pools.slot[head].start < 0:
        head += 1
    tail = begin + pools.slot[end - 1].start
    out[0], out[1] = pools.slot[begin].t, pools.slot[end - 1].t
    out[6], out[7] = pools.touch[row, 0], pools.touch[row, 1]
    out[8], out[13] = pools.slot[head].t, pools.slot[tail].t
    for at, since, until in ((2, begin, end), (9, begin, head + 1), (14, tail, end)):
        slot = pools.slot[since]
        x0, x1, y0, y1 = slot.x0, slot.x1, slot.y0, slot.y1
        for q in range(since + 1, until):
            slot = pools.slot[q]
            x0, x1 = min(x0, slot.x0), max(x1, slot.x1)
            y0, y1 = min(y0, slot.y0), max(y1, slot.y1)
        out[at], out[at + 1], out[at + 2], out[at + 3] = x0, x1, y0, y1
    out[18] = end - begin
    out[19] = in_one_box(pools, row)


@jit_inline
def one_box_cost(own: Floats, raw: Pools, other: int, weight: CostRule) -> float:
    """Cost of a pool of outline ``own`` together with a user's row if all must be in one box, else -1."""
    begin, end = raw.ptr[other], raw.ptr[other + 1]
    apart = max(own[6], raw.touch[other, 0]) > min(own[7], raw.touch[other, 1])
    if own[19] == 0.0 and end - begin > 1 and not apart:
        return -1.0
    time = max(own[1], raw.slot[end - 1].t) - min(own[0], raw.slot[begin].t) + 1.0
    width = max(own[3], raw.touch[other, 3]) - min(own[2], raw.touch[other, 2])
    height = max(own[5], raw.touch[other, 5]) - min(own[4], raw.touch[other, 4])
    return float(hull_cost(time, width, height, weight))


@jit_inline
def at(block: Floats, column: int, e: int) -> float:
    """A column of entry e of a block; with distances known to the compiler, loops go several entries at a time."""
    return float(block[column * BRANCHES + e])


@jit_inline
def _larger(a: float, b: float) -> float:
    # Unlike max, which must know about NaN, this is one instruction for several numbers.
    return a if a > b else b


@jit_inline
def _smaller(a: float, b: float) -> float:
    return a if a < b else b


def _adding_bounds(
    plain: Callable[[float, float, float], float],
) -> Callable[[Floats, Floats, float, CostRule, Floats, Floats], None]:
    """add_bounds for one cost of a box: a choice inside its loop would keep it from going several entries at a time."""

    @jit_inline
    def cost(slots: float, width: float, height: float, weight: CostRule) -> float:
        cells = width + height + 2.0
        return plain(slots, cells, exponent_of(weight)) * times_above(slots, width, height, weight)

    @jit_inline
    def add(
        block: Floats, own: Floats, base: float, weight: CostRule, bound: Floats, inexact: Floats
    ) -> None:
        t0, t1, touch0, touch1, head_t, tail_t = own[0], own[1], own[6], own[7], own[8], own[13]
        x0, x1, y0, y1 = own[2], own[3], own[4], own[5]
        head_x0, head_x1, head_y0, head_y1 = own[9], own[10], own[11], own[12]
        tail_x0, tail_x1, tail_y0, tail_y1 = own[14], own[15], own[16], own[17]
        slots, single = own[18], own[19]
        two_cells = cost(1.0, 0.0, 0.0, weight)
        for e in range(BRANCHES):
            time = _larger(t1, at(block, _T1, e)) - _smaller(t0, at(block, _LATEST_T0, e)) + 1.0
            width = _larger(x1, at(block, _X1, e)) - _smaller(x0, at(block, _X0, e))
            height = _larger(y1, at(block, _Y1, e)) - _smaller(y0, at(block, _Y0, e))
            one_box = cost(time, width, height, weight)
            apart = _larger(touch0, at(block, _T0, e)) > _smaller(touch1, at(block, _LATEST_T1, e))
            in_one = (single != 0.0) | (at(block, _MOST_SLOTS, e) == 1.0) | apart
            head_time = _larger(head_t, at(block, _T0, e)) - _smaller(t0, at(block, _LATEST_T0, e)) + 1.0
            width = _larger(head_x1, at(block, _HEAD_X1, e)) - _smaller(head_x0, at(block, _HEAD_X0, e))
            height = _larger(head_y1, at(block, _HEAD_Y1, e)) - _smaller(head_y0, at(block, _HEAD_Y0, e))
            head = cost(head_time, width, height, weight)
            tail_time = _larger(t1, at(block, _T1, e)) - _smaller(tail_t, at(block, _LATEST_T1, e)) + 1.0
            width = _larger(tail_x1, at(block, _TAIL_X1, e)) - _smaller(tail_x0, at(block, _TAIL_X0, e))
            height = _larger(tail_y1, at(block, _TAIL_Y1, e)) - _smaller(tail_y0, at(block, _TAIL_Y0, e))
            tail = cost(tail_time, width, height, weight)
            between = _larger(slots, at(block, _LEAST_SLOTS, e)) - head_time - tail_time
            more_boxes = head + tail + _larger(between, 0.0) * two_cells
            bound[e] += one_box if in_one else _larger(base, _smaller(one_box, more_boxes))
            inexact[e] += 0.0 if in_one else 1.0

    return add


_add_plain_bounds, _add_power_bounds = _adding_bounds(linear_box_cost), _adding_bounds(power_box_cost)


@jit_inline
def add_bounds(
    block: Floats, own: Floats, base: float, weight: CostRule, bound: Floats, inexact: Floats
) -> None:
    """Add to bound[e] the least that a pool costs in an epoch together with any user below entry e of a block.

    own: the pool's outline; base: its cost before anybody joins. Adds 1 to inexact[e] unless the bound is the cost.
    """
    if exponent_of(weight) == 1.0:
        _add_plain_bounds(block, own, base, weight, bound, inexact)
    else:
        _add_power_bounds(block, own, base, weight, bound, inexact)
