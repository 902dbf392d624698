"""Statistics of mobility: visits by rank, radius of gyration, distinct places over time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Floats, Int64s
from shoal.synthetic.credibility.traces import EMPTY, HOUR_S, Curve, Traces, density, slope

# ---- visits by rank -----------------------------------------------------------------------------------------------

RANKS = 10  # of the fit; users with fewer places are left out of it
_LEAST_TRAVELLERS = 30


class Visits(NamedTuple):
    """Share of a user's samples at the place of each rank, its exponent, and the shares of the top places."""

    frequency: Curve
    exponent: float | None
    top: float
    top_two: float


def measure_visits(traces: Traces) -> Visits:
    """Rank everybody's places: top shares are means over all users, the rest over users with at least RANKS places."""
    user, rank, share = ranked_places(traces)
    top, second = (
        np.bincount(user[rank == k], weights=share[rank == k], minlength=traces.n_users) for k in (1, 2)
    )
    n_places = np.bincount(user, minlength=traces.n_users)
    wide = n_places >= RANKS
    if wide.sum() < _LEAST_TRAVELLERS:
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


# ---- radius of gyration -------------------------------------------------------------------------------------------

# Gonzalez et al. 2008: P(r) ~ (r + OFFSET_KM)^-beta exp(-r / CUTOFF_KM), beta = 1.65.
OFFSET_KM, CUTOFF_KM = 5.8, 350.0
LEAST_KM = 1.0  # shorter radii depend on antennas rather than on people
_LEAST_USERS = 100  # of a fit
_STEPS = 4_000  # of the integral


class Radius(NamedTuple):
    """Density of the users' radii (per km), their quantiles, and beta of the law of Gonzalez et al."""

    density: Curve
    median_km: float
    spread: float | None
    beta: float | None


def measure_radius(traces: Traces) -> Radius:
    """Radii of all users, those who stay put included; ``spread`` is the 90 % quantile by the median."""
    radius = radii_km(traces)
    median, p90 = (float(value) for value in np.quantile(radius, (0.5, 0.9)))
    reach = 0.5 * float(np.hypot(np.ptp(traces.x_km), np.ptp(traces.y_km)))  # no radius is longer
    edges = 0.1 * 10 ** (np.arange(0, 5 * 6 + 1) / 6)
    return Radius(
        density=density(radius, edges),
        median_km=median,
        spread=p90 / median if median else None,
        beta=fitted_beta(radius, reach),
    )


def radii_km(traces: Traces) -> Floats:
    """Root mean square distance of each user's samples from their mean position."""
    n = np.bincount(traces.user, minlength=traces.n_users)
    square = np.zeros(traces.n_users)
    for axis in (traces.x_km, traces.y_km):
        at = axis[traces.place]
        mean = np.bincount(traces.user, weights=at, minlength=traces.n_users) / n
        square += (
            np.bincount(traces.user, weights=(at - mean[traces.user]) ** 2, minlength=traces.n_users) / n
        )
    return np.asarray(np.sqrt(square))


def fitted_beta(radius: Floats, reach_km: float) -> float | None:
    """The likeliest beta given the offset and the cutoff, of the radii from LEAST_KM to the reach of the region."""
    radius = radius[(radius >= LEAST_KM) & (radius <= reach_km)]
    if len(radius) < _LEAST_USERS:
        return None
    r = np.geomspace(LEAST_KM, reach_km, _STEPS)
    width = np.gradient(r)
    wanted = np.log(radius + OFFSET_KM).mean()
    low, high = -10.0, 20.0
    for _ in range(60):  # the mean of log(r + offset) falls as beta grows
        beta = (low + high) / 2
        weight = width * (r + OFFSET_KM) ** -beta * np.exp(-r / CUTOFF_KM)
        expected = (weight * np.log(r + OFFSET_KM)).sum() / weight.sum()
        low, high = (beta, high) if expected > wanted else (low, beta)
    return beta


# ---- distinct places over time ------------------------------------------------------------------------------------

FIT_FROM_H = 24  # a day has hours in which nobody goes anywhere
_HOURS_DRAWN = (1, 2, 3, 4, 6, 8, 12, 18)


class Exploration(NamedTuple):
    """Mean number of distinct places after so many hours, its exponent, and which share of moves leads to a new one."""

    places: Curve
    exponent: float | None
    new_share: float | None


def measure_exploration(traces: Traces) -> Exploration:
    """Count places from the first hour of the data on; ``new_share`` is that of the second half of the time.

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
