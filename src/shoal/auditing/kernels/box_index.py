"""Boxes that hold a point, found without looking at all of them.

A box of at most 2^level cells along either axis stands in the square of 2^level cells that holds its lower corner, so
a point inside it is in that square or in the next one along x, y or both: four squares to look at for every level that
occurs. Time is cut into buckets of ``width`` slots, and a box stands in every bucket that it meets. Squares of buckets
share slots of a table by a hash, so a slot lists boxes of other squares, too, and a box twice if two of its buckets
share the slot. To look up a point is to *probe* 4 len(levels) slots; ``is_probed`` lets every box through exactly once.
"""

from __future__ import annotations

import numpy as np

from shoal.auditing.kernels.consistency import (
    BoxIndex,
    StructuredRows,
    box_holding,
    first_box_ending_after,
    holds,
)
from shoal.core.arrays import Integers
from shoal.core.compiled import jit, jit_inline, jit_no_arrays


@jit_inline
def slot_of(bucket: int, level: int, x: int, y: int, n_slots: int) -> int:
    """The slot of a square; n_slots is a power of two."""
    mixed = np.int64(bucket) * 73_856_093
    mixed ^= np.int64(x) * 19_349_663 ^ np.int64(y) * 83_492_791 ^ np.int64(level) * 2_654_435_761
    mixed ^= mixed >> 29
    mixed *= 668_265_263
    mixed ^= mixed >> 32
    return int(mixed & (n_slots - 1))


@jit_inline
def slot_over(index: BoxIndex, probe: int, t: int, x: int, y: int) -> int:
    """The slot of one of the 4 len(levels) probes that together list all boxes holding a point."""
    level = index.levels[probe // 4]
    square_x = (x >> level) - (probe & 1)
    square_y = (y >> level) - ((probe >> 1) & 1)
    return slot_of(t // index.width, level, square_x, square_y, len(index.slot_ptr) - 1)


@jit_inline
def is_probed(index: BoxIndex, slot: int, entry: int, probe: int, x: int, y: int) -> bool:
    """Whether an entry of a slot is a box of the square that is probed, and no repetition."""
    box = index.slot_box[entry]
    row, level = index.box[box], index.levels[probe // 4]
    return bool(
        row["level"] == level
        and row["x0"] >> level == (x >> level) - (probe & 1)
        and row["y0"] >> level == (y >> level) - ((probe >> 1) & 1)
        and (entry == index.slot_ptr[slot] or index.slot_box[entry - 1] != box)
    )


@jit_inline
def record_found(index: BoxIndex, slot: int, entry: int, probe: int, t: int, x: int, y: int) -> int:
    """The record of the box that is an entry of a slot; -1 unless that is probed, and the first of its record to hold
    the point, so that overlapping boxes count once."""
    box = index.slot_box[entry]
    if not is_probed(index, slot, entry, probe, x, y) or not holds(index, box, t, x, y):
        return -1
    record = index.box[box]["record"]
    begin = first_box_ending_after(index, record, t)
    return int(record) if box_holding(index, begin, index.ptr[record + 1], t, x, y) == box else -1


@jit_no_arrays
def write_levels(box: StructuredRows) -> None:
    """The level of every box: the least for which it has at most 2^level cells along either axis."""
    for b in range(len(box)):
        row = box[b]
        extent = max(np.int64(row["x1"]) - row["x0"], np.int64(row["y1"]) - row["y0"]) + 1
        level = 0
        while (1 << level) < extent:
            level += 1
        row["level"] = level


@jit_no_arrays
def write_since(box: StructuredRows) -> None:
    """The first begin among each box and the later boxes of its record; boxes go by record."""
    for b in range(len(box) - 1, -1, -1):
        row = box[b]
        row["since"] = row["t0"]
        if b + 1 < len(box) and box[b + 1]["record"] == row["record"]:
            row["since"] = min(row["since"], box[b + 1]["since"])


@jit_no_arrays
def count_entries(box: StructuredRows, width: int) -> int:
    """The sum over all boxes of how many buckets of time (of a width) they meet."""
    entries = 0
    for b in range(len(box)):
        entries += box[b]["t1"] // width - box[b]["t0"] // width + 1
    return entries


@jit
def fill_slots(box: StructuredRows, width: int, slot_ptr: Integers, slot_box: Integers) -> None:
    """Sort boxes into slots: slot_ptr comes as zeros, slot_box with room for every box in every bucket it meets.

    Entries of one box in one slot stand side by side.
    """
    n_slots = len(slot_ptr) - 1
    for turn in range(2):
        for b in range(len(box) - 1, -1, -1):
            row, level = box[b], box[b]["level"]
            for bucket in range(row["t0"] // width, row["t1"] // width + 1):
                slot = slot_of(bucket, level, row["x0"] >> level, row["y0"] >> level, n_slots)
                if turn == 0:
                    slot_ptr[slot] += 1
                else:
                    slot_ptr[slot] -= 1
                    slot_box[slot_ptr[slot]] = b
        if turn == 0:
            for slot in range(1, n_slots + 1):
                slot_ptr[slot] += slot_ptr[slot - 1]
