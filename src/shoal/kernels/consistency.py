"""Whether a record is consistent with what an attacker saw: the forward and the backward test (design section 1)."""

from __future__ import annotations

from typing import NamedTuple

from shoal.kernels.compiled import inner
from shoal.samples import Int32s, Int64s


class Trails(NamedTuple):
    """Samples user by user, by time: user i has rows ptr[i] .. ptr[i + 1] - 1."""

    ptr: Int64s
    t: Int64s
    x: Int32s
    y: Int32s


class Shelves(NamedTuple):
    """Boxes record by record, by their ends: record j has rows ptr[j] .. ptr[j + 1] - 1; both ends are included.

    Boxes of one record may overlap in time. since[b]: when the earliest box of the record from row b on begins.
    The rest is an index over boxes by time and place, explained in ``kernels.lookup``.
    """

    ptr: Int64s
    record: Int32s
    t0: Int64s
    t1: Int64s
    x0: Int32s
    x1: Int32s
    y0: Int32s
    y1: Int32s
    since: Int64s
    width: int
    levels: Int64s
    slot_ptr: Int64s
    slot_box: Int64s


@inner
def holds(shelves: Shelves, box: int, t: int, x: int, y: int) -> bool:
    """Whether a box holds slot t and cell x, y."""
    return bool(
        shelves.t0[box] <= t <= shelves.t1[box]
        and shelves.x0[box] <= x <= shelves.x1[box]
        and shelves.y0[box] <= y <= shelves.y1[box]
    )


@inner
def first_box_ending_after(shelves: Shelves, record: int, t: int) -> int:
    """The first box of a record that ends at slot t or later; one past its last if none does."""
    low, high = shelves.ptr[record], shelves.ptr[record + 1]
    while low < high:
        middle = (low + high) // 2
        if shelves.t1[middle] < t:
            low = middle + 1
        else:
            high = middle
    return int(low)


@inner
def box_holding(shelves: Shelves, box: int, end: int, t: int, x: int, y: int) -> int:
    """The first of boxes box .. end - 1 of one record, none of which ends before t, that holds a point; -1: none."""
    while box < end and shelves.since[box] <= t:
        if holds(shelves, box, t, x, y):
            return box
        box += 1
    return -1


@inner
def has_box_in(shelves: Shelves, record: int, begin: int, end: int) -> bool:
    """Whether a record has a box that meets slots begin .. end - 1."""
    box = first_box_ending_after(shelves, record, begin)
    return bool(box < shelves.ptr[record + 1] and shelves.since[box] < end)


@inner
def fits_forward(
    trails: Trails, shelves: Shelves, record: int, first: int, last: int, epsilon: int, tolerant: bool
) -> bool:
    """Whether samples first .. last - 1 (there are some) lie in boxes of a record.

    The tolerant attacker forgives a record the epochs (of epsilon slots; 0: everything is one epoch) without boxes.
    """
    box = first_box_ending_after(shelves, record, trails.t[first])
    end = shelves.ptr[record + 1]
    for sample in range(first, last):
        t = trails.t[sample]
        while box < end and shelves.t1[box] < t:
            box += 1
        if box_holding(shelves, box, end, t, trails.x[sample], trails.y[sample]) >= 0:
            continue
        if not tolerant or epsilon == 0:
            return False
        epoch = t // epsilon * epsilon
        if has_box_in(shelves, record, epoch, epoch + epsilon):
            return False
    return True


@inner
def holds_any(trails: Trails, shelves: Shelves, box: int, first: int, last: int) -> bool:
    """Whether a box holds one of samples first .. last - 1."""
    for sample in range(first, last):
        if trails.t[sample] > shelves.t1[box]:
            return False
        if holds(shelves, box, trails.t[sample], trails.x[sample], trails.y[sample]):
            return True
    return False


@inner
def fits_backward(
    trails: Trails, shelves: Shelves, record: int, first: int, last: int, begin: int, end: int
) -> bool:
    """Whether every box of a record wholly inside slots begin .. end - 1 holds one of samples first .. last - 1."""
    box = first_box_ending_after(shelves, record, begin)
    while box < shelves.ptr[record + 1] and shelves.t1[box] < end:
        if shelves.t0[box] >= begin and not holds_any(trails, shelves, box, first, last):
            return False
        box += 1
    return True


@inner
def is_consistent(
    trails: Trails,
    shelves: Shelves,
    record: int,
    first: int,
    last: int,
    begin: int,
    end: int,
    epsilon: int,
    tolerant: bool,
) -> bool:
    """Whether a record is consistent with samples first .. last - 1, all there are in slots begin .. end - 1."""
    if first < last and not fits_forward(trails, shelves, record, first, last, epsilon, tolerant):
        return False
    return fits_backward(trails, shelves, record, first, last, begin, end)


@inner
def consistent_ranges(
    trails: Trails,
    shelves: Shelves,
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
    box = first_box_ending_after(shelves, record, low)
    while cursor <= high and box < shelves.ptr[record + 1]:
        begin, end = shelves.t1[box] + 1 - tau, shelves.t0[box]
        if begin > high:
            break
        if end >= max(begin, cursor) and not holds_any(trails, shelves, box, first, last):
            if begin > cursor:
                ranges[n_ranges, 0], ranges[n_ranges, 1], ranges[n_ranges, 2] = cursor, begin - 1, record
                n_ranges += 1
            cursor = end + 1
        box += 1
    if cursor <= high:
        ranges[n_ranges, 0], ranges[n_ranges, 1], ranges[n_ranges, 2] = cursor, high, record
        n_ranges += 1
    return n_ranges
