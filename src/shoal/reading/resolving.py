"""Whatever needs all batches: the unit of numeric times, the numbering of users, the centre of the projection."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.arrays import Bools, Int32s
from shoal.core.projection import CentreFinder, Plane
from shoal.reading import summary
from shoal.reading.batches import Batch, BatchStore
from shoal.reading.filters import Period
from shoal.reading.plausibility import ImplausibleTimes, TimeHistogram
from shoal.reading.positions import Positions, cells
from shoal.reading.times import FIRST_SECOND, LAST_SECOND

_SHORTEST_STRETCH_S = 60  # rows are counted by no less, or a table of seconds might outgrow memory


def resolve_times(batch: Batch, per_second: int, period: Period) -> None:
    """Bring numeric times to seconds, in one unit for all batches, and drop what lies outside the period."""
    if batch.numeric is not None and per_second > 1:
        batch.when = np.where(batch.numeric, batch.when // per_second, batch.when)
    batch.numeric = None
    batch.keep((batch.when >= FIRST_SECOND) & (batch.when <= LAST_SECOND), summary.TIME_OUT_OF_RANGE)
    if period.limited:
        batch.keep(period.holds(batch.when), summary.OUTSIDE_PERIOD)


class UserNumbering(NamedTuple):
    """Users by name: their names in order, the place there of each number so far, and who is not excluded."""

    names: Any
    rank: Int32s
    wanted: Bools

    @classmethod
    def of(cls, names: Any, excluded: set[str]) -> UserNumbering:
        """The users by name, given their names in the order in which they were first seen."""
        order = pc.sort_indices(names)
        rank = np.empty(len(names), np.int32)
        rank[order.to_numpy()] = np.arange(len(names), dtype=np.int32)
        names = names.take(order)
        unwanted = pc.is_in(names, value_set=pa.array(sorted(excluded), pa.large_string()))
        return cls(names, rank, ~unwanted.to_numpy(zero_copy_only=False))

    def renumber(self, batch: Batch) -> None:
        """Number users in the order of their names instead of that of the rows, and drop the excluded ones."""
        batch.user = self.rank[batch.user]
        if not self.wanted.all():
            batch.keep(self.wanted[batch.user], summary.EXCLUDED)

    @property
    def n_excluded(self) -> int:
        """How many users are dropped."""
        return int(np.count_nonzero(~self.wanted))


def centred(batches: BatchStore) -> Plane | None:
    """The projection around the places of all batches; None where no row is left."""
    finder = CentreFinder()
    found = False
    for batch in batches:
        weights = np.bincount(batch.place, minlength=len(batch.places.first))
        there = weights > 0
        found = found or bool(there.any())
        finder.add(batch.places.first[there], batch.places.second[there], weights[there])
    return finder.projection() if found else None


class RowStatistics:
    """Statistics of the rows that are left: which users have any, and how many there are at which time."""

    def __init__(self, n_users: int, unit_s: int) -> None:
        self.present = np.zeros(n_users, bool)
        self.implausible = ImplausibleTimes()
        self.by_time = TimeHistogram(unit_s * -(-_SHORTEST_STRETCH_S // unit_s))

    def add(self, batch: Batch) -> None:
        """Count the rows of one batch."""
        self.present[batch.user] = True
        self.implausible.add(batch.when)
        self.by_time.add(batch.when)

    @property
    def n_users(self) -> int:
        """How many users have rows."""
        return int(np.count_nonzero(self.present))


def resolve_cells(
    batches: BatchStore, cell_m: float, projection: Plane | None, statistics: RowStatistics
) -> None:
    """Turn places into cells, and count the rows that are left."""
    for batch in batches:
        x, y, held = cells(batch.places, cell_m, projection)
        batch.places = Positions(x, y)
        if not held.all():
            batch.keep(held[batch.place], summary.POSITION_OUT_OF_RANGE)
        statistics.add(batch)
