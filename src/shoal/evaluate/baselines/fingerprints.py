"""GLOVE's merge of two fingerprints: join, suppress what became too coarse, reshape what overlaps in time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.core.arrays import Bools, Int64s
from shoal.core.promise import Grid
from shoal.errors import ParameterError
from shoal.evaluate.baselines.kernels.glove import hull_over_time


@dataclass(frozen=True)
class Limits:
    """Boxes are suppressed that are wider than this in x or in y, or that last longer.

    The defaults are recalled from the publications, not verified; that x and y each count is our reading.
    """

    space_m: float = 15_000.0
    time_s: float = 6 * 3600.0

    def __post_init__(self) -> None:
        if not (self.space_m > 0 and self.time_s > 0):
            raise ParameterError("limits of GLOVE's boxes must be more than zero metres and seconds.")


def suppress(box: Int64s, limits: Limits, grid: Grid) -> Int64s:
    """The boxes that are within the limits."""
    spans = box[:, 1::2] - box[:, ::2] + 1
    metres = spans[:, 1:].max(axis=1, initial=0) * grid.cell_m
    kept: Bools = (metres <= limits.space_m) & (spans[:, 0] * grid.step_s <= limits.time_s)
    return box[kept]


def reshape(box: Int64s) -> Int64s:
    """Boxes disjoint in time that hold whatever the given ones hold, by time.

    Where two overlap: a head with the area of the first, the overlap with the union of their areas, a tail with the
    area of the one that ends later. Where more do: wherever one begins or ends, a new box; its area unites those there.
    """
    if not len(box):
        return box
    begins = np.unique(np.concatenate([box[:, 0], box[:, 1] + 1]))
    begins, ends = begins[:-1], begins[1:] - 1
    pieces, covered = np.empty((len(begins), 6), np.int64), np.empty(len(begins), np.int32)
    hull_over_time(box, begins, ends, pieces, covered)
    return pieces[covered > 0]


def in_order(box: Int64s) -> Int64s:
    """Boxes by time, and by their other sides among those that begin and end together."""
    return box[np.lexsort(box.T[::-1])]
