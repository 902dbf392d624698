"""Sorting of samples and rows: by user, by number, by all columns without duplicates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.core.arrays import Bools, Int32s, Int64s
from shoal.core.compiled import jit, jit_inline, jit_no_arrays

Columns = Sequence[npt.NDArray[Any]]

_BITS = 64
_RUN = 16


@jit
def order_by_user(user: Int32s, ptr: Int64s, order: Int64s) -> None:
    """order: the positions of samples sorted by user, stable; ptr[u]: where the samples of user u begin in it."""
    place = ptr[:-1].copy()
    for i in range(len(user)):
        order[place[user[i]]] = i
        place[user[i]] += 1


@jit_no_arrays
def move_entries(
    column: npt.NDArray[Any], first: Int64s, length: Int32s, moved: npt.NDArray[Any], place: Int64s
) -> None:
    """Copy the length[u] entries of every user u from first[u] on in a column to place[u] on in another."""
    for user in range(len(first)):
        for entry in range(length[user]):
            moved[place[user] + entry] = column[first[user] + entry]


@jit_inline
def sort_by(value: Int64s, place: Int64s, begin: int, end: int, room: Int64s) -> None:
    """Put place[begin .. end - 1] in the order of value[place], stable; ``room`` (int64) is as long as ``place``.

    Runs are sorted by insertion and then merged. NumPy's sorts take a second each to compile.
    """
    for low in range(begin, end, _RUN):
        for q in range(low + 1, min(low + _RUN, end)):
            moved, to = place[q], q
            while to > low and value[place[to - 1]] > value[moved]:
                place[to] = place[to - 1]
                to -= 1
            place[to] = moved
    width = _RUN
    while width < end - begin:
        for low in range(begin, end, 2 * width):
            middle, high = min(low + width, end), min(low + 2 * width, end)
            a, b = low, middle
            for q in range(low, high):
                if b == high or (a < middle and value[place[a]] <= value[place[b]]):
                    room[q] = place[a]
                    a += 1
                else:
                    room[q] = place[b]
                    b += 1
        for q in range(begin, end):
            place[q] = room[q]
        width *= 2


def group_rows(number: npt.NDArray[np.integer]) -> tuple[Int64s | slice, list[tuple[int, slice]]]:
    """The order that brings rows of equal number together, otherwise as they stood, and which of them each number has.

    Where all rows have one number the order is a slice of all of them.
    """
    if len(number) == 0:
        return slice(None), []
    low = int(number.min())
    span = int(number.max()) - low
    # As narrow as they can be, for numbers of 16 bits are sorted in linear time.
    narrow = np.empty(len(number), np.min_scalar_type(span))
    np.subtract(number, low, out=narrow, casting="unsafe")
    order = np.argsort(narrow, kind="stable") if span else slice(None)
    sizes = np.bincount(narrow)
    ends = np.cumsum(sizes)
    groups = np.flatnonzero(sizes)
    bounds = zip(groups.tolist(), (ends - sizes)[groups].tolist(), ends[groups].tolist(), strict=True)
    return order, [(low + group, slice(begin, end)) for group, begin, end in bounds]


def sort_distinct(columns: Columns) -> Columns:
    """The rows of some columns by the first column, then the second and so on, each once; at least one is given."""
    lows = [int(column.min()) for column in columns]
    widths = [(int(column.max()) - low).bit_length() for column, low in zip(columns, lows, strict=True)]
    if sum(widths) > _BITS:
        return _by_columns(columns)
    kinds = [column.dtype for column in columns]
    return _unpacked(_sorted_keys(columns, lows, widths), lows, widths, kinds)


def _sorted_keys(columns: Columns, lows: list[int], widths: list[int]) -> npt.NDArray[np.uint64]:
    keys = np.zeros(len(columns[0]), np.uint64)
    for column, low, width in zip(columns, lows, widths, strict=True):
        if width:
            keys <<= np.uint64(width % _BITS)  # a field of 64 bits has zeros before it
            keys |= (column.astype(np.int64) - low).view(np.uint64)
    keys.sort()
    first = _first_of_run([keys])
    return keys if first.all() else keys[first]


def _unpacked(
    keys: npt.NDArray[np.uint64], lows: list[int], widths: list[int], kinds: Sequence[np.dtype[Any]]
) -> Columns:
    columns: list[npt.NDArray[Any]] = []
    for low, width, kind in reversed(list(zip(lows, widths, kinds, strict=True))):
        field = keys & np.uint64(2**width - 1)
        columns.insert(0, (field.view(np.int64) + low).astype(kind))
        keys >>= np.uint64(width % _BITS)
    return columns


def _by_columns(columns: Columns) -> Columns:
    """For spans too wide to pack: GPS tracks of a continent, or times that are centuries apart."""
    order = np.lexsort(columns[::-1])
    columns = [column[order] for column in columns]
    first = _first_of_run(columns)
    return [column[first] for column in columns]


def _first_of_run(columns: Columns) -> Bools:
    """Which rows differ from the row before."""
    first = np.zeros(len(columns[0]), bool)
    first[:1] = True
    for column in columns:
        first[1:] |= column[1:] != column[:-1]
    return first
