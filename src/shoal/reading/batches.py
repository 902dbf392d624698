"""Batches of rows: typed and classified (``parse_batch``), and stored until all of them were read (``BatchStore``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from shoal.core.arrays import Bools, Bytes, Int32s, Int64s
from shoal.core.schema import TIME, USER
from shoal.core.time_format import TimeFormat
from shoal.core.zones import Zone
from shoal.reading import summary
from shoal.reading.marks import DOUBTFUL_COMMA
from shoal.reading.name_index import NameIndex
from shoal.reading.positions import NO_FAULT, Locator, Positions, numbered
from shoal.reading.source import as_input_error
from shoal.reading.times import read_times
from shoal.storage.spill import Arrays, Spill, SpillFile


@dataclass
class Batch:
    """The usable rows of a batch as columns; ``dropped`` counts the others.

    ``user`` is numbered over all batches; ``place`` indexes ``places``, of this batch only. ``when`` is in Unix
    seconds, or, where ``marks`` (bits, see marks.py) say so, what it means is known once all batches are read.
    ``naive``: whether some of the times were written without a zone. ``decimal_commas``: whether a comma in a position
    is sure to be a decimal one.
    """

    user: Int32s
    when: Int64s
    marks: Bytes | None
    place: Int32s
    places: Positions
    dropped: Counter[str]
    rows: int
    naive: bool = False
    decimal_commas: bool = False

    def keep(self, usable: Bools, reason: str) -> None:
        """Drop the other rows for a reason."""
        lost = len(usable) - int(np.count_nonzero(usable))
        if lost:
            self.dropped[reason] += lost
            self.user, self.when, self.place = self.user[usable], self.when[usable], self.place[usable]
            self.marks = None if self.marks is None else self.marks[usable]

    def marked(self, mark: int) -> Bools:
        """Which rows have a mark."""
        none = np.zeros(len(self.when), bool)
        return none if self.marks is None else self.marks & mark > 0


def parse_batch(
    batch: Any, zone: Zone, pattern: TimeFormat | None, locate: Locator, users: NameIndex
) -> Batch:
    """Type the values of a record batch, drop what cannot be used, and keep codes instead of values."""
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    with as_input_error("The input", "events"):
        codes = users.numbers(columns[USER])
        times = read_times(columns[TIME], zone, pattern)
        located = locate(columns)
    faults = {
        summary.MISSING_USER: codes < 0,
        summary.MISSING_TIME: times.missing,
        summary.UNPARSABLE_TIME: ~times.valid & ~times.missing,
    }
    fault = np.minimum(numbered(faults, len(codes)), located.fault)
    marks = times.marks
    if located.doubtful is not None:
        marks = marks | np.uint8(DOUBTFUL_COMMA) * located.doubtful
    columns_kept = codes, times.value, located.code, marks, times.local
    if (fault != NO_FAULT).any():
        usable = fault == NO_FAULT
        columns_kept = tuple(column[usable] for column in columns_kept)
    user, when, place, marks, local = columns_kept
    counts = np.bincount(fault, minlength=NO_FAULT + 1)
    return Batch(
        user=user,
        when=when,
        marks=marks if marks.any() else None,
        place=place,
        places=located.places,
        dropped=Counter(
            {reason: int(counts[number]) for number, reason in enumerate(summary.REASONS) if counts[number]}
        ),
        rows=len(fault),
        naive=bool(local.any()),
        decimal_commas=located.decimal_commas,
    )


class _StoredBatch(NamedTuple):
    """Where the columns of a batch are, and what is small enough to stay."""

    file: SpillFile
    dropped: Counter[str]
    rows: int


class BatchStore:
    """Batches in their order, in memory or in files; arrays of a batch that a loop replaces stay replaced."""

    def __init__(self, spill: Spill) -> None:
        self._spill = spill
        self._entries: list[_StoredBatch] = []

    def append(self, batch: Batch) -> None:
        """Store one more batch."""
        file = self._spill.new_file(f"batch-{len(self._entries):07d}")
        file.append(_columns(batch))
        self._entries.append(_StoredBatch(file, batch.dropped, batch.rows))

    def __iter__(self) -> Iterator[Batch]:
        for entry in self._entries:
            batch, before = _load(entry)
            yield batch
            after = _columns(batch)
            if len(before) != len(after) or any(
                old is not new for old, new in zip(before, after, strict=True)
            ):
                entry.file.clear()
                entry.file.append(after)

    def drain(self) -> Iterator[Batch]:
        """The batches for the last time: each is gone when the next one comes."""
        for entry in self._entries:
            batch, _ = _load(entry)
            entry.file.clear()
            yield batch

    @property
    def dropped(self) -> Counter[str]:
        """Why rows of all batches were left out."""
        return sum((entry.dropped for entry in self._entries), Counter())

    @property
    def rows(self) -> int:
        """How many rows were read, used or not."""
        return sum(entry.rows for entry in self._entries)


def _columns(batch: Batch) -> Arrays:
    columns = (batch.user, batch.when, batch.place, *batch.places)
    return columns if batch.marks is None else (*columns, batch.marks)


def _load(entry: _StoredBatch) -> tuple[Batch, Arrays]:
    (columns,) = entry.file
    user, when, place, first, second, *marks = columns
    batch = Batch(
        user=user,
        when=when,
        marks=marks[0] if marks else None,
        place=place,
        places=Positions(first, second),
        dropped=entry.dropped,
        rows=entry.rows,
    )
    return batch, columns
