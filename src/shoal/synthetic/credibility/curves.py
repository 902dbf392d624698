"""Curves to draw and to fit: densities in bins that grow geometrically, and slopes on logarithmic axes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.core.arrays import Floats, Int64s

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
