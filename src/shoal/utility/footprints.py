"""Where the boxes of records are, and which of them fall in the hours at home or at work."""

from __future__ import annotations

import numpy as np

from shoal.core.arrays import Bools, Int64s
from shoal.core.boxes import Boxes
from shoal.utility.kernels.home_work import Footprints

_DAY_S, _HOUR_S = 86_400, 3_600


def footprints(boxes: Boxes, rows: Int64s, n_records: int) -> Footprints:
    """Where some of the boxes are, equal places of a record together."""
    columns = (boxes.owner, boxes.x0, boxes.x1, boxes.y0, boxes.y1)
    lines = np.stack([column[rows].astype(np.int64) for column in columns], axis=1)
    places, line, times = np.unique(lines, axis=0, return_inverse=True, return_counts=True)
    earliest = np.full(len(places), np.iinfo(np.int64).max)
    np.minimum.at(earliest, line.reshape(-1), boxes.t0[rows])
    sizes = np.bincount(places[:, 0], minlength=n_records)
    ptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    x0, x1, y0, y1 = places[:, 1:].T.copy()
    return Footprints(ptr, x0, x1, y0, y1, times, earliest)


def at_night(local_s: Int64s) -> Bools:
    """Which wall-clock times (seconds since 1970-01-01T00:00 on that clock) are from 22 to 6."""
    hour = local_s % _DAY_S // _HOUR_S
    return (hour >= 22) | (hour < 6)


def at_work(local_s: Int64s) -> Bools:
    """Which wall-clock times are from 9 to 17, Monday to Friday."""
    hour, weekday = local_s % _DAY_S // _HOUR_S, (local_s // _DAY_S + 3) % 7  # 1970-01-01 was a Thursday
    return (hour >= 9) & (hour < 17) & (weekday < 5)
