"""How many distinct places people have been to after a while."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.synthetic.credibility.curves import Curve, slope
from shoal.synthetic.credibility.traces import HOUR_S, Traces

FIT_FROM_H = 24  # a day has hours in which nobody goes anywhere
_HOURS_DRAWN = (1, 2, 3, 4, 6, 8, 12, 18)


class Exploration(NamedTuple):
    """Mean number of distinct places after so many hours, its exponent, and which share of moves leads to a new one."""

    places: Curve
    exponent: float | None
    new_share: float | None


def measure_exploration(traces: Traces) -> Exploration:
    """Time counts from the first hour of the data. ``new_share`` is that of the second half of the time.

    A move is a sample at another place than the user's sample before.
    """
    _, first = np.unique(
        traces.user.astype(np.int64) * traces.n_places + traces.place, return_index=True
    )  # samples of a user are ordered by time
    hour = traces.second // HOUR_S - traces.second.min() // HOUR_S
    n_hours = traces.n_hours
    hours = np.array([*_HOURS_DRAWN, *range(24, n_hours + 1, 24)])
    hours = hours[hours <= n_hours]
    reached = np.searchsorted(np.sort(hour[first]), hours) / traces.n_users
    curve = Curve(hours.astype(np.float64), reached)
    new = np.zeros(len(hour), np.bool_)
    new[first] = True
    move = np.zeros(len(hour), np.bool_)
    move[1:] = (traces.user[1:] == traces.user[:-1]) & (traces.place[1:] != traces.place[:-1])
    late = move & (hour >= n_hours / 2)
    return Exploration(
        curve, slope(curve, FIT_FROM_H, n_hours), float(new[late].mean()) if late.any() else None
    )
