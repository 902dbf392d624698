"""Rows counted by time, and warnings about rows that look odd: times far from the others, samples seconds apart."""

from __future__ import annotations

import numpy as np

from shoal.core.arrays import Int32s, Int64s
from shoal.core.promise import DAY_S
from shoal.core.sorting import sort_distinct

_MOST_STRETCHES = 1 << 22  # between the first and the last, up to which each is counted, empty or not
_GAP_DAYS = 365  # rows belong together where no gap of a year lies between them
_MOST_IMPLAUSIBLE = 0.05  # a larger share of the rows is not a mistake but a second period of observation
_LATEST_YEAR = 2100
_DENSE_GAP_S = 15
_MOST_USERS = 200  # whose gaps are looked at
_FEWEST_GAPS = 5
_NEVER = np.iinfo(np.int64).min


class TimeHistogram:
    """Rows by stretches of some seconds, counted from 1970 on, batch by batch."""

    def __init__(self, unit_s: int) -> None:
        self._unit_s = unit_s
        self.units: Int64s = np.empty(0, np.int64)
        self.rows: Int64s = np.empty(0, np.int64)

    def add(self, seconds: Int64s) -> None:
        """Count rows by their times."""
        if len(seconds) == 0:
            return
        units, rows = _counted(seconds // self._unit_s)
        both, place = np.unique(np.concatenate([self.units, units]), return_inverse=True)
        total = np.zeros(len(both), np.int64)
        total[place[: len(self.units)]] = self.rows
        total[place[len(self.units) :]] += rows
        self.units, self.rows = both, total

    def cuts(self, most: int) -> Int64s:
        """Seconds at which to cut time so that a part has ``most`` rows, or more but in a single stretch."""
        up_to = np.cumsum(self.rows)
        starts: list[int] = []
        start, before = 0, 0
        while True:
            start = max(start + 1, int(np.searchsorted(up_to, before + most, side="right")))
            if start >= len(self.units):
                return np.array(starts, np.int64)
            starts.append(int(self.units[start]) * self._unit_s)
            before = int(up_to[start - 1])


def _counted(values: Int64s) -> tuple[Int64s, Int64s]:
    """Different values in order, and how often each occurs."""
    low = int(values.min())
    if int(values.max()) - low >= _MOST_STRETCHES:
        units, rows = np.unique(values, return_counts=True)
        return units, rows
    rows = np.bincount(values - low)
    there = np.flatnonzero(rows)
    return there + low, rows[there]


class ImplausibleTimes:
    """Looks, batch by batch, for Unix seconds far from the others, and for times implausible as a whole."""

    def __init__(self) -> None:
        self._by_day = TimeHistogram(DAY_S)
        self._like_dates = True

    def add(self, seconds: Int64s) -> None:
        """Look at some times."""
        self._by_day.add(seconds)
        self._like_dates = self._like_dates and _like_dates(seconds)

    def warnings(self) -> list[str]:
        """What was found, one line each; there must have been a time."""
        days, rows = self._by_day.units, self._by_day.rows
        group = np.concatenate([[0], np.cumsum(np.diff(days) > _GAP_DAYS)])
        sizes = np.bincount(group, weights=rows).astype(np.int64)
        bulk = int(np.argmax(sizes))
        among = group == bulk
        implausible = int(rows[~among].sum())
        found = []
        if 0 < implausible <= max(1, _MOST_IMPLAUSIBLE * int(rows.sum())) and implausible < sizes[bulk]:
            found.append(
                f"{implausible:,} row{'s' if implausible > 1 else ''} dated {_years(days[~among])}, years away from the"
                f" others ({_years(days[among])}): if these dates are wrong, leave them out with --from and --to."
            )
        if self._like_dates:
            found.append(
                "Times look like dates (YYYYMMDD) but were read as Unix seconds in 1970: write dates as YYYY-MM-DD."
            )
        if _year(int(days[among][0])) > _LATEST_YEAR:
            found.append(
                f"Times lie in the years {_years(days[among])}: check that the time column holds Unix seconds or"
                " milliseconds, or ISO 8601 text."
            )
        return found


def _like_dates(seconds: Int64s) -> bool:
    """Whether all numbers could be meant as dates of 1900 to 2100, such as 20240517."""
    month, day = seconds // 100 % 100, seconds % 100
    plausible = (seconds // 10_000 >= 1900) & (seconds // 10_000 <= _LATEST_YEAR)
    return bool((plausible & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)).all())


def _years(days: Int64s) -> str:
    first, last = _year(int(days[0])), _year(int(days[-1]))
    return str(first) if first == last else f"{first} to {last}"


def _year(day: int) -> int:
    return int(np.datetime64(day, "D").astype("datetime64[Y]").astype(int)) + 1970


class SampleDensity:
    """Counts the seconds between samples of some of the users, stretch by stretch of time; all have samples."""

    def __init__(self, n_users: int) -> None:
        asked = np.linspace(0, n_users - 1, min(n_users, _MOST_USERS)).astype(np.int64)
        self._place = np.full(n_users, -1, np.int32)
        self._place[asked] = np.arange(len(asked))
        self._last = np.full(len(asked), _NEVER)
        self._gaps = np.zeros((len(asked), _DENSE_GAP_S + 2), np.int64)  # the last: of more seconds

    def add(self, user: Int32s, when: Int64s) -> None:
        """Look at samples that are all later than those before, in any order."""
        place = self._place[user]
        wanted = place >= 0
        if not wanted.any():
            return
        place, when = sort_distinct([place[wanted], when[wanted]])
        first = np.append(True, place[1:] != place[:-1])
        before = np.where(first, self._last[place], np.roll(when, 1))
        known = before != _NEVER
        gap = np.minimum(when[known] - before[known], _DENSE_GAP_S + 1)
        np.add.at(self._gaps, (place[known], gap), 1)
        self._last[place] = when  # by time, so that the last of each user stays

    def warnings(self) -> list[str]:
        """One line, where half of the users have half of their samples within seconds of the last.

        Users with a handful of samples count as users, but not as dense.
        """
        medians = self._medians()
        dense = medians[medians <= _DENSE_GAP_S]
        if len(dense) == 0 or 2 * len(dense) < len(self._gaps):
            return []
        return [
            f"Samples follow each other within {int(np.median(dense))} s, as GPS devices record them: --resample 5min"
            " or the like keeps the first of each period."
        ]

    def _medians(self) -> Int64s:
        """The (upper) median gap of each user with enough gaps."""
        up_to = np.cumsum(self._gaps, axis=1)
        enough = up_to[up_to[:, -1] >= _FEWEST_GAPS]
        medians: Int64s = np.argmax(enough > enough[:, -1:] // 2, axis=1)
        return medians
