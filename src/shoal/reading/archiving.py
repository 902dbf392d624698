"""From settled batches to an archive: dealt out by time, then sorted stretch by stretch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.core.arrays import Bools, Int64s
from shoal.core.promise import Grid
from shoal.core.sorting import Columns, sort_distinct
from shoal.reading.buckets import Buckets, Sightings, joined
from shoal.reading.density import Density
from shoal.reading.resampling import first_rows
from shoal.reading.resolving import Survey
from shoal.reading.shelf import Shelf
from shoal.storage.piles import Piles
from shoal.storage.sample_store import Archive

_BUCKET_ROWS = 1 << 21  # that are sorted at once; a single slot, or period, may have more


class Archived(NamedTuple):
    """The samples, how many rows were not the first of their period, and what to warn of."""

    archive: Archive
    resampled: int
    warnings: list[str]


def archive_rows(
    batches: Shelf, survey: Survey, names: Any, grid: Grid, resample_s: int | None, piles: Piles
) -> Archived:
    """Sort the rows of all batches, which are taken, into samples; of each period the first if one is given."""
    buckets = _dealt(batches, survey, piles)
    n_rows = int(survey.tally.rows.sum())
    writer = _Writer(piles)
    if resample_s is not None:
        kept = 0
        for columns in _resampled(buckets, grid.step_s, resample_s):
            kept += len(columns[0])
            writer.append(sort_distinct(columns))
        return Archived(writer.close(_texts(names, survey.present)), n_rows - kept, [])
    density = Density(survey.n_users)
    for bucket in buckets:
        rows = joined(bucket.pieces())
        density.add(rows.user, rows.when)
        writer.append(sort_distinct(_in_slots(rows, grid.step_s)))
    return Archived(writer.close(_texts(names, survey.present)), 0, density.warnings())


def _dealt(batches: Shelf, survey: Survey, piles: Piles) -> Buckets:
    """The rows of all batches by time, with users numbered without those who have none."""
    buckets = Buckets(survey.tally.cuts(_BUCKET_ROWS), piles)
    number = (np.cumsum(survey.present) - 1).astype(np.int32)
    for batch in batches.taken():
        x, y = (cell[batch.place] for cell in batch.places)
        buckets.add(Sightings(number[batch.user], batch.when, x, y))
    return buckets


def _resampled(buckets: Buckets, step_s: int, period_s: int) -> Iterator[Columns]:
    """First rows of periods, so that all of a slot come together: one may begin in a bucket and end in the next."""
    over: list[Columns] = []
    for bucket in buckets:
        columns = _in_slots(first_rows(bucket.pieces(), period_s), step_s)
        columns = [np.concatenate(each) for each in zip(*over, columns, strict=True)]
        done = np.full(len(columns[0]), True) if bucket.end is None else columns[0] < bucket.end // step_s
        over = [[column[~done] for column in columns]]
        if done.any():
            yield [column[done] for column in columns]


def _in_slots(rows: Sightings, step_s: int) -> Columns:
    """Slots, users and cells: in the order by which samples are sorted."""
    return [rows.when // step_s, rows.user, rows.x, rows.y]


def _texts(names: Any, present: Bools) -> npt.NDArray[np.object_]:
    users: npt.NDArray[np.object_] = np.empty(int(np.count_nonzero(present)), object)
    users[:] = names.filter(pa.array(present)).to_pylist()
    return users


class _Writer:
    """Appends sorted samples, later ones each time, to the columns of an archive."""

    def __init__(self, piles: Piles) -> None:
        self._user, self._x, self._y = (piles.new(name) for name in ("user", "x", "y"))
        self._slots: list[Int64s] = []
        self._sizes: list[Int64s] = []

    def append(self, columns: Columns) -> None:
        """Write samples: slots, users and cells."""
        t, user, x, y = columns
        for pile, column in ((self._user, user), (self._x, x), (self._y, y)):
            pile.append([column])
        starts = np.flatnonzero(np.append(True, t[1:] != t[:-1]))
        self._slots.append(t[starts])
        self._sizes.append(np.diff(np.append(starts, len(t))))

    def close(self, users: npt.NDArray[np.object_]) -> Archive:
        """The archive of everything written."""
        slots, sizes = np.concatenate(self._slots), np.concatenate(self._sizes)
        first = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        return Archive(users, slots, first, self._user.column(), self._x.column(), self._y.column())
