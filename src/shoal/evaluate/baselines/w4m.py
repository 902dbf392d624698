"""W4M-L (Abul, Bonchi, Nanni 2010): clusters of k trajectories, whose points are moved next to those of a pivot."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from shoal.core.arrays import Bools, Floats, Int64s
from shoal.core.progress import Progress, SilentProgress
from shoal.core.promise import Grid
from shoal.core.samples import Samples
from shoal.errors import ParameterError
from shoal.evaluate.baselines.kernels.w4m import Tracks, align, align_all
from shoal.evaluate.baselines.method import (
    NO_GROUP,
    Anonymized,
    BaselinePrecision,
    Points,
    SampleCounts,
    check_k,
)

# ---- the method ---------------------------------------------------------------------------------------------------

_RADIUS_SHARE = 0.005  # of half the diagonal of the data: the setting seen in use, as are 10 % of trash


@dataclass(frozen=True)
class W4M:
    """W4M-L (Abul, Bonchi, Nanni 2010): (k, delta)-anonymity by moving points, and by making and dropping some.

    At least k records have the same times and are never farther than delta from each other: all within delta / 2 of
    their pivot, whose record is its trajectory, unchanged. What W4M loses, its precision, is how far a published point
    was moved from the sample it stands for: means over all published points, those of pivots included, of the shift in
    time and of the distance in space. (The paper does not say what it measured. W4M has no spans, and how far points
    are translated is what its authors report.) Deleted points leave no trace in that.
    """

    name: ClassVar[str] = "w4m"
    grid: Grid = field(default_factory=Grid)
    delta_m: float = 1000.0
    trash_share: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.delta_m > 0:
            raise ParameterError(f"delta must be more than zero metres, got {self.delta_m}.")
        if not 0 <= self.trash_share < 1:
            raise ParameterError(f"the share of trash must be from 0 to less than 1, got {self.trash_share}.")

    def __call__(self, samples: Samples, k: int, progress: Progress | None = None) -> Anonymized:
        """Cluster everybody, then move the members of every cluster to their pivot."""
        check_k(samples, k)
        progress = progress or SilentProgress()
        tracks = make_tracks(samples)
        delta = self.delta_m / self.grid.cell_m
        clusters = find_clusters(
            tracks, k, delta, _first_radius(samples), self.trash_share * samples.n_users, self.seed, progress
        )
        group = np.full(samples.n_users, NO_GROUP, np.int32)
        moves: list[_Moves] = []
        progress.stage("moving points", len(clusters.pivot))
        for number, (pivot, members) in enumerate(zip(clusters.pivot, clusters.members, strict=True)):
            group[members] = number
            moves += [_move(samples, tracks, pivot, member, delta / 2) for member in members.tolist()]
            progress.advance()
        moves.sort(key=lambda move: int(move.owner[0]))
        made = _Moves._make(np.concatenate(column) for column in zip(*moves, strict=True))
        points = Points(made.owner.astype(np.int32), made.t, made.x, made.y)
        return Anonymized(
            k=k,
            boxes=points.as_boxes(),
            group=group,
            counts=_count(np.diff(tracks.ptr), clusters),
            precision=BaselinePrecision(
                float(made.slots.mean()) * self.grid.step_s / 60,
                float(made.cells.mean()) * self.grid.cell_m / 1000,
            ),
            points=points,
        )


class _Moves(NamedTuple):
    """Published points, and by how much each was moved from the sample it stands for."""

    owner: Int64s
    t: Int64s
    x: Floats
    y: Floats
    slots: Int64s
    cells: Floats


def _first_radius(samples: Samples) -> float:
    """The radius to begin with, in cells."""
    return (
        _RADIUS_SHARE * float(np.hypot(np.ptp(samples.x.astype(float)), np.ptp(samples.y.astype(float)))) / 2
    )


def _move(samples: Samples, tracks: Tracks, pivot: int, member: int, reach: float) -> _Moves:
    """The record of a member: at each time of the pivot its matching point, at most ``reach`` cells from the pivot."""
    here = slice(tracks.ptr[pivot], tracks.ptr[pivot + 1])
    match = np.empty(here.stop - here.start, np.int64)
    align(tracks, pivot, member, reach, match)
    there = tracks.ptr[member] + match
    dx, dy = tracks.x[there] - tracks.x[here], tracks.y[there] - tracks.y[here]
    distance = np.hypot(dx, dy)
    far = distance > reach
    share = np.divide(reach, distance, out=np.ones_like(distance), where=far)
    return _Moves(
        owner=np.full(len(match), member),
        t=samples.t[here],
        x=np.where(far, tracks.x[here] + share * dx, tracks.x[there]),
        y=np.where(far, tracks.y[here] + share * dy, tracks.y[there]),
        slots=np.abs(samples.t[here] - samples.t[there]),
        cells=np.maximum(distance - reach, 0),
    )


def _count(sizes: Int64s, clusters: Clusters) -> SampleCounts:
    """Created and deleted as W4M counts them: by how much a pivot is longer, or shorter, than a member."""
    created = deleted = published = 0
    for pivot, members in zip(clusters.pivot, clusters.members, strict=True):
        longer = sizes[pivot] - sizes[members]
        created += int(longer[longer > 0].sum())
        deleted -= int(longer[longer < 0].sum())
        published += len(members) * int(sizes[pivot])
    return SampleCounts(
        samples=int(sizes.sum()),
        published=published,
        trashed=int(sizes[clusters.trash].sum()),
        created=created,
        deleted=deleted,
    )


# ---- trajectories with time as distance ---------------------------------------------------------------------------


def make_tracks(samples: Samples) -> Tracks:
    """Trajectories in cells, with time as the distance that people go in it on average."""
    ptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(samples.user))])
    x, y = samples.x.astype(np.float64), samples.y.astype(np.float64)
    way = (samples.t - samples.t.min()) * common_speed(samples)
    return Tracks(ptr, x, y, way)


def common_speed(samples: Samples) -> float:
    """V, in cells per slot: the mean over trajectories of path length / duration.

    Trajectories of a single moment have no speed and do not count; without any other, V is 0 and time is ignored.
    """
    n = samples.n_users
    same = samples.user[1:] == samples.user[:-1]
    steps = np.hypot(np.diff(samples.x.astype(np.float64)), np.diff(samples.y.astype(np.float64)))
    length = np.bincount(samples.user[1:][same], weights=steps[same], minlength=n)
    duration = np.bincount(samples.user[1:][same], weights=np.diff(samples.t)[same], minlength=n)
    lasting = duration > 0
    return float((length[lasting] / duration[lasting]).mean()) if lasting.any() else 0.0


# ---- clusters around pivots ---------------------------------------------------------------------------------------

GROWTH = 1.5  # of the radius, when too much was trashed


class Clusters(NamedTuple):
    """pivot[c]: the pivot of cluster c; members[c]: everybody in it, the pivot first; trash: users in no cluster."""

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
    """How far everybody is from a pivot, computed once: a larger radius does not change it."""

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
        nearest = _nearest_free(alignments, pivot, free, k, radius)
        if nearest is not None:
            pivots.append(pivot)
            members.append(np.concatenate([[pivot], nearest]))
            free[members[-1]] = False
            progress.advance()
    return _place_the_rest(alignments, Clusters(pivots, members, np.flatnonzero(free)), radius)


def _nearest_free(alignments: _Alignments, pivot: int, free: Bools, k: int, radius: float) -> Int64s | None:
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
