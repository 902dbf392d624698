"""Edges of published boxes, half open in metres and time, to cells and slots."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.arrays import Bools, Int64s
from shoal.core.zones import Zone
from shoal.errors import InputError
from shoal.reading.numbers import Floats, read_numbers
from shoal.reading.positions import MOST_CELLS
from shoal.reading.texts import as_bytes, is_text
from shoal.reading.times import FIRST_SECOND, LAST_SECOND, PER_SECOND, read_times

# What is wrong with edges: counted over all batches, one message in the end.
MISSING = "missing values"
NO_TIME = "times that are neither timestamps nor ISO 8601 text"
NO_NUMBER = "edges that are no finite numbers"
TIME_FAR = "times outside the years 1 to 9999"
CELL_FAR = "edges too many cells away from the origin"
BETWEEN_STEPS = "times that are not whole steps"
BETWEEN_CELLS = "edges that are not whole cells"

_UTC = Zone("UTC")
_FRACTION = r"[.,]0*[1-9]"  # of a second, written out and not zero
_TOLERANCE = 1e-6  # of a cell: what other programs' arithmetic may leave
_MOST_TOLERANCE = 0.25  # of a cell; numbers of so few digits that more would be needed tell no cell


def read_slots(column: Any, name: str, step_s: int, faults: Counter[str]) -> Int64s:
    """The slots that begin at some times; arbitrary where a fault is counted."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not (is_text(kind) or pa.types.is_temporal(kind) or pa.types.is_null(kind)) or pa.types.is_time(kind):
        raise InputError(
            f"The {name} column holds values of type {kind}: expected timestamps or ISO 8601 text."
        )
    if kind != column.type:
        column = column.dictionary_decode()
    times = read_times(column, _UTC)
    usable = times.valid & ~times.numeric
    held = (times.value >= FIRST_SECOND - step_s) & (times.value <= LAST_SECOND + 1 + step_s)
    slots, rest = np.divmod(times.value, step_s)
    faults[MISSING] += _count(times.missing)
    faults[NO_TIME] += _count(~usable & ~times.missing)
    faults[TIME_FAR] += _count(usable & ~held)
    faults[BETWEEN_STEPS] += _count(usable & ((rest != 0) | _fractions(column)))
    return slots


def read_cells(column: Any, name: str, cell_m: float, faults: Counter[str]) -> Int64s:
    """The cells that begin at some edges; arbitrary where a fault is counted."""
    numbers = read_numbers(column, name)
    finite = np.isfinite(numbers.value)
    with np.errstate(over="ignore"):
        cells = np.where(finite, numbers.value, 0.0) / cell_m
    held = (cells >= -MOST_CELLS) & (cells <= MOST_CELLS + 1)
    cells[~held] = 0.0
    nearest = np.rint(cells)
    faults[MISSING] += _count(numbers.missing)
    faults[NO_NUMBER] += _count(~finite & ~numbers.missing)
    faults[CELL_FAR] += _count(~held)
    faults[BETWEEN_CELLS] += _count(np.abs(cells - nearest) > _tolerance(cells, column.type))
    return nearest.astype(np.int64)


def _tolerance(cells: Floats, kind: Any) -> Floats:
    """How far edges may be from whole cells: a little, and what the number's type cannot tell apart anyway."""
    relative = {pa.float16(): 2.0**-10, pa.float32(): 2.0**-23}.get(kind, 2.0**-51)
    return np.clip(np.abs(cells) * relative, _TOLERANCE, _MOST_TOLERANCE)


def _fractions(column: Any) -> Bools:
    """Which times are not whole seconds."""
    kind = column.type
    if is_text(kind):
        parts = pc.fill_null(pc.match_substring_regex(as_bytes(column), _FRACTION), False)
        written: Bools = parts.to_numpy(zero_copy_only=False)
        return written
    if pa.types.is_timestamp(kind) and kind.unit != "s":
        whole = pc.fill_null(column.cast(pa.int64()), 0).to_numpy(zero_copy_only=False)
        return np.asarray(whole % PER_SECOND[kind.unit] != 0)
    return np.zeros(len(column), np.bool_)


def _count(holds: Bools) -> int:
    return int(np.count_nonzero(holds))
