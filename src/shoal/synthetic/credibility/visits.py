"""How often people come back to their places: the most visited, the next, and so on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Floats, Int64s
from shoal.synthetic.credibility.curves import EMPTY, Curve, slope
from shoal.synthetic.credibility.traces import Traces

RANKS = 10  # of the fit; users with fewer places are left out of it
_LEAST_USERS = 30


class Visits(NamedTuple):
    """Share of a user's samples at the place of each rank, its exponent, and the shares of the top places."""

    frequency: Curve
    exponent: float | None
    top: float
    top_two: float


def measure_visits(traces: Traces) -> Visits:
    """The top shares are means over all users; frequency and exponent over those with at least RANKS places."""
    user, rank, share = ranked_places(traces)
    top, second = (
        np.bincount(user[rank == k], weights=share[rank == k], minlength=traces.n_users) for k in (1, 2)
    )
    n_places = np.bincount(user, minlength=traces.n_users)
    wide = n_places >= RANKS
    if wide.sum() < _LEAST_USERS:
        curve = EMPTY
    else:
        rows = wide[user]
        total = np.bincount(rank[rows], weights=share[rows])[1:]
        curve = Curve(np.arange(1, len(total) + 1, dtype=np.float64), total / wide.sum())
    fitted = slope(curve, 1, RANKS)
    return Visits(curve, None if fitted is None else -fitted, float(top.mean()), float((top + second).mean()))


def ranked_places(traces: Traces) -> tuple[Int64s, Int64s, Floats]:
    """For every place of every user: the user, its rank among the user's places from 1 on, its share of the samples."""
    pairs, count = np.unique(
        traces.user.astype(np.int64) * traces.n_places + traces.place, return_counts=True
    )
    user = pairs // traces.n_places
    order = np.lexsort((-count, user))
    user, count = user[order], count[order]
    n_places = np.bincount(user, minlength=traces.n_users)
    rank = np.arange(1, len(user) + 1) - (np.cumsum(n_places) - n_places)[user]
    n_samples = np.bincount(user, weights=count, minlength=traces.n_users)
    return user, rank, count / n_samples[user]
