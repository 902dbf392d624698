"""Points as well-known binary (WKB) and well-known text (WKT)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.arrays import Floats
from shoal.errors import InputError
from shoal.reading.values import as_bytes

KINDS = (  # in the order in which well-known binary numbers them, from 1 on
    "Point", "LineString", "Polygon", "MultiPoint", "MultiLineString", "MultiPolygon", "GeometryCollection",
)  # fmt: skip
_BY_NAME = {kind.lower(): kind for kind in KINDS}
_DIMENSIONS = 4000  # thousands say whether there is a Z, an M, or both
_BIG, _LITTLE = (
    np.dtype([("order", "u1"), ("kind", f"{end}u4"), ("x", f"{end}f8"), ("y", f"{end}f8")]) for end in "><"
)
_NUMBER = r"[^\s()]+"
_POINT = rf"(?i)^POINT\s*(?:Z|M|ZM)?\s*\(\s*(?P<x>{_NUMBER})\s+(?P<y>{_NUMBER})(?:\s+{_NUMBER}){{0,2}}\s*\)$"
_EMPTY = r"(?i)^POINT\s*(?:Z|M|ZM)?\s*EMPTY$"
_OTHER = r"(?i)^(?P<kind>MULTIPOINT|(?:MULTI)?LINESTRING|(?:MULTI)?POLYGON|GEOMETRYCOLLECTION)\b"
_NO_NUMBER = b"?"  # in place of what is no point, so that it counts as such further on


def check_points(kinds: Iterable[str], title: str) -> None:
    """Refuse geometries that are no points, given the names of their kinds; unknown names may be data."""
    others = sorted({_BY_NAME.get(str(kind).lower(), "something else") for kind in kinds} - {"Point"})
    if others:
        raise InputError(
            f"The geometry of {title[0].lower() + title[1:]} holds {' and '.join(others)}: expected points, one for"
            " each row; give the positions that it was made of."
        )


def points_in_binary(column: Any, title: str) -> tuple[Floats, Floats]:
    """x and y of points; NaN where there is none."""
    x, y = np.full(len(column), np.nan), np.full(len(column), np.nan)
    there = np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False))
    values = column.drop_null().cast(pa.large_binary())
    heads = pc.binary_slice(values, 0, _LITTLE.itemsize).cast(pa.large_binary())
    raw = np.frombuffer(b"".join(heads.to_pylist()), np.uint8)
    if len(raw) != len(values) * _LITTLE.itemsize:
        raise _damaged(title)
    for mark, form in enumerate((_BIG, _LITTLE)):
        points = raw.view(form)
        rows = points["order"] == mark
        kinds = np.unique(points["kind"][rows])
        if not all(kind < _DIMENSIONS and 1 <= kind % 1000 <= len(KINDS) for kind in kinds.tolist()):
            raise _damaged(title)
        check_points((KINDS[kind % 1000 - 1] for kind in kinds.tolist()), title)
        x[there[rows]], y[there[rows]] = points["x"][rows], points["y"][rows]
    if not np.isin(raw[:: _LITTLE.itemsize], (0, 1)).all():
        raise _damaged(title)
    return x, y


def _damaged(title: str) -> InputError:
    return InputError(
        f"The geometry of {title[0].lower() + title[1:]} cannot be read: expected points as well-known binary (WKB);"
        " mend it or make it again."
    )


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
