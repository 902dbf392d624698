"""How precise published boxes are: their spans in space and time, as mean and quartiles."""

from __future__ import annotations

from typing import NamedTuple

from shoal.core.box_sizes import BoxSizes, Histogram, box_sizes_of
from shoal.core.boxes import Boxes
from shoal.core.promise import Grid


class Spread(NamedTuple):
    """Mean and quartiles of a quantity over all boxes."""

    mean: float
    q25: float
    median: float
    q75: float


class Precision(NamedTuple):
    """Precision of published boxes: span in space (x span + y span) and in time, and the cost that combines them.

    The cost counts slots times cells (docs/how-it-works.md, with p = 1) and means nothing without the suppression
    beside it.
    """

    space_km: Spread
    time_minutes: Spread
    cost_per_box: float


def precision_of_boxes(boxes: Boxes, grid: Grid) -> Precision:
    """How precise boxes in memory are."""
    return precision_of(box_sizes_of(boxes), grid)


def precision_of(counted: BoxSizes, grid: Grid) -> Precision:
    """How precise boxes are whose sizes were counted part by part."""
    return Precision(
        space_km=_spread(counted.cells, grid.cell_m / 1000),
        time_minutes=_spread(counted.slots, grid.step_s / 60),
        cost_per_box=counted.cost / counted.n_boxes,
    )


def _spread(counts: Histogram, unit: float) -> Spread:
    q25, median, q75 = (counts.quantile(share, unit) for share in (0.25, 0.5, 0.75))
    return Spread(counts.mean() * unit, q25, median, q75)
