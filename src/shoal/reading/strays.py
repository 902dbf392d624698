"""Timestamps years away from the others: most often a clock that was never set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from shoal.reading.zones import DAY_S
from shoal.samples import Int64s

_GAP_DAYS = 365  # rows belong together where no gap of a year lies between them
_FEW = 0.05  # more than this share is no stray but a second period of observation
_LATEST_YEAR = 2100


def stray_times(batches: Iterable[Int64s]) -> list[str]:
    """Warnings, one line each, on Unix seconds far from the others, and on times implausible as a whole."""
    kept = list(batches)
    days, rows = _rows_by_day(kept)
    group = np.concatenate([[0], np.cumsum(np.diff(days) > _GAP_DAYS)])
    sizes = np.bincount(group, weights=rows).astype(np.int64)
    bulk = int(np.argmax(sizes))
    among = group == bulk
    strays = int(rows[~among].sum())
    found = []
    if 0 < strays <= max(1, _FEW * int(rows.sum())) and strays < sizes[bulk]:
        found.append(
            f"{strays:,} row{'s' if strays > 1 else ''} dated {_years(days[~among])}, years away from the"
            f" others ({_years(days[among])}): if these dates are wrong, leave them out with --from and --to."
        )
    if all(_like_dates(seconds) for seconds in kept):
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


def _rows_by_day(batches: Iterable[Int64s]) -> tuple[Int64s, Int64s]:
    """The days that occur, in order, and how many rows each has."""
    counts: Counter[int] = Counter()
    for seconds in batches:
        if len(seconds):
            day = seconds // DAY_S
            first = int(day.min())
            rows = np.bincount(day - first)  # from the year 1 to 9999 there are 3.7 million days
            there = np.flatnonzero(rows)
            counts.update(dict(zip((there + first).tolist(), rows[there].tolist(), strict=True)))
    days = np.array(sorted(counts), np.int64)
    return days, np.array([counts[day] for day in days.tolist()], np.int64)


def _years(days: Int64s) -> str:
    first, last = _year(int(days[0])), _year(int(days[-1]))
    return str(first) if first == last else f"{first} to {last}"


def _year(day: int) -> int:
    return int(np.datetime64(day, "D").astype("datetime64[Y]").astype(int)) + 1970
