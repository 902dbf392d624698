"""What precision was lost."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.boxes import Boxes
from shoal.promise import Grid
from shoal.samples import Bools, Floats, Samples


class Spread(NamedTuple):
    """Mean and quartiles of a quantity over all boxes."""

    mean: float
    q25: float
    median: float
    q75: float


class Granularity(NamedTuple):
    """Precision of published boxes: span in space (x span + y span) and in time, and the cost that combines them.

    The cost counts slots times cells (design 3.1 with p = 1) and means nothing without the suppression beside it.
    """

    space_km: Spread
    time_minutes: Spread
    cost_per_box: float


def granularity(boxes: Boxes, grid: Grid) -> Granularity:
    """How precise boxes are."""
    slots = boxes.t1 - boxes.t0 + 1
    return Granularity(
        space_km=_spread(boxes.cells() * np.float64(grid.cell_m / 1000)),
        time_minutes=_spread(slots * np.float64(grid.step_s / 60)),
        cost_per_box=float(boxes.cost().mean()),
    )


def published_mask(samples: Samples, boxes: Boxes) -> Bools:
    """Which samples lie in a box of their own user's record; the others were suppressed."""
    if boxes.n_boxes == 0 or len(samples) == 0:
        return np.zeros(len(samples), dtype=np.bool_)
    ordered = boxes.by_owner()
    earliest = min(int(ordered.t0.min()), int(samples.t.min()))
    reach = max(int(ordered.t1.max()), int(samples.t.max())) - earliest + 1
    starts = ordered.owner.astype(np.int64) * reach + (ordered.t0 - earliest)
    wanted = samples.user.astype(np.int64) * reach + (samples.t - earliest)
    last = np.searchsorted(starts, wanted, side="right") - 1
    box = np.maximum(last, 0)
    inside: Bools = (last >= 0) & (ordered.owner[box] == samples.user) & (samples.t <= ordered.t1[box])
    inside &= (samples.x >= ordered.x0[box]) & (samples.x <= ordered.x1[box])
    inside &= (samples.y >= ordered.y0[box]) & (samples.y <= ordered.y1[box])
    return inside


def _spread(values: Floats) -> Spread:
    q25, median, q75 = np.quantile(values, (0.25, 0.5, 0.75)).tolist()
    return Spread(float(values.mean()), q25, median, q75)
