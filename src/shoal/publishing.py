"""An epoch and what its records hold -> boxes."""

from __future__ import annotations

import numpy as np

from shoal.blocks import Workers
from shoal.boxes import Boxes
from shoal.hiding.window import LiveEpoch
from shoal.kernels.merge import merge_boxes


def publish(live: LiveEpoch, weight: float, workers: Workers) -> Boxes:
    """The optimal merge of every record's pool, record by record and by time."""
    pools, origin = live.pools, live.slice.origin
    n = len(live.slice.users)
    count = np.empty(n, np.int64)
    box = np.empty((len(pools.slot), 6), np.int32)
    workers.over(n, lambda begin, end: merge_boxes(pools, weight, begin, end, count, box))
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
