"""A tree over the users of a window, and lower bounds on what hiding with anybody below one of its nodes costs.

Why the bounds are bounds. Boxes are disjoint in time and each holds everybody. So the first one holds everybody's first
sample, and all of a pool's slots until everybody has been met (its *head*); the last one likewise (its *tail*). If one
side can only be in one box, that box holds everything: then the bound is the cost.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiled import inner, kernel
from shoal.kernels.merge import space_cost
from shoal.kernels.pools import Pools
from shoal.samples import Floats, Int32s, Int64s

BRANCHES = 16  # entries below a node
_SLOT_CELLS = 3  # a slot of time counts like so many cells where users are put in order


class Tree(NamedTuple):
    """Entries 0 .. n - 1 are the users of a window, the others nodes over BRANCHES entries each, level by level.

    least and most (int32): the least, or the largest, of what is below an entry, by epoch and column: time of the first
    and of the last sample, then an end of x and y of all samples, of those in the first slot and of those in the last
    (least: the upper end, most: the lower), then the number of slots. below[e]: the first and the last + 1 entry below
    node e (nothing for users). top[i]: the same for the uppermost entries of the group of user i.
    """

    least: Int32s
    most: Int32s
    below: Int32s
    top: Int32s


_T0, _T1, _X, _Y, _HEAD_X, _HEAD_Y, _TAIL_X, _TAIL_Y, _SLOTS = range(9)


@kernel
def order_near(row: Int64s, raw: Pools, first: int, last: int, order: Int64s) -> None:
    """Put order[first .. last - 1], users of one group, in an order in which near ones are together: halved again and
    again where they differ most, at multiples of BRANCHES."""
    n, n_epochs = last - first, row.shape[1]
    feature = np.zeros((4 * n_epochs, n), np.int64)
    for i in range(n):
        for w in range(n_epochs):
            at = row[order[first + i], w]
            if at >= 0:
                feature[4 * w, i] = raw.touch[at, 2] + raw.touch[at, 3]
                feature[4 * w + 1, i] = raw.touch[at, 4] + raw.touch[at, 5]
                feature[4 * w + 2, i] = 2 * _SLOT_CELLS * raw.touch[at, 0]
                feature[4 * w + 3, i] = 2 * _SLOT_CELLS * raw.touch[at, 1]
    place = np.arange(n)
    unfinished = [(0, n)]
    while len(unfinished):
        begin, end = unfinished.pop()
        if end - begin <= BRANCHES:
            continue
        widest, spread = 0, -1.0
        for column in range(len(feature)):
            mean, total = 0.0, 0.0
            for q in range(begin, end):
                mean += feature[column, place[q]]
            mean /= end - begin
            for q in range(begin, end):
                total += abs(feature[column, place[q]] - mean)
            if total > spread:
                widest, spread = column, total
        part = place[begin:end].copy()
        place[begin:end] = part[np.argsort(feature[widest][part], kind="mergesort")]
        half = BRANCHES
        while 2 * half < end - begin:
            half *= 2
        unfinished.append((begin, begin + half))
        unfinished.append((begin + half, end))
    order[first:last] = order[first:last][place]


def plant(row: Int64s, raw: Pools, first: Int32s, last: Int32s) -> Tree:
    """The tree over users whose groups are ranges (see WindowArrays)."""
    n, n_epochs = row.shape
    least = np.zeros((n_epochs, 9, n), np.int32)
    most = np.zeros((n_epochs, 9, n), np.int32)
    _write_users(row, raw, least, most)
    levels, below = [(least, most)], [np.zeros((n, 2), np.int32)]
    group = np.unique(first).astype(np.int64)
    begin, end = group, last[group].astype(np.int64)
    shift = 0
    while len(begin) and (end - begin).max() > BRANCHES:
        counts = -(-(end - begin) // BRANCHES)
        after = np.cumsum(counts)
        number = np.arange(after[-1]) - np.repeat(after - counts, counts)
        starts = np.repeat(begin, counts) + BRANCHES * number
        ends = np.minimum(starts + BRANCHES, np.repeat(end, counts))
        below.append(np.stack([starts, ends], axis=1).astype(np.int32) + np.int32(shift))
        least, most = levels[-1]
        levels.append((np.minimum.reduceat(least, starts, axis=2), np.maximum.reduceat(most, starts, axis=2)))
        shift += least.shape[2]
        begin, end = after - counts, after
    top = np.empty((n, 2), np.int32)
    for number, start in enumerate(group.tolist()):
        top[start : last[start]] = begin[number] + shift, end[number] + shift
    return Tree(
        least=np.concatenate([least for least, _ in levels], axis=2),
        most=np.concatenate([most for _, most in levels], axis=2),
        below=np.concatenate(below),
        top=top,
    )


@kernel
def _write_users(row: Int64s, raw: Pools, least: Int32s, most: Int32s) -> None:
    for i in range(row.shape[0]):
        for w in range(row.shape[1]):
            at = row[i, w]
            if at < 0:
                continue
            head, tail = raw.ptr[at], raw.ptr[at + 1] - 1
            least[w, _T0, i], most[w, _T0, i] = raw.t[head], raw.t[head]
            least[w, _T1, i], most[w, _T1, i] = raw.t[tail], raw.t[tail]
            least[w, _X, i], most[w, _X, i] = raw.touch[at, 3], raw.touch[at, 2]
            least[w, _Y, i], most[w, _Y, i] = raw.touch[at, 5], raw.touch[at, 4]
            least[w, _HEAD_X, i], most[w, _HEAD_X, i] = raw.x1[head], raw.x0[head]
            least[w, _HEAD_Y, i], most[w, _HEAD_Y, i] = raw.y1[head], raw.y0[head]
            least[w, _TAIL_X, i], most[w, _TAIL_X, i] = raw.x1[tail], raw.x0[tail]
            least[w, _TAIL_Y, i], most[w, _TAIL_Y, i] = raw.y1[tail], raw.y0[tail]
            least[w, _SLOTS, i], most[w, _SLOTS, i] = tail - head + 1, tail - head + 1


@inner
def write_outline(pools: Pools, row: int, out: Int32s) -> None:
    """Write what the bounds need to know of a pool: hull (0-5), touch in time (6, 7), end of the head and its hull
    (8-12), beginning of the tail and its hull (13-17), slots (18), whether it can only be in one box (19)."""
    begin, end = pools.ptr[row], pools.ptr[row + 1]
    head = begin
    while pools.start[head] < 0:
        head += 1
    tail = begin + pools.start[end - 1]
    out[0], out[1] = pools.t[begin], pools.t[end - 1]
    out[6], out[7] = pools.touch[row, 0], pools.touch[row, 1]
    out[8], out[13] = pools.t[head], pools.t[tail]
    for at, since, until in ((2, begin, end), (9, begin, head + 1), (14, tail, end)):
        out[at], out[at + 1] = pools.x0[since], pools.x1[since]
        out[at + 2], out[at + 3] = pools.y0[since], pools.y1[since]
        for q in range(since + 1, until):
            out[at], out[at + 1] = min(out[at], pools.x0[q]), max(out[at + 1], pools.x1[q])
            out[at + 2], out[at + 3] = min(out[at + 2], pools.y0[q]), max(out[at + 3], pools.y1[q])
    out[18] = end - begin
    out[19] = tail == begin or pools.start[tail - 1] < 0


@inner
def add_bounds(
    tree: Tree,
    w: int,
    begin: int,
    end: int,
    own: Int32s,
    base: float,
    weight: float,
    bound: Floats,
    inexact: Int32s,
) -> None:
    """Add to bound[e - begin] the least that a pool of outline ``own``, of cost ``base`` alone, costs in an epoch with
    anybody below entry e, and count up inexact[e - begin] unless that is known to be the cost."""
    least, most = tree.least[w], tree.most[w]
    t0, t1, touch0, touch1, head_t, tail_t = own[0], own[1], own[6], own[7], own[8], own[13]
    two_cells = space_cost(2, weight)
    for e in range(begin, end):
        time = max(t1, least[_T1, e]) - min(t0, most[_T0, e]) + 1
        space = (
            max(own[3], least[_X, e]) - min(own[2], most[_X, e])
            + max(own[5], least[_Y, e]) - min(own[4], most[_Y, e]) + 2
        )  # fmt: skip
        one_box = time * space_cost(space, weight)
        in_one = (
            own[19] != 0 or most[_SLOTS, e] == 1 or max(touch0, least[_T0, e]) > min(touch1, most[_T1, e])
        )
        head_time = max(head_t, least[_T0, e]) - min(t0, most[_T0, e]) + 1
        head_space = (
            max(own[10], least[_HEAD_X, e]) - min(own[9], most[_HEAD_X, e])
            + max(own[12], least[_HEAD_Y, e]) - min(own[11], most[_HEAD_Y, e]) + 2
        )  # fmt: skip
        tail_time = max(t1, least[_T1, e]) - min(tail_t, most[_T1, e]) + 1
        tail_space = (
            max(own[15], least[_TAIL_X, e]) - min(own[14], most[_TAIL_X, e])
            + max(own[17], least[_TAIL_Y, e]) - min(own[16], most[_TAIL_Y, e]) + 2
        )  # fmt: skip
        between = max(own[18], least[_SLOTS, e]) - head_time - tail_time
        more_boxes = (
            head_time * space_cost(head_space, weight)
            + tail_time * space_cost(tail_space, weight)
            + max(between, 0) * two_cells
        )
        bound[e - begin] += one_box if in_one else max(base, min(one_box, more_boxes))
        inexact[e - begin] += 0 if in_one else 1
