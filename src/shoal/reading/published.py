"""Published tables read back: boxes in cells and slots, the names of their records, and what is wrong with a table.

Edges in the file are half open and in metres and times; ends of ``Boxes`` are included.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.arrays import Bools, Floats, Int64s
from shoal.core.boxes import Boxes, concatenate
from shoal.core.formatting import counted
from shoal.core.promise import Grid
from shoal.core.schema import RECORD, T_END, T_START, X_MAX, X_MIN, Y_MAX, Y_MIN, published_schema
from shoal.core.zones import Zone
from shoal.errors import InputError
from shoal.reading.columns import need_columns
from shoal.reading.name_index import NameIndex
from shoal.reading.positions import MOST_CELLS
from shoal.reading.published_extras import NOTHING_CARRIED, Carried, ExtraColumns
from shoal.reading.published_grid import find_coordinates, manifest_beside
from shoal.reading.source import as_input_error, open_source
from shoal.reading.summary import DroppedRows
from shoal.reading.times import FIRST_SECOND, LAST_SECOND, PER_SECOND, read_times
from shoal.reading.values import as_bytes, is_text, read_numbers

# What is wrong with edges: counted over all batches, one message in the end.
MISSING = "missing values"
NO_TIME = "times that are neither timestamps nor ISO 8601 text"
NO_NUMBER = "edges that are no finite numbers"
TIME_FAR = "times outside the years 1 to 9999"
CELL_FAR = "edges too many cells away from the origin"
BETWEEN_STEPS = "times that are not whole steps"
BETWEEN_CELLS = "edges that are not whole cells"
_UTC = Zone("UTC")
_FRACTION = r"[.,]0*[1-9]"  # of a second, written out and not zero
_ULPS = 4  # units in the last place of an edge or of a cell: what other programs' arithmetic may leave
_MOST_TOLERANCE = 0.25  # of a cell; numbers of so few digits that more would be needed tell no cell
_MALFORMED = "malformed rows"
_EMPTY = "boxes that are empty"
# In this order, since a fault may follow from those before it; with what to do about each.
_REMEDIES = {
    _MALFORMED: "mend them, or make the file again",
    MISSING: "every row needs a record, two times and four edges",
    NO_TIME: "write them as YYYY-MM-DDThh:mm:ssZ",
    NO_NUMBER: "expected metres, with a decimal point",
    TIME_FAR: "mend them",
    CELL_FAR: "edges are in metres; check them, and the cell in --cell, metadata or manifest",
    BETWEEN_STEPS: "the step in --step, metadata or manifest must be the one of this release",
    BETWEEN_CELLS: "the cell in --cell, metadata or manifest must be the one of this release, and edges must have no"
    " further digits",
    _EMPTY: "ends do not belong to a box, so t_end, x_max and y_max must lie beyond t_start, x_min and y_min",
}


@dataclass(frozen=True)
class PublishedTable:
    """Boxes as somebody published them.

    ``boxes.owner`` indexes ``names``, the names of the records in increasing order; boxes are sorted by record and
    beginning, and those of a record may overlap. ``crs`` is None for plain metres, ``manifest`` where none was found;
    ``notes`` are what the file's metadata, or else its manifest, say of it. ``carried`` is what stands beside the
    boxes, where that was looked at; ``appearance``, by record, its place in the order in which records first appear.
    """

    boxes: Boxes
    names: npt.NDArray[np.object_]
    grid: Grid
    crs: str | None
    manifest: dict[str, Any] | None
    notes: dict[str, Any] | None
    carried: Carried = NOTHING_CARRIED
    appearance: Int64s = field(default_factory=lambda: np.empty(0, np.int64))

    def __repr__(self) -> str:
        return f"<PublishedTable: {counted(len(self.names), 'record')}, {counted(self.boxes.n_boxes, 'box', 'boxes')}>"


class PublishedRows:
    """A published file or table that is read batch by batch, its boxes as they stand.

    ``grid`` and ``crs`` are needed only where neither its metadata nor a manifest beside it name them. With
    ``look_beside`` all other columns are looked at as well.
    """

    def __init__(
        self,
        source: object,
        *,
        grid: Grid | None = None,
        crs: str | None = None,
        look_beside: bool = False,
    ) -> None:
        self._source, self._table = source, open_source(source, "A published table")
        title = self._table.title
        if isinstance(source, str | os.PathLike) and Path(source).is_dir():
            raise InputError(f"{title} cannot be read as one published table: name a file.")
        self._columns = need_columns(self._table.names, published_schema(geographic=False).names, title)
        self._records = NameIndex(RECORD)
        self.coordinates = find_coordinates(source, title, self._table.metadata, grid, crs)
        self._extras = None
        if look_beside:
            found = self.coordinates
            self._extras = ExtraColumns(self._table, self._columns, found.grid, found.crs)

    def batches(self) -> Iterator[Boxes]:
        """Boxes; owners are records, numbered in the order in which they come. Faults are reported at the end."""
        grid, title = self.coordinates.grid, self._table.title
        faults, rejected, n_boxes = Counter[str](), DroppedRows(), 0
        columns = self._columns | ({} if self._extras is None else self._extras.columns)
        for batch in self._table.batches(columns, rejected, threads=os.cpu_count() or 1):
            boxes = _boxes(batch, grid, self._records, faults, title)
            n_boxes += boxes.n_boxes
            if self._extras is not None:
                self._extras.add(batch, boxes)
            yield boxes
        faults[_MALFORMED] = rejected.rows
        _check(faults, n_boxes + rejected.rows, title, grid)

    @property
    def carried(self) -> Carried:
        """What stands beside the boxes that have come so far, where that is looked at."""
        if self._extras is None:
            return NOTHING_CARRIED
        return self._extras.carried(manifest_beside(self._source))

    @property
    def names(self) -> Any:
        """The names of the records that have come so far, in the order of their numbers, as an Arrow array."""
        return self._records.names


def read_published(
    source: object, *, grid: Grid | None = None, crs: str | None = None, look_beside: bool = False
) -> PublishedTable:
    """Read a published file or table as a whole; with ``look_beside`` also what it carries beside its boxes."""
    rows = PublishedRows(source, grid=grid, crs=crs, look_beside=look_beside)
    boxes = concatenate(rows.batches())
    appearance, names = _in_order(rows.names)
    rank = np.empty(len(names), np.int32)
    rank[appearance] = np.arange(len(names), dtype=np.int32)
    boxes = boxes._replace(owner=rank[boxes.owner]).by_owner()
    return PublishedTable(boxes, names, *rows.coordinates, carried=rows.carried, appearance=appearance)


def _boxes(batch: Any, grid: Grid, records: NameIndex, faults: Counter[str], title: str) -> Boxes:
    """The boxes of a batch, ends included; ``faults`` counts what is wrong with it."""
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    with as_input_error(title, "a published table"):
        owner = records.numbers(_by_row(columns[RECORD]))
        t0, t1 = (read_slots(columns[name], name, grid.step_s, faults) for name in (T_START, T_END))
        x0, x1, y0, y1 = (
            read_cells(columns[name], name, grid.cell_m, faults) for name in (X_MIN, X_MAX, Y_MIN, Y_MAX)
        )
    faults[MISSING] += int(np.count_nonzero(owner < 0))
    faults[_EMPTY] += int(np.count_nonzero((t1 <= t0) | (x1 <= x0) | (y1 <= y0)))
    places = (cells.astype(np.int32) for cells in (x0, x1 - 1, y0, y1 - 1))
    return Boxes(owner, t0, t1 - 1, *places)


def _by_row(column: Any) -> Any:
    """A column without a dictionary, so that records are those of the rows and numbered as they first come."""
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _check(faults: Counter[str], rows: int, title: str, grid: Grid) -> None:
    """Refuse a table with any fault; the first in order, since others may follow from it."""
    if rows == 0:
        raise InputError(f"{title} has no rows: expected at least one box below the column names.")
    sizes = {
        BETWEEN_STEPS: f" of {grid.step_s} s",
        BETWEEN_CELLS: f" of {grid.cell_m:.12g} m",
    }
    for fault, remedy in _REMEDIES.items():
        if faults[fault]:
            raise InputError(
                f"{title} has {faults[fault]:,} {fault}{sizes.get(fault, '')} in {rows:,} rows: {remedy}."
            )


def _in_order(names: Any) -> tuple[Int64s, npt.NDArray[np.object_]]:
    """The number that each name had, and the names, both in the order of the names."""
    order = pc.sort_indices(names).to_numpy().astype(np.int64)
    sorted_names = np.empty(len(order), object)
    sorted_names[:] = names.take(order).to_pylist()
    return order, sorted_names


def read_slots(column: Any, name: str, step_s: int, faults: Counter[str]) -> Int64s:
    """The slots that begin at some times; arbitrary where a fault is counted."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not (is_text(kind) or pa.types.is_temporal(kind) or pa.types.is_null(kind)) or pa.types.is_time(kind):
        raise InputError(
            f"The {name} column holds values of type {kind}: expected timestamps or ISO 8601 text."
        )
    column = _by_row(column)
    times = read_times(column, _UTC, only_iso=True)
    usable = times.valid
    held = (times.value >= FIRST_SECOND - step_s) & (times.value <= LAST_SECOND + 1 + step_s)
    slots, rest = np.divmod(times.value, step_s)
    faults[MISSING] += _count(times.missing)
    faults[NO_TIME] += _count(~usable & ~times.missing)
    faults[TIME_FAR] += _count(usable & ~held)
    faults[BETWEEN_STEPS] += _count(usable & ((rest != 0) | _fractions(column)))
    return slots


def read_cells(column: Any, name: str, cell_m: float, faults: Counter[str]) -> Int64s:
    """The cells that begin at some edges; arbitrary where a fault is counted."""
    numbers = read_numbers(column, name)
    finite = np.isfinite(numbers.value)
    metres = np.where(finite, numbers.value, 0.0)
    with np.errstate(over="ignore"):
        cells = metres / cell_m
    held = (cells >= -MOST_CELLS) & (cells <= MOST_CELLS + 1)
    cells[~held] = 0.0
    nearest = np.rint(cells)
    faults[MISSING] += _count(numbers.missing)
    faults[NO_NUMBER] += _count(~finite & ~numbers.missing)
    faults[CELL_FAR] += _count(~held)
    off = np.abs(metres - nearest * cell_m) / cell_m > _tolerance(metres, cell_m, column.type)
    faults[BETWEEN_CELLS] += _count(held & off)
    return nearest.astype(np.int64)


def _tolerance(metres: Floats, cell_m: float, kind: Any) -> Floats:
    """How far edges may be from whole cells, in cells: by what the last digits of the number's type cannot tell."""
    size = np.maximum(np.abs(metres), cell_m)
    relative = {pa.float16(): 2.0**-11, pa.float32(): 2.0**-24}.get(kind, 0.0)
    tolerance: Floats = np.minimum((relative * size + _ULPS * np.spacing(size)) / cell_m, _MOST_TOLERANCE)
    return tolerance


def _fractions(column: Any) -> Bools:
    """Which times are not whole seconds."""
    kind = column.type
    if is_text(kind):
        parts = pc.fill_null(pc.match_substring_regex(as_bytes(column), _FRACTION), False)
        written: Bools = parts.to_numpy(zero_copy_only=False)
        return written
    if pa.types.is_timestamp(kind) and kind.unit != "s":
        whole = pc.fill_null(column.cast(pa.int64()), 0).to_numpy(zero_copy_only=False)
        return np.asarray(whole % PER_SECOND[kind.unit] != 0)
    return np.zeros(len(column), np.bool_)


def _count(holds: Bools) -> int:
    return int(np.count_nonzero(holds))
