"""Sorting and deduplicating (user, t, x, y): packed into one 64-bit number wherever they fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.samples import Bools, Int32s, Int64s

_BITS = 64
_TYPES = (np.int32, np.int64, np.int32, np.int32)
_PIECE = 1 << 20


class Columns(NamedTuple):
    """Users (by number), slots and cells of rows."""

    user: Int32s
    t: Int64s
    x: Int32s
    y: Int32s


class Part(NamedTuple):
    """Some of the rows: how many, between which bounds (ends included), and how to take them out."""

    rows: int
    lows: tuple[int, int, int, int]
    highs: tuple[int, int, int, int]
    take: Callable[[], Columns]


def sort_distinct(parts: Sequence[Part]) -> Columns:
    """All rows in order of (user, t, x, y), each once; taken one by one, so that memory holds them once."""
    lows = [min(low) for low in zip(*(part.lows for part in parts), strict=True)]
    highs = [max(high) for high in zip(*(part.highs for part in parts), strict=True)]
    widths = [(high - low).bit_length() for low, high in zip(lows, highs, strict=True)]
    if sum(widths) <= _BITS:
        return _unpacked(_sorted_keys(parts, lows, widths), lows, widths)
    return _by_columns(parts)


def _sorted_keys(parts: Sequence[Part], lows: list[int], widths: list[int]) -> npt.NDArray[np.uint64]:
    keys = np.zeros(sum(part.rows for part in parts), np.uint64)
    filled = 0
    for part in parts:
        piece = keys[filled : filled + part.rows]
        columns: tuple[Any, ...] = part.take()
        for column, low, width in zip(columns, lows, widths, strict=True):
            if width:
                piece <<= np.uint64(width % _BITS)  # a field of 64 bits has zeros before it
                piece |= (column.astype(np.int64) - low).view(np.uint64)
        filled += part.rows
    keys.sort()
    first = _first_of_run([keys])
    return keys if first.all() else keys[first]


def _unpacked(keys: npt.NDArray[np.uint64], lows: list[int], widths: list[int]) -> Columns:
    columns: list[Any] = [np.empty(len(keys), kind) for kind in _TYPES]
    for start in range(0, len(keys), _PIECE):
        piece = keys[start : start + _PIECE].copy()
        for column, low, width in reversed(list(zip(columns, lows, widths, strict=True))):
            field = piece & np.uint64(2**width - 1)
            column[start : start + _PIECE] = field.view(np.int64) + low
            piece >>= np.uint64(width % _BITS)
    return Columns(*columns)


def _by_columns(parts: Sequence[Part]) -> Columns:
    """For spans too wide to pack: GPS tracks of a continent, or times that are centuries apart."""
    taken = [part.take() for part in parts]
    columns = [np.concatenate([part[i] for part in taken]) for i in range(len(_TYPES))]
    taken.clear()
    order = np.lexsort(columns[::-1])
    columns = [column[order] for column in columns]
    first = _first_of_run(columns)
    return Columns(*(column[first] for column in columns))


def _first_of_run(columns: Sequence[Any]) -> Bools:
    """Which rows differ from the row before."""
    first = np.zeros(len(columns[0]), bool)
    first[:1] = True
    for column in columns:
        first[1:] |= column[1:] != column[:-1]
    return first
