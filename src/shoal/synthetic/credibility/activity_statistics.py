"""Statistics of activity: samples per user and hour, hours of the day, times between events, load of antennas."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Floats, Int64s
from shoal.synthetic.credibility.traces import (
    DAY_S,
    EMPTY,
    HOUR_S,
    Curve,
    Traces,
    density,
    slope,
    survival,
    whole_edges,
)

# ---- samples per user and hour ------------------------------------------------------------------------------------


class Activity(NamedTuple):
    """Samples per hour over all users, how uneven they are, and the share of users with at least so many."""

    mean: float
    median: float
    spread: float
    at_least: Curve


def measure_activity(traces: Traces) -> Activity:
    """Samples per hour of every user; ``spread`` is the 90 % quantile by the median."""
    rate = np.bincount(traces.user, minlength=traces.n_users) / traces.n_hours
    median, p90 = (float(value) for value in np.quantile(rate, (0.5, 0.9)))
    return Activity(float(rate.mean()), median, p90 / median, survival(rate))


# ---- hours of the day ---------------------------------------------------------------------------------------------

NIGHT, DAY = range(1, 5), range(10, 20)  # hours of the clock on the wall


class Rhythm(NamedTuple):
    """Shares of the samples by the hour, of all days and of weekends (None where there are none)."""

    all_days: Floats
    weekend: Floats | None
    trough_hour: int
    night_to_day: float | None


def measure_rhythm(traces: Traces) -> Rhythm:
    """Count samples by the hour; trough and night are those of all days, night is 1:00 to 5:00, day 10:00 to 20:00."""
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


# ---- times between events -----------------------------------------------------------------------------------------

FIT_FROM, FIT_TO = 0.01, 1.0  # of the mean gap of the user; the law is cut off beyond
FINEST_S = 60  # coarser times have no gaps that short
LEAST_GAPS = 30  # of a user whose burstiness counts
_LEAST_IN_BIN = 30
_EDGES = 10.0 ** (np.arange(-30, 31) / 6)
_LEAST_TO_SCALE = 5  # of a user whose mean gap says anything


class Gaps(NamedTuple):
    """Densities of the gaps (per second) and of the gaps by the user's mean; the exponent of the latter.

    ``burstiness`` is the median over users with enough gaps.
    """

    density: Curve
    rescaled: Curve
    exponent: float | None
    burstiness: float | None


def measure_gaps(traces: Traces) -> Gaps:
    """Times between samples of a user; samples at the same second have none between them."""
    same = traces.user[1:] == traces.user[:-1]
    gap, user = np.diff(traces.second)[same], traces.user[1:][same].astype(np.int64)
    later = gap > 0
    gap, user = gap[later], user[later]
    if len(gap) == 0:
        return Gaps(EMPTY, EMPTY, None, None)
    step = traces.resolution_s
    raw = density(gap // step, whole_edges(int(gap.max()) // step), shift=0.5)
    rescaled = _rescaled(user, gap, traces.n_users, step)
    fitted = slope(rescaled, FIT_FROM, FIT_TO) if step <= FINEST_S else None
    bursty = burstiness(user, gap, traces.n_users)
    return Gaps(
        density=Curve(raw.x * step, raw.y / step),
        rescaled=rescaled,
        exponent=None if fitted is None else -fitted,
        burstiness=float(np.median(bursty)) if len(bursty) else None,
    )


def _rescaled(user: Int64s, gap: Int64s, n_users: int, step: int) -> Curve:
    """Density of gaps in units of their user's mean gap: users of any activity then lie on one curve (Candia 2008).

    A user counts in a bin only if gaps of that length are longer than two steps of the clock, since shorter gaps are
    rounded. To keep this from favouring users who happen to have few short gaps, odd gaps are divided by the mean of
    the user's even ones, and even gaps by the mean of the odd ones.
    """
    half = 2 * user + np.arange(len(user)) % 2
    n = np.bincount(half, minlength=2 * n_users)
    mean = np.bincount(half, weights=gap, minlength=2 * n_users) / np.maximum(n, 1)
    other = half ^ 1
    enough = n[other] >= _LEAST_TO_SCALE
    gap, scale = gap[enough], mean[other[enough]]
    begin, end = _EDGES[:-1], _EDGES[1:]
    at = np.searchsorted(_EDGES, gap / scale, side="right") - 1
    at[at == len(begin)] = -1
    counts = np.bincount(at[(at >= 0) & (begin[at] * scale >= 2 * step)], minlength=len(begin))
    resolving = len(scale) - np.searchsorted(np.sort(scale), 2 * step / begin)
    some = counts >= _LEAST_IN_BIN
    return Curve(np.sqrt(begin * end)[some], counts[some] / resolving[some] / (end - begin)[some])


def burstiness(user: Int64s, gap: Int64s, n_users: int) -> Floats:
    """B = (sigma - mu) / (sigma + mu) of each user with enough gaps (Goh and Barabasi 2008): 0 for Poisson."""
    n = np.bincount(user, minlength=n_users)
    enough = n >= LEAST_GAPS
    total, squares = (
        np.bincount(user, weights=power, minlength=n_users)[enough] for power in (gap, gap.astype(float) ** 2)
    )
    mean = total / n[enough]
    deviation = np.sqrt(np.maximum(squares / n[enough] - mean**2, 0))
    return np.asarray((deviation - mean) / (deviation + mean))


# ---- load of antennas ---------------------------------------------------------------------------------------------

_DRAWN = 100


class Load(NamedTuple):
    """Share of the samples at the busiest share of the antennas; Gini's coefficient; the share of the busiest tenth.

    Antennas without any sample are unknown, and left out.
    """

    busiest: Curve
    gini: float
    top_tenth: float
    per_antenna: float


def measure_load(traces: Traces) -> Load:
    """How samples fall on places, each of which counts as an antenna."""
    load = np.sort(np.bincount(traces.place, minlength=traces.n_places))[::-1]
    share = np.concatenate([[0.0], np.cumsum(load) / load.sum()])
    of_antennas = np.arange(len(share)) / len(load)
    x = np.linspace(0, 1, _DRAWN + 1)
    gini = 2 * float(np.trapezoid(share, of_antennas)) - 1
    return Load(
        busiest=Curve(x, np.interp(x, of_antennas, share)),
        gini=gini,
        top_tenth=float(np.interp(0.1, of_antennas, share)),
        per_antenna=float(load.mean()),
    )
