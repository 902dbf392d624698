"""A window as kernels read it, and the order of its users in which near ones are together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Floats, Int32s, Int64s
from shoal.core.compiled import jit
from shoal.core.sorting import sort_by
from shoal.hiding.kernels.cost_bounds import BRANCHES
from shoal.hiding.kernels.merge import CostRule
from shoal.hiding.kernels.pools import Pools

_SLOT_CELLS = 3  # a slot of time counts like so many cells where users are put in order


class WindowArrays(NamedTuple):
    """One window; its users are numbered so that a group, whose users hide among themselves, is a range.

    pools: what each record holds so far; raw: each user's own samples; both have the same rows, one per user and epoch.
    row[i, w] (int64): row of user i in the window's w-th epoch, -1 when absent. base[row] (float64): cost of that pool.
    The group of user i is first[i] .. last[i] - 1 (int32). user[i] (int32): the user's number in the whole dataset;
    place: the inverse, -1 for users who are not in the window. weight: p of the cost of a box, with
    limits where boxes have some.
    """

    pools: Pools
    raw: Pools
    row: Int64s
    base: Floats
    first: Int32s
    last: Int32s
    user: Int32s
    place: Int32s
    weight: CostRule


@jit
def order_near(row: Int64s, raw: Pools, first: int, last: int, order: Int64s) -> None:
    """Put order[first .. last - 1], the users of one group, in an order in which near users are together.

    They are halved again and again in the feature (place or time of an epoch) in which they differ most, at multiples
    of BRANCHES.
    """
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
    place, room = np.arange(n), np.empty(n, np.int64)
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
        sort_by(feature[widest], place, begin, end, room)
        half = BRANCHES
        while 2 * half < end - begin:
            half *= 2
        unfinished.append((begin, begin + half))
        unfinished.append((begin + half, end))
    for i in range(n):
        room[i] = order[first + place[i]]
    for i in range(n):
        order[first + i] = room[i]
