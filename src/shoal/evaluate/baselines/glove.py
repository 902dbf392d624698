"""GLOVE (Gramaglia, Fiore, CoNEXT 2015): the two fingerprints of least effort are merged, again and again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from shoal.core.arrays import Bools, Floats, Int32s, Int64s
from shoal.core.boxes import Boxes
from shoal.core.progress import Progress, SilentProgress
from shoal.core.promise import Grid
from shoal.core.samples import Samples
from shoal.core.workers import Workers
from shoal.errors import ParameterError
from shoal.evaluate.baselines.kernels.glove import Fingerprints, all_efforts, efforts_of, hull_over_time, join
from shoal.evaluate.baselines.method import Anonymized, check_k, generalized, records_of_groups

# ---- the method ---------------------------------------------------------------------------------------------------

FULL_SPACE_M = 20_000.0  # stretching a sample by as much as this, or by more, is an effort of 1/2
FULL_TIME_S = 8 * 3600.0  # and likewise in time
_LINES_AT_ONCE = 256  # between two steps of progress


@dataclass(frozen=True)
class Limits:
    """The largest box that is not suppressed: its width in x and in y, and how long it lasts.

    The defaults are recalled from the publications, not verified; that x and y each count is our reading.
    """

    space_m: float = 15_000.0
    time_s: float = 6 * 3600.0

    def __post_init__(self) -> None:
        if not (self.space_m > 0 and self.time_s > 0):
            raise ParameterError("limits of GLOVE's boxes must be more than zero metres and seconds.")


@dataclass(frozen=True)
class Glove:
    """GLOVE (Gramaglia, Fiore, CoNEXT 2015) with its efforts, greedy groups, suppression and reshaping.

    ``limits`` None: nothing is suppressed. Without ``reshape`` boxes of a record may overlap in time. Costs
    O(users^2 samples^2): made for up to about a thousand users. Results do not depend on the number of ``workers``
    (threads).
    """

    name: ClassVar[str] = "glove"
    grid: Grid = field(default_factory=Grid)
    limits: Limits | None = field(default_factory=Limits)
    reshape: bool = True
    workers: int = 1

    def __call__(self, samples: Samples, k: int, progress: Progress | None = None) -> Anonymized:
        """Group everybody greedily, and publish every group's fingerprint for each of its members."""
        check_k(samples, k)
        with Workers(self.workers) as workers:
            groups = _Groups(samples, self, workers)
            _merge_greedily(groups, k, progress or SilentProgress())
        numbers = groups.numbers()
        members = [groups.members[g] for g in numbers]
        record = [_as_boxes(groups.box_of(g), groups.origin) for g in numbers]
        boxes, group = records_of_groups(members, record, samples.n_users)
        return generalized(samples, k, boxes, group, self.grid)

    def merged(self, box: Int64s) -> Int64s:
        """A merged fingerprint without boxes that are too coarse, reshaped."""
        if self.limits is not None:
            box = suppress(box, self.limits, self.grid)
        return in_order(reshape(box) if self.reshape else box)


def _merge_greedily(groups: _Groups, k: int, progress: Progress) -> None:
    """Merge the cheapest pair until at most one group has fewer than k members; that group joins the nearest."""
    unfinished = np.ones(groups.n, np.bool_)
    table = _Table(groups, unfinished, progress)
    progress.stage("merging fingerprints", groups.n - 1)
    while unfinished.sum() > 1:
        g, h = table.cheapest()
        groups.merge(g, h)
        unfinished[h] = False
        unfinished[g] = len(groups.members[g]) < k and groups.size[g] > 0
        table.update(g, h)
        progress.advance()
    for leftover in np.flatnonzero(unfinished).tolist():
        done = groups.with_record()
        done[leftover] = False
        if done.any():
            groups.merge(int(np.argmin(groups.efforts(leftover, done))), leftover)
        else:
            groups.withdraw(leftover)


class _Groups:
    """Groups of users with their fingerprints, under the number of one of their members."""

    def __init__(self, samples: Samples, method: Glove, workers: Workers) -> None:
        self.n = samples.n_users
        self.origin = int(samples.t.min())
        self.members: list[Int32s] = [np.array([user], np.int32) for user in range(self.n)]
        self.size = np.bincount(samples.user, minlength=self.n)
        self._first = np.cumsum(self.size) - self.size
        slot = samples.t - self.origin
        sides = (slot, slot, samples.x, samples.x, samples.y, samples.y)
        self._box: Int64s = np.stack(sides, axis=1, dtype=np.int64)
        self._used = len(samples)
        self._weight = np.ones(self.n, np.int64)
        self._method, self.workers = method, workers
        grid = method.grid
        self._full = (FULL_SPACE_M / grid.cell_m, FULL_TIME_S / grid.step_s)

    def box_of(self, g: int) -> Int64s:
        """The fingerprint of a group."""
        return self._box[self._first[g] : self._first[g] + self.size[g]]

    def numbers(self) -> list[int]:
        """The groups that exist."""
        return [g for g in range(self.n) if len(self.members[g])]

    def with_record(self) -> Bools:
        """Which groups exist and have a fingerprint left."""
        return np.array([len(users) > 0 for users in self.members]) & (self.size > 0)

    def all_efforts(self, unfinished: Bools, begin: int, end: int, out: Floats) -> None:
        """Lines begin .. end - 1 of the table of efforts, above its diagonal."""
        prints = self._prints()
        self.workers.for_blocks_between(
            begin, end, lambda start, stop: all_efforts(prints, unfinished, start, stop, *self._full, out)
        )

    def efforts(self, g: int, unfinished: Bools) -> Floats:
        """Effort of a group with every other; infinite where the other is not open."""
        prints, out = self._prints(), np.empty(self.n)
        self.workers.for_blocks(
            self.n, lambda begin, end: efforts_of(prints, g, unfinished, begin, end, *self._full, out)
        )
        return out

    def merge(self, g: int, h: int) -> None:
        """Group g takes in group h."""
        out = np.empty((min(self.size[g], self.size[h]), 6), np.int64)
        used = join(self._prints(), g, h, *self._full, out)
        self._replace(g, self._method.merged(out[:used]))
        self.members[g] = np.concatenate([self.members[g], self.members[h]])
        self._weight[g] += self._weight[h]
        self.members[h] = self.members[h][:0]
        self.size[h] = 0

    def withdraw(self, g: int) -> None:
        """A group that nobody can hide loses its record."""
        self.size[g] = 0

    def _replace(self, g: int, box: Int64s) -> None:
        """Fingerprints are written one behind the other; merged ones are at most twice as long as what they replace."""
        if self._used + len(box) > len(self._box):
            room = np.empty((len(self._box) + len(box), 6), np.int64)
            self._box = np.concatenate([self._box[: self._used], room])
        self._box[self._used : self._used + len(box)] = box
        self._first[g], self.size[g] = self._used, len(box)
        self._used += len(box)

    def _prints(self) -> Fingerprints:
        return Fingerprints(self._box, self._first, self.size, self._weight)


class _Table:
    """Efforts of all pairs of open groups (g < h), and the cheapest of every line."""

    def __init__(self, groups: _Groups, unfinished: Bools, progress: Progress) -> None:
        self._groups, self._open = groups, unfinished
        self._effort = np.empty((groups.n, groups.n))

        progress.stage("comparing fingerprints", -(-groups.n // _LINES_AT_ONCE))
        for begin in range(0, groups.n, _LINES_AT_ONCE):
            groups.all_efforts(unfinished, begin, min(begin + _LINES_AT_ONCE, groups.n), self._effort)
            progress.advance()
        self._nearest = self._effort.argmin(axis=1)

    def cheapest(self) -> tuple[int, int]:
        """The pair of least effort; among equals the first."""
        g = int(self._least().argmin())
        return g, int(self._nearest[g])

    def update(self, g: int, h: int) -> None:
        """Group g has taken in group h; g may be closed."""
        fresh = self._groups.efforts(g, self._open) if self._open[g] else np.full(self._groups.n, np.inf)
        self._effort[h, :], self._effort[:, h] = np.inf, np.inf
        self._effort[g, g + 1 :], self._effort[:g, g] = fresh[g + 1 :], fresh[:g]
        stale = np.isin(self._nearest, (g, h)) | (
            np.isfinite(self._effort[:, g]) & (self._effort[:, g] <= self._least())
        )
        stale[[g, h]] = True
        lines = np.flatnonzero(stale)
        self._nearest[lines] = self._effort[lines].argmin(axis=1)

    def _least(self) -> Floats:
        least: Floats = self._effort[np.arange(len(self._nearest)), self._nearest]
        return least


def _as_boxes(box: Int64s, origin: int) -> Boxes:
    t0, t1, x0, x1, y0, y1 = box.T
    sides = (side.astype(np.int32) for side in (x0, x1, y0, y1))
    return Boxes(np.zeros(len(box), np.int32), t0 + origin, t1 + origin, *sides)


# ---- what remains of a merged fingerprint -------------------------------------------------------------------------


def suppress(box: Int64s, limits: Limits, grid: Grid) -> Int64s:
    """The boxes that are within the limits."""
    spans = box[:, 1::2] - box[:, ::2] + 1
    metres = spans[:, 1:].max(axis=1, initial=0) * grid.cell_m
    kept: Bools = (metres <= limits.space_m) & (spans[:, 0] * grid.step_s <= limits.time_s)
    return box[kept]


def reshape(box: Int64s) -> Int64s:
    """Boxes disjoint in time that hold whatever the given ones hold, by time.

    Where two overlap: a head with the area of the first, the overlap with the union of their areas, a tail with the
    area of the one that ends later. Where more do: wherever one begins or ends, a new box; its area unites those there.
    """
    if not len(box):
        return box
    begins = np.unique(np.concatenate([box[:, 0], box[:, 1] + 1]))
    begins, ends = begins[:-1], begins[1:] - 1
    pieces, covered = np.empty((len(begins), 6), np.int64), np.empty(len(begins), np.int32)
    hull_over_time(box, begins, ends, pieces, covered)
    return pieces[covered > 0]


def in_order(box: Int64s) -> Int64s:
    """Boxes by time, and by their other sides among those that begin and end together."""
    return box[np.lexsort(box.T[::-1])]
