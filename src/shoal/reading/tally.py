"""How many rows each stretch of time has, and where to cut time so that no part has many."""

from __future__ import annotations

import numpy as np

from shoal.core.arrays import Int64s

_DENSE = 1 << 22  # stretches between the first and the last up to which each is counted, empty or not


class Tally:
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
    if int(values.max()) - low >= _DENSE:
        units, rows = np.unique(values, return_counts=True)
        return units, rows
    rows = np.bincount(values - low)
    there = np.flatnonzero(rows)
    return there + low, rows[there]
