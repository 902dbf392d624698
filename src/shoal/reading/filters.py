"""Rows left out by choice: outside a period, outside a part of the map, of people seldom seen, close to another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from shoal.core.arrays import Bools, Int32s, Int64s
from shoal.core.bounding_box import BoundingBox
from shoal.core.checks import told
from shoal.core.promise import DAY_S
from shoal.core.zones import Zone
from shoal.errors import InputError
from shoal.reading import summary
from shoal.reading.batches import Batch, BatchStore
from shoal.reading.clock_text import parse_iso
from shoal.reading.positions import Positions

_DAYS_BEFORE_1970 = 800_000  # more than since the year 1
_MOST_DAYS = 1 << 22  # more than up to the year 9999


def keep_inside(batch: Batch, box: BoundingBox) -> None:
    """Drop rows outside a box; places are still degrees, or metres."""
    batch.keep(_inside(box, batch.places)[batch.place], summary.OUTSIDE_BOX)


def _inside(box: BoundingBox, places: Positions) -> Bools:
    """Which places lie inside; a box of degrees with W larger than E spans the date line."""
    x, y = places
    east_of, west_of = x >= box.west, x <= box.east
    along = east_of & west_of if box.west <= box.east else east_of | west_of
    inside: Bools = along & (y >= box.south) & (y <= box.north)
    return inside


def keep_active(batches: BatchStore, n_users: int, min_days: int, zone: Zone) -> int:
    """Drop users with rows on fewer different days, on the clock of a zone; returns how many they are."""
    days = ActiveDays(n_users, min_days)
    for batch in batches:
        days.add(batch.user, zone.from_utc(batch.when) // DAY_S)
    enough, seldom = days.verdict()
    for batch in batches:
        batch.keep(enough[batch.user], summary.SELDOM_SEEN)
    return int(np.count_nonzero(seldom))


class ActiveDays:
    """Who has rows on enough different days; the days of those who have are no longer kept."""

    def __init__(self, n_users: int, min_days: int) -> None:
        self._min_days = min_days
        self._enough = np.zeros(n_users, bool)
        self._seen = np.empty(0, np.int64)  # user and day in one number, each once
        self._waiting: list[Int64s] = []

    def add(self, user: Int32s, day: Int64s) -> None:
        """Note that users have rows on days."""
        open_cases = ~self._enough[user]
        self._waiting.append(
            np.unique(user[open_cases] * np.int64(_MOST_DAYS) + (day[open_cases] + _DAYS_BEFORE_1970))
        )
        if sum(map(len, self._waiting)) > len(
            self._seen
        ):  # so that what is sorted again and again stays little
            self._merge()

    def _merge(self) -> Int64s:
        """Days of each user who had too few so far."""
        seen = np.unique(np.concatenate([self._seen, *self._waiting]))
        days_of = np.bincount(seen // _MOST_DAYS, minlength=len(self._enough))
        self._enough |= days_of >= self._min_days
        self._seen = seen[~self._enough[seen // _MOST_DAYS]]
        self._waiting = []
        return days_of

    def verdict(self) -> tuple[Bools, Bools]:
        """Who was seen on enough days, and who was seen, but on fewer."""
        days_of = self._merge()
        return self._enough, (days_of > 0) & ~self._enough


@dataclass(frozen=True)
class Period:
    """From ``start`` up to but without ``end``, in Unix seconds; None is open."""

    start: int | None
    end: int | None

    @classmethod
    def parse(cls, start: str | None, end: str | None, zone: Zone) -> Period:
        """A period from ISO 8601 texts; those without a zone are on the clock of ``zone``."""
        period = cls(_second(start, "--from", zone), _second(end, "--to", zone))
        if period.start is not None and period.end is not None and period.start >= period.end:
            raise InputError(f"--from must be earlier than --to, got {told(start)} and {told(end)}.")
        return period

    @property
    def limited(self) -> bool:
        """Whether anything lies outside."""
        return self.start is not None or self.end is not None

    def holds(self, seconds: Int64s) -> Bools:
        """Which times lie inside."""
        after = seconds >= (self.start if self.start is not None else -(2**63))
        before = seconds < self.end if self.end is not None else seconds >= -(2**63)
        return after & before


def _second(text: str | None, option: str, zone: Zone) -> int | None:
    if text is None:
        return None
    written = str(text).strip()
    parsed = parse_iso(pa.array([written.encode("utf-8", "replace")], pa.large_binary()))
    if not parsed.valid[0] or "." in written or "," in written:
        raise InputError(
            f"{option} must be a date or time in whole seconds, such as 2024-05-01 or 2024-05-01T06:00,"
            f" got {told(text)}."
        )
    return int(parsed.seconds[0] if parsed.zoned[0] else zone.to_utc(parsed.seconds)[0])
