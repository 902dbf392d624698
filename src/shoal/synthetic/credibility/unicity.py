"""How many users four of their points single out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.auditing.proportions import proportion_among
from shoal.core.arrays import Int64s
from shoal.synthetic.credibility.traces import HOUR_S, Curve, Traces

POINTS = 4
_DRAWN_POINTS = (1, 2, 3, 4, 5)


class Unicity(NamedTuple):
    """Share of the users drawn whom four of their points fit alone, with its 95 % interval (Wilson's).

    ``by_points`` has the share for other numbers of points.
    """

    share: float | None
    low: float
    high: float
    n_drawn: int
    by_points: Curve


def measure_unicity(traces: Traces, seed: int, n_draws: int = 2_000) -> Unicity:
    """Points are (hour, place), as in de Montjoye et al. 2013; who has fewer different ones cannot be drawn."""
    point_of, user_of = points(traces)
    alone, drawn = np.array(
        [_draw(traces, point_of, user_of, n, n_draws, seed) for n in _DRAWN_POINTS], dtype=np.int64
    ).T
    some = drawn > 0
    curve = Curve(np.array(_DRAWN_POINTS, dtype=np.float64)[some], alone[some] / drawn[some])
    at = _DRAWN_POINTS.index(POINTS)
    if not some[at]:
        return Unicity(None, 0.0, 1.0, 0, curve)
    found = proportion_among(float(alone[at] / drawn[at]), int(drawn[at]))
    return Unicity(found.value, found.low, found.high, found.n, curve)


def _draw(
    traces: Traces, point_of: Int64s, user_of: Int64s, n: int, n_draws: int, seed: int
) -> tuple[int, int]:
    """How many of the users drawn ``n`` of their points fit alone, and how many were drawn."""
    n_points = np.bincount(user_of, minlength=traces.n_users)
    can = np.flatnonzero(n_points >= n)
    if len(can) == 0:
        return 0, 0
    rng = np.random.default_rng([seed, n])
    drawn = rng.choice(can, min(n_draws, len(can)), replace=False)
    by_user = np.argsort(user_of, kind="stable")
    begin = np.cumsum(n_points) - n_points
    chosen = np.stack([begin[user] + rng.choice(n_points[user], n, replace=False) for user in drawn])
    known = point_of[by_user[chosen]]
    return int((count_fitting(point_of, user_of, traces.n_users, known) == 1).sum()), len(drawn)


def points(traces: Traces) -> tuple[Int64s, Int64s]:
    """Different points of all users, numbered: point and user, by point and then by user."""
    hour = traces.second // HOUR_S - traces.second.min() // HOUR_S
    _, point = np.unique(hour * traces.n_places + traces.place, return_inverse=True)
    pairs = np.unique(point.reshape(-1) * traces.n_users + traces.user)
    return pairs // traces.n_users, pairs % traces.n_users


def count_fitting(point_of: Int64s, user_of: Int64s, n_users: int, known: Int64s) -> Int64s:
    """How many users have all the points in each row of ``known``."""
    pairs = point_of * n_users + user_of
    sizes = np.bincount(point_of)
    known = np.take_along_axis(known, np.argsort(sizes[known], axis=1), axis=1)
    rarest = known[:, 0]
    begin = np.searchsorted(point_of, rarest)
    row = np.repeat(np.arange(len(known)), sizes[rarest])
    within = np.arange(len(row)) - np.repeat(np.cumsum(sizes[rarest]) - sizes[rarest], sizes[rarest])
    candidate = user_of[begin[row] + within]
    for other in range(1, known.shape[1]):
        wanted = known[row, other] * n_users + candidate
        at = np.searchsorted(pairs, wanted)
        has = pairs[np.minimum(at, len(pairs) - 1)] == wanted
        row, candidate = row[has], candidate[has]
    return np.bincount(row, minlength=len(known))
