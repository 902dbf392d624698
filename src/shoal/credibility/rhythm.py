"""When in the day phones are used."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.credibility.traces import DAY_S, HOUR_S, Traces
from shoal.samples import Bools, Floats, Int64s

NIGHT, DAY = range(1, 5), range(10, 20)  # hours of the clock on the wall


class Rhythm(NamedTuple):
    """Samples by the hour as shares of a day, on weekdays and at weekends (None where there are none)."""

    weekday: Floats | None
    weekend: Floats | None
    trough_hour: int
    night_to_day: float


def measure_rhythm(traces: Traces) -> Rhythm:
    """Trough and night are those of all days together; night is 1:00 to 5:00, day 10:00 to 20:00."""
    hour = traces.local % DAY_S // HOUR_S
    weekend = (traces.local // DAY_S + 3) % 7 >= 5  # 1970-01-01 was a Thursday
    whole = np.bincount(hour, minlength=24)
    by_day = float(whole[DAY].mean())
    return Rhythm(
        weekday=_profile(hour, ~weekend),
        weekend=_profile(hour, weekend),
        trough_hour=int(whole.argmin()),
        night_to_day=float(whole[NIGHT].mean()) / by_day if by_day else np.inf,
    )


def _profile(hour: Int64s, rows: Bools) -> Floats | None:
    counts = np.bincount(hour[rows], minlength=24)
    return counts / counts.sum() if counts.any() else None
