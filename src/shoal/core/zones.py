"""Local wall-clock times to UTC, for whole columns, without the machine's own zone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import NamedTuple
from zoneinfo import ZoneInfo

import numpy as np

from shoal.core.arrays import Bools, Int64s
from shoal.core.checks import told
from shoal.core.promise import DAY_S
from shoal.errors import InputError

_EPOCH = datetime(1970, 1, 1)
_FIRST_DAY = (datetime(1, 1, 3) - _EPOCH).days  # a margin, so that offsets never leave what datetime can hold
_LAST_DAY = (datetime(9999, 12, 29) - _EPOCH).days


class ClockTimes(NamedTuple):
    """Unix seconds of wall-clock times, and which of these clocks skipped (set forward) or show twice (set back)."""

    seconds: Int64s
    skipped: Bools
    repeated: Bools


class Zone:
    """A time zone by its IANA name, such as ``Europe/Paris``.

    Hours that occur twice (clocks set back) are taken the first time; hours that do not exist (clocks set
    forward) are read with the offset before the change, as datetime does with fold = 0.
    """

    def __init__(self, name: str) -> None:
        try:
            self._zone = ZoneInfo(name)
        except (LookupError, ValueError, OSError, TypeError, AttributeError):
            raise InputError(
                f"Unknown time zone {told(name)} for --timezone: expected a name such as UTC or Europe/Paris."
            ) from None
        self.name = name
        self._days: dict[int, list[tuple[int, int]]] = {}

    def to_utc(self, local: Int64s) -> Int64s:
        """Unix seconds of wall-clock times that are given as seconds since 1970-01-01T00:00 on that clock."""
        return self.resolve(local).seconds

    def resolve(self, local: Int64s) -> ClockTimes:
        """As to_utc(), and which of the times do not exist, or exist twice."""
        regular = np.zeros(len(local), bool)
        if self.name == "UTC" or len(local) == 0:
            return ClockTimes(local, regular, regular)
        days = np.unique(np.clip(local // DAY_S, _FIRST_DAY, _LAST_DAY)).tolist()
        steps = [step for day in days for step in self._steps(day)]
        since = np.array([second for second, _ in steps], np.int64)
        offsets = np.array([offset for _, offset in steps], np.int64)
        nearest = np.searchsorted(since, local, side="right") - 1
        seconds = local - offsets[np.maximum(nearest, 0)]
        changes = sorted({change for day in days for change in self._changes(day)})
        if not changes:
            return ClockTimes(seconds, regular, regular)
        begins, ends, forward = (np.array(column) for column in zip(*changes, strict=True))
        last = np.searchsorted(begins, local, side="right") - 1
        inside = (last >= 0) & (local < ends[last])
        return ClockTimes(seconds, inside & forward[last], inside & ~forward[last])

    def from_utc(self, seconds: Int64s) -> Int64s:
        """Wall-clock times, as seconds since 1970-01-01T00:00 on that clock, of Unix seconds."""
        if self.name == "UTC" or len(seconds) == 0:
            return seconds
        minutes, place = np.unique(seconds // 60, return_inverse=True)  # clocks change on a minute
        quarters, quarter_of = np.unique(minutes // 15, return_inverse=True)
        first, last = (
            np.array(
                [self._offset_at(60 * (15 * quarter + minute)) for quarter in quarters.tolist()], np.int64
            )
            for minute in (0, 14)
        )
        offsets = first[quarter_of]
        for moment in np.flatnonzero((first != last)[quarter_of]).tolist():
            offsets[moment] = self._offset_at(60 * int(minutes[moment]))
        return seconds + offsets[place.reshape(-1)]

    def _offset_at(self, second: int) -> int:
        """Seconds east of UTC at a Unix second."""
        day = min(max(second, _FIRST_DAY * DAY_S), _LAST_DAY * DAY_S)
        moment = (_EPOCH + timedelta(seconds=day)).replace(tzinfo=UTC)
        offset = moment.astimezone(self._zone).utcoffset()
        return 0 if offset is None else round(offset.total_seconds())

    def _steps(self, day: int) -> list[tuple[int, int]]:
        """From which local second of a day on which offset holds (seconds east of UTC)."""
        known = self._days.get(day)
        if known is None:
            edges = range(day * DAY_S, (day + 1) * DAY_S + 1, DAY_S // 4)
            known = [(edges[0], self._offset(edges[0]))]
            for low, high in pairwise(edges):
                if self._offset(low) != self._offset(high):
                    change = self._first_change(low, high)
                    known.append((change, self._offset(change)))
            self._days[day] = known
        return known

    def _changes(self, day: int) -> Iterator[tuple[int, int, bool]]:
        """Local seconds that clocks skip or show twice, as (begin, end, whether they skip it), on a day or just after.

        The offset of fold = 0 changes where such a stretch ends, which may be on the day after it began.
        """
        for known in (self._steps(day), self._steps(min(day + 1, _LAST_DAY))):
            for (_, before), (end, after) in pairwise(known):
                yield end - abs(after - before), end, after > before

    def _first_change(self, low: int, high: int) -> int:
        """The first second after ``low`` with another offset; there is at most one change in between."""
        before = self._offset(low)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._offset(middle) == before else (low, middle)
        return high

    def _offset(self, local: int) -> int:
        offset = (_EPOCH + timedelta(seconds=local)).replace(tzinfo=self._zone).utcoffset()
        return 0 if offset is None else round(offset.total_seconds())
