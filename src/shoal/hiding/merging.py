"""Pools of whole epochs on threads: add members, price, and publish as boxes."""

from __future__ import annotations

import numpy as np

from shoal.core.arrays import Int64s
from shoal.core.boxes import Boxes
from shoal.core.workers import Workers
from shoal.errors import UnfinishedError
from shoal.hiding.epochs import LiveEpoch
from shoal.hiding.kernels.merge import CostRule, merge_boxes, merge_costs, require_spread
from shoal.hiding.kernels.pools import Pools, empty_pools, union_sizes, unite


def publish(live: LiveEpoch, weight: CostRule, workers: Workers, min_cells: int = 1) -> Boxes:
    """The boxes of an epoch: the optimal merge of every record's pool, by record and by time.

    min_cells: how many cells the longer side of every box has at least.
    """
    pools, origin = live.pools, live.slice.origin
    n = len(live.slice.users)
    if min_cells > 1:
        pools = pools._replace(slot=pools.slot.copy())
        workers.for_blocks(n, lambda begin, end: require_spread(pools, min_cells, begin, end))
        if (pools.slot["start"][pools.ptr[1:] - 1] < 0).any():
            raise UnfinishedError("Self-check failed: the people whom a record holds are not spread enough.")
    count = np.empty(n, np.int64)
    box = np.empty((len(pools.slot), 6), np.int32)
    workers.for_blocks(n, lambda begin, end: merge_boxes(pools, weight, begin, end, count, box))
    within = np.arange(len(box)) - np.repeat(pools.ptr[:-1], np.diff(pools.ptr))
    lines = box[within < np.repeat(count, np.diff(pools.ptr))]
    return Boxes(
        owner=np.repeat(live.slice.users, count),
        t0=lines[:, 0].astype(np.int64) + origin,
        t1=lines[:, 1].astype(np.int64) + origin,
        x0=lines[:, 2].copy(),
        x1=lines[:, 3].copy(),
        y0=lines[:, 4].copy(),
        y1=lines[:, 5].copy(),
    )


def with_members(pools: Pools, raw: Pools, rows: Int64s, workers: Workers) -> Pools:
    """Each row i of ``pools`` with one more user, row rows[i] of ``raw``; nobody joins where that is -1."""
    sizes = np.empty(len(rows), np.int64)
    workers.for_blocks(len(rows), lambda begin, end: union_sizes(pools, raw, rows, begin, end, sizes))
    out = empty_pools(np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)]))
    workers.for_blocks(len(rows), lambda begin, end: unite(pools, raw, rows, begin, end, out))
    return out


def costs_of(pools: Pools, weight: CostRule, workers: Workers) -> np.typing.NDArray[np.float64]:
    """Cost of the optimal merge of every row."""
    costs = np.empty(len(pools.ptr) - 1)
    workers.for_blocks(len(costs), lambda begin, end: merge_costs(pools, weight, begin, end, costs))
    return costs
