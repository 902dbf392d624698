"""Whether a record is consistent with what an attacker saw: the forward and the backward test (design section 1)."""

from __future__ import annotations

from typing import NamedTuple

from shoal.kernels.compiled import inner, kernel
from shoal.samples import Int32s, Int64s


class Trails(NamedTuple):
    """Samples user by user, by time: user i has rows ptr[i] .. ptr[i + 1] - 1."""

    ptr: Int64s
    t: Int64s
    x: Int32s
    y: Int32s


class Shelves(NamedTuple):
    """Boxes record by record, by time and disjoint: record j has rows ptr[j] .. ptr[j + 1] - 1; ends included.

    bucket_ptr, bucket_box: the boxes that meet each bucket of ``width`` slots from ``origin`` on, ordered along a
    curve that keeps near places near; bucket_code: their places on it.
    """

    ptr: Int64s
    record: Int32s
    t0: Int64s
    t1: Int64s
    x0: Int32s
    x1: Int32s
    y0: Int32s
    y1: Int32s
    origin: int
    width: int
    bucket_ptr: Int64s
    bucket_box: Int64s
    bucket_code: Int64s


@inner
def holds(shelves: Shelves, box: int, trails: Trails, sample: int) -> bool:
    """Whether a sample lies in a box."""
    return bool(
        shelves.t0[box] <= trails.t[sample] <= shelves.t1[box]
        and shelves.x0[box] <= trails.x[sample] <= shelves.x1[box]
        and shelves.y0[box] <= trails.y[sample] <= shelves.y1[box]
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
def has_box_in(shelves: Shelves, record: int, begin: int, end: int) -> bool:
    """Whether a record has a box that meets slots begin .. end - 1."""
    box = first_box_ending_after(shelves, record, begin)
    return bool(box < shelves.ptr[record + 1] and shelves.t0[box] < end)


@inner
def fits_forward(
    trails: Trails, shelves: Shelves, record: int, first: int, last: int, epsilon: int, tolerant: bool
) -> bool:
    """Whether samples first .. last - 1 lie in boxes of a record.

    The tolerant attacker forgives a record the epochs (of epsilon slots; 0: everything is one epoch) without boxes.
    """
    box = first_box_ending_after(shelves, record, trails.t[first])
    end = shelves.ptr[record + 1]
    for sample in range(first, last):
        t = trails.t[sample]
        while box < end and shelves.t1[box] < t:
            box += 1
        if box < end and holds(shelves, box, trails, sample):
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
        if holds(shelves, box, trails, sample):
            return True
    return False


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
    """Append the ranges of a in low .. high where no box within the interval contradicts K; return their new number.

    K is samples first .. last - 1. ``ranges`` has a line (begin, end), ends included, for each.
    """
    cursor = low
    box = first_box_ending_after(shelves, record, low)
    while box < shelves.ptr[record + 1] and shelves.t0[box] < high + tau:
        begin, end = shelves.t1[box] + 1 - tau, shelves.t0[box]
        if (
            begin <= end
            and end >= cursor
            and begin <= high
            and not holds_any(trails, shelves, box, first, last)
        ):
            if begin > cursor:
                ranges[n_ranges, 0], ranges[n_ranges, 1] = cursor, begin - 1
                n_ranges += 1
            cursor = end + 1
            if cursor > high:
                break
        box += 1
    if cursor <= high:
        ranges[n_ranges, 0], ranges[n_ranges, 1] = cursor, high
        n_ranges += 1
    return n_ranges


@inner
def interleave(x: int, y: int) -> int:
    """A place on a curve through the plane that keeps near places near: the bits of x and y, 31 of each, in turn."""
    code = 0
    for bit in range(31):
        code |= ((x >> bit) & 1) << (2 * bit)
        code |= ((y >> bit) & 1) << (2 * bit + 1)
    return code


@kernel
def place_codes(x: Int64s, y: Int64s, codes: Int64s) -> None:
    """codes[i] = place of point i on the curve; coordinates are at least 0 and below 2^31."""
    for i in range(len(x)):
        codes[i] = interleave(x[i], y[i])
