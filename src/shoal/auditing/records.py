"""Published records as the audit sees them, and the index over their boxes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.archive import Rows
from shoal.boxes import UNKNOWN, Boxes
from shoal.kernels.consistency import BOX, SAMPLE, Shelves, Trails
from shoal.kernels.lookup import count_entries, fill_slots, write_levels, write_since
from shoal.kernels.timeline import order_by_user
from shoal.samples import Int32s, Int64s, Samples

_MOST_ENTRIES = 3  # boxes stand in this many buckets of time each on average, or buckets grow wider


@dataclass(frozen=True)
class Records:
    """Boxes record by record and by their ends; ``boxes.owner`` is the number of the record, 0 .. n_records - 1."""

    boxes: Boxes
    n_records: int


def make_records(boxes: Boxes) -> Records:
    """Number the owners that occur from 0 on and sort their boxes by when they end."""
    owners, number = np.unique(boxes.owner, return_inverse=True)
    return Records(_by_ends(boxes._replace(owner=number.astype(np.int32))), len(owners))


def records_among(boxes: Boxes, n_records: int) -> Records:
    """Boxes whose owners are records numbered already, sorted by when they end; some records may have none of them.

    Quick where the boxes of each record come by time, and those of different records as they like.
    """
    order = _by_number(boxes.owner, n_records)
    boxes = Boxes._make(column[order] for column in boxes)
    in_order = (boxes.owner[1:] > boxes.owner[:-1]) | (boxes.t1[1:] >= boxes.t1[:-1])
    return Records(boxes if in_order.all() else _by_ends(boxes), n_records)


def _by_ends(boxes: Boxes) -> Boxes:
    order = np.lexsort((boxes.t0, boxes.t1, boxes.owner))
    return Boxes._make(column[order] for column in boxes)


def pseudonymized(samples: Samples) -> Records:
    """The samples as if they had been published under pseudonyms: a box of one slot and cell for each."""
    t, x, y = samples.t, samples.x, samples.y
    return Records(Boxes(samples.user, t, t, x, x, y, y), samples.n_users)


def make_trails(samples: Samples) -> Trails:
    """Samples user by user."""
    return _trails(Rows(samples.user, samples.t, samples.x, samples.y), samples.n_users)


def trails_among(rows: Rows, n_users: int) -> Trails:
    """Samples by time, user by user; some of the users may have none among them."""
    order = _by_number(rows.user, n_users)
    return _trails(Rows._make(column[order] for column in rows), n_users)


def _trails(rows: Rows, n_users: int) -> Trails:
    sample = np.empty(len(rows.t), SAMPLE)
    sample["t"], sample["x"], sample["y"] = rows.t, rows.x, rows.y
    return Trails(_pointers(rows.user, n_users), sample)


def _by_number(number: Int32s, n: int) -> Int64s:
    """Positions in order of their numbers, 0 .. n - 1, otherwise as they stood."""
    order = np.empty(len(number), np.int64)
    order_by_user(number, _pointers(number, n), order)
    return order


def make_shelves(records: Records) -> Shelves:
    """Records with an index of their boxes by time and place."""
    boxes = records.boxes
    level = np.empty(boxes.n_boxes, np.int32)
    write_levels(boxes.x0, boxes.x1, boxes.y0, boxes.y1, level)
    width = 1
    while (entries := count_entries(boxes.t0, boxes.t1, width)) > _MOST_ENTRIES * boxes.n_boxes:
        width *= 2
    number: type[np.int32 | np.int64] = np.int32 if entries < 2**31 else np.int64  # a country has many
    slot_ptr = np.zeros((1 << entries.bit_length()) + 1, number)
    slot_box = np.empty(entries, number)
    fill_slots(boxes.t0, boxes.t1, boxes.x0, boxes.y0, level, width, slot_ptr, slot_box)
    rows = np.empty(boxes.n_boxes, BOX)
    rows["record"], rows["level"] = boxes.owner, level
    write_since(boxes.owner, boxes.t0, rows["since"])
    for name in ("t0", "t1", "x0", "x1", "y0", "y1"):
        rows[name] = getattr(boxes, name)
    levels = np.flatnonzero(np.bincount(level))
    return Shelves(_pointers(boxes.owner, records.n_records), rows, width, levels, slot_ptr, slot_box)


def _pointers(owner: Int32s, n: int) -> Int64s:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(owner, minlength=n))])


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
