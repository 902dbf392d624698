"""Truthfulness: whether every box holds a sample of its own user, whether boxes overlap, and what was suppressed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shoal.auditing.box_index import AttackedRecords, make_box_index, make_records, make_trajectories
from shoal.auditing.kernels.consistency import Trajectories
from shoal.auditing.kernels.truth import find_held
from shoal.core.arrays import Bools
from shoal.core.boxes import NONE, Boxes
from shoal.core.reprs import sizes_only
from shoal.core.samples import Samples
from shoal.core.workers import Workers

if TYPE_CHECKING:
    from shoal.auditing.context import AuditContext

_QUARTERS = 4
_HOURS = 24
_AT_A_TIME = 1 << 22  # samples


class SuppressedPart(NamedTuple):
    """How many samples a part of the data has, and how many of them are in no box of their user's record."""

    n_samples: int
    n_suppressed: int

    @property
    def share(self) -> float:
        """The suppressed share of the samples."""
        return self.n_suppressed / self.n_samples if self.n_samples else 0.0


class HeldByOwn(NamedTuple):
    """Which samples lie in a box of their own user's record, and which boxes hold a sample of their own user."""

    samples: Bools
    boxes: Bools

    def __repr__(self) -> str:
        return sizes_only(self)


def held_by_own(trajectories: Trajectories, target: AttackedRecords, workers: Workers) -> HeldByOwn:
    """Look up every sample in the record of its user; users without a record have none in boxes."""
    samples = np.zeros(len(trajectories.sample), np.bool_)
    boxes = np.zeros(target.records.boxes.n_boxes, np.bool_)
    workers.for_blocks(
        len(target.own),
        lambda begin, end: find_held(trajectories, target.index, target.own, begin, end, samples, boxes),
    )
    return HeldByOwn(samples, boxes)


class Truthfulness(NamedTuple):
    """How many boxes are untrue, and how many samples are suppressed.

    by_activity: suppression in quarters of the users, from those with the fewest samples to those with the most;
    by_hour: for each hour of the day.
    """

    n_boxes: int
    n_empty_boxes: int
    n_overlapping_boxes: int
    suppressed: SuppressedPart
    n_users_without_record: int
    by_activity: list[SuppressedPart]
    by_hour: list[SuppressedPart]

    @property
    def kept(self) -> bool:
        """Whether everything published is true."""
        return self.n_empty_boxes == self.n_overlapping_boxes == 0


def check_truthfulness(context: AuditContext) -> Truthfulness:
    """Look at every box and every sample; needs to know which record is whose."""
    samples, target = context.samples, context.published
    boxes = target.records.boxes
    held = context.held
    person, n_people = context.person_of(samples.user), context.n_people
    quarter = np.empty(n_people, np.int8)
    order = np.argsort(np.bincount(person, minlength=n_people), kind="stable")
    quarter[order] = np.arange(n_people) * _QUARTERS // n_people
    hour = np.empty(len(samples), np.int8)
    for begin in range(0, len(hour), _AT_A_TIME):
        rows = slice(begin, begin + _AT_A_TIME)
        hour[rows] = context.zone.from_utc(samples.t[rows] * context.grid.step_s) // 3600 % _HOURS
    return Truthfulness(
        n_boxes=boxes.n_boxes,
        n_empty_boxes=int((~held.boxes).sum()),
        n_overlapping_boxes=int(overlapping(boxes).sum()),
        suppressed=SuppressedPart(len(samples), int((~held.samples).sum())),
        n_users_without_record=context.n_without_record,
        by_activity=_parts(quarter[person], held.samples, _QUARTERS),
        by_hour=_parts(hour, held.samples, _HOURS),
    )


class UntruthCounts(NamedTuple):
    """Counts for some slots: boxes that end there and hold no sample of their own user, boxes that end there and
    overlap with another of their record, and samples there that are in no box of their user's record."""

    n_empty_boxes: int
    n_overlapping_boxes: int
    n_suppressed: int


NO_UNTRUTHS = UntruthCounts(0, 0, 0)


def count_untruths(
    trajectories: Trajectories, target: AttackedRecords, begin: int, end: int, workers: Workers
) -> UntruthCounts:
    """Count untrue boxes that end in slots begin .. end - 1, and suppressed samples there.

    Needs all samples and boxes that meet these slots or the boxes that end there; more do no harm.
    """
    held = held_by_own(trajectories, target, workers)
    boxes, t = target.records.boxes, trajectories.sample["t"]
    ending = (boxes.t1 >= begin) & (boxes.t1 < end)
    return UntruthCounts(
        n_empty_boxes=int((ending & ~held.boxes).sum()),
        n_overlapping_boxes=int((ending & overlapping(boxes)).sum()),
        n_suppressed=int(((t >= begin) & (t < end) & ~held.samples).sum()),
    )


def overlapping(boxes: Boxes) -> Bools:
    """Which boxes share time with an earlier box of their record; boxes go by record and end.

    A box that shares time with any earlier box shares time with the one before it, which ends last.
    """
    overlapping = np.zeros(boxes.n_boxes, np.bool_)
    overlapping[1:] = (boxes.owner[1:] == boxes.owner[:-1]) & (boxes.t0[1:] <= boxes.t1[:-1])
    return overlapping


def held_samples(samples: Samples, boxes: Boxes) -> Bools:
    """Which samples lie in a box of their own user's record."""
    published = np.zeros(len(samples), np.bool_)
    if not boxes.n_boxes:
        return published
    own = np.full(samples.n_users, NONE, np.int64)
    owners = np.unique(boxes.owner)
    own[owners] = np.arange(len(owners))
    filled = np.zeros(boxes.n_boxes, np.bool_)
    index = make_box_index(make_records(boxes))
    find_held(make_trajectories(samples), index, own, 0, samples.n_users, published, filled)
    return published


def _parts(part: np.typing.NDArray[np.int8], published: Bools, n: int) -> list[SuppressedPart]:
    sizes, kept = np.bincount(part, minlength=n), np.bincount(part[published], minlength=n)
    return [
        SuppressedPart(size, size - held) for size, held in zip(sizes.tolist(), kept.tolist(), strict=True)
    ]
