"""Points as well-known text, ``POINT (lon lat)``: what CSV files of geopandas, trackintel and PostGIS hold."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.reading.geo.kinds import check_points
from shoal.reading.texts import as_bytes

_NUMBER = r"[^\s()]+"
_POINT = rf"(?i)^POINT\s*(?:Z|M|ZM)?\s*\(\s*(?P<x>{_NUMBER})\s+(?P<y>{_NUMBER})(?:\s+{_NUMBER}){{0,2}}\s*\)$"
_EMPTY = r"(?i)^POINT\s*(?:Z|M|ZM)?\s*EMPTY$"
_OTHER = r"(?i)^(?P<kind>MULTIPOINT|(?:MULTI)?LINESTRING|(?:MULTI)?POLYGON|GEOMETRYCOLLECTION)\b"
_NO_NUMBER = b"?"  # in place of what is no point, so that it counts as such further on


def points_in_text(column: Any, title: str) -> tuple[Any, Any]:
    """The numbers of points, still as text: empty where there is no point, no number where there is something else."""
    text = as_bytes(pc.fill_null(column, pa.scalar("", column.type)))
    other = pc.extract_regex(text, _OTHER)
    if other.null_count < len(other):
        kinds = pc.struct_field(other, "kind").drop_null().cast(pa.large_string())
        check_points(kinds.unique().to_pylist(), title)
    point = pc.extract_regex(text, _POINT)
    nothing = pc.or_(pc.equal(pc.binary_length(text), 0), pc.match_substring_regex(text, _EMPTY))
    otherwise = pc.if_else(nothing, pa.scalar(b"", text.type), pa.scalar(_NO_NUMBER, text.type))
    x, y = (pc.if_else(point.is_valid(), pc.struct_field(point, axis), otherwise) for axis in "xy")
    return x, y
