"""Sizes of boxes as exact histograms, gathered part by part: independent of the order, and no box is kept."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Int64s
from shoal.core.boxes import Boxes

_SHORT = 1 << 20  # values below this are counted in a table, which is much quicker than sorting them
_HALF = 32  # bits


class Histogram(NamedTuple):
    """How often which whole number occurs; values increase."""

    value: Int64s
    frequency: Int64s

    @property
    def total(self) -> int:
        """How many numbers were counted."""
        return int(self.frequency.sum())

    def plus(self, other: Histogram) -> Histogram:
        """The histogram of the numbers of both."""
        value, place = np.unique(np.concatenate([self.value, other.value]), return_inverse=True)
        frequency = np.zeros(len(value), np.int64)
        np.add.at(frequency, place, np.concatenate([self.frequency, other.frequency]))
        return Histogram(value, frequency)

    def mean(self) -> float:
        """The mean, rounded once."""
        pairs = zip(self.value.tolist(), self.frequency.tolist(), strict=True)
        whole: int = sum(value * times for value, times in pairs)
        return whole / self.total

    def quantile(self, share: float, unit: float) -> float:
        """A quantile of the values times ``unit``, to the last bit what numpy makes of all of them (linear)."""
        place = share * (self.total - 1)
        below = math.floor(place)
        behind = np.cumsum(self.frequency)
        ranks = (below, min(below + 1, self.total - 1))
        low, high = (self.value[np.searchsorted(behind, ranks, side="right")] * unit).tolist()
        part = place - below
        return float(low + (high - low) * part if part < 0.5 else high - (high - low) * (1 - part))


class BoxSizes(NamedTuple):
    """How many boxes have which size, in space (cells) and in time (slots), and what all of them cost together.

    ``width_plus_height`` is for comparisons with the paper alone.
    """

    longer_side: Histogram
    width_plus_height: Histogram
    slots: Histogram
    cost: int

    @property
    def n_boxes(self) -> int:
        """How many boxes there are."""
        return self.slots.total

    def plus(self, other: BoxSizes) -> BoxSizes:
        """The sizes of the boxes of both."""
        return BoxSizes(
            self.longer_side.plus(other.longer_side),
            self.width_plus_height.plus(other.width_plus_height),
            self.slots.plus(other.slots),
            self.cost + other.cost,
        )

    def times(self, n: int) -> BoxSizes:
        """The sizes if every box were there n times."""
        longer_side, width_plus_height, slots = (
            Histogram(counts.value, counts.frequency * n)
            for counts in (self.longer_side, self.width_plus_height, self.slots)
        )
        return BoxSizes(longer_side, width_plus_height, slots, self.cost * n)


def box_sizes_of(boxes: Boxes) -> BoxSizes:
    """Count the boxes of one part."""
    return BoxSizes(
        _counted(boxes.longer_side()),
        _counted(boxes.width_plus_height()),
        _counted(boxes.t1 - boxes.t0 + 1),
        _sum(boxes.cost()),
    )


def _counted(values: Int64s) -> Histogram:
    if values.max(initial=0) < _SHORT:
        table = np.bincount(values)
        value = np.flatnonzero(table)
        return Histogram(value, table[value])
    return Histogram(*np.unique(values, return_counts=True))


def _sum(values: Int64s) -> int:
    """The sum of numbers that may be too large together for one of 64 bits."""
    high, low = values >> _HALF, values & ((1 << _HALF) - 1)
    return (int(high.sum()) << _HALF) + int(low.sum())
