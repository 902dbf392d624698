"""How precise published boxes are: how many are how large, by hour of the week, and by area."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Floats, Int64s, Integers
from shoal.core.boxes import Boxes
from shoal.core.promise import Grid
from shoal.core.reprs import sizes_only
from shoal.core.zones import Zone

DAY_HOURS, WEEK_HOURS = 24, 168
_FEW_DAYS = 4  # data of fewer days are shown by the hour of the day, not of the week
_SQUARES_ACROSS = 36  # along the longer side of the region
_MONDAY = 4 * 86_400  # 1970-01-05, in seconds


class Hourly(NamedTuple):
    """Medians by the hour of the week, Monday first, or of the day where there are a few days only.

    NaN where fewer than k records have a box that begins then.
    """

    km: Floats
    minutes: Floats


class Square(NamedTuple):
    """A square of the map: its lower corner in km from that of the region, median longer side of its boxes in km,
    and how many boxes and records."""

    x: float
    y: float
    km: float
    boxes: int
    records: int

    def __repr__(self) -> str:
        return sizes_only(self)


class Area(NamedTuple):
    """The region in squares of ``side`` km; those in which fewer than k records have boxes are left out."""

    side: float
    width: float
    height: float
    squares: list[Square]

    def __repr__(self) -> str:
        return sizes_only(self)


class PrecisionFacts(NamedTuple):
    """The longer sides of all boxes in km and their durations in minutes, how fine the raw data were, and medians by
    hour and area."""

    km: Floats
    minutes: Floats
    raw_km: float
    raw_minutes: float
    hourly: Hourly
    area: Area

    def __repr__(self) -> str:
        return sizes_only(self)


def measure_precision(boxes: Boxes, grid: Grid, zone: Zone, k: int) -> PrecisionFacts:
    """Look at published boxes alone."""
    km = boxes.longer_side() * grid.cell_m / 1000
    minutes = (boxes.t1 - boxes.t0 + 1) * grid.step_s / 60
    local = zone.from_utc(boxes.t0 * grid.step_s) - _MONDAY
    n_hours = DAY_HOURS if np.ptp(local) < _FEW_DAYS * 86_400 else WEEK_HOURS
    hour = local // 3600 % n_hours
    return PrecisionFacts(
        km=km,
        minutes=minutes,
        raw_km=grid.cell_m / 1000,
        raw_minutes=grid.step_s / 60,
        hourly=Hourly(
            medians_of_groups(hour, km, boxes.owner, n_hours, k),
            medians_of_groups(hour, minutes, boxes.owner, n_hours, k),
        ),
        area=_area(boxes, km, grid, k),
    )


def medians_of_groups(
    group: Int64s, value: Floats, owner: np.typing.NDArray[np.int32], n: int, k: int
) -> Floats:
    """The median of the values of each of n groups; NaN where fewer than k owners are in it."""
    order = np.lexsort((value, group))
    sizes = np.bincount(group, minlength=n)
    last = np.cumsum(sizes)
    middle, found = last - sizes, np.full(n, np.nan)
    low, high = middle + np.maximum(sizes - 1, 0) // 2, middle + sizes // 2
    enough = owners_of_groups(group, owner, n) >= k
    some = np.flatnonzero(enough & (sizes > 0))
    ranked = value[order]
    found[some] = (ranked[low[some]] + ranked[high[some]]) / 2
    return found


def owners_of_groups(group: Int64s, owner: Integers, n: int) -> Int64s:
    """How many different owners are in each of n groups."""
    pairs = np.unique(group.astype(np.int64) * (int(owner.max(initial=0)) + 1) + owner)
    return np.bincount(pairs // (int(owner.max(initial=0)) + 1), minlength=n)


def _area(boxes: Boxes, km: Floats, grid: Grid, k: int) -> Area:
    """Boxes stand in the square of their middle."""
    cell = grid.cell_m / 1000
    x, y = (
        (low.astype(np.int64) + high + 1) / 2 * cell
        for low, high in ((boxes.x0, boxes.x1), (boxes.y0, boxes.y1))
    )
    west, south = float(x.min(initial=np.inf)), float(y.min(initial=np.inf))
    width, height = float(np.ptp(x)) if len(x) else 0.0, float(np.ptp(y)) if len(y) else 0.0
    side = max(round_number_above(max(width, height) / _SQUARES_ACROSS), 2 * cell)
    across = int(width // side) + 1
    column, line = ((x - west) // side).astype(np.int64), ((y - south) // side).astype(np.int64)
    square, n = line * across + column, across * (int(height // side) + 1)
    median = medians_of_groups(square, km, boxes.owner, n, k)
    counts, owners = np.bincount(square, minlength=n), owners_of_groups(square, boxes.owner, n)
    shown = np.flatnonzero(~np.isnan(median)).tolist()
    squares = [
        Square(i % across * side, i // across * side, float(median[i]), int(counts[i]), int(owners[i]))
        for i in shown
    ]
    return Area(side, width, height, squares)


def round_number_above(length: float) -> float:
    """The next of 1, 2, 5, 10, 20, ... and their tenths."""
    if length <= 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(length))
    return float(next(power * factor for factor in (1, 2, 5, 10) if power * factor >= length * (1 - 1e-9)))
