"""What precision was lost."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.boxes import Boxes
from shoal.promise import Grid
from shoal.samples import Floats


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


def _spread(values: Floats) -> Spread:
    q25, median, q75 = np.quantile(values, (0.25, 0.5, 0.75)).tolist()
    return Spread(float(values.mean()), q25, median, q75)
