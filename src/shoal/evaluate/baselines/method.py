"""What every baseline takes and gives: samples and k in, records that should look alike out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from shoal.auditing.truthfulness import held_samples
from shoal.core.arrays import Bools, Floats, Int32s, Int64s
from shoal.core.boxes import Boxes
from shoal.core.formatting import counted
from shoal.core.progress import Progress
from shoal.core.promise import Grid, Promise
from shoal.core.reprs import sizes_only
from shoal.core.samples import Samples
from shoal.hiding.pipeline import check_population
from shoal.utility import precision_of_boxes

NO_GROUP = -1


class SampleCounts(NamedTuple):
    """What became of the samples: samples + created = published + suppressed + trashed + deleted.

    published: samples that lie in a box of their user's record, or points of W4M. suppressed: samples in no box;
    trashed: those of users left out; created and deleted: points by which a record is longer or shorter than its
    user's trajectory.
    """

    samples: int
    published: int
    suppressed: int = 0
    trashed: int = 0
    created: int = 0
    deleted: int = 0


class BaselinePrecision(NamedTuple):
    """What the columns "time [min]" and "space [km]" of the paper's comparison hold, as means; NaN without records.

    Methods that generalize: over boxes, the span in time and the width plus height, ends included. W4M, whose points
    have no span: how far a point was moved (``W4M``).
    """

    time_minutes: float
    space_km: float


class Points(NamedTuple):
    """Published points: slots, and positions in cells that need not be whole; ``owner`` as for boxes."""

    owner: Int32s
    t: Int64s
    x: Floats
    y: Floats

    def __repr__(self) -> str:
        return sizes_only(self)

    def as_boxes(self) -> Boxes:
        """A box of one slot and the nearest cell for every point, for an audit to attack."""
        x, y = np.rint(self.x).astype(np.int32), np.rint(self.y).astype(np.int32)
        return Boxes(self.owner, self.t, self.t, x, x, y, y)


@dataclass(frozen=True)
class Anonymized:
    """What a method made of a dataset, or of a single k-tuple of users.

    boxes: by owner and time; owners are users. points: what W4M really published. group: a number for every user, the
    same for users whose records look alike; NO_GROUP without a record.
    """

    k: int
    boxes: Boxes
    group: Int32s
    counts: SampleCounts
    precision: BaselinePrecision
    points: Points | None = None

    def __repr__(self) -> str:
        return f"<Anonymized: {counted(self.boxes.n_boxes, 'box', 'boxes')}, k = {self.k}>"

    @property
    def hidden(self) -> Bools:
        """Which users have a record that looks like those of at least k - 1 others."""
        sizes = np.bincount(self.group[self.group >= 0], minlength=1)
        return (self.group >= 0) & (sizes[self.group] >= self.k)

    @property
    def succeeded(self) -> bool:
        """Whether everybody is hidden: for a k-tuple, whether its members have become identical."""
        return bool(self.hidden.all())


class Method(Protocol):
    """A way to hide whole trajectories among k, with its settings; ``name`` is what users call it."""

    name: ClassVar[str]

    def __call__(self, samples: Samples, k: int, progress: Progress | None = None) -> Anonymized:
        """Publish the samples so that every user looks like k - 1 others, as far as the method can."""


def check_k(samples: Samples, k: int) -> None:
    """Refuse a k that promises nothing, or one larger than the population."""
    check_population(samples.n_users, Promise(k, None, None).k)


def generalized(samples: Samples, k: int, boxes: Boxes, group: Int32s, grid: Grid) -> Anonymized:
    """The result of a method that publishes boxes: samples in no box of their own user are suppressed."""
    published = int(held_samples(samples, boxes).sum())
    counts = SampleCounts(len(samples), published, suppressed=len(samples) - published)
    return Anonymized(k, boxes, group, counts, _spans(boxes, grid))


def records_of_groups(members: list[Int32s], record: list[Boxes], n_users: int) -> tuple[Boxes, Int32s]:
    """Everybody in a group gets the group's record: all boxes, owner by owner, and the group of every user.

    The owner of the boxes in ``record`` is ignored. A group whose record is empty is none.
    """
    group = np.full(n_users, NO_GROUP, np.int32)
    for number, users in enumerate(members):
        if record[number].n_boxes:
            group[users] = number
    owners = np.flatnonzero(group >= 0).astype(np.int32)
    sizes = np.array([boxes.n_boxes for boxes in record], np.int64)
    first = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    size = sizes[group[owners]]
    within = np.arange(int(size.sum())) - np.repeat(np.cumsum(size) - size, size)
    rows = np.repeat(first[group[owners]], size) + within
    columns = (np.concatenate([getattr(boxes, name) for boxes in record])[rows] for name in Boxes._fields[1:])
    return Boxes(np.repeat(owners, size), *columns), group


def _spans(boxes: Boxes, grid: Grid) -> BaselinePrecision:
    if not boxes.n_boxes:
        return BaselinePrecision(float("nan"), float("nan"))
    spread = precision_of_boxes(boxes, grid)
    return BaselinePrecision(spread.time_minutes.mean, spread.width_plus_height_km.mean)
