"""Columns of times, however they are written, to Unix seconds."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.arrays import Bools, Int64s
from shoal.core.zones import DAY_S, Zone
from shoal.errors import InputError
from shoal.reading.iso import parse_iso
from shoal.reading.numbers import INTEGER, finite_numbers
from shoal.reading.texts import as_bytes, is_text

PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_TOO_LARGE = 2.0**62  # numbers from here on are no time in any unit
FIRST_SECOND = -62_135_596_800  # 0001-01-01T00:00:00Z
LAST_SECOND = 253_402_300_799  # 9999-12-31T23:59:59Z

# Up to which magnitude numbers are Unix seconds, milliseconds, microseconds; beyond, nanoseconds. As seconds
# 1e11 is the year 5138, as milliseconds it is 1973; and so on by thousands.
_UNIT_BOUNDS = (10**11, 10**14, 10**17)


class Times(NamedTuple):
    """Unix seconds, or, where ``numeric``, whole numbers of a unit that is chosen for all batches at once.

    ``local`` are those that were written without a zone.
    """

    value: Int64s
    missing: Bools
    valid: Bools
    numeric: Bools
    local: Bools


def read_times(column: Any, zone: Zone) -> Times:
    """Times of one batch; those written without a zone are on the clock of ``zone``."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return read_times(column.dictionary_decode(), zone)
    missing = column.is_null().to_numpy(zero_copy_only=False)
    if is_text(kind):
        return _from_text(as_bytes(column), zone)
    if pa.types.is_timestamp(kind):
        seconds = _integers(column) // PER_SECOND[kind.unit]
        local = kind.tz is None
        return _known(zone.to_utc(seconds) if local else seconds, missing, local=local)
    if pa.types.is_date(kind):
        days = _integers(column.cast(pa.date32(), safe=False))
        return _known(zone.to_utc(days * DAY_S), missing, local=True)
    if pa.types.is_integer(kind) and kind != pa.uint64():
        return _numeric(_integers(column), missing, ~missing)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _from_floats(column.cast(pa.float64(), safe=False), missing)
    if pa.types.is_null(kind):
        return _known(np.zeros(len(column), np.int64), missing, local=False)
    raise InputError(
        f"The time column holds values of type {kind}: expected timestamps, ISO 8601 text or Unix seconds."
    )


def _known(seconds: Int64s, missing: Bools, *, local: bool) -> Times:
    return Times(seconds, missing, ~missing, np.zeros(len(seconds), bool), np.full(len(seconds), local))


def _numeric(numbers: Int64s, missing: Bools, valid: Bools) -> Times:
    return Times(numbers, missing, valid, np.ones(len(numbers), bool), np.zeros(len(numbers), bool))


def _integers(column: Any) -> Int64s:
    if pa.types.is_date32(column.type):
        column = column.cast(pa.int32())
    whole = column.cast(pa.int64())
    values: Int64s = (pc.fill_null(whole, 0) if whole.null_count else whole).to_numpy(zero_copy_only=False)
    return values


def _from_floats(column: Any, missing: Bools) -> Times:
    numbers = pc.fill_null(column, np.nan).to_numpy(zero_copy_only=False)
    with np.errstate(invalid="ignore"):
        valid = np.abs(numbers) < _TOO_LARGE
    value = np.floor(np.where(valid, numbers, 0)).astype(np.int64)
    return _numeric(value, missing, valid & ~missing)


def _from_text(text: Any, zone: Zone) -> Times:
    text = pc.fill_null(text, b"")
    missing = pc.equal(pc.binary_length(text), 0).to_numpy(zero_copy_only=False)
    written = parse_iso(text)
    value = np.where(written.zoned | ~written.valid, written.seconds, 0)
    local = written.valid & ~written.zoned
    if local.any():
        value[local] = zone.to_utc(written.seconds[local])
    others = np.flatnonzero(~written.valid & ~missing)
    numeric = np.zeros(len(text), bool)
    if len(others):
        number, whole = _numbers_in_text(text.take(pa.array(others)))
        value[others], numeric[others] = number, whole
    return Times(value, missing, written.valid | numeric, numeric, local)


def _numbers_in_text(text: Any) -> tuple[Int64s, Bools]:
    """Numbers rounded down, and whether each text is one; integers without a detour through floats."""
    exact = pc.match_substring_regex(text, INTEGER).to_numpy(zero_copy_only=False)
    integers = pc.if_else(pa.array(exact), text, pa.scalar(b"0", pa.large_binary()))
    value = integers.cast(pa.large_string()).cast(pa.int64()).to_numpy(zero_copy_only=False).copy()
    others = np.flatnonzero(~exact)
    valid = exact
    if len(others):
        numbers = finite_numbers(text.take(pa.array(others)))
        held = np.abs(numbers) < _TOO_LARGE  # false for NaN
        value[others] = np.floor(np.where(held, numbers, 0)).astype(np.int64)
        valid = exact.copy()
        valid[others] = held
    return value, valid


class UnitVote:
    """Decides by the median of all batches whether numbers are seconds, milli-, micro- or nanoseconds."""

    def __init__(self) -> None:
        self._counts = np.zeros(len(_UNIT_BOUNDS) + 1, np.int64)

    def add(self, numbers: Int64s) -> None:
        """Count numeric times by magnitude."""
        magnitude = np.searchsorted(np.array(_UNIT_BOUNDS), np.abs(numbers), side="right")
        self._counts += np.bincount(magnitude, minlength=len(self._counts))

    @property
    def per_second(self) -> int:
        """How many units make a second."""
        below = np.cumsum(self._counts)
        return 1000 ** int(np.searchsorted(below, (below[-1] + 1) // 2)) if below[-1] else 1
