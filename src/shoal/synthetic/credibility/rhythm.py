"""When in the day phones are used."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Floats
from shoal.synthetic.credibility.traces import DAY_S, HOUR_S, Traces

NIGHT, DAY = range(1, 5), range(10, 20)  # hours of the clock on the wall


class Rhythm(NamedTuple):
    """Shares of the samples by the hour, of all days and of weekends (None where there are none)."""

    all_days: Floats
    weekend: Floats | None
    trough_hour: int
    night_to_day: float | None


def measure_rhythm(traces: Traces) -> Rhythm:
    """Trough and night are those of all days; night is 1:00 to 5:00, day 10:00 to 20:00."""
    hour = traces.local % DAY_S // HOUR_S
    weekday = (traces.local // DAY_S + 3) % 7  # from Monday on; 1970-01-01 was a Thursday
    whole, weekend = (np.bincount(hours, minlength=24) for hours in (hour, hour[weekday >= 5]))
    by_day = float(whole[DAY].mean())
    return Rhythm(
        all_days=whole / whole.sum(),
        weekend=weekend / weekend.sum() if weekend.any() else None,
        trough_hour=int(whole.argmin()),
        night_to_day=float(whole[NIGHT].mean()) / by_day if by_day else None,
    )
