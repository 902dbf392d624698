"""Choosing antennas by weight, seen from another antenna."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.synthetic.streams import Ints, Streams, below

_ROWS_AT_ONCE = 256
_TOTAL = 1 << 30


class Wheel:
    """Running totals of whole-number weights, a row per place of origin."""

    def __init__(self, running: npt.NDArray[np.int32]) -> None:
        self._running = running
        self._totals = running[:, -1].astype(np.int64)

    def pick(self, stream: Streams, origin: Ints) -> Ints:
        """One column per stream, by the weights of its row."""
        drawn = below(stream, self._totals[origin])
        low = np.zeros(len(stream), dtype=np.int64)
        size = self._running.shape[1]
        step = 1 << size.bit_length()
        while step:
            further = low + step
            inside = further <= size
            passed = self._running[origin, np.where(inside, further, 1) - 1] <= drawn
            low = np.where(inside & passed, further, low)
            step >>= 1
        return low


def flat_wheel(weights: Ints) -> Wheel:
    """The same weights from everywhere: one row, picked with origin 0."""
    return Wheel(np.cumsum(_scaled(weights)).astype(np.int32)[None, :])


def gravity_wheel(x: Ints, y: Ints, pull: Ints, scale_m: Ints, power: int = 2) -> Wheel:
    """Pull / (1 + (distance / scale)^2)^(power / 2) from each origin, with its own scale; never the origin itself."""
    scaled = _scaled(pull)
    running = np.empty((len(x), len(x)), dtype=np.int32)
    for first in range(0, len(x), _ROWS_AT_ONCE):
        rows = np.arange(first, min(first + _ROWS_AT_ONCE, len(x)))
        apart = (x[rows, None] - x) ** 2 + (y[rows, None] - y) ** 2
        tenths = 10 * apart // scale_m[rows, None] ** 2
        weights = scaled
        for _ in range(power // 2):
            weights = 10 * weights // (10 + tenths)
        weights = np.maximum(weights, 1)
        weights[rows - first, rows] = 0
        running[rows] = np.cumsum(weights, axis=1)
    return Wheel(running)


def _scaled(weights: Ints) -> Ints:
    """Weights whose total is about the most that a running total may be."""
    total = int(weights.sum())
    if total > _TOTAL:
        return np.maximum(weights // -(-total // _TOTAL), 1)
    return np.maximum(weights * (_TOTAL // total), 1)
