"""How many users four of their points single out."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from shoal.credibility.traces import HOUR_S, Traces
from shoal.samples import Int64s

POINTS = 4
_Z = 1.959963984540054  # of 95 %


class Unicity(NamedTuple):
    """Share of the users drawn whom their points fit alone, with its 95 % interval (Wilson's), and how many were drawn."""

    share: float | None
    low: float
    high: float
    n_drawn: int


def measure_unicity(traces: Traces, seed: int, n_draws: int = 2_000) -> Unicity:
    """Points are (hour, place), as in de Montjoye et al. 2013; users with fewer than four different ones cannot be drawn."""
    point_of, user_of = points(traces)
    n_points = np.bincount(user_of, minlength=traces.n_users)
    can = np.flatnonzero(n_points >= POINTS)
    if len(can) == 0:
        return Unicity(None, 0.0, 1.0, 0)
    rng = np.random.default_rng(seed)
    drawn = rng.choice(can, min(n_draws, len(can)), replace=False)
    by_user = np.argsort(user_of, kind="stable")
    begin = np.cumsum(n_points) - n_points
    chosen = np.stack([begin[user] + rng.choice(n_points[user], POINTS, replace=False) for user in drawn])
    known = point_of[by_user[chosen]]
    return _share(int((count_fitting(point_of, user_of, traces.n_users, known) == 1).sum()), len(drawn))


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


def _share(successes: int, n: int) -> Unicity:
    p = successes / n
    middle = (p + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z / (1 + _Z**2 / n) * math.sqrt(p * (1 - p) / n + _Z**2 / (4 * n**2))
    return Unicity(p, max(0.0, min(p, middle - half)), min(1.0, max(p, middle + half)), n)
