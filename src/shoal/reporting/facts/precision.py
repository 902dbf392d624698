"""How precise published boxes are: how many are how large, by hour of the week, and by area."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Floats, Int64s, Integers
from shoal.core.boxes import Boxes
from shoal.core.promise import Grid
from shoal.core.reprs import sizes_only
from shoal.core.zones import Zone
from shoal.reporting.facts.region import region_of

DAY_HOURS, WEEK_HOURS = 24, 168
_FEW_DAYS = 4  # data of fewer days are shown by the hour of the day, not of the week
_MONDAY = 4 * 86_400  # 1970-01-05, in seconds


class Hourly(NamedTuple):
    """Medians by the hour of the week, Monday first, or of the day where there are a few days only.

    NaN where fewer than k records have a box that begins then.
    """

    km: Floats
    minutes: Floats


class Square(NamedTuple):
    """A square of the map: its lower corner in km from that of the map, median longer side of its boxes in km,
    and how many boxes and records."""

    x: float
    y: float
    km: float
    boxes: int
    records: int

    def __repr__(self) -> str:
        return sizes_only(self)


class Area(NamedTuple):
    """The region in squares of ``side`` km, and how many km the map is wide and high; squares in which fewer than k
    records have boxes are left out."""

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
    region = region_of(boxes, grid)
    per_square = region.square_m / grid.cell_m
    column, line = (
        np.floor((low.astype(np.int64) + high + 1) / 2 / per_square).astype(np.int64) - first
        for low, high, first in (
            (boxes.x0, boxes.x1, region.first_i),
            (boxes.y0, boxes.y1, region.first_j),
        )
    )
    square, n, side = line * region.n_i + column, region.n_i * region.n_j, region.square_m / 1000
    median = medians_of_groups(square, km, boxes.owner, n, k)
    counts, owners = np.bincount(square, minlength=n), owners_of_groups(square, boxes.owner, n)
    shown = np.flatnonzero(~np.isnan(median)).tolist()
    squares = [
        Square(
            i % region.n_i * side, i // region.n_i * side, float(median[i]), int(counts[i]), int(owners[i])
        )
        for i in shown
    ]
    return Area(side, region.n_i * side, region.n_j * side, squares)
