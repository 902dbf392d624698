"""W4M-L: wait for me, with the linear distance: everybody in a cluster is moved to within reach of its pivot."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from shoal.core.arrays import Floats, Int64s
from shoal.core.progress import Progress, Silent
from shoal.core.promise import Grid
from shoal.core.samples import Samples
from shoal.errors import ParameterError
from shoal.evaluate.baselines.clusters import Clusters, find_clusters
from shoal.evaluate.baselines.kernels.w4m import Tracks, align
from shoal.evaluate.baselines.method import NO_GROUP, Anonymized, Counts, Points, Precision, check_k
from shoal.evaluate.baselines.tracks import make_tracks

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
        progress = progress or Silent()
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
            precision=Precision(
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


def _count(sizes: Int64s, clusters: Clusters) -> Counts:
    """Created and deleted as W4M counts them: by how much a pivot is longer, or shorter, than a member."""
    created = deleted = published = 0
    for pivot, members in zip(clusters.pivot, clusters.members, strict=True):
        longer = sizes[pivot] - sizes[members]
        created += int(longer[longer > 0].sum())
        deleted -= int(longer[longer < 0].sum())
        published += len(members) * int(sizes[pivot])
    return Counts(
        samples=int(sizes.sum()),
        published=published,
        trashed=int(sizes[clusters.trash].sum()),
        created=created,
        deleted=deleted,
    )
