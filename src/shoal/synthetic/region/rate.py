"""How many bursts of events people must begin for a wanted number of samples."""

from __future__ import annotations

from math import ceil

import numpy as np

from shoal.errors import ParameterError
from shoal.synthetic.region.people import relative_activity
from shoal.synthetic.region.phone import ACTIVE_DAYS, WEEKEND_SHARE, events_per_burst, relative_business
from shoal.synthetic.streams import Ints, Streams

_UNIT = 1_000_000  # everything is counted in millionths: sums of whole numbers are the same everywhere
_MOST_BURSTS = 1_000


def bursts_for(samples_per_hour: float, kept: float, *, days: int, every_day: bool) -> float:
    """Bursts on a weekday of a person of activity 1, such that people have so many samples over ``days`` on average.

    ``kept`` is the share of events that become samples: others fall into the same minute as one or after the end.
    """
    relative = _relative_rates()
    wanted = int(_UNIT * 24 * samples_per_hour / (kept * events_per_burst()))
    fewest = _bursts_a_day(0, relative, days, every_day=every_day)
    if fewest > wanted:
        least = ceil(100 * kept * events_per_burst() * fewest / _UNIT / 24) / 100
        raise ParameterError(
            f"samples per hour must be at least {least:g}, got {samples_per_hour:g}:"
            " everybody has some events on most days."
        )
    low, high = 0, _MOST_BURSTS * _UNIT
    while high - low > 1:
        middle = (low + high) // 2
        if _bursts_a_day(middle, relative, days, every_day=every_day) <= wanted:
            low = middle
        else:
            high = middle
    if high == _MOST_BURSTS * _UNIT:
        raise ParameterError(f"samples per hour must be less, got {samples_per_hour:g}.")
    return low / _UNIT


def _bursts_a_day(bursts: int, relative: Ints, days: int, *, every_day: bool) -> int:
    """How many a person begins on an average day: as many as drawn, but at least one unless the day may be silent."""
    total = 0
    for number in range(days):
        share = int(_UNIT * WEEKEND_SHARE) if number % 7 >= 5 else _UNIT
        drawn = bursts * relative // _UNIT * share // _UNIT
        at_least_one = int(np.maximum(drawn, _UNIT).sum()) // len(relative)
        if every_day:
            total += at_least_one
        else:
            total += ((ACTIVE_DAYS - 1) * at_least_one + int(drawn.sum()) // len(relative)) // ACTIVE_DAYS
    return total // days


def _relative_rates() -> Ints:
    """Activity times business of people on days, at evenly spread quantiles of both."""
    activity = (_UNIT * relative_activity(_evenly(4_096))).astype(np.int64)
    business = (1_000 * relative_business(_evenly(32))).astype(np.int64)
    return (activity[:, None] * business // 1_000).ravel()


def _evenly(parts: int) -> Streams:
    """Streams whose uniform numbers are the middles of as many equal parts."""
    return (np.arange(parts, dtype=np.uint64) * np.uint64(2) + np.uint64(1)) << np.uint64(
        63 - (parts - 1).bit_length()
    )
