"""W4M's clusters: a random pivot with those nearest to it, as long as none is too far."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.w4m import Tracks, align_all, align_pivots
from shoal.progress import Progress
from shoal.samples import Bools, Int64s

GROWTH = 1.5  # of the radius, when too much was trashed


class Clusters(NamedTuple):
    """pivot[c]: the pivot of cluster c; members[c]: everybody in it, the pivot first; trash: those in none."""

    pivot: list[int]
    members: list[Int64s]
    trash: Int64s


def find_clusters(
    tracks: Tracks, k: int, unit: float, radius: float, most_trash: float, seed: int, progress: Progress
) -> Clusters:
    """Cluster with this radius, and again with a larger one until at most ``most_trash`` trajectories are left out."""
    rng = np.random.default_rng(seed)
    while True:
        progress.stage("clustering")
        clusters = _cluster(tracks, k, unit, radius, rng, progress)
        if len(clusters.trash) <= most_trash:
            return clusters
        radius *= GROWTH


def _cluster(
    tracks: Tracks, k: int, unit: float, radius: float, rng: np.random.Generator, progress: Progress
) -> Clusters:
    n = len(tracks.ptr) - 1
    free = np.ones(n, np.bool_)
    pivots: list[int] = []
    members: list[Int64s] = []
    for pivot in rng.permutation(n).tolist():
        if free.sum() < k:
            break
        if not free[pivot]:
            continue
        company = _company(tracks, pivot, free, k, unit, radius)
        if company is not None:
            pivots.append(pivot)
            members.append(np.concatenate([[pivot], company]))
            free[members[-1]] = False
            progress.advance()
    return _place_the_rest(tracks, Clusters(pivots, members, np.flatnonzero(free)), unit, radius)


def _company(tracks: Tracks, pivot: int, free: Bools, k: int, unit: float, radius: float) -> Int64s | None:
    """The k - 1 free trajectories nearest to a pivot, or None if one of them is farther than the radius."""
    others = np.flatnonzero(free)
    others = others[others != pivot]
    distance, farthest = np.empty(len(others)), np.empty(len(others))
    align_all(tracks, pivot, others, unit, distance, farthest)
    nearest = np.argsort(distance, kind="stable")[: k - 1]
    return others[nearest] if farthest[nearest].max() <= radius else None


def _place_the_rest(tracks: Tracks, clusters: Clusters, unit: float, radius: float) -> Clusters:
    """Trajectories in no cluster join that of their nearest pivot, or stay in the trash if it is too far."""
    pivots = np.array(clusters.pivot, np.int64)
    if not len(pivots):
        return clusters
    members, trash = list(clusters.members), []
    distance, farthest = np.empty(len(pivots)), np.empty(len(pivots))
    for track in clusters.trash.tolist():
        align_pivots(tracks, pivots, track, unit, distance, farthest)
        nearest = int(distance.argmin())
        if farthest[nearest] <= radius:
            members[nearest] = np.append(members[nearest], track)
        else:
            trash.append(track)
    return Clusters(clusters.pivot, members, np.array(trash, np.int64))
