"""Timestamps years away from the others: most often a clock that was never set."""

from __future__ import annotations

import numpy as np

from shoal.core.arrays import Int64s
from shoal.core.zones import DAY_S
from shoal.reading.tally import Tally

_GAP_DAYS = 365  # rows belong together where no gap of a year lies between them
_FEW = 0.05  # more than this share is no stray but a second period of observation
_LATEST_YEAR = 2100


class Strays:
    """Looks, batch by batch, for Unix seconds far from the others, and for times implausible as a whole."""

    def __init__(self) -> None:
        self._by_day = Tally(DAY_S)
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
        strays = int(rows[~among].sum())
        found = []
        if 0 < strays <= max(1, _FEW * int(rows.sum())) and strays < sizes[bulk]:
            found.append(
                f"{strays:,} row{'s' if strays > 1 else ''} dated {_years(days[~among])}, years away from the"
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
