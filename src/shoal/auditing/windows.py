"""The windows in which whoever made a file must have hidden people, as its recipients can tell."""

from __future__ import annotations

import numpy as np

from shoal.core.arrays import Int64s
from shoal.core.boxes import Boxes
from shoal.core.promise import Promise


def windows_of(boxes: Boxes, promise: Promise) -> tuple[Int64s, Int64s]:
    """First slots of windows and first slots behind them, by time.

    Epochs with boxes that have fewer than r empty ones between them belong to one stretch; windows lie inside of
    stretches, and one that is shorter than a window is one itself. There may be more epochs with samples than with
    boxes: then there were more windows, these among them. Over whole trajectories there is one window.
    """
    if promise.epsilon is None:
        return np.array([boxes.t0.min()]), np.array([boxes.t1.max() + 1])
    epsilon, reach = promise.epsilon, promise.reach
    epochs = np.unique(boxes.t0 // epsilon)
    ends = np.flatnonzero(np.diff(epochs) > reach)
    first, last = epochs[np.append(0, ends + 1)], epochs[np.append(ends, len(epochs) - 1)]
    windows = [
        np.arange(begin, max(begin, end - reach) + 1)
        for begin, end in zip(first.tolist(), last.tolist(), strict=True)
    ]
    low = np.concatenate(windows)
    shorter = np.minimum(low + reach, np.repeat(last, [len(part) for part in windows]))
    return low * epsilon, (shorter + 1) * epsilon
