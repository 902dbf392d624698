"""Rows left out by choice: outside a period, outside a part of the map, of people seldom seen, close to another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.core.arrays import Bools, Int32s, Int64s
from shoal.core.promise import parse_duration
from shoal.core.zones import DAY_S, Zone
from shoal.errors import InputError, ParameterError
from shoal.reading import summary
from shoal.reading.batches import Batch, BatchStore
from shoal.reading.positions import Positions
from shoal.reading.times import parse_iso

_DAYS_BEFORE_1970 = 800_000  # more than since the year 1
_MOST_DAYS = 1 << 22  # more than up to the year 9999


@dataclass(frozen=True)
class BoundingBox:
    """West, south, east and north edge in degrees, or in metres for x and y; edges belong to it."""

    west: float
    south: float
    east: float
    north: float

    @classmethod
    def parse(cls, text: str | Sequence[float]) -> BoundingBox:
        """A box from ``W,S,E,N``."""
        wanted = ParameterError("bbox must be four numbers W,S,E,N: west, south, east and north edge.")
        try:
            edges = [float(part) for part in (text.split(",") if isinstance(text, str) else text)]
        except (TypeError, ValueError):
            raise wanted from None
        if len(edges) != 4 or not all(map(math.isfinite, edges)):
            raise wanted
        box = cls(*edges)
        if box.south > box.north:
            raise ParameterError("bbox must be W,S,E,N with S no larger than N: swap them.")
        return box

    def check(self, *, geographic: bool) -> None:
        """Refuse edges that are none of these coordinates; only degrees go round the Earth."""
        if geographic:
            if not (self.south >= -90 and self.north <= 90 and max(abs(self.west), abs(self.east)) <= 180):
                raise InputError(
                    "bbox must be in degrees, as the events are: W,S,E,N from -180 to 180 and -90 to 90."
                )
        elif self.west > self.east:
            raise ParameterError("bbox must be W,S,E,N with W no larger than E: swap them.")

    def holds(self, places: Positions) -> Bools:
        """Which places lie inside; a box of degrees with W larger than E spans the date line."""
        x, y = places
        east_of, west_of = x >= self.west, x <= self.east
        along = east_of & west_of if self.west <= self.east else east_of | west_of
        inside: Bools = along & (y >= self.south) & (y <= self.north)
        return inside


@dataclass(frozen=True)
class Filters:
    """What to leave out; None leaves nothing out."""

    bbox: BoundingBox | None = None
    min_days_active: int | None = None
    resample_s: int | None = None

    @classmethod
    def parse(
        cls, bbox: str | Sequence[float] | None, min_days_active: int | None, resample: str | None
    ) -> Filters:
        """Filters from what users write."""
        days: Any = min_days_active
        if days is not None and (isinstance(days, bool) or not isinstance(days, Integral) or days < 1):
            raise ParameterError(f"min days active must be a whole number of at least 1, got {days!r}.")
        seconds = None if resample is None else parse_duration(resample, "resample")
        if seconds is not None and seconds.denominator != 1:
            raise ParameterError(f"resample must be a whole number of seconds, got {resample!r}.")
        return cls(
            bbox=None if bbox is None else BoundingBox.parse(bbox),
            min_days_active=None if days is None else int(days),
            resample_s=None if seconds is None else int(seconds),
        )


NO_FILTERS = Filters()


def keep_inside(batch: Batch, box: BoundingBox) -> None:
    """Drop rows outside a box; places are still degrees, or metres."""
    batch.keep(box.holds(batch.places)[batch.place], summary.OUTSIDE_BOX)


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
            raise InputError(f"--from must be earlier than --to, got {start!r} and {end!r}.")
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
            f" got {text!r}."
        )
    return int(parsed.seconds[0] if parsed.zoned[0] else zone.to_utc(parsed.seconds)[0])
