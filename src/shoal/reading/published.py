"""Published tables, shoal's own or anybody else's in its schema, back to boxes on the grid."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from shoal.core.boxes import Boxes, concatenate
from shoal.core.promise import Grid
from shoal.core.schema import RECORD, T_END, T_START, X_MAX, X_MIN, Y_MAX, Y_MIN, published_schema
from shoal.errors import InputError
from shoal.reading import edges
from shoal.reading.columns import need_columns
from shoal.reading.name_index import Users
from shoal.reading.opening import open_source
from shoal.reading.published_grid import find_coordinates
from shoal.reading.source import guarded
from shoal.reading.summary import Rejected

_MALFORMED = "malformed rows"
_EMPTY = "boxes that are empty"

# In this order, since a fault may follow from those before it; with what to do about each.
_REMEDIES = {
    _MALFORMED: "mend them, or make the file again",
    edges.MISSING: "every row needs a record, two times and four edges",
    edges.NO_TIME: "write them as YYYY-MM-DDThh:mm:ssZ",
    edges.NO_NUMBER: "expected metres, with a decimal point",
    edges.TIME_FAR: "mend them",
    edges.CELL_FAR: "edges are in metres; check them, and the cell in --cell, metadata or manifest",
    edges.BETWEEN_STEPS: "the step in --step, metadata or manifest must be the one of this release",
    edges.BETWEEN_CELLS: "the cell in --cell, metadata or manifest must be the one of this release",
    _EMPTY: "ends do not belong to a box, so t_end, x_max and y_max must lie beyond t_start, x_min and y_min",
}


@dataclass(frozen=True)
class PublishedTable:
    """Boxes as somebody published them.

    ``boxes.owner`` indexes ``names``, the names of the records in increasing order; boxes are sorted by record and
    beginning, and those of a record may overlap. ``crs`` is None for plain metres, ``manifest`` where none was found;
    ``notes`` are what the file's metadata, or else its manifest, say of it.
    """

    boxes: Boxes
    names: npt.NDArray[np.object_]
    grid: Grid
    crs: str | None
    manifest: dict[str, Any] | None
    notes: dict[str, Any] | None


class PublishedRows:
    """A published file or table that is read batch by batch, its boxes as they stand.

    ``grid`` and ``crs`` are needed only where neither its metadata nor a manifest beside it tell them.
    """

    def __init__(self, source: object, *, grid: Grid | None = None, crs: str | None = None) -> None:
        self._table = open_source(source, "A published table")
        title = self._table.title
        if isinstance(source, str | os.PathLike) and Path(source).is_dir():
            raise InputError(f"{title} cannot be read as one published table: name a file.")
        self._columns = need_columns(self._table.names, published_schema(geographic=False).names, title)
        self._records = Users(RECORD)
        self.coordinates = find_coordinates(source, title, self._table.metadata, grid, crs)

    def batches(self) -> Iterator[Boxes]:
        """Boxes, whose owners are the records numbered in the order in which they come; faults are told at the end."""
        grid, title = self.coordinates.grid, self._table.title
        faults, rejected, n_boxes = Counter[str](), Rejected(), 0
        for batch in self._table.batches(self._columns, rejected, threads=os.cpu_count() or 1):
            boxes = _boxes(batch, grid, self._records, faults, title)
            n_boxes += boxes.n_boxes
            yield boxes
        faults[_MALFORMED] = rejected.rows
        _check(faults, n_boxes + rejected.rows, title, grid)

    @property
    def names(self) -> Any:
        """The names of the records that have come so far, in the order of their numbers, as an Arrow array."""
        return self._records.names


def read_published(source: object, *, grid: Grid | None = None, crs: str | None = None) -> PublishedTable:
    """Read a published file or table as a whole."""
    rows = PublishedRows(source, grid=grid, crs=crs)
    boxes = concatenate(rows.batches())
    rank, names = _in_order(rows.names)
    boxes = boxes._replace(owner=rank[boxes.owner]).by_owner()
    return PublishedTable(boxes, names, *rows.coordinates)


def _boxes(batch: Any, grid: Grid, records: Users, faults: Counter[str], title: str) -> Boxes:
    """The boxes of a batch, ends included; ``faults`` counts what is wrong with it."""
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    with guarded(title, "a published table"):
        owner = records.numbers(columns[RECORD])
        t0, t1 = (edges.read_slots(columns[name], name, grid.step_s, faults) for name in (T_START, T_END))
        x0, x1, y0, y1 = (
            edges.read_cells(columns[name], name, grid.cell_m, faults)
            for name in (X_MIN, X_MAX, Y_MIN, Y_MAX)
        )
    faults[edges.MISSING] += int(np.count_nonzero(owner < 0))
    faults[_EMPTY] += int(np.count_nonzero((t1 <= t0) | (x1 <= x0) | (y1 <= y0)))
    places = (cells.astype(np.int32) for cells in (x0, x1 - 1, y0, y1 - 1))
    return Boxes(owner, t0, t1 - 1, *places)


def _check(faults: Counter[str], rows: int, title: str, grid: Grid) -> None:
    """Refuse a table with any fault; the first in order, since others may follow from it."""
    if rows == 0:
        raise InputError(f"{title} has no rows: expected at least one box below the column names.")
    sizes = {edges.BETWEEN_STEPS: f" of {grid.step_s} s", edges.BETWEEN_CELLS: f" of {grid.cell_m:.12g} m"}
    for fault, remedy in _REMEDIES.items():
        if faults[fault]:
            raise InputError(
                f"{title} has {faults[fault]:,} {fault}{sizes.get(fault, '')} in {rows:,} rows: {remedy}."
            )


def _in_order(names: Any) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.object_]]:
    """The place of each name among all in order, and the names in order."""
    order = pc.sort_indices(names).to_numpy()
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    sorted_names = np.empty(len(order), object)
    sorted_names[:] = names.take(order).to_pylist()
    return rank, sorted_names
