"""Pools: the samples of some users in one epoch, slot by slot, ready to be merged.

A pool lists the slots of time in which any of its users has a sample, each with the hull of these samples. ``start``
says for every slot q where the latest complete group that ends there begins: the largest s such that slots s .. q hold
a sample of *every* user of the pool, or -1. It is B of docs/how-it-works.md ("k-merge"), and all that k-merge needs to
know about who is who.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Int32s, Int64s
from shoal.core.compiled import jit, jit_inline, jit_inline_allocating

Slots = np.typing.NDArray[np.void]

_FIELDS = ("t", "x0", "x1", "y0", "y1", "start")
SLOT = np.dtype((np.record, [(name, np.int32) for name in _FIELDS]))
OWN_SLOT = np.dtype(
    (np.record, [(name, np.int32) for name in _FIELDS[:-1]])
)  # of a single user: start says nothing


class Pools(NamedTuple):
    """Many pools, one row each: row i holds slots ptr[i] .. ptr[i + 1] - 1.

    slot: one record (SLOT, int32) each, in slots of time and cells, ends included; t strictly increases within a row,
    start counts within the row. They are records because a kernel that reads one number of a slot needs the others.
    touch (int32): six per row, pairs (low, high) for t, x and y: ``low`` is the largest of the users' minima and
    ``high`` the smallest of their maxima, so that a box that meets every user reaches from high to low.
    """

    ptr: Int64s
    slot: Slots
    touch: Int32s


@jit_inline
def count_union(a: Pools, row_a: int, b: Pools, row_b: int) -> int:
    """How many different slots two pools have together."""
    i, end_i = int(a.ptr[row_a]), int(a.ptr[row_a + 1])
    j, end_j = int(b.ptr[row_b]), int(b.ptr[row_b + 1])
    n = 0
    while i < end_i and j < end_j:
        ti, tj = a.slot[i].t, b.slot[j].t
        if ti <= tj:
            i += 1
        if tj <= ti:
            j += 1
        n += 1
    return n + (end_i - i) + (end_j - j)


@jit_inline
def write_union(
    a: Pools, row_a: int, b: Pools, row_b: int, out: Pools, base: int, place_a: Int32s, place_b: Int32s
) -> int:
    """Write the union of two pools into ``out`` from index ``base`` on; return its number of slots.

    place_a and place_b (int32) are scratch of at least the rows' lengths. The users of the two pools must be different:
    a group is complete when it is complete for both.
    """
    first_a, end_i = a.ptr[row_a], a.ptr[row_a + 1]
    first_b, end_j = b.ptr[row_b], b.ptr[row_b + 1]
    i, j, n = first_a, first_b, 0
    while i < end_i or j < end_j:
        take_a = j >= end_j or (i < end_i and a.slot[i].t <= b.slot[j].t)
        take_b = i >= end_i or (j < end_j and b.slot[j].t <= a.slot[i].t)
        slot = out.slot[base + n]
        if take_a:
            one = a.slot[i]
            slot.t, slot.x0, slot.x1, slot.y0, slot.y1 = one.t, one.x0, one.x1, one.y0, one.y1
            place_a[i - first_a] = n
            i += 1
            if take_b:
                other = b.slot[j]
                slot.x0, slot.x1 = min(one.x0, other.x0), max(one.x1, other.x1)
                slot.y0, slot.y1 = min(one.y0, other.y0), max(one.y1, other.y1)
                place_b[j - first_b] = n
                j += 1
        else:
            other = b.slot[j]
            slot.t, slot.x0, slot.x1, slot.y0, slot.y1 = other.t, other.x0, other.x1, other.y0, other.y1
            place_b[j - first_b] = n
            j += 1
        start = -1
        if i > first_a and j > first_b:
            start_a, start_b = a.slot[i - 1].start, b.slot[j - 1].start
            if start_a >= 0 and start_b >= 0:
                start = min(place_a[start_a], place_b[start_b])
        slot.start = start
        n += 1
    return n


@jit_inline
def in_one_box(pools: Pools, row: int) -> bool:
    """Whether a pool cannot be cut into two groups that hold every user, as when a user has a single slot."""
    begin = pools.ptr[row]
    last_group = pools.slot[pools.ptr[row + 1] - 1].start
    return bool(last_group == 0 or pools.slot[begin + last_group - 1].start < 0)


@jit_inline
def write_touch(a: Pools, row_a: int, b: Pools, row_b: int, out: Pools, row: int) -> None:
    """Write the touch of the union of two pools."""
    for axis in range(0, 6, 2):
        out.touch[row, axis] = max(a.touch[row_a, axis], b.touch[row_b, axis])
        out.touch[row, axis + 1] = min(a.touch[row_a, axis + 1], b.touch[row_b, axis + 1])


@jit
def union_sizes(a: Pools, b: Pools, rows_b: Int64s, begin: int, end: int, sizes: Int64s) -> None:
    """sizes[i] = number of slots of row i of ``a`` united with row rows_b[i] of ``b``; -1 leaves the row as it is."""
    for row in range(begin, end):
        if rows_b[row] < 0:
            sizes[row] = a.ptr[row + 1] - a.ptr[row]
        else:
            sizes[row] = count_union(a, row, b, rows_b[row])


@jit_inline
def longest_row(pools: Pools) -> int:
    """Number of slots of the longest row."""
    longest = 0
    for row in range(len(pools.ptr) - 1):
        longest = max(longest, pools.ptr[row + 1] - pools.ptr[row])
    return longest


@jit_inline_allocating
def room_for_pools(n_rows: int, n_slots: int) -> Pools:
    """Memory for a few pools of so many slots together, nothing written yet."""
    return Pools(np.zeros(n_rows + 1, np.int64), np.empty(n_slots, SLOT), np.empty((n_rows, 6), np.int32))


@jit_inline
def copy_row(source: Pools, row: int, target: Pools, to: int) -> int:
    """Copy a pool to row ``to`` of others, whose ptr[to] is set; return its number of slots."""
    first, shift = source.ptr[row], target.ptr[to] - source.ptr[row]
    for q in range(first, source.ptr[row + 1]):
        target.slot[q + shift] = source.slot[q]
    for axis in range(6):
        target.touch[to, axis] = source.touch[row, axis]
    return int(source.ptr[row + 1] - first)


@jit_inline
def unite_rows(
    a: Pools, row_a: int, b: Pools, row_b: int, target: Pools, to: int, place_a: Int32s, place_b: Int32s
) -> int:
    """Write the union of two pools to row ``to`` of others, whose ptr[to] is set; return its number of slots."""
    write_touch(a, row_a, b, row_b, target, to)
    return write_union(a, row_a, b, row_b, target, target.ptr[to], place_a, place_b)


@jit
def unite(a: Pools, b: Pools, rows_b: Int64s, begin: int, end: int, out: Pools) -> None:
    """Write rows begin .. end - 1 of ``a`` united with rows rows_b of ``b`` into ``out``, whose ptr is set already."""
    place_a, place_b = np.empty(longest_row(a), np.int32), np.empty(longest_row(b), np.int32)
    for row in range(begin, end):
        if rows_b[row] >= 0:
            unite_rows(a, row, b, rows_b[row], out, row, place_a, place_b)
        else:
            copy_row(a, row, out, row)


def empty_pools(ptr: Int64s) -> Pools:
    """Pools of the given sizes with nothing written in them yet."""
    return Pools(ptr, np.empty(int(ptr[-1]), SLOT), np.empty((len(ptr) - 1, 6), np.int32))


def own_lines(pools: Pools) -> Int32s:
    """The slots as int32 lines t, x0, x1, y0, y1, without ``start``."""
    return pools.slot.view(np.int32).reshape(-1, len(_FIELDS))[:, :-1]


def taken(pools: Pools, rows: Int64s) -> Pools:
    """Copies of some rows, in the order given."""
    sizes = pools.ptr[rows + 1] - pools.ptr[rows]
    ptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    slots = np.arange(int(ptr[-1])) + np.repeat(pools.ptr[rows] - ptr[:-1], sizes)
    return Pools(ptr, pools.slot[slots], pools.touch[rows])


def concatenate_pools(parts: list[Pools]) -> Pools:
    """All rows of several pools, in their order."""
    shifts = np.cumsum([0] + [len(part.slot) for part in parts])
    ptr = np.concatenate(
        [np.zeros(1, np.int64)] + [part.ptr[1:] + shift for part, shift in zip(parts, shifts, strict=False)]
    )
    return Pools(
        ptr, np.concatenate([part.slot for part in parts]), np.concatenate([part.touch for part in parts])
    )


@jit
def collapse(
    user: Int32s, t: Int64s, x: Int32s, y: Int32s, origin: int, out: Pools, users: Int32s, counts: Int32s
) -> int:
    """Make one pool per user of samples sorted by (user, t); samples of one slot become one hull.

    ``out`` has room for len(t) slots and rows; times are counted from ``origin``. Also writes the users met and their
    numbers of samples (int32); returns how many users there are.
    """
    row, q = -1, -1
    for i in range(len(t)):
        time = np.int32(t[i] - origin)
        fresh = row < 0 or user[i] != users[row]
        if fresh:
            row += 1
            users[row] = user[i]
            counts[row] = 0
            out.ptr[row] = q + 1
            out.touch[row, 0], out.touch[row, 1] = time, time
            out.touch[row, 2], out.touch[row, 3] = x[i], x[i]
            out.touch[row, 4], out.touch[row, 5] = y[i], y[i]
        counts[row] += 1
        if fresh or out.slot[q].t != time:
            q += 1
            slot = out.slot[q]
            slot.t, slot.start = time, q - out.ptr[row]
            slot.x0, slot.x1, slot.y0, slot.y1 = x[i], x[i], y[i], y[i]
        else:
            slot = out.slot[q]
            slot.x0, slot.x1 = min(slot.x0, x[i]), max(slot.x1, x[i])
            slot.y0, slot.y1 = min(slot.y0, y[i]), max(slot.y1, y[i])
        out.touch[row, 1] = time
        out.touch[row, 2], out.touch[row, 3] = min(out.touch[row, 2], x[i]), max(out.touch[row, 3], x[i])
        out.touch[row, 4], out.touch[row, 5] = min(out.touch[row, 4], y[i]), max(out.touch[row, 5], y[i])
    out.ptr[row + 1] = q + 1
    return row + 1


def collapsed(user: Int32s, t: Int64s, x: Int32s, y: Int32s, origin: int) -> tuple[Int32s, Int32s, Pools]:
    """One pool per user of samples sorted by (user, t): the users, their numbers of samples, their pools."""
    n = len(t)
    out = empty_pools(np.full(n + 1, n, np.int64))
    users, counts = np.empty(n, np.int32), np.empty(n, np.int32)
    rows = collapse(user, t, x, y, origin, out, users, counts) if n else 0
    ptr = out.ptr[: rows + 1] if rows else np.zeros(1, np.int64)
    pools = Pools(ptr.copy(), out.slot[: ptr[-1]].copy(), out.touch[:rows].copy())
    return users[:rows].copy(), counts[:rows].copy(), pools
