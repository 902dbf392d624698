"""Degrees to metres and back: an equal-area plane centred on the data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyproj

Floats = npt.NDArray[np.float64]

_PER_DEGREE = 10  # the centre is found to a tenth of a degree, then rounded


@dataclass(frozen=True)
class Projection:
    """Lambert azimuthal equal-area (WGS84) around a centre of whole degrees.

    Whole degrees, so that the centre, which is published, says no more of the data than its region.
    """

    lon_0: int
    lat_0: int

    @classmethod
    def centred_on(
        cls, lon: npt.ArrayLike, lat: npt.ArrayLike, weights: npt.ArrayLike | None = None
    ) -> Projection:
        """The projection centred where most positions are; weights count repeated positions.

        Sums are of whole numbers only, so the centre does not depend on the order of the positions.
        """
        histogram = CentreFinder()
        lon, lat = np.atleast_1d(np.asarray(lon, float)), np.atleast_1d(np.asarray(lat, float))
        histogram.add(
            lon, lat, np.ones(len(lon), np.int64) if weights is None else np.asarray(weights, np.int64)
        )
        return histogram.projection()

    @property
    def crs(self) -> str:
        """The plane as a PROJ string."""
        return f"+proj=laea +lat_0={self.lat_0} +lon_0={self.lon_0} +datum=WGS84 +units=m +no_defs"

    @cached_property
    def _proj(self) -> pyproj.Proj:
        return pyproj.Proj(self.crs)

    def to_metres(self, lon: npt.ArrayLike, lat: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Metres east and north of the centre; infinite at the opposite point of the globe."""
        x, y = self._proj(np.asarray(lon, float), np.asarray(lat, float))
        return np.asarray(x, float), np.asarray(y, float)

    def to_degrees(self, x: npt.ArrayLike, y: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Longitude and latitude of points in metres; infinite outside the plane."""
        lon, lat = self._proj(np.asarray(x, float), np.asarray(y, float), inverse=True)
        return np.asarray(lon, float), np.asarray(lat, float)


class CentreFinder:
    """Counts positions by tenths of a degree, batch by batch, and says where their middle is."""

    def __init__(self) -> None:
        self._lon = np.zeros(360 * _PER_DEGREE, np.int64)
        self._lat = np.zeros(180 * _PER_DEGREE, np.int64)

    def add(self, lon: Floats, lat: Floats, weights: npt.NDArray[np.int64]) -> None:
        """Count positions, each as often as its weight says."""
        for counts, degrees, least in ((self._lon, lon, -180), (self._lat, lat, -90)):
            tenth = np.floor((degrees - least) * _PER_DEGREE).astype(np.int64)
            np.add.at(counts, np.minimum(tenth, len(counts) - 1), weights)

    def projection(self) -> Projection:
        """Circular mean of the longitudes (for data across the date line) and median of the latitudes."""
        angle = np.radians((np.arange(len(self._lon)) + 0.5) / _PER_DEGREE - 180)
        lon_0 = math.degrees(math.atan2(float(self._lon @ np.sin(angle)), float(self._lon @ np.cos(angle))))
        below = np.cumsum(self._lat)
        median = int(np.searchsorted(below, (below[-1] + 1) // 2))
        return Projection(lon_0=round(lon_0), lat_0=round((median + 0.5) / _PER_DEGREE - 90))
