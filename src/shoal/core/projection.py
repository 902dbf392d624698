"""Degrees to metres and back: an equal-area plane centred on the data, or the plane that a CRS names."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyproj
from pyproj.exceptions import CRSError, ProjError

from shoal.core.arrays import Floats
from shoal.errors import InputError

_PER_DEGREE = 10  # the centre is found to a tenth of a degree, then rounded
_MOST_QUOTED = 60  # letters of a CRS that a message repeats


class Plane(Protocol):
    """Coordinates in metres for places on the globe."""

    @property
    def crs(self) -> str:
        """The plane in words that other programs understand."""
        ...

    def to_metres(self, lon: npt.ArrayLike, lat: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Metres east and north of the origin; infinite where the plane has no such place."""
        ...

    def to_degrees(self, x: npt.ArrayLike, y: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Longitude and latitude of points in metres; infinite outside the plane."""
        ...


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


@dataclass(frozen=True)
class NamedPlane:
    """The plane of any projected CRS in metres that PROJ knows, such as ``EPSG:3857``."""

    crs: str

    @cached_property
    def _transformer(self) -> pyproj.Transformer:
        return pyproj.Transformer.from_crs("OGC:CRS84", self.crs, always_xy=True)

    def to_metres(self, lon: npt.ArrayLike, lat: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Metres east and north of the origin; infinite where the plane has no such place."""
        x, y = self._transformer.transform(np.asarray(lon, float), np.asarray(lat, float))
        return np.asarray(x, float), np.asarray(y, float)

    def to_degrees(self, x: npt.ArrayLike, y: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Longitude and latitude of points in metres; infinite outside the plane."""
        lon, lat = self._transformer.transform(
            np.asarray(x, float), np.asarray(y, float), direction="INVERSE"
        )
        return np.asarray(lon, float), np.asarray(lat, float)


def parse_crs(crs: str) -> Plane:
    """The plane that a CRS names: exactly the one it was published in where shoal wrote it, any other by PROJ."""
    centre = re.match(r"\+proj=laea \+lat_0=(-?\d{1,2}) \+lon_0=(-?\d{1,3}) ", crs)
    if centre is not None:
        ours = Projection(lat_0=int(centre[1]), lon_0=int(centre[2]))
        if ours.crs == crs and abs(ours.lat_0) <= 90 and abs(ours.lon_0) <= 180:
            return ours
    wanted = "the CRS must name a plane in metres, such as EPSG:3857"
    try:
        known = pyproj.CRS.from_user_input(crs)
        in_metres = known.is_projected and all(axis.unit_conversion_factor == 1 for axis in known.axis_info)
        plane = NamedPlane(crs)
        if in_metres:
            plane.to_metres(0.0, 0.0)  # some descriptions fail only here
    except (CRSError, ProjError):
        raise InputError(f"No coordinate system {_quoted(crs)}: {wanted}; check it, or --crs.") from None
    if not in_metres:
        raise InputError(f"{_quoted(crs)} is no plane in metres: {wanted}; check it, or --crs.")
    return plane


def same_plane(one: str, other: str) -> bool:
    """Whether two descriptions are of the same CRS."""
    try:
        return one == other or bool(pyproj.CRS.from_user_input(one) == pyproj.CRS.from_user_input(other))
    except CRSError:
        return False


def _quoted(crs: str) -> str:
    return repr(crs if len(crs) <= _MOST_QUOTED else crs[:_MOST_QUOTED] + "...")


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
