"""W4M's clusters: a random pivot with those nearest to it, as long as none is too far."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Bools, Floats, Int64s
from shoal.core.progress import Progress
from shoal.evaluate.baselines.kernels.w4m import Tracks, align_all

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
    alignments = _Alignments(tracks, unit)
    while True:
        progress.stage("clustering")
        clusters = _cluster(alignments, k, radius, rng, progress)
        if len(clusters.trash) <= most_trash:
            return clusters
        radius *= GROWTH


class _Alignments:
    """How far everybody is from a pivot, found out once: a larger radius changes none of it."""

    def __init__(self, tracks: Tracks, unit: float) -> None:
        self.n = len(tracks.ptr) - 1
        self._tracks, self._unit = tracks, unit
        self._known: dict[int, tuple[Floats, Floats]] = {}

    def to(self, pivot: int) -> tuple[Floats, Floats]:
        """Of every trajectory: the distance (LSTD), and how far it is in space at most along the alignment."""
        if pivot not in self._known:
            distance, farthest = np.empty(self.n), np.empty(self.n)
            align_all(self._tracks, pivot, self._unit, distance, farthest)
            self._known[pivot] = distance, farthest
        return self._known[pivot]


def _cluster(
    alignments: _Alignments, k: int, radius: float, rng: np.random.Generator, progress: Progress
) -> Clusters:
    free = np.ones(alignments.n, np.bool_)
    pivots: list[int] = []
    members: list[Int64s] = []
    for pivot in rng.permutation(alignments.n).tolist():
        if free.sum() < k:
            break
        if not free[pivot]:
            continue
        company = _company(alignments, pivot, free, k, radius)
        if company is not None:
            pivots.append(pivot)
            members.append(np.concatenate([[pivot], company]))
            free[members[-1]] = False
            progress.advance()
    return _place_the_rest(alignments, Clusters(pivots, members, np.flatnonzero(free)), radius)


def _company(alignments: _Alignments, pivot: int, free: Bools, k: int, radius: float) -> Int64s | None:
    """The k - 1 free trajectories nearest to a pivot, or None if one of them is farther than the radius."""
    distance, farthest = alignments.to(pivot)
    others = np.flatnonzero(free)
    others = others[others != pivot]
    nearest = others[np.argsort(distance[others], kind="stable")[: k - 1]]
    return nearest if farthest[nearest].max() <= radius else None


def _place_the_rest(alignments: _Alignments, clusters: Clusters, radius: float) -> Clusters:
    """Trajectories in no cluster join that of their nearest pivot, or stay in the trash if it is too far."""
    if not clusters.pivot:
        return clusters
    members, trash = list(clusters.members), []
    for track in clusters.trash.tolist():
        nearest = int(np.argmin([alignments.to(pivot)[0][track] for pivot in clusters.pivot]))
        if alignments.to(clusters.pivot[nearest])[1][track] <= radius:
            members[nearest] = np.append(members[nearest], track)
        else:
            trash.append(track)
    return Clusters(clusters.pivot, members, np.array(trash, np.int64))
