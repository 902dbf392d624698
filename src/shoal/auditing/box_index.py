"""Samples and boxes laid out for the audit's kernels: trajectories, records, and an index over boxes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.auditing.kernels.box_index import count_entries, fill_slots, write_levels, write_since
from shoal.auditing.kernels.chain import BoxesByEnd
from shoal.auditing.kernels.consistency import BOX, SAMPLE, BoxIndex, StructuredRows, Trajectories
from shoal.core.arrays import Int32s, Int64s, Integers
from shoal.core.boxes import UNKNOWN, Boxes
from shoal.core.formatting import counted
from shoal.core.reprs import sizes_only
from shoal.core.samples import Samples
from shoal.core.sorting import order_by_user
from shoal.storage.sample_store import SampleRows, SampleStore

_MIX = np.uint64(0x9E3779B97F4A7C15)  # an odd number without a pattern (Knuth's multiplicative hashing)
_MOST_ENTRIES = 3  # buckets of time that a box meets on average; buckets are made wide enough for that


class Records(NamedTuple):
    """Boxes (of dtype BOX) sorted by record and by their ends; records are numbered 0 .. n_records - 1."""

    box: StructuredRows
    n_records: int

    def __repr__(self) -> str:
        return sizes_only(self)

    @property
    def boxes(self) -> Boxes:
        """The boxes as columns."""
        return boxes_of(self.box)


def boxes_of(box: StructuredRows) -> Boxes:
    """Rows of dtype BOX as columns, which are views and not copies; the owner is the number of the record."""
    return Boxes(*(box[name] for name in ("record", "t0", "t1", "x0", "x1", "y0", "y1")))


def make_records(boxes: Boxes) -> Records:
    """Number the owners that occur from 0 on and sort their boxes by when they end."""
    occurs = np.bincount(boxes.owner) > 0
    number = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
    return Records(_by_ends(boxes._replace(owner=number[boxes.owner])), int(occurs.sum()))


def records_among(boxes: Boxes, n_records: int) -> Records:
    """Records from boxes whose owners are numbers of records already; some of the records may have no box.

    Quick where each record's boxes come by time, in whatever order the records come.
    """
    box = _rows(boxes, _by_number(boxes.owner, n_records))
    in_order = (box["record"][1:] > box["record"][:-1]) | (box["t1"][1:] >= box["t1"][:-1])
    return Records(box if in_order.all() else _by_ends(boxes), n_records)


def _by_ends(boxes: Boxes) -> StructuredRows:
    return _rows(boxes, np.lexsort((boxes.t0, boxes.t1, boxes.owner)))


def _rows(boxes: Boxes, order: Int64s | slice) -> StructuredRows:
    """Boxes in an order, with the columns that the index needs."""
    box = np.empty(boxes.n_boxes, BOX)
    box["record"] = boxes.owner[order]
    for name in Boxes._fields[1:]:
        box[name] = getattr(boxes, name)[order]
    write_levels(box)
    write_since(box)
    return box


def pseudonymized(samples: Samples) -> Records:
    """Samples as if published under pseudonyms: a box of one slot and cell for each."""
    t, x, y = samples.t, samples.x, samples.y
    return Records(_rows(Boxes(samples.user, t, t, x, x, y, y), slice(None)), samples.n_users)


def make_trajectories(samples: Samples) -> Trajectories:
    """Trajectories of samples that are sorted by user."""
    rows = SampleRows(samples.user, samples.t, samples.x, samples.y)
    return _trajectories(rows, slice(None), samples.n_users)


def load_trajectories(store: SampleStore) -> Trajectories:
    """Trajectories of all samples of a store."""
    slots = store.slots
    return trajectories_among(store.between(int(slots[0]), int(slots[-1]) + 1), store.n_users)


def trajectories_among(rows: SampleRows, n_users: int) -> Trajectories:
    """Trajectories of samples that are sorted by time; some of the users may have none among them."""
    return _trajectories(rows, _by_number(rows.user, n_users), n_users)


def _trajectories(rows: SampleRows, order: Int64s | slice, n_users: int) -> Trajectories:
    sample = np.empty(len(rows.t), SAMPLE)
    sample["t"], sample["x"], sample["y"] = rows.t[order], rows.x[order], rows.y[order]
    return Trajectories(_pointers(rows.user, n_users), sample)


def columns_of(trajectories: Trajectories, users: npt.NDArray[np.object_]) -> Samples:
    """Trajectories as columns; times and cells are views of the trajectories, not copies."""
    user = np.repeat(np.arange(len(users), dtype=np.int32), np.diff(trajectories.ptr))
    return Samples(users, user, *(trajectories.sample[name] for name in ("t", "x", "y")))


def _by_number(number: Int32s, n: int) -> Int64s:
    """Positions sorted by number (0 .. n - 1), in their old order where numbers are equal."""
    order = np.empty(len(number), np.int64)
    order_by_user(number, _pointers(number, n), order)
    return order


def make_box_index(records: Records) -> BoxIndex:
    """Records with an index of their boxes by time and place."""
    box, width = records.box, 1
    while (entries := count_entries(box, width)) > _MOST_ENTRIES * len(box):
        width *= 2
    number: type[np.int32 | np.int64] = np.int32 if entries < 2**31 else np.int64  # a country has many
    slot_ptr = np.zeros((1 << entries.bit_length()) + 1, number)
    slot_box = np.empty(entries, number)
    fill_slots(box, width, slot_ptr, slot_box)
    levels = np.flatnonzero(np.bincount(box["level"]))
    return BoxIndex(_pointers(box["record"], records.n_records), box, width, levels, slot_ptr, slot_box)


def sort_by_end(records: Records) -> BoxesByEnd:
    """All boxes sorted by their ends, to find those that meet a box."""
    box = records.box
    number: type[np.int32 | np.int64] = np.int32 if len(box) < 2**31 else np.int64
    order: Integers = np.argsort(box["t1"], kind="stable").astype(number)
    longest = int((box["t1"] - box["t0"]).max()) + 1
    return BoxesByEnd(order, box["x0"][order], box["x1"][order], longest)


def _pointers(owner: Int32s, n: int) -> Int64s:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(owner, minlength=n))])


@dataclass(frozen=True)
class AttackedRecords:
    """Records under attack. own[i]: the record of user i, UNKNOWN, or NONE."""

    records: Records
    own: Int64s

    def __repr__(self) -> str:
        n_boxes = len(self.records.box)
        return f"<AttackedRecords: {counted(self.records.n_records, 'record')}, {counted(n_boxes, 'box', 'boxes')}>"

    @cached_property
    def index(self) -> BoxIndex:
        """The index of the boxes by time and place."""
        return make_box_index(self.records)

    @cached_property
    def by_end(self) -> BoxesByEnd:
        """All boxes sorted by their ends."""
        return sort_by_end(self.records)

    @property
    def has_key(self) -> bool:
        """Whether it is known which record is whose."""
        return bool((self.own != UNKNOWN).all())

    @cached_property
    def content(self) -> npt.NDArray[np.uint64]:
        """A number for every record that is equal for records with the same boxes, and else different."""
        return record_contents(self.records)


def record_contents(records: Records) -> npt.NDArray[np.uint64]:
    """Numbers that are equal for records with the same boxes; equal by accident once in 2^64 pairs."""
    mixed = np.zeros(len(records.box), np.uint64)
    for column in records.boxes[1:]:
        mixed = (mixed ^ column.astype(np.int64).astype(np.uint64)) * _MIX
        mixed ^= mixed >> np.uint64(29)
    found = np.zeros(records.n_records, np.uint64)
    np.add.at(found, records.box["record"], mixed * _MIX ^ (mixed >> np.uint64(32)))
    return found
