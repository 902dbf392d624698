"""Rows to samples in the order of time: partitions that fit into memory, resampled, sorted, without duplicates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.core.arrays import Bools, Int32s, Int64s
from shoal.core.promise import Grid
from shoal.core.sorting import Columns, group_rows, sort_distinct
from shoal.reading.batches import BatchStore
from shoal.reading.plausibility import SampleDensity
from shoal.reading.resolving import RowStatistics
from shoal.storage.sample_store import SampleStore
from shoal.storage.spill import Spill, SpillFile

_AT_LEAST = 1 << 20  # rows worth sorting again
_PARTITION_ROWS = 1 << 21  # that are sorted at once; a single slot, or period, may have more


class GridRows(NamedTuple):
    """Users by number, Unix seconds and cells of rows."""

    user: Int32s
    when: Int64s
    x: Int32s
    y: Int32s


class TimePartition(NamedTuple):
    """The rows before the second ``end`` and not before that of the partition before; None ends the last."""

    end: int | None
    file: SpillFile

    def pieces(self) -> Iterator[GridRows]:
        """The rows in as many pieces as they came."""
        return (GridRows(*piece) for piece in self.file)


class TimePartitions:
    """Rows by time: partition i begins at cuts[i - 1], the first with time itself."""

    def __init__(self, cuts: Int64s, spill: Spill) -> None:
        self._cuts = cuts
        self._files = spill.new_files("partition", len(cuts) + 1)

    def add(self, rows: GridRows) -> None:
        """Put some rows where they belong."""
        order, partitions = group_rows(np.searchsorted(self._cuts, rows.when, side="right"))
        rows = GridRows._make(column[order] for column in rows)
        for number, piece in partitions:
            self._files[number].append([column[piece].copy() for column in rows])

    def __iter__(self) -> Iterator[TimePartition]:
        """The partitions by time; the rows of one are gone when the next comes."""
        for end, file in zip([*self._cuts.tolist(), None], self._files, strict=True):
            yield TimePartition(end, file)
            file.clear()


class SortedRows(NamedTuple):
    """The samples, how many rows were not the first of their period, and what to warn of."""

    store: SampleStore
    resampled: int
    warnings: list[str]


def sort_rows(
    batches: BatchStore,
    statistics: RowStatistics,
    names: Any,
    grid: Grid,
    resample_s: int | None,
    spill: Spill,
) -> SortedRows:
    """Sort the rows of all batches, which are drained, into samples; ``resample_s``: only the first of each period."""
    partitions = _by_time(batches, statistics, spill)
    n_rows = int(statistics.by_time.rows.sum())
    writer = _Writer(spill)
    if resample_s is not None:
        kept = 0
        for columns in _resampled(partitions, grid.step_s, resample_s):
            kept += len(columns[0])
            writer.append(sort_distinct(columns))
        return SortedRows(writer.close(_texts(names, statistics.present)), n_rows - kept, [])
    density = SampleDensity(statistics.n_users)
    for partition in partitions:
        rows = joined(partition.pieces())
        density.add(rows.user, rows.when)
        writer.append(sort_distinct(_in_slots(rows, grid.step_s)))
    return SortedRows(writer.close(_texts(names, statistics.present)), 0, density.warnings())


def _by_time(batches: BatchStore, statistics: RowStatistics, spill: Spill) -> TimePartitions:
    """The rows of all batches by time, with users numbered without those who have none."""
    partitions = TimePartitions(statistics.by_time.cuts(_PARTITION_ROWS), spill)
    number = (np.cumsum(statistics.present) - 1).astype(np.int32)
    for batch in batches.drain():
        x, y = (cell[batch.place] for cell in batch.places)
        partitions.add(GridRows(number[batch.user], batch.when, x, y))
    return partitions


def _resampled(partitions: TimePartitions, step_s: int, period_s: int) -> Iterator[Columns]:
    """First rows of periods; those of a slot come together, though it may begin in a partition and end in the next."""
    over: list[Columns] = []
    for partition in partitions:
        columns = _in_slots(first_rows(partition.pieces(), period_s), step_s)
        columns = [np.concatenate(each) for each in zip(*over, columns, strict=True)]
        done = (
            np.full(len(columns[0]), True) if partition.end is None else columns[0] < partition.end // step_s
        )
        over = [[column[~done] for column in columns]]
        if done.any():
            yield [column[done] for column in columns]


def first_rows(pieces: Iterable[GridRows], period_s: int) -> GridRows:
    """Each user's first row in each period, counted from 1970 on, in no matter how many pieces.

    Among rows of one second the one with the smallest cell is kept, whatever the order of rows. Memory holds the rows
    to keep and about as many more.
    """
    waiting: list[GridRows] = []
    room = _AT_LEAST
    for piece in pieces:
        waiting.append(piece)
        if sum(len(each.when) for each in waiting) > room:
            waiting = [_firsts(joined(waiting), period_s)]
            room = max(_AT_LEAST, 2 * len(waiting[0].when))
    return _firsts(joined(waiting), period_s)


def _firsts(rows: GridRows, period_s: int) -> GridRows:
    rows = GridRows(*sort_distinct(rows))
    period = rows.when // period_s
    first = np.ones(len(period), bool)
    first[1:] = (rows.user[1:] != rows.user[:-1]) | (period[1:] != period[:-1])
    return GridRows._make(column[first] for column in rows)


def joined(pieces: Iterable[GridRows]) -> GridRows:
    """Several pieces as one."""
    return GridRows._make(np.concatenate(columns) for columns in zip(*pieces, strict=True))


def _in_slots(rows: GridRows, step_s: int) -> Columns:
    """Slots, users and cells: in the order by which samples are sorted."""
    return [rows.when // step_s, rows.user, rows.x, rows.y]


def _texts(names: Any, present: Bools) -> npt.NDArray[np.object_]:
    users: npt.NDArray[np.object_] = np.empty(int(np.count_nonzero(present)), object)
    users[:] = names.filter(pa.array(present)).to_pylist()
    return users


class _Writer:
    """Appends sorted samples, later ones each time, to the columns of a store."""

    def __init__(self, spill: Spill) -> None:
        self._user, self._x, self._y = (spill.new_file(name) for name in ("user", "x", "y"))
        self._slots: list[Int64s] = []
        self._sizes: list[Int64s] = []

    def append(self, columns: Columns) -> None:
        """Write samples: slots, users and cells."""
        t, user, x, y = columns
        for file, column in ((self._user, user), (self._x, x), (self._y, y)):
            file.append([column])
        starts = np.flatnonzero(np.append(True, t[1:] != t[:-1]))
        self._slots.append(t[starts])
        self._sizes.append(np.diff(np.append(starts, len(t))))

    def close(self, users: npt.NDArray[np.object_]) -> SampleStore:
        """The store of everything written."""
        slots, sizes = np.concatenate(self._slots), np.concatenate(self._sizes)
        first = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        return SampleStore(users, slots, first, self._user.column(), self._x.column(), self._y.column())
