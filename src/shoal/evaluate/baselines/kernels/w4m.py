"""W4M's linear alignment of two trajectories (LSTD; Abul, Bonchi, Nanni 2010)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Floats, Int64s
from shoal.core.compiled import jit, jit_inline

MOST = 10  # distances of more units than this count as this many


class Tracks(NamedTuple):
    """Trajectories one behind the other: number i is points ptr[i] .. ptr[i + 1] - 1, by time.

    x, y: float64, cells. way: float64, cells: time as the way that one goes in it at the common speed V.
    """

    ptr: Int64s
    x: Floats
    y: Floats
    way: Floats


@jit_inline
def units_apart(tracks: Tracks, p: int, q: int, unit: float) -> float:
    """c(p, q) = min(floor(|p - q| / unit), 10), with the distance in space and time."""
    dx, dy, dt = tracks.x[p] - tracks.x[q], tracks.y[p] - tracks.y[q], tracks.way[p] - tracks.way[q]
    return float(min(np.floor(np.sqrt(dx * dx + dy * dy + dt * dt) / unit), float(MOST)))


@jit_inline
def apart(tracks: Tracks, p: int, q: int) -> float:
    """How far two points are from each other in space."""
    dx, dy = tracks.x[p] - tracks.x[q], tracks.y[p] - tracks.y[q]
    return float(np.sqrt(dx * dx + dy * dy))


@jit
def align(tracks: Tracks, pivot: int, other: int, unit: float, match: Int64s) -> tuple[float, float]:
    """Walk along both trajectories at once: their distance (LSTD), and how far apart in space they are at most.

    match[i] (int64, as long as the pivot) = the point of the other, counted within it, where the walk reaches the
    pivot's point i. Of the three ways to go on (both, the other alone, the pivot alone) the cheapest is taken; among
    equals both together, then the other. At the end of one, the rest of the other meets its last point.
    """
    p, end_p = tracks.ptr[pivot], tracks.ptr[pivot + 1] - 1
    q, end_q = tracks.ptr[other], tracks.ptr[other + 1] - 1
    first_p, first_q = p, q
    match[0] = 0
    distance, farthest = units_apart(tracks, p, q, unit), apart(tracks, p, q)
    while p < end_p or q < end_q:
        step_p = step_q = 1
        if q == end_q:
            step_q = 0
        elif p == end_p:
            step_p = 0
        else:
            least = units_apart(tracks, p + 1, q + 1, unit)
            other_alone = units_apart(tracks, p, q + 1, unit)
            if other_alone < least:
                step_p, least = 0, other_alone
            if units_apart(tracks, p + 1, q, unit) < least:
                step_p, step_q = 1, 0
        p, q = p + step_p, q + step_q
        if step_p:
            match[p - first_p] = q - first_q
        distance += units_apart(tracks, p, q, unit)
        farthest = max(farthest, apart(tracks, p, q))
    return distance, farthest


@jit
def align_all(tracks: Tracks, pivot: int, unit: float, distance: Floats, farthest: Floats) -> None:
    """distance[i], farthest[i] = what ``align`` gives for the pivot and trajectory i."""
    match = np.empty(tracks.ptr[pivot + 1] - tracks.ptr[pivot], np.int64)
    for other in range(len(tracks.ptr) - 1):
        distance[other], farthest[other] = align(tracks, pivot, other, unit, match)
