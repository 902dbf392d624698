"""Rows counted by time, and warnings about rows that look odd, each with what to do about it.

Odd are times and places far from the others, dates without a time of day, degrees or cells given as metres, samples
seconds apart.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from shoal.core.arrays import Bools, Floats, Int32s, Int64s
from shoal.core.formatting import counted
from shoal.core.promise import DAY_S
from shoal.core.sorting import sort_distinct
from shoal.core.zones import Zone

_MOST_STRETCHES = 1 << 22  # between the first and the last, up to which each is counted, empty or not
_GAP_DAYS = 365  # rows belong together where no gap of a year lies between them
_MOST_IMPLAUSIBLE = 0.05  # a larger share of the rows is not a mistake but a second period of observation
_EARLIEST_YEAR, _LATEST_YEAR = 1950, 2100  # what empty times are written as lies before: the year 1, 1900
_MOST_MIDNIGHTS = 0.5  # a larger share of rows at midnight has no time of day
_LONGEST_STRETCH_S = 3600  # of which many at midnight are odd
_QUARTER_S = 900  # clocks differ from UTC by whole quarters of an hour
_NEARLY_ALL = 0.95  # so that a few wrong positions hide nothing
_FEW_CELLS = 10
_MOST_COORDINATES = 4096  # different ones, beyond which people are surely not in a few cells
_DENSE_GAP_S = 15
_MOST_USERS = 200  # whose gaps are looked at
_FEWEST_GAPS = 5
_NEAR = range(-3, 4)  # squares away at which places are still together
_NEVER = np.iinfo(np.int64).min


class TimeHistogram:
    """Rows by stretches of some seconds, counted from 1970 on, batch by batch."""

    def __init__(self, unit_s: int) -> None:
        self.unit_s = unit_s
        self.units: Int64s = np.empty(0, np.int64)
        self.rows: Int64s = np.empty(0, np.int64)

    def add(self, seconds: Int64s) -> None:
        """Count rows by their times."""
        if len(seconds) == 0:
            return
        units, rows = _counted(seconds // self.unit_s)
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
            starts.append(int(self.units[start]) * self.unit_s)
            before = int(up_to[start - 1])


def _counted(values: Int64s, rows: Int64s | None = None) -> tuple[Int64s, Int64s]:
    """Different values in order, and how often each occurs; each place counts as many ``rows`` if given."""
    low = int(values.min())
    if int(values.max()) - low >= _MOST_STRETCHES:
        units, place = np.unique(values, return_inverse=True)
        return units, np.bincount(place, rows).astype(np.int64)
    totals = np.bincount(values - low, rows).astype(np.int64)
    there = np.flatnonzero(totals)
    return there + low, totals[there]


class ImplausibleTimes:
    """Looks, batch by batch, for Unix seconds far from the others, and for times implausible as a whole."""

    def __init__(self) -> None:
        self._by_day = TimeHistogram(DAY_S)
        self._on_quarters = 0

    def add(self, seconds: Int64s) -> None:
        """Look at some times."""
        self._by_day.add(seconds)
        self._on_quarters += int(np.count_nonzero(seconds % _QUARTER_S == 0))

    def warnings(self) -> list[str]:
        """What was found, one line each; there must have been a time."""
        days, rows = self._by_day.units, self._by_day.rows
        among = plausible_days(days, rows)
        if not among.all():
            told = [
                f"{counted(int(rows[~among].sum()), 'row')} dated {_years(days[~among])}, years away from the others"
                f" ({_years(days[among])}): if these dates are wrong, leave them out with --from and --to."
            ]
            return told + _far_years(days[among], rows[among])
        return _far_years(days, rows)

    def without_clock(self, by_time: TimeHistogram, zone: Zone) -> list[str]:
        """A line where most rows are at midnight, given how many there are at which time."""
        total, unit_s = int(by_time.rows.sum()), by_time.unit_s
        if unit_s > _LONGEST_STRETCH_S or self._on_quarters <= _MOST_MIDNIGHTS * total:
            return []
        until_midnight = -zone.from_utc(by_time.units * unit_s) % DAY_S
        midnights = int(by_time.rows[until_midnight < unit_s].sum())
        if midnights <= _MOST_MIDNIGHTS * total:
            return []
        return [
            f"{midnights:,} of {total:,} rows are at midnight, as dates without a time of day are read: name the column"
            " that has both with --time-column, or publish whole days with --step 1d."
        ]


def plausible_days(days: Int64s, rows: Int64s) -> Bools:
    """Which days, in order, belong to the period of the data, given the rows of each.

    Days apart by a year or more are two groups; all but the largest are implausible if they have few rows together.
    """
    group = np.concatenate([[0], np.cumsum(np.diff(days) > _GAP_DAYS)])
    sizes = np.bincount(group, weights=rows).astype(np.int64)
    bulk = int(np.argmax(sizes))
    among: Bools = group == bulk
    return among if _few(int(rows[~among].sum()), int(rows.sum())) else np.ones(len(days), bool)


def _few(rows: int, of: int) -> bool:
    """Whether some rows are so few beside the others that they may be a mistake."""
    return 0 < rows <= max(1, _MOST_IMPLAUSIBLE * of) and 2 * rows < of


def _far_years(days: Int64s, rows: Int64s) -> list[str]:
    """A line where rows lie in years of which there are no such data."""
    first, beyond = (
        int(np.datetime64(f"{year}-01-01", "D").astype(np.int64))
        for year in (_EARLIEST_YEAR, _LATEST_YEAR + 1)
    )
    far = (days < first) | (days >= beyond)
    if not far.any():
        return []
    which = "Times lie" if far.all() else f"{counted(int(rows[far].sum()), 'row')} with times"
    return [
        f"{which} in the {_in_years(days[far])}: check that the time column holds ISO 8601 text, Unix seconds or"
        " milliseconds, or say with --time-format how it is written; --from and --to leave wrong ones out."
    ]


def _years(days: Int64s) -> str:
    first, last = _year(int(days[0])), _year(int(days[-1]))
    return str(first) if first == last else f"{first} to {last}"


def _in_years(days: Int64s) -> str:
    years = _years(days)
    return f"years {years}" if " " in years else f"year {years}"


def _year(day: int) -> int:
    return int(np.datetime64(day, "D").astype("datetime64[Y]").astype(int)) + 1970


class ImplausiblePlaces:
    """Looks, batch by batch, for x and y that are no metres: degrees, cells or kilometres."""

    def __init__(self) -> None:
        self._rows = self._like_degrees = self._fractions = 0
        self._along = (CellHistogram(), CellHistogram())
        self._low, self._high = np.full(2, np.inf), np.full(2, -np.inf)

    def add(self, metres: tuple[Floats, Floats], cells: tuple[Int32s, Int32s], rows: Int64s) -> None:
        """Look at some places, in metres and in cells, and at how many rows each of them has."""
        there = rows > 0
        rows, (x, y) = rows[there], (column[there] for column in metres)
        if len(rows) == 0:
            return
        sizes = np.abs(x), np.abs(y)
        degrees = (np.maximum(*sizes) <= 180) & (np.minimum(*sizes) <= 90)
        self._rows += int(rows.sum())
        self._like_degrees += int(rows[degrees].sum())
        self._fractions += int(rows[(np.floor(x) != x) & (np.floor(y) != y)].sum())
        self._low = np.minimum(self._low, [x.min(), y.min()])
        self._high = np.maximum(self._high, [x.max(), y.max()])
        for histogram, column in zip(self._along, cells, strict=True):
            histogram.add(column[there], rows)

    def warnings(self) -> list[str]:
        """What was found, in one line."""
        spread = float((self._high - self._low).max()) if self._rows else 0.0
        if spread == 0:  # one place only, whatever it is counted in
            return []
        if self._like_degrees >= _NEARLY_ALL * self._rows and 2 * self._fractions >= self._rows:
            return [
                "x and y look like degrees, and were read as metres: name them with --lon-column and --lat-column; if"
                " they are kilometres, write metres."
            ]
        spans = [histogram.span(_NEARLY_ALL) for histogram in self._along]
        if spread < 1 or any(span is None or span > _FEW_CELLS for span in spans):
            return []
        return [
            f"Nearly all rows are within {_FEW_CELLS} cells of each other: if x and y count cells, multiply them by the"
            " size of a cell in metres; if they are metres, choose a smaller --cell."
        ]


class FarPlaces:
    """Looks, batch by batch, for places far from all others, in degrees or metres.

    Space is cut into squares of a degree, or of 100 km. Squares with at most two empty ones between them belong
    together; rows in all groups but the largest are far if they are few.
    """

    def __init__(self, *, geographic: bool) -> None:
        self._side = 1.0 if geographic else 100_000.0
        self._around = 360 if geographic else 0
        self._rows: Counter[tuple[int, int]] = Counter()

    def add(self, first: Floats, second: Floats, rows: Int64s) -> None:
        """Look at some places, and at how many rows each of them has."""
        there = rows > 0
        squares = np.stack([np.floor(column[there] / self._side) for column in (first, second)], 1)
        different, place = np.unique(squares.astype(np.int64), axis=0, return_inverse=True)
        totals = np.bincount(place.reshape(-1), rows[there]).astype(np.int64)
        for (x, y), total in zip(different.tolist(), totals.tolist(), strict=True):
            self._rows[(x, y)] += total

    def n_rows(self) -> int:
        """How many rows are far from all others."""
        left, sizes = set(self._rows), []
        while left:
            waiting, size = [left.pop()], 0
            while waiting:
                x, y = waiting.pop()
                size += self._rows[(x, y)]
                near = {(self._wrapped(x + i), y + j) for i in _NEAR for j in _NEAR} & left
                left -= near
                waiting += near
            sizes.append(size)
        far = sum(sizes) - max(sizes, default=0)
        return far if _few(far, sum(sizes)) else 0

    def _wrapped(self, x: int) -> int:
        """The square across the date line, if that is where one is."""
        return (x + 180) % self._around - 180 if self._around else x


class CellHistogram:
    """Rows by cells along one axis, as long as there are few cells."""

    def __init__(self) -> None:
        self._cells: Int64s | None = np.empty(0, np.int64)
        self._rows = np.empty(0, np.int64)

    def add(self, cells: Int32s, rows: Int64s) -> None:
        """Count rows by their cells."""
        if self._cells is None:
            return
        more, rows = _counted(cells.astype(np.int64), rows)
        known, self._rows = _counted(np.concatenate([self._cells, more]), np.concatenate([self._rows, rows]))
        self._cells = known if len(known) <= _MOST_COORDINATES else None

    def span(self, share: float) -> int | None:
        """How many cells in a row hold so large a share of the rows; None where there are many cells."""
        if self._cells is None:
            return None
        before = np.concatenate([[0], np.cumsum(self._rows)])
        last = np.searchsorted(before[1:], before[:-1] + share * before[-1])
        first = np.flatnonzero(last < len(self._cells))
        return int((self._cells[last[first]] - self._cells[first]).min()) + 1


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
