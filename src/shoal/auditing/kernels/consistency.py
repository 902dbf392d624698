"""Whether a record is consistent with what an attacker saw: the forward and the backward test (docs/promise.md)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.core.arrays import Int64s, Integers
from shoal.core.compiled import jit, jit_inline
from shoal.core.reprs import sizes_only

SAMPLE = np.dtype([("t", np.int64), ("x", np.int32), ("y", np.int32)])
BOX = np.dtype([
    ("t0", np.int64), ("t1", np.int64), ("since", np.int64),
    ("x0", np.int32), ("x1", np.int32), ("y0", np.int32), ("y1", np.int32), ("record", np.int32), ("level", np.int32),
])  # fmt: skip
StructuredRows = npt.NDArray[np.void]


class Trajectories(NamedTuple):
    """Samples (of dtype SAMPLE) user by user, by time: user i has rows ptr[i] .. ptr[i + 1] - 1."""

    ptr: Int64s
    sample: StructuredRows

    def __repr__(self) -> str:
        return sizes_only(self)


class BoxIndex(NamedTuple):
    """Boxes (of dtype BOX) record by record, by their ends: record j has rows ptr[j] .. ptr[j + 1] - 1.

    Both ends of a box are included. Boxes of one record may overlap in time; ``since`` is the first begin among this
    box and the later boxes of its record. The rest is an index by time and place, explained in
    ``kernels/box_index.py``.
    """

    ptr: Int64s
    box: StructuredRows
    width: int
    levels: Int64s
    slot_ptr: Integers
    slot_box: Integers

    def __repr__(self) -> str:
        return sizes_only(self)


@jit_inline
def holds(index: BoxIndex, box: int, t: int, x: int, y: int) -> bool:
    """Whether a box holds slot t and cell x, y."""
    return bool(
        index.box[box]["t0"] <= t <= index.box[box]["t1"]
        and index.box[box]["x0"] <= x <= index.box[box]["x1"]
        and index.box[box]["y0"] <= y <= index.box[box]["y1"]
    )


@jit_inline
def box_cost(index: BoxIndex, box: int) -> int:
    """The cost of a box, slots times cells: span_t (span_x + span_y), as Boxes.cost() has it."""
    row = index.box[box]
    cells = row["x1"] - row["x0"] + row["y1"] - row["y0"] + 2
    return int((row["t1"] - row["t0"] + 1) * cells)


@jit_inline
def first_box_ending_after(index: BoxIndex, record: int, t: int) -> int:
    """The first box of a record that ends at slot t or later; one past its last if none does."""
    low, high = index.ptr[record], index.ptr[record + 1]
    while low < high:
        middle = (low + high) // 2
        if index.box[middle]["t1"] < t:
            low = middle + 1
        else:
            high = middle
    return int(low)


@jit_inline
def box_holding(index: BoxIndex, box: int, end: int, t: int, x: int, y: int) -> int:
    """The first of boxes box .. end - 1 of one record, none of which ends before t, that holds a point; -1: none."""
    while box < end and index.box[box]["since"] <= t:
        if holds(index, box, t, x, y):
            return box
        box += 1
    return -1


@jit_inline
def has_box_in(index: BoxIndex, record: int, begin: int, end: int) -> bool:
    """Whether a record has a box that meets slots begin .. end - 1."""
    box = first_box_ending_after(index, record, begin)
    return bool(box < index.ptr[record + 1] and index.box[box]["since"] < end)


@jit_inline
def fits_forward(
    trajectories: Trajectories,
    index: BoxIndex,
    record: int,
    first: int,
    last: int,
    epsilon: int,
    tolerant: bool,
) -> bool:
    """Whether samples first .. last - 1 (there are some) lie in boxes of a record.

    The tolerant attacker forgives samples in epochs (of epsilon slots; 0: all of time is one) in which the record has
    no boxes.
    """
    box = first_box_ending_after(index, record, trajectories.sample[first]["t"])
    end = index.ptr[record + 1]
    for sample in range(first, last):
        t = trajectories.sample[sample]["t"]
        while box < end and index.box[box]["t1"] < t:
            box += 1
        if (
            box_holding(
                index, box, end, t, trajectories.sample[sample]["x"], trajectories.sample[sample]["y"]
            )
            >= 0
        ):
            continue
        if not tolerant or epsilon == 0:
            return False
        epoch = t // epsilon * epsilon
        if has_box_in(index, record, epoch, epoch + epsilon):
            return False
    return True


@jit_inline
def first_sample_from(trajectories: Trajectories, first: int, last: int, t: int) -> int:
    """The first of samples first .. last - 1, which go by time, at slot t or later; ``last`` if there is none."""
    while first < last:
        middle = (first + last) // 2
        if trajectories.sample[middle]["t"] < t:
            first = middle + 1
        else:
            last = middle
    return int(first)


@jit_inline
def holds_any(trajectories: Trajectories, index: BoxIndex, box: int, first: int, last: int) -> bool:
    """Whether a box holds one of samples first .. last - 1."""
    row = index.box[box]
    sample = first_sample_from(trajectories, first, last, row["t0"])
    while sample < last and trajectories.sample[sample]["t"] <= row["t1"]:
        if holds(
            index,
            box,
            trajectories.sample[sample]["t"],
            trajectories.sample[sample]["x"],
            trajectories.sample[sample]["y"],
        ):
            return True
        sample += 1
    return False


@jit_inline
def fits_backward(
    trajectories: Trajectories, index: BoxIndex, record: int, first: int, last: int, begin: int, end: int
) -> bool:
    """Whether every box of a record wholly inside slots begin .. end - 1 holds one of samples first .. last - 1."""
    box = first_box_ending_after(index, record, begin)
    while box < index.ptr[record + 1] and index.box[box]["t1"] < end:
        if index.box[box]["t0"] >= begin and not holds_any(trajectories, index, box, first, last):
            return False
        box += 1
    return True


@jit
def is_consistent(
    trajectories: Trajectories,
    index: BoxIndex,
    record: int,
    first: int,
    last: int,
    begin: int,
    end: int,
    epsilon: int,
    tolerant: bool,
) -> bool:
    """Whether a record is consistent with samples first .. last - 1, all there are in slots begin .. end - 1."""
    if first < last and not fits_forward(trajectories, index, record, first, last, epsilon, tolerant):
        return False
    return fits_backward(trajectories, index, record, first, last, begin, end)


@jit_inline
def consistent_ranges(
    trajectories: Trajectories,
    index: BoxIndex,
    record: int,
    first: int,
    last: int,
    low: int,
    high: int,
    tau: int,
    ranges: Int64s,
    n_ranges: int,
) -> int:
    """Append the ranges of a in low .. high where no box within [a, a + tau) contradicts K; return their new number.

    K is samples first .. last - 1. ``ranges`` gets a line (begin, end, record), ends included, for each.
    """
    cursor = low
    box = first_box_ending_after(index, record, low)
    while cursor <= high and box < index.ptr[record + 1]:
        begin, end = index.box[box]["t1"] + 1 - tau, index.box[box]["t0"]
        if begin > high:
            break
        if end >= max(begin, cursor) and not holds_any(trajectories, index, box, first, last):
            if begin > cursor:
                ranges[n_ranges, 0], ranges[n_ranges, 1], ranges[n_ranges, 2] = cursor, begin - 1, record
                n_ranges += 1
            cursor = end + 1
        box += 1
    if cursor <= high:
        ranges[n_ranges, 0], ranges[n_ranges, 1], ranges[n_ranges, 2] = cursor, high, record
        n_ranges += 1
    return n_ranges
