"""How busy users are: samples per user and hour."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.synthetic.credibility.curves import Curve, survival
from shoal.synthetic.credibility.traces import Traces


class Activity(NamedTuple):
    """Samples per hour over all users, how uneven they are, and the share of users with at least so many."""

    mean: float
    median: float
    spread: float
    at_least: Curve


def measure_activity(traces: Traces) -> Activity:
    """``spread``: the most active tenth begins at so many times the median."""
    rate = np.bincount(traces.user, minlength=traces.n_users) / traces.n_hours
    median, p90 = (float(value) for value in np.quantile(rate, (0.5, 0.9)))
    return Activity(float(rate.mean()), median, p90 / median, survival(rate))
