"""Tables with a column of points: as well-known text in CSV, as well-known binary in GeoParquet."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from shoal.core.schema import GEOMETRY, POINTS
from shoal.reading.columns import plain
from shoal.reading.geo.degrees import as_degrees
from shoal.reading.geo.implied import POINT_LAT, POINT_LON, has_position
from shoal.reading.geo.wkb import points_in_binary
from shoal.reading.geo.wkt import points_in_text
from shoal.reading.source import Source, guarded
from shoal.reading.summary import Rejected

_GEO = b"geo"  # the key of GeoParquet's metadata
_LON_LAT = "OGC:CRS84"  # which it means where it names no CRS


def with_points(table: Source) -> Source:
    """A table whose positions are in a column of points, with these as longitude and latitude; others as they are."""
    if has_position(table.names):
        return table
    found = [name for name in table.names if plain(name) in POINTS]
    return PointTable(table, found[0]) if len(found) == 1 else table


class PointTable:
    """A table that tells its points as longitude and latitude."""

    def __init__(self, table: Source, geometry: str) -> None:
        self.title, self.warnings, self.metadata = table.title, table.warnings, table.metadata
        self.names = [*(name for name in table.names if name != geometry), POINT_LON, POINT_LAT]
        self._table = table
        self._geometry = geometry

    def batches(self, columns: Mapping[str, str], reject: Rejected, *, threads: int) -> Iterator[Any]:
        """Batches of the wanted columns."""
        others = {role: name for role, name in columns.items() if name not in (POINT_LON, POINT_LAT)}
        for batch in self._table.batches({**others, GEOMETRY: self._geometry}, reject, threads=threads):
            held = dict(zip(batch.schema.names, batch.columns, strict=True))
            with guarded(self.title, "points"):
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
        """The CRS that GeoParquet's metadata tell; None where there are none, or where it is unknown."""
        try:
            column = json.loads(self.metadata[_GEO])["columns"][self._geometry]
            return column.get("crs", _LON_LAT)
        except (KeyError, ValueError, TypeError, AttributeError, RecursionError):
            return None
