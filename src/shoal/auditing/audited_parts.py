"""Parts as an audit sees them: where records get new names, every part of a person stands for a user of its own.

A part is attacked by what is known of its person in its period, and only parts of that period can be the person's. So
the users of an ``AuditContext`` are then parts: numbered by period, then by person, like its records by period. What
counts people instead asks ``AuditedParts``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Int64s, Integers
from shoal.core.boxes import Boxes
from shoal.core.periods import Periods, Renaming
from shoal.core.reprs import sizes_only
from shoal.storage.sample_store import MemoryColumn, SampleStore


class AuditedParts(NamedTuple):
    """User u of a context is what person[u] did in period[u]; record r is a part of record_period[r].

    ``people``: the samples by person. ``renaming``: how often records get new names. ``n_living_on``: records with
    boxes in several periods, whose names live on.
    """

    person: Int64s
    period: Int64s
    periods: Periods
    n_people: int
    record_period: Int64s
    people: SampleStore
    renaming: Renaming
    n_living_on: int = 0

    def __repr__(self) -> str:
        return sizes_only(self)

    @property
    def n_periods(self) -> int:
        """How many periods there are."""
        return self.periods.n_periods

    @property
    def n_surplus(self) -> int:
        """How many more records than users there are, period by period."""
        users, records = (
            np.bincount(period, minlength=self.n_periods) for period in (self.period, self.record_period)
        )
        return int(np.maximum(records - users, 0).sum())

    @property
    def attackable(self) -> list[int]:
        """The periods that have users and records."""
        found: list[int] = np.intersect1d(self.period, self.record_period).tolist()
        return found

    def users_of(self, period: int) -> slice:
        """The users of a period."""
        return _range(self.period, period)

    def records_of(self, period: int) -> slice:
        """The records of a period."""
        return _range(self.record_period, period)

    def find_users(self, person: Integers, period: Integers) -> Int64s:
        """The users that some people are in some periods; -1 where somebody has no sample."""
        keys = _keys(self.person, self.period, self.n_people)
        wanted = _keys(person, period, self.n_people)
        if not len(keys):
            return np.full(len(wanted), -1)
        order = np.argsort(
            keys, kind="stable"
        )  # in a datasheet, users of a period stand in the order of records
        place = order[np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)]
        return np.where(keys[place] == wanted, place, -1)


def _keys(person: Integers, period: Integers, n_people: int) -> Int64s:
    return period.astype(np.int64) * n_people + person


def _range(numbers: Int64s, wanted: int) -> slice:
    first, last = np.searchsorted(numbers, (wanted, wanted + 1)).tolist()
    return slice(first, last)


def cut_samples(people: SampleStore, periods: Periods) -> tuple[SampleStore, Int64s, Int64s]:
    """The samples with parts as users, and the person and the period of each."""
    slots = people.slots
    rows = people.between(int(slots[0]), int(slots[-1]) + 1)
    keys, user = np.unique(_keys(rows.user, periods.of(rows.t), people.n_users), return_inverse=True)
    period, person = np.divmod(keys, people.n_users)
    # Inside a slot all samples are of one period, so that their order by user stays.
    columns = (MemoryColumn(column) for column in (user.reshape(-1).astype(np.int32), rows.x, rows.y))
    return SampleStore(people.users[person], slots, people.first, *columns), person, period


def period_of_records(boxes: Boxes, n_records: int, periods: Periods) -> tuple[Int64s, int]:
    """The period in which each record begins, and how many records have boxes elsewhere, too."""
    first, last = np.full(n_records, periods.n_periods, np.int64), np.full(n_records, -1, np.int64)
    np.minimum.at(first, boxes.owner, periods.of(boxes.t0))
    np.maximum.at(last, boxes.owner, periods.of(boxes.t1))
    return first, int((first < last).sum())
