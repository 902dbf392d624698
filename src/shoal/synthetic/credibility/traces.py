"""Samples as the statistics take them, and curves: densities in bins that grow geometrically, slopes on log axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.core.arrays import Floats, Int32s, Int64s
from shoal.core.reprs import sizes_only
from shoal.core.zones import Zone
from shoal.reading import Events

# ---- samples ------------------------------------------------------------------------------------------------------

HOUR_S, DAY_S = 3_600, 86_400
_COUNTRY_KM = 200.0  # YJMob's area is 141 km from corner to corner, the countries of the paper 600 and more
_STRAY_SHARE = 0.005  # of the samples on each side may lie anywhere without making a city a country


@dataclass(frozen=True)
class Traces:
    """Samples by user and time. A place is a cell of the grid; antennas lie further apart than cells of 100 m.

    ``second`` counts Unix seconds, ``local`` those of the clock on the wall. ``place`` indexes ``x_km`` and ``y_km``.
    """

    n_users: int
    user: Int32s
    second: Int64s
    local: Int64s
    place: Int64s
    x_km: Floats
    y_km: Floats

    def __repr__(self) -> str:
        return sizes_only(self)

    @property
    def n_places(self) -> int:
        """How many different places there are."""
        return len(self.x_km)

    @property
    def n_hours(self) -> int:
        """Hours from the first sample to the last, both included."""
        return int(self.second.max() // HOUR_S - self.second.min() // HOUR_S) + 1

    @property
    def n_days(self) -> float:
        """The same in days."""
        return self.n_hours / 24

    @property
    def resolution_s(self) -> int:
        """The period of which all times are multiples, such as 1800 for half hours; 1 for a single time."""
        return max(1, int(np.gcd.reduce(self.second - self.second.min())))

    @property
    def width_km(self) -> float:
        """From corner to corner of what holds nearly all samples."""
        spans = [
            np.subtract(*np.quantile(axis[self.place], (1 - _STRAY_SHARE, _STRAY_SHARE)))
            for axis in (self.x_km, self.y_km)
        ]
        return float(np.hypot(*spans))

    @property
    def is_country(self) -> bool:
        """Whether people can go further than any city reaches."""
        return self.width_km > _COUNTRY_KM


def traces_of(events: Events) -> Traces:
    """Traces of samples that were read in slots of time of whatever length."""
    samples, grid = events.samples, events.grid
    second = samples.t * grid.step_s
    x, y = samples.x.astype(np.int64), samples.y.astype(np.int64)
    rows = int(y.max() - y.min()) + 1
    cells, place = np.unique((x - x.min()) * rows + y - y.min(), return_inverse=True)
    return Traces(
        n_users=samples.n_users,
        user=samples.user,
        second=second,
        local=Zone(events.timezone).from_utc(second),
        place=place.reshape(-1).astype(np.int64),
        x_km=cells // rows * (grid.cell_m / 1000),
        y_km=cells % rows * (grid.cell_m / 1000),
    )


# ---- curves to draw and to fit ------------------------------------------------------------------------------------

_LEAST_POINTS = 3  # of a fit
_DRAWN_POINTS = 200  # of a curve that has a point for each user or place


class Curve(NamedTuple):
    """Points of a curve, from left to right."""

    x: Floats
    y: Floats


EMPTY = Curve(np.empty(0), np.empty(0))


def whole_edges(most: int, per_decade: int = 6) -> Int64s:
    """Edges 1, 2, 3, ... of bins of whole numbers up to ``most``; in the end there are ``per_decade`` to ten times."""
    n = int(np.ceil(per_decade * np.log10(most))) + per_decade
    edges = np.unique(np.round(10 ** (np.arange(n) / per_decade)).astype(np.int64))
    return edges[: np.searchsorted(edges, most, side="right") + 1]


def density(values: npt.ArrayLike, edges: npt.ArrayLike, shift: float = 0.0) -> Curve:
    """Share of the values in each bin [edge, next edge) by its width, at the geometric middle; bins with none left out.

    For whole numbers ``shift`` 0.5 puts the middle of a bin of one number at that number.
    """
    values, edges = np.asarray(values), np.asarray(edges)
    counts, _ = np.histogram(values, edges)  # its last bin is closed, but edges end above the largest value
    middle = np.sqrt((edges[:-1] - shift) * (edges[1:] - shift))
    some = counts > 0
    return Curve(middle[some], counts[some] / len(values) / np.diff(edges)[some])


def slope(curve: Curve, low: float, high: float) -> float | None:
    """Slope on logarithmic axes by least squares between ``low`` and ``high``; None for too few points."""
    inside = (curve.x >= low) & (curve.x <= high) & (curve.x > 0) & (curve.y > 0)
    if inside.sum() < _LEAST_POINTS:
        return None
    x, y = np.log(curve.x[inside]), np.log(curve.y[inside])
    x = x - x.mean()
    return float((x * y).sum() / (x * x).sum())


def survival(values: Floats) -> Curve:
    """Share of the values that are at least x: the complementary cumulative distribution, with all of its tail."""
    ranked = np.sort(values)
    from_top = np.unique(np.geomspace(1, len(ranked), _DRAWN_POINTS).astype(np.int64))[::-1]
    x = np.unique(ranked[len(ranked) - from_top])
    return Curve(x.astype(np.float64), 1 - np.searchsorted(ranked, x) / len(ranked))
