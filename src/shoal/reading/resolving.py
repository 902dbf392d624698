"""Whatever needs all batches: what times and commas mean, the numbering of users, the centre of the projection."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.arrays import Bools, Int32s
from shoal.core.formatting import counted, joined
from shoal.core.projection import CentreFinder, Plane
from shoal.core.zones import Zone
from shoal.reading import summary
from shoal.reading.batches import Batch, BatchStore
from shoal.reading.filters import Period
from shoal.reading.marks import DOUBTFUL_COMMA, REPEATED, SKIPPED
from shoal.reading.plausibility import ImplausiblePlaces, ImplausibleTimes, TimeHistogram
from shoal.reading.positions import Positions, cells
from shoal.reading.times import FIRST_SECOND, LAST_SECOND, TimeMeaning, TimeVote, read_pending

_SHORTEST_STRETCH_S = 60  # rows are counted by no less, or a table of seconds might outgrow memory


class ToldByAll(NamedTuple):
    """What only all batches together tell: what pending times mean, whether some times were written without a zone, and
    whether commas in positions are decimal ones."""

    times: TimeMeaning
    naive: bool
    decimal_commas: bool


def store_all(parsed: Iterable[Batch], batches: BatchStore) -> ToldByAll:
    """Store all batches, and find out what they tell together."""
    vote, naive, decimal_commas = TimeVote(), False, False
    for batch in parsed:
        if batch.marks is not None:
            vote.add(batch.when, batch.marks)
        naive |= batch.naive
        decimal_commas |= batch.decimal_commas
        batches.append(batch)
    pa.default_memory_pool().release_unused()
    times = vote.meaning()
    return ToldByAll(times, naive or times.clock_digits is not None, decimal_commas)


def resolve_marks(batch: Batch, told: ToldByAll, zone: Zone) -> None:
    """Make seconds of times that were pending, and drop what is no time, or no number, after all."""
    if batch.marks is None:
        return
    batch.when, batch.marks, valid = read_pending(batch.when, batch.marks, told.times, zone)
    batch.keep(valid, summary.UNPARSABLE_TIME)
    if not told.decimal_commas:
        batch.keep(~batch.marked(DOUBTFUL_COMMA), summary.UNPARSABLE_POSITION)
    if not (batch.marked(SKIPPED) | batch.marked(REPEATED)).any():
        batch.marks = None


def keep_period(batch: Batch, period: Period) -> None:
    """Drop what lies outside the calendar, or outside the period."""
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
    """Statistics of the rows that are left: which users have any, how many there are at which time, what looks odd.

    ``skipped`` and ``repeated`` count the rows with times that clocks skipped, or showed twice.
    """

    def __init__(self, n_users: int, unit_s: int) -> None:
        self.present = np.zeros(n_users, bool)
        self.by_time = TimeHistogram(unit_s * -(-_SHORTEST_STRETCH_S // unit_s))
        self.skipped = self.repeated = 0
        self._times = ImplausibleTimes()
        self._places = ImplausiblePlaces()

    def add(self, batch: Batch, metres: Positions | None) -> None:
        """Count the rows of one batch, whose places are cells; ``metres``: what these were made of, unless degrees."""
        self.present[batch.user] = True
        self._times.add(batch.when)
        self.by_time.add(batch.when)
        self.skipped += int(np.count_nonzero(batch.marked(SKIPPED)))
        self.repeated += int(np.count_nonzero(batch.marked(REPEATED)))
        if metres is not None:
            rows = np.bincount(batch.place, minlength=len(metres.first))
            self._places.add(metres, batch.places, rows)

    def warnings(self, zone: Zone) -> list[str]:
        """What looks odd, one line each; a row must be left."""
        return [
            *self._times.warnings(),
            *self._times.without_clock(self.by_time, zone),
            *_clock_changes(self.skipped, self.repeated, zone),
            *self._places.warnings(),
        ]

    @property
    def n_users(self) -> int:
        """How many users have rows."""
        return int(np.count_nonzero(self.present))


def _clock_changes(skipped: int, repeated: int, zone: Zone) -> list[str]:
    """A line on times that do not exist, or exist twice, on the clocks of a zone, and what was made of them."""
    told = []
    if skipped:
        told.append(
            f"{counted(skipped, 'row')} at times that clocks skipped (read as if they had not been set forward)"
        )
    if repeated:
        told.append(f"{counted(repeated, 'row')} at times that clocks showed twice (taken the first time)")
    if not told:
        return []
    return [
        f"Clocks of {zone.name} were set: {joined(told)}. If these were on another clock, such as UTC, name it with"
        " --timezone; else write times with their zone."
    ]


def resolve_cells(
    batches: BatchStore, cell_m: float, projection: Plane | None, statistics: RowStatistics
) -> None:
    """Turn places into cells, and count the rows that are left."""
    for batch in batches:
        x, y, held = cells(batch.places, cell_m, projection)
        metres = batch.places if projection is None else None
        batch.places = Positions(x, y)
        if not held.all():
            batch.keep(held[batch.place], summary.POSITION_OUT_OF_RANGE)
        statistics.add(batch, metres)
