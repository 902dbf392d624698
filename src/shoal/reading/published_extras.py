"""What a published table carries beside its boxes: degrees and polygons, which must be hulls of the boxes, and columns
that nobody checks.

Whoever hands on a file hands on all of it: exact points in its degrees give people away, however large the boxes are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shoal.core.arrays import Bools, Floats
from shoal.core.boxes import Boxes
from shoal.core.geographic_hulls import Bounds, in_degrees, rings_of
from shoal.core.projection import parse_crs
from shoal.core.promise import Grid
from shoal.core.schema import GEOMETRY, LAT_MAX, LAT_MIN, LON_MAX, LON_MIN
from shoal.reading.columns import safe_name
from shoal.reading.geo.geojson import FEATURE_GEOMETRY, FeatureFile
from shoal.reading.source import Source
from shoal.reading.values import is_text, read_numbers

_DEGREES = (LON_MIN, LON_MAX, LAT_MIN, LAT_MAX)
_DEGREES_OFF = (
    2e-6  # two units of the last decimal that is written: what another version of PROJ may round otherwise
)
_CELLS_OFF = 1e-6  # of a cell, for polygons in metres


class Carried(NamedTuple):
    """What a table carries beside its boxes.

    n_other_places: boxes whose degrees or polygon are not their hull; unchecked: columns that were not looked at, by
    their names, or by their places where a name might be data.
    """

    n_other_places: int = 0
    unchecked: tuple[str, ...] = ()


NOTHING_CARRIED = Carried()


class ExtraColumns:
    """Looks at the columns of a published table beside those of the boxes, batch by batch."""

    def __init__(self, table: Source, boxes: Mapping[str, str], grid: Grid, crs: str | None) -> None:
        self._table, self._grid = table, grid
        self._plane = None if crs is None else parse_crs(crs)
        self._n_off = 0
        has_degrees = self._plane is not None and all(table.names.count(name) == 1 for name in _DEGREES)
        self.columns = {name: name for name in _DEGREES if has_degrees} | self._polygons()
        self._checked = {*boxes.values(), *self.columns.values()}

    def _polygons(self) -> dict[str, str]:
        """The column of polygons, if there is one that can be checked."""
        if isinstance(self._table, FeatureFile):
            return {} if self._plane is None else {GEOMETRY: FEATURE_GEOMETRY}
        return {GEOMETRY: GEOMETRY} if self._table.names.count(GEOMETRY) == 1 else {}

    def add(self, batch: Any, boxes: Boxes) -> None:
        """Count the boxes of a batch whose degrees or polygon say something else than the box."""
        if not self.columns:
            return
        edges = (boxes.x0, boxes.x1 + np.int64(1), boxes.y0, boxes.y1 + np.int64(1))
        hulls = Bounds._make(edge * np.float64(self._grid.cell_m) for edge in edges)
        if self._plane is not None:
            hulls = in_degrees(hulls, self._plane)
        slack = _DEGREES_OFF if self._plane is not None else _CELLS_OFF * self._grid.cell_m
        off = np.zeros(len(boxes.owner), np.bool_)
        for name, hull in zip(_DEGREES, hulls, strict=True):
            if name in self.columns:
                off |= ~_same_degrees(batch.column(name), name, hull, slack)
        if GEOMETRY in self.columns:
            off |= ~_same_boxes(_rings(batch.column(GEOMETRY)), hulls, slack)
        self._n_off += int(np.count_nonzero(off))

    def carried(self) -> Carried:
        """What was found, once all batches came by."""
        names = [*self._table.names]
        if isinstance(self._table, FeatureFile):
            names += sorted(self._table.members_seen - {*names})
            if self._plane is None:
                names.append(GEOMETRY)
        others = [safe_name(name, place) for place, name in enumerate(names, 1) if name not in self._checked]
        return Carried(self._n_off, tuple(others))


def _same_degrees(column: Any, name: str, hull: Floats, slack: float) -> Bools:
    """Which degrees are the hull's, but for rounding, and for what the number's type cannot tell apart."""
    kind = column.type
    if not (
        is_text(kind) or pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind)
    ):
        return np.zeros(len(column), np.bool_)
    relative = {pa.float16(): 2.0**-10, pa.float32(): 2.0**-23}.get(kind, 0.0)
    with np.errstate(invalid="ignore"):
        same: Bools = np.abs(read_numbers(column, name).value - hull) <= slack + relative * np.abs(hull)
    return same


def _rings(column: Any) -> Floats:
    """Polygons as rings of five points; NaN for whatever else is there."""
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    kind = column.type
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return rings_of(column)
    if pa.types.is_fixed_size_list(kind):
        points = column.fill_null([np.nan] * 10) if column.null_count else column
        rings: Floats = points.flatten().to_numpy(zero_copy_only=False).reshape(-1, 5, 2)
        return rings
    return np.full((len(column), 5, 2), np.nan)


def _same_boxes(rings: Floats, hulls: Bounds, slack: float) -> Bools:
    """Which rings are the hulls' corners, whichever comes first and whichever way round."""
    same: Bools = (rings[:, 0] == rings[:, 4]).all(axis=1)
    bounds = ((hulls.x_min, hulls.x_max), (hulls.y_min, hulls.y_max))
    with np.errstate(invalid="ignore"):
        for axis, (low, high) in enumerate(bounds):
            at_low, at_high = (np.abs(rings[:, :, axis] - end[:, None]) <= slack for end in (low, high))
            same &= (at_low | at_high).all(axis=1) & at_low.any(axis=1) & at_high.any(axis=1)
    return same
