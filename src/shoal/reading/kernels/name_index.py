"""Numbers for texts while they come in: a hash table that keeps every distinct text once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.core.arrays import Bytes, Int32s, Int64s
from shoal.core.compiled import jit, jit_inline, jit_inline_allocating

Slots = npt.NDArray[np.uint64]
FREE = np.uint64(2**64 - 1)
_BASIS = np.uint64(0xCBF29CE484222325)  # FNV-1a of 64 bits (draft-eastlake-fnv), folded to 32
_PRIME = np.uint64(0x100000001B3)
_HALF = np.uint64(32)
_LOW = np.uint64(2**32 - 1)
_BLOCK = 256


class NameTable(NamedTuple):
    """The texts numbered so far, and room for more.

    Text i is ``letters[ends[i] : ends[i + 1]]``; the first of ``ends`` is 0. Each of ``slots``, a power of two
    and more than there is room for texts, is FREE or has the hash of a text above its number, 32 bits each.
    """

    slots: Slots
    ends: Int64s
    letters: Bytes


@jit
def number_names(
    known: NameTable, count: int, letters: Bytes, ends: Int64s, numbers: Int32s, row: int
) -> tuple[int, int]:
    """Write into ``numbers``, from ``row`` on, the number of each text, -1 where it is empty.

    Row i is ``letters[ends[i] : ends[i + 1]]``. New texts are added to the ``count`` that are known. Returns the
    row to go on with, short of the last where there was no more room, and how many texts are known now.
    """
    codes = np.empty(_BLOCK, np.uint64)
    while row < len(numbers):
        start, stop = row, min(row + _BLOCK, len(numbers))
        for i in range(start, stop):
            codes[i - start] = _hash(letters, ends[i], ends[i + 1])
        numbers[row] = _touch(known, codes[: stop - start])
        while row < stop:
            first, last = ends[row], ends[row + 1]
            slot = _find(known, codes[row - start], letters, first, last)
            if last == first:
                numbers[row] = -1
            elif known.slots[slot] != FREE:
                numbers[row] = known.slots[slot] & _LOW
            elif count + 1 == len(known.ends) or known.ends[count] + last - first > len(known.letters):
                return row, count
            else:
                _add(known, count, letters, first, last)
                known.slots[slot] = codes[row - start] << _HALF | np.uint64(count)
                numbers[row] = count
                count += 1
            row += 1
    return row, count


@jit
def refill(slots: Slots, old: Slots) -> None:
    """Put what the old slots hold into others, which are all free."""
    last_slot = np.uint64(len(slots) - 1)
    for entry in old:
        if entry != FREE:
            slot = entry >> _HALF & last_slot
            while slots[slot] != FREE:
                slot = slot + np.uint64(1) & last_slot
            slots[slot] = entry


@jit_inline
def _hash(letters: Bytes, first: int, last: int) -> np.uint64:
    code = _BASIS
    for i in range(first, last):
        code = (code ^ np.uint64(letters[i])) * _PRIME
    return (code ^ code >> _HALF) & _LOW


@jit_inline_allocating
def _touch(known: NameTable, codes: Slots) -> int:
    """Look at the memory that these hashes need soon: many at a time, where one by one would mean waiting.

    What it returns is of no use but keeps the compiler from leaving all this out.
    """
    last_slot = np.uint64(len(known.slots) - 1)
    starts = np.empty(len(codes), np.int64)
    for i in range(len(codes)):
        entry = known.slots[codes[i] & last_slot]
        starts[i] = 0 if entry == FREE else entry & _LOW
    for i in range(len(codes)):
        starts[i] = known.ends[starts[i]]
    seen = 0
    for i in range(len(codes)):
        seen += known.letters[starts[i]]
    return seen


@jit_inline
def _find(known: NameTable, code: np.uint64, letters: Bytes, first: int, last: int) -> np.uint64:
    """The slot of a text, or the free one where it belongs."""
    last_slot = np.uint64(len(known.slots) - 1)
    slot = code & last_slot
    while True:
        entry = known.slots[slot]
        if entry == FREE:
            return slot
        if entry >> _HALF == code and _is_text(known, entry & _LOW, letters, first, last):
            return slot
        slot = slot + np.uint64(1) & last_slot


@jit_inline
def _is_text(known: NameTable, number: np.uint64, letters: Bytes, first: int, last: int) -> bool:
    start = known.ends[number]
    if known.ends[number + np.uint64(1)] - start != last - first:
        return False
    same = True
    for i in range(last - first):
        same &= known.letters[start + i] == letters[first + i]
    return same


@jit_inline
def _add(known: NameTable, number: int, letters: Bytes, first: int, last: int) -> None:
    start = known.ends[number]
    for i in range(last - first):
        known.letters[start + i] = letters[first + i]
    known.ends[number + 1] = start + last - first
