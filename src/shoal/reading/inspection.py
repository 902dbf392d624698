"""What a first look at events notes while they are read as for a release: counts, and how the first rows are written.

``read_events`` tells an ``Inspection`` what it opened, found and kept. Nothing that an inspection hands out names a
person or a place: values are masked (``masking.py``), users and places are counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.arrays import Int64s
from shoal.core.promise import DAY_S
from shoal.core.schema import LAT, LON, TIME
from shoal.core.time_format import TimeFormat
from shoal.core.zones import Zone
from shoal.reading.batches import Batch
from shoal.reading.columns import Roles, shown_names
from shoal.reading.masking import masked
from shoal.reading.plausibility import FarPlaces, TimeHistogram, plausible_days
from shoal.reading.sampling import Extent, Sampled, take_sample
from shoal.reading.source import Source, names_recur, numeric_columns
from shoal.reading.summary import in_order
from shoal.reading.times import read_times
from shoal.reading.values import read_numbers

_HOUR_S = 3600
_FIRST_ROWS = 3
_HEAD_ROWS = 10_000  # of which values are looked at once more
_MANY_TIMES = 50  # as many rows as the median user makes a machine
_MANY_ROWS = 1_000  # of a user, below which nobody is one
_GROUPED = 2  # rows are by user where there are no more than so many runs of one user for each user
_MIX = np.uint64(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio: Fibonacci hashing


class FirstRow(NamedTuple):
    """A row as it is written, masked, by role; and as it is read: its hour, or why it is not used."""

    written: dict[str, str]
    read_as: str


class ObservedPeriod(NamedTuple):
    """First and last hour of the rows but for those years away, in Unix seconds, and how many of these there are."""

    first: int
    last: int
    rows_away: int

    @property
    def days(self) -> float:
        """How long it is, an hour at least."""
        return (self.last + _HOUR_S - self.first) / DAY_S


class Inspection:
    """Notes what becomes of events on the way from rows to samples; ``all_rows``: of large ones, too.

    ``suspects`` are names in lower case of which it counts the rows in ``rows_of_suspects``, by the name as it is
    written.
    """

    def __init__(self, *, all_rows: bool = False, suspects: Sequence[str] = ()) -> None:
        self.title = ""
        self.format: str | None = None
        self.columns_there: list[str] = []
        self.roles: Roles | None = None
        self.zone = Zone("UTC")
        self.first_rows: list[FirstRow] = []
        self.rows_of_suspects: dict[str, int] = {}
        self._suspects = pa.array(suspects, pa.large_string())
        self._all_rows = all_rows
        self._sampled: Sampled | None = None
        self._geographic = True
        self._head: Any = None
        self._by_hour = TimeHistogram(_HOUR_S)
        self._far = FarPlaces(geographic=True)
        self._rows_of: Int64s = np.empty(0, np.int64)
        self._hashes: list[npt.NDArray[np.uint64]] = []
        self._runs = 0

    # ---- told by read_events ------------------------------------------------------------------------------------

    def opened(self, source: Source, format: str | None, zone: Zone) -> Source:
        """What is to be read of a source that was opened."""
        self.title, self.format, self.zone = source.title, format, zone
        self.columns_there = shown_names(
            source.names, names_recur=names_recur(source), numeric=numeric_columns(source)
        )
        if self._all_rows:
            return source
        self._sampled = take_sample(source)
        return self._sampled.source

    def found(self, roles: Roles, *, geographic: bool) -> None:
        """Which columns are read, and whether positions are degrees."""
        self.roles, self._geographic = roles, geographic
        self._far = FarPlaces(geographic=geographic)

    def watched(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The same batches; the first rows of the first are kept."""
        for batch in batches:
            if self._head is None and batch.num_rows:
                self._head = batch.slice(0, _HEAD_ROWS)
                self.first_rows = [
                    FirstRow(self._written(row), "") for row in range(min(_FIRST_ROWS, batch.num_rows))
                ]
            yield batch

    def understood(self, read: Callable[[Any], Batch]) -> None:
        """Note how the first rows are read."""
        self.first_rows = [
            row._replace(read_as=self._told(read(self._head.slice(place, 1))))
            for place, row in enumerate(self.first_rows)
        ]

    def kept(self, batches: Iterable[Batch], names: Any) -> None:
        """Count the rows that are left; users are numbers of their ``names``, places are degrees or metres."""
        n_users = len(names)
        self._rows_of = np.zeros(n_users, np.int64)
        for batch in batches:
            if len(batch.user) == 0:
                continue
            self._rows_of += np.bincount(batch.user, minlength=n_users)
            self._runs += 1 + int(np.count_nonzero(np.diff(batch.user)))
            self._by_hour.add(batch.when)
            first, second = batch.places
            self._far.add(first, second, np.bincount(batch.place, minlength=len(first)))
            self._hashes.append(_hashes([batch.user, batch.when, first[batch.place], second[batch.place]]))
        suspect = pc.is_in(pc.ascii_lower(names), value_set=self._suspects).to_numpy(zero_copy_only=False)
        self.rows_of_suspects = {
            names[int(user)].as_py(): int(self._rows_of[user])
            for user in np.flatnonzero(suspect & (self._rows_of > 0))
        }

    # ---- asked afterwards ---------------------------------------------------------------------------------------

    @property
    def extent(self) -> Extent:
        """How much was read."""
        return Extent(0, None) if self._sampled is None else self._sampled.read()

    @property
    def n_repeated(self) -> int:
        """Rows that repeat another exactly: user, second and position."""
        hashes = np.concatenate(self._hashes)
        return len(hashes) - len(np.unique(hashes))

    @property
    def n_far(self) -> int:
        """Rows far from all others in space."""
        return self._far.n_rows()

    @property
    def far_away(self) -> str:
        """How far away that is at least."""
        return "3 degrees" if self._geographic else "300 km"

    @property
    def by_user(self) -> bool:
        """Whether rows are in the order of users, so that a piece of a file has all rows of most of its users."""
        return self._runs <= _GROUPED * (int(np.count_nonzero(self._rows_of)) + len(self._hashes))

    def period(self) -> ObservedPeriod:
        """From when to when rows are; there must be one."""
        hours, rows = self._by_hour.units, self._by_hour.rows
        days, place = np.unique(hours * _HOUR_S // DAY_S, return_inverse=True)
        near = plausible_days(days, np.bincount(place, rows).astype(np.int64))[place]
        there = hours[near] * _HOUR_S
        return ObservedPeriod(int(there[0]), int(there[-1]), int(rows[~near].sum()))

    def machines(self) -> tuple[int, int]:
        """How many users have far more rows than the median one, and how many rows these have."""
        rows = self._rows_of[self._rows_of > 0]
        many = rows > max(_MANY_ROWS, _MANY_TIMES * float(np.median(rows)))
        return int(np.count_nonzero(many)), int(rows[many].sum())

    def times(self, *, unread: bool = False, pattern: TimeFormat | None = None) -> list[str]:
        """Times of the first rows as they are written (not masked); ``unread``: only those that are none as they are
        read now."""
        if self._head is None or TIME not in self._head.schema.names:
            return []
        column = self._head.column(TIME)
        if unread:
            times = read_times(column, self.zone, pattern)
            column = column.filter(pa.array(~times.valid & ~times.missing))
        texts = (str(_value(value) or "").strip() for value in column)
        return [text for text in texts if text]

    def swapped(self) -> bool:
        """Whether among the first rows most latitudes are none, and would be if they were the longitudes."""
        if self._head is None or LAT not in self._head.schema.names:
            return False
        lat, lon = (
            read_numbers(self._head.column(role), role, decimal_commas=True).value for role in (LAT, LON)
        )
        with np.errstate(invalid="ignore"):
            odd = (np.abs(lat) > 90) & (np.abs(lat) <= 180) & (np.abs(lon) <= 90)
        return 2 * int(np.count_nonzero(odd)) > len(odd)

    def _written(self, row: int) -> dict[str, str]:
        roles = self._head.schema.names if self.roles is None else self.roles.used
        return {role: masked(_value(self._head.column(role)[row]), role) for role in roles}

    def _told(self, batch: Batch) -> str:
        """The hour of a row, or why it is not used."""
        if batch.dropped:
            return f"not used: {next(iter(in_order(batch.dropped)))}"
        return hour_of(int(batch.when[0]), self.zone)


def hour_of(second: int, zone: Zone) -> str:
    """Day and hour on the clock of a zone; no minutes, which might tell one person from another."""
    local = int(zone.from_utc(np.array([second], np.int64))[0])
    return f"{day_of(local)} {local % DAY_S // _HOUR_S:02d}h"


def day_of(local: int) -> str:
    """The date of a second on a clock."""
    return str(np.datetime64(local // DAY_S, "D"))


def _value(scalar: Any) -> object:
    """A value of Arrow; nanoseconds and the like, which Python cannot hold, as Arrow writes them."""
    try:
        value = scalar.as_py()
    except (ValueError, OverflowError):
        return str(scalar)
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _hashes(columns: Sequence[npt.NDArray[Any]]) -> npt.NDArray[np.uint64]:
    """A number for each row, which rows that differ have in common once in a few quintillions of pairs."""
    mixed = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        bits = (
            (column + 0.0).view(np.uint64)
            if column.dtype.kind == "f"
            else column.astype(np.int64).view(np.uint64)
        )
        mixed = (mixed ^ bits) * _MIX
        mixed ^= mixed >> np.uint64(29)
    return mixed
