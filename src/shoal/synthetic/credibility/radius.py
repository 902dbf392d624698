"""How far people move about: the radius of gyration."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Floats
from shoal.synthetic.credibility.curves import Curve, density
from shoal.synthetic.credibility.traces import Traces

# Gonzalez et al. 2008: P(r) ~ (r + OFFSET_KM)^-beta exp(-r / CUTOFF_KM), beta = 1.65.
OFFSET_KM, CUTOFF_KM = 5.8, 350.0
LEAST_KM = 1.0  # below, radii tell of antennas rather than of people
_LEAST_USERS = 100  # of a fit
_STEPS = 4_000  # of the integral


class Radius(NamedTuple):
    """Density of the users' radii (per km), their quantiles, and beta of the law of Gonzalez et al."""

    density: Curve
    median_km: float
    spread: float | None
    beta: float | None


def measure_radius(traces: Traces) -> Radius:
    """``spread``: the tenth that moves furthest begins at so many times the median. Who stays put counts, too."""
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
