"""Antennas where a table says, instead of made-up ones."""

from __future__ import annotations

import numpy as np

from shoal.core.schema import LAT, LON, X, Y
from shoal.errors import InputError
from shoal.reading.sites import read_positions
from shoal.synthetic.region.antennas import Antennas
from shoal.synthetic.region.parameters import LEAST_ANTENNAS, MOST_ANTENNAS
from shoal.synthetic.streams import Floats, Ints

_METRES_PER_DEGREE = 111_195
_MOST_KM = 2_500  # from one side of a region to the other
_HALF_TURN, _HALF_TURN_DEGREES = 3.141592653589793, 180


def antennas_at(sites: object) -> Antennas:
    """The distinct positions of a table (columns lat and lon, or x and y), in its order."""
    first, second, geographic = read_positions(sites)
    _, rows = np.unique(np.stack([first, second], axis=1), axis=0, return_index=True)
    rows.sort()
    first, second = first[rows], second[rows]
    if not LEAST_ANTENNAS <= len(rows) <= MOST_ANTENNAS:
        raise InputError(
            f"The table of sites must have {LEAST_ANTENNAS} to {MOST_ANTENNAS:,} different positions,"
            f" found {len(rows):,}."
        )
    if not geographic:
        return Antennas(_centred(first), _centred(second), {X: first, Y: second})
    narrowing = _cosine((float(second.min()) + float(second.max())) / 2)
    x = _centred(_unbroken(first) * (_METRES_PER_DEGREE * narrowing))
    return Antennas(x, _centred(second * _METRES_PER_DEGREE), {LAT: second, LON: first})


def _unbroken(longitudes: Floats) -> Floats:
    """Longitudes that go on beyond 180 degrees where the region does."""
    across = longitudes.max() - longitudes.min() > _HALF_TURN_DEGREES
    return np.where(longitudes < 0, longitudes + 2 * _HALF_TURN_DEGREES, longitudes) if across else longitudes


def _centred(metres: Floats) -> Ints:
    """Whole metres from the middle."""
    low, high = float(metres.min()), float(metres.max())
    if high - low > 1_000 * _MOST_KM:
        raise InputError(
            f"The table of sites must lie within {_MOST_KM:,} km each way, found more: take a part of it."
        )
    return np.floor(metres - (low + high) / 2).astype(np.int64)


def _cosine(degrees: float) -> float:
    """By its series, whose sums and products are the same everywhere."""
    squared = (degrees * _HALF_TURN / _HALF_TURN_DEGREES) ** 2
    term = total = 1.0
    for n in range(1, 12):
        term = -term * squared / ((2 * n - 1) * (2 * n))
        total += term
    return total
