"""Boxes that hold a point, found without looking at all of them.

A box of at most 2^level cells along either axis stands in the square of 2^level cells that holds its lower corner, so
a point inside it is in that square or in the next one along x, y or both: four squares to look at for every level that
occurs. Time is cut into buckets of ``width`` slots, and a box stands in every bucket that it meets. Squares of buckets
share slots of a table by a hash, so a slot lists boxes of other squares, too, and a box twice if two of its buckets
share the slot: ``is_meant`` lets every box through exactly once.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.compiled import inner, kernel, lean
from shoal.kernels.consistency import Shelves, box_holding, first_box_ending_after
from shoal.samples import Int32s, Int64s, Integers


@inner
def slot_of(bucket: int, level: int, x: int, y: int, n_slots: int) -> int:
    """The slot of a square; n_slots is a power of two."""
    mixed = (bucket * 73_856_093) ^ (x * 19_349_663) ^ (y * 83_492_791) ^ (level * 2_654_435_761)
    mixed ^= mixed >> 29
    mixed *= 668_265_263
    mixed ^= mixed >> 32
    return int(mixed & (n_slots - 1))


@inner
def slot_over(shelves: Shelves, run: int, t: int, x: int, y: int) -> int:
    """Slot number ``run`` of the 4 len(levels) that list all boxes holding a point."""
    level = shelves.levels[run // 4]
    square_x = (x >> level) - (run & 1)
    square_y = (y >> level) - ((run >> 1) & 1)
    return slot_of(t // shelves.width, level, square_x, square_y, len(shelves.slot_ptr) - 1)


@inner
def is_meant(shelves: Shelves, slot: int, entry: int, run: int, x: int, y: int) -> bool:
    """Whether an entry of a slot is a box of the square that run number ``run`` looks at, and no repetition."""
    box = shelves.slot_box[entry]
    row, level = shelves.box[box], shelves.levels[run // 4]
    return bool(
        row["level"] == level
        and row["x0"] >> level == (x >> level) - (run & 1)
        and row["y0"] >> level == (y >> level) - ((run >> 1) & 1)
        and (entry == shelves.slot_ptr[slot] or shelves.slot_box[entry - 1] != box)
    )


@inner
def comes_first(shelves: Shelves, box: int, t: int, x: int, y: int) -> bool:
    """Whether a box that holds a point is the first of its record that does, so that overlapping boxes count once."""
    record = shelves.box[box]["record"]
    begin = first_box_ending_after(shelves, record, t)
    return box_holding(shelves, begin, shelves.ptr[record + 1], t, x, y) == box


@lean
def write_levels(x0: Int32s, x1: Int32s, y0: Int32s, y1: Int32s, level: Int32s) -> None:
    """level[b] = the least for which a box has at most 2^level cells along either axis."""
    for box in range(len(x0)):
        extent = max(np.int64(x1[box]) - x0[box], np.int64(y1[box]) - y0[box]) + 1
        level[box] = 0
        while (1 << level[box]) < extent:
            level[box] += 1


@lean
def write_since(owner: Int32s, t0: Int64s, since: Int64s) -> None:
    """since[b] = when the earliest of its record's boxes from box b on begins; boxes go by record."""
    for box in range(len(owner) - 1, -1, -1):
        since[box] = t0[box]
        if box + 1 < len(owner) and owner[box + 1] == owner[box]:
            since[box] = min(since[box], since[box + 1])


@lean
def count_entries(t0: Int64s, t1: Int64s, width: int) -> int:
    """How many buckets of a width boxes meet, in all."""
    entries = 0
    for box in range(len(t0)):
        entries += t1[box] // width - t0[box] // width + 1
    return entries


@kernel
def fill_slots(
    t0: Int64s,
    t1: Int64s,
    x0: Int32s,
    y0: Int32s,
    level: Int32s,
    width: int,
    slot_ptr: Integers,
    slot_box: Integers,
) -> None:
    """Sort boxes into slots: slot_ptr comes as zeros, slot_box with room for every box in every bucket it meets.

    Entries of one box in one slot stand side by side.
    """
    n_slots = len(slot_ptr) - 1
    for turn in range(2):
        for box in range(len(t0) - 1, -1, -1):
            for bucket in range(t0[box] // width, t1[box] // width + 1):
                slot = slot_of(bucket, level[box], x0[box] >> level[box], y0[box] >> level[box], n_slots)
                if turn == 0:
                    slot_ptr[slot] += 1
                else:
                    slot_ptr[slot] -= 1
                    slot_box[slot_ptr[slot]] = box
        if turn == 0:
            for slot in range(1, n_slots + 1):
                slot_ptr[slot] += slot_ptr[slot - 1]
