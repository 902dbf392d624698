"""Published records as the audit sees them, and the index over their boxes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.boxes import UNKNOWN, Boxes
from shoal.kernels.consistency import BOX, SAMPLE, Shelves, Trails
from shoal.kernels.lookup import fill_slots
from shoal.samples import Int64s, Samples

_MOST_ENTRIES = 3  # boxes stand in this many buckets of time each on average, or buckets grow wider


@dataclass(frozen=True)
class Records:
    """Boxes record by record and by time; ``boxes.owner`` numbers the records 0, 1, ... in that order."""

    boxes: Boxes

    @property
    def n_records(self) -> int:
        """How many records there are."""
        return int(self.boxes.owner[-1]) + 1 if self.boxes.n_boxes else 0


def make_records(boxes: Boxes) -> Records:
    """Number the owners that occur from 0 on and sort their boxes by when they end."""
    owner = np.unique(boxes.owner, return_inverse=True)[1].astype(np.int32)
    order = np.lexsort((boxes.t0, boxes.t1, owner))
    return Records(Boxes._make(column[order] for column in boxes._replace(owner=owner)))


def pseudonymized(samples: Samples) -> Records:
    """The samples as if they had been published under pseudonyms: a box of one slot and cell for each."""
    t, x, y = samples.t, samples.x, samples.y
    return Records(Boxes(samples.user, t, t, x, x, y, y))


def make_trails(samples: Samples) -> Trails:
    """Samples user by user."""
    rows = np.empty(len(samples), SAMPLE)
    rows["t"], rows["x"], rows["y"] = samples.t, samples.x, samples.y
    return Trails(_pointers(samples.user, samples.n_users), rows)


def make_shelves(records: Records) -> Shelves:
    """Records with an index of their boxes by time and place."""
    boxes = records.boxes
    extent = np.maximum(boxes.x1.astype(np.int64) - boxes.x0, boxes.y1.astype(np.int64) - boxes.y0) + 1
    level = np.ceil(np.log2(extent)).astype(np.int64)
    width = 1
    while (entries := int((boxes.t1 // width - boxes.t0 // width + 1).sum())) > _MOST_ENTRIES * boxes.n_boxes:
        width *= 2
    slot_ptr = np.zeros((1 << entries.bit_length()) + 1, np.int64)
    slot_box = np.empty(entries, np.int64)
    fill_slots(boxes.t0, boxes.t1, boxes.x0, boxes.y0, level, width, slot_ptr, slot_box)
    rows = np.empty(boxes.n_boxes, BOX)
    rows["record"], rows["since"], rows["level"] = boxes.owner, _since(boxes), level
    for name in ("t0", "t1", "x0", "x1", "y0", "y1"):
        rows[name] = getattr(boxes, name)
    return Shelves(
        _pointers(boxes.owner, records.n_records), rows, width, np.unique(level), slot_ptr, slot_box
    )


def _pointers(owner: np.typing.NDArray[np.int32], n: int) -> Int64s:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(owner, minlength=n))])


def _since(boxes: Boxes) -> Int64s:
    """For every box, when the earliest of its record's boxes from it on begins."""
    if not boxes.n_boxes:
        return boxes.t0
    # Records lifted apart, later ones higher, so that one running minimum from the end stops at their borders.
    lift = boxes.owner.astype(np.int64) * (int(boxes.t1.max()) - int(boxes.t0.min()) + 1)
    return np.minimum.accumulate((boxes.t0 + lift)[::-1])[::-1] - lift


@dataclass(frozen=True)
class Target:
    """Records under attack. own[i]: the record of user i, UNKNOWN, or NONE."""

    records: Records
    own: Int64s

    @cached_property
    def shelves(self) -> Shelves:
        """The records with an index."""
        return make_shelves(self.records)

    @property
    def has_key(self) -> bool:
        """Whether it is known which record is whose."""
        return bool((self.own != UNKNOWN).all())
