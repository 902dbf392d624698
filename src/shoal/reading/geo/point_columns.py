"""Columns of points: read as longitude and latitude, and which other columns are then no longer needed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyproj
from pyproj.exceptions import CRSError, ProjError

from shoal.core.arrays import Floats
from shoal.core.schema import ALIASES, GEOMETRY, LAT, LON, POINTS, SITE, TIME, USER, X, Y
from shoal.errors import InputError
from shoal.reading.columns import plain
from shoal.reading.geo.encodings import points_in_binary, points_in_text
from shoal.reading.source import Source, as_input_error
from shoal.reading.summary import DroppedRows

_LON_LAT = "OGC:CRS84"
_GEO = b"geo"  # the key of GeoParquet's metadata
POINT_LON, POINT_LAT = "longitude of the point", "latitude of the point"
INDEX_TIME = "time of the index"
MOVING_OBJECT = "object of the trajectory"
_POSITION = (LAT, LON, X, Y, SITE)


def as_degrees(x: npt.ArrayLike, y: npt.ArrayLike, crs: Any, title: str) -> tuple[Floats, Floats]:
    """Longitudes and latitudes (WGS84) of coordinates in a CRS; infinite where that has no such place."""
    if crs is None:
        raise InputError(
            f"{title} does not tell the coordinate system (CRS) of its points: set it, in geopandas with"
            " set_crs('EPSG:4326') or whichever it is; or name columns of x and y in metres."
        )
    x, y = np.asarray(x, float), np.asarray(y, float)
    try:
        known = pyproj.CRS.from_user_input(crs)
        if not (known.is_geographic or known.is_projected):
            raise CRSError("neither degrees nor a plane")
        if known.equals(pyproj.CRS(_LON_LAT), ignore_axis_order=True):
            return x, y
        transformer = pyproj.Transformer.from_crs(known, _LON_LAT, always_xy=True)
        lon, lat = transformer.transform(x, y)  # NaN stays NaN
    except (CRSError, ProjError):
        raise InputError(
            f"The coordinate system (CRS) of {title[0].lower() + title[1:]} leads to no place on Earth:"
            " expected one with longitude and latitude, or a projection of them; correct it, or name columns of x"
            " and y in metres."
        ) from None
    return np.asarray(lon, float), np.asarray(lat, float)


def with_points(table: Source) -> Source:
    """A table whose positions are in a column of points, with these as longitude and latitude; others as they are."""
    if has_position(table.names):
        return table
    found = [name for name in table.names if plain(name) in POINTS]
    return PointTable(table, found[0]) if len(found) == 1 else table


class PointTable:
    """A table with its points as longitude and latitude."""

    def __init__(self, table: Source, geometry: str) -> None:
        self.title, self.warnings, self.metadata = table.title, table.warnings, table.metadata
        self.names = [*(name for name in table.names if name != geometry), POINT_LON, POINT_LAT]
        self._table = table
        self._geometry = geometry

    def batches(self, columns: Mapping[str, str], reject: DroppedRows, *, threads: int) -> Iterator[Any]:
        """Batches of the wanted columns."""
        others = {role: name for role, name in columns.items() if name not in (POINT_LON, POINT_LAT)}
        for batch in self._table.batches({**others, GEOMETRY: self._geometry}, reject, threads=threads):
            held = dict(zip(batch.schema.names, batch.columns, strict=True))
            with as_input_error(self.title, "points"):
                points = dict(zip((POINT_LON, POINT_LAT), self._points(held.pop(GEOMETRY)), strict=True))
            arrays = [held[role] if role in others else points[name] for role, name in columns.items()]
            yield pa.RecordBatch.from_arrays(arrays, list(columns))

    def _points(self, column: Any) -> tuple[Any, Any]:
        if isinstance(column.type, pa.BaseExtensionType):
            column = column.storage
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
            degrees = as_degrees(*points_in_binary(column, self.title), self._crs(), self.title)
            return pa.array(degrees[0], from_pandas=True), pa.array(degrees[1], from_pandas=True)
        return points_in_text(column, self.title)

    def _crs(self) -> Any:
        """The CRS that GeoParquet's metadata name; None where there are none, or where it is unknown."""
        try:
            column = json.loads(self.metadata[_GEO])["columns"][self._geometry]
            return column.get("crs", _LON_LAT)  # which it means where it names no CRS
        except (KeyError, ValueError, TypeError, AttributeError, RecursionError):
            return None


def names_position(columns: Mapping[str, str] | None, *, has_sites: bool) -> bool:
    """Whether somebody says where positions come from, so that points do not matter."""
    return has_sites or any(role in (columns or {}) for role in _POSITION)


def has_position(names: Sequence[str]) -> bool:
    """Whether a table has two columns that together look like a position."""
    known = {role for role in _POSITION for name in names if plain(name) in ALIASES[role]}
    return {LAT, LON} <= known or {X, Y} <= known


def implied_columns(
    names: Sequence[str], columns: Mapping[str, str] | None, *, has_sites: bool
) -> dict[str, str]:
    """The columns that were named, and those that go without saying.

    A point is where a row is, whatever other positions the table has; an index of times is the time where no column
    is. Whoever names columns for a role knows better.
    """
    implied = {}
    if MOVING_OBJECT in names:
        implied[USER] = MOVING_OBJECT
    if INDEX_TIME in names and not any(plain(name) in ALIASES[TIME] for name in names):
        implied[TIME] = INDEX_TIME
    if POINT_LAT in names and not names_position(columns, has_sites=has_sites):
        implied |= {LAT: POINT_LAT, LON: POINT_LON}
    return {**implied, **(columns or {})}
