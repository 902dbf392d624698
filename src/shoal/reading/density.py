"""How densely people are sampled: positions every few seconds are of devices, not of calls."""

from __future__ import annotations

import numpy as np

from shoal.core.arrays import Int32s, Int64s
from shoal.core.sorting import sort_distinct

_FEW_SECONDS = 15
_MOST_USERS = 200  # as many tell enough
_FEWEST_GAPS = 5
_NEVER = np.iinfo(np.int64).min


class Density:
    """Counts the seconds between samples of some of the users, stretch by stretch of time; all have samples."""

    def __init__(self, n_users: int) -> None:
        asked = np.linspace(0, n_users - 1, min(n_users, _MOST_USERS)).astype(np.int64)
        self._place = np.full(n_users, -1, np.int32)
        self._place[asked] = np.arange(len(asked))
        self._last = np.full(len(asked), _NEVER)
        self._gaps = np.zeros((len(asked), _FEW_SECONDS + 2), np.int64)  # the last: of more seconds

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
        gap = np.minimum(when[known] - before[known], _FEW_SECONDS + 1)
        np.add.at(self._gaps, (place[known], gap), 1)
        self._last[place] = when  # by time, so that the last of each user stays

    def warnings(self) -> list[str]:
        """One line, where half of the users have half of their samples within seconds of the last.

        Users with a handful of samples count as users, but not as dense.
        """
        medians = self._medians()
        dense = medians[medians <= _FEW_SECONDS]
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
