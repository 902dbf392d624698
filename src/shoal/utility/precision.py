"""How precise published boxes are: their sizes in space and time, as mean and quartiles."""

from __future__ import annotations

import warnings
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
    """Precision of published boxes: their longer side, their duration, and the cost that combines space and time.

    ``width_plus_height_km`` is for comparisons with the paper (docs/decisions/0019-the-longer-side.md). The cost counts
    slots times cells (docs/how-it-works.md, with p = 1) and means nothing without the suppression beside it.
    """

    longer_side_km: Spread
    width_plus_height_km: Spread
    time_minutes: Spread
    cost_per_box: float

    @property
    def space_km(self) -> Spread:
        """What version 0.1 called so, width plus height; to go in 0.3."""
        warnings.warn(
            "Precision.space_km is now width_plus_height_km; people expect longer_side_km",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.width_plus_height_km


def precision_of_boxes(boxes: Boxes, grid: Grid) -> Precision:
    """How precise boxes in memory are.

    Parameters
    ----------
    boxes : Boxes
        Boxes in slots and cells, such as ``published.outcome.boxes``.
    grid : Grid
        Of which size slots and cells are.

    Returns
    -------
    Precision
        Mean and quartiles.

    Examples
    --------
    >>> import shoal
    >>> published = shoal.anonymize(shoal.make_city(100, seed=1), k=2, tau="30min", epsilon="30min")
    >>> shoal.utility.precision_of_boxes(published.outcome.boxes, published.events.grid).time_minutes.median
    15.0
    """
    return precision_of(box_sizes_of(boxes), grid)


def precision_of(counted: BoxSizes, grid: Grid) -> Precision:
    """How precise boxes are whose sizes were counted part by part.

    Parameters
    ----------
    counted : BoxSizes
        How many boxes have which size, such as ``published.outcome.box_sizes``.
    grid : Grid
        Of which size slots and cells are.

    Returns
    -------
    Precision
        Mean and quartiles.

    Examples
    --------
    >>> import shoal
    >>> published = shoal.anonymize(shoal.make_city(100, seed=1), k=2, tau="30min", epsilon="30min")
    >>> shoal.utility.precision_of(published.outcome.box_sizes, published.events.grid).time_minutes.median
    15.0
    """
    return Precision(
        longer_side_km=_spread(counted.longer_side, grid.cell_m / 1000),
        width_plus_height_km=_spread(counted.width_plus_height, grid.cell_m / 1000),
        time_minutes=_spread(counted.slots, grid.step_s / 60),
        cost_per_box=counted.cost / counted.n_boxes,
    )


def _spread(counts: Histogram, unit: float) -> Spread:
    q25, median, q75 = (counts.quantile(share, unit) for share in (0.25, 0.5, 0.75))
    return Spread(counts.mean() * unit, q25, median, q75)
