"""What a published table carries beside its boxes: degrees and polygons, which must be hulls of the boxes, more digits
than the boxes need, and columns that nobody checks.

Whoever hands on a file hands on all of it: exact points in its degrees give people away, however large the boxes are,
and so does a number in digits that nobody looks at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shoal.core.arrays import Bools, Floats
from shoal.core.boxes import Boxes
from shoal.core.geographic_hulls import DECIMALS, Bounds, in_degrees, rings_of
from shoal.core.projection import parse_crs
from shoal.core.promise import Grid
from shoal.core.schema import GEOMETRY, LAT_MAX, LAT_MIN, LON_MAX, LON_MIN, X_MAX, X_MIN, Y_MAX, Y_MIN
from shoal.reading.columns import safe_name
from shoal.reading.dictionary_entries import DictionaryEntries, may_have_dictionary
from shoal.reading.geo.geojson import FEATURE_GEOMETRY, FeatureFile
from shoal.reading.published_entries import IN_DICTIONARIES, IN_EDGES, count_entries
from shoal.reading.source import Source
from shoal.reading.tables import ParquetFile
from shoal.reading.values import is_text, read_numbers

_EDGES = (X_MIN, X_MAX, Y_MIN, Y_MAX)
_DEGREES = (LON_MIN, LON_MAX, LAT_MIN, LAT_MAX)
_DEGREES_OFF = (
    2.1e-6  # two units of the last decimal, and a little: another version of PROJ may round otherwise,
)
_MOST_ROUNDED = (
    0.01  # of the boxes that often: where it does so, a hull ends within a billionth of a degree of a unit
)
_FEW = 10  # boxes, of which it says nothing that they are more than this share
_ULPS_OFF = 4  # units in the last place, for polygons in metres
_HALF_ULP = {pa.float16(): 2.0**-11, pa.float32(): 2.0**-24}  # relative: the nearest number of a shorter type


class Carried(NamedTuple):
    """What a table carries beside its boxes.

    n_other_places: boxes whose degrees or polygon are not their hull; unchecked: columns that were not looked at, by
    their names, or by their places where a name might be data; entries: how many other things were not looked at, by
    where they stand.
    """

    n_other_places: int = 0
    unchecked: tuple[str, ...] = ()
    entries: tuple[tuple[str, int], ...] = ()


NOTHING_CARRIED = Carried()


class ExtraColumns:
    """Looks at the columns of a published table beside those of the boxes, batch by batch."""

    def __init__(self, table: Source, boxes: Mapping[str, str], grid: Grid, crs: str | None) -> None:
        self._table, self._grid = table, grid
        self._plane = None if crs is None else parse_crs(crs)
        self._n_boxes = self._n_off = self._n_rounded = self._n_uneven = 0
        self._decimals = max(0, -int(Decimal(repr(grid.cell_m)).as_tuple().exponent))
        self._dictionaries = DictionaryEntries()
        has_degrees = self._plane is not None and all(table.names.count(name) == 1 for name in _DEGREES)
        self.columns = {name: name for name in _DEGREES if has_degrees} | self._polygons()
        self._checked = {*boxes.values(), *self.columns.values()}

    def _polygons(self) -> dict[str, str]:
        """The column of polygons, if there is one that can be checked."""
        if isinstance(self._table, FeatureFile):
            return {} if self._plane is None else {GEOMETRY: FEATURE_GEOMETRY}
        return {GEOMETRY: GEOMETRY} if self._table.names.count(GEOMETRY) == 1 else {}

    def add(self, batch: Any, boxes: Boxes) -> None:
        """Count the boxes of a batch whose numbers say something else, or more, than the box."""
        edges = (boxes.x0, boxes.x1 + np.int64(1), boxes.y0, boxes.y1 + np.int64(1))
        metres = Bounds._make(edge * np.float64(self._grid.cell_m) for edge in edges)
        uneven = np.zeros(len(boxes.owner), np.bool_)
        for name, edge in zip(_EDGES, metres, strict=True):
            uneven |= ~_as_written(batch.column(name), name, edge, self._decimals)
        self._n_boxes += len(uneven)
        self._n_uneven += int(np.count_nonzero(uneven))
        self._dictionaries.add(batch)
        if self.columns:
            self._add_hulls(batch, metres)

    def _add_hulls(self, batch: Any, metres: Bounds) -> None:
        """Count the boxes whose degrees or polygon are not their hull, and those that are rounded otherwise."""
        hulls = metres if self._plane is None else in_degrees(metres, self._plane)
        off, rounded = (np.zeros(len(hulls.x_min), np.bool_) for _ in range(2))
        for name, hull in zip(_DEGREES, hulls, strict=True):
            if name in self.columns:
                value, slack = _degrees(batch.column(name), name, hull)
                off |= ~_within(value, hull, slack + _DEGREES_OFF)
                rounded |= ~_within(value, hull, slack)
        if GEOMETRY in self.columns:
            rings = _rings(batch.column(GEOMETRY))
            if self._plane is not None:
                rings = np.where(_has_decimals(rings), rings, np.nan)
            off |= ~_same_boxes(rings, hulls, None if self._plane is None else _DEGREES_OFF)
            rounded |= ~_same_boxes(rings, hulls, 0.0)
        self._n_off += int(np.count_nonzero(off))
        self._n_rounded += int(np.count_nonzero(rounded & ~off))

    def carried(self, manifest: bytes | dict[str, Any] | None) -> Carried:
        """What was found, once all batches came by; ``manifest`` is what stands beside the table."""
        names = [*self._table.names]
        if isinstance(self._table, FeatureFile):
            names += sorted(self._table.members_seen - {*names})
            if self._plane is None:
                names.append(GEOMETRY)
        others = [safe_name(name, place) for place, name in enumerate(names, 1) if name not in self._checked]
        often = self._n_rounded > max(_FEW, _MOST_ROUNDED * self._n_boxes)
        entries = count_entries(self._table, manifest) + Counter(
            {IN_DICTIONARIES: self._n_unused(), IN_EDGES: self._n_uneven}
        )
        return Carried(
            self._n_off + (self._n_rounded if often else 0), tuple(others), tuple(sorted(entries.items()))
        )

    def _n_unused(self) -> int:
        """How many entries of dictionaries no row uses; Parquet has some whatever type it names."""
        if not isinstance(self._table, ParquetFile):
            return self._dictionaries.n_unused
        found, schema = DictionaryEntries(), self._table.schema
        columns = [name for name in self._checked if may_have_dictionary(schema.field(name).type)]
        for batch in self._table.with_dictionaries(columns) if columns else ():
            found.add(batch)
        return found.n_unused


def _as_written(column: Any, name: str, edge: Floats, decimals: int) -> Bools:
    """Which edges are the product of cell and number, or what people write for it, with as many decimals as the cell
    has: 3 * 0.1 is not 0.3."""
    value = read_numbers(column, name).value
    if column.type in _HALF_ULP:
        same: Bools = value == edge.astype(column.type.to_pandas_dtype())
        return same
    return np.asarray((value == edge) | (value == np.round(edge, decimals)))


def _degrees(column: Any, name: str, hull: Floats) -> tuple[Floats, Floats]:
    """Degrees, NaN where they have more decimals than are written, and what the number's type cannot tell apart."""
    kind = column.type
    if not (
        is_text(kind) or pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind)
    ):
        return np.full(len(column), np.nan), np.zeros(len(column))
    value = read_numbers(column, name).value
    if kind in _HALF_ULP:
        return value, _HALF_ULP[kind] * np.abs(hull)
    return np.where(_has_decimals(value), value, np.nan), np.zeros(len(column))


def _has_decimals(degrees: Floats) -> Bools:
    """Which numbers are those with as many decimals as are written."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(np.rint(degrees * 10.0**DECIMALS) / 10.0**DECIMALS == degrees)


def _within(value: Floats, hull: Floats, slack: Floats) -> Bools:
    """Which numbers are so near to the hull."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.abs(value - hull) <= slack)


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


def _same_boxes(rings: Floats, hulls: Bounds, slack: float | None) -> Bools:
    """Which rings are the hulls' corners, whichever comes first and whichever way round.

    Without ``slack`` they may be off by what arithmetic leaves.
    """
    same: Bools = (rings[:, 0] == rings[:, 4]).all(axis=1)
    bounds = ((hulls.x_min, hulls.x_max), (hulls.y_min, hulls.y_max))
    for axis, ends in enumerate(bounds):
        at_low, at_high = (
            _within(
                rings[:, :, axis],
                end[:, None],
                _ULPS_OFF * np.spacing(np.abs(end))[:, None] if slack is None else np.array([[slack]]),
            )
            for end in ends
        )
        same &= (at_low | at_high).all(axis=1) & at_low.any(axis=1) & at_high.any(axis=1)
    return same
