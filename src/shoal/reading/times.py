"""Times of events to Unix seconds, a column at a time: timestamps, dates, numbers, and text (``clock_text.py``).

Of some times a batch alone cannot tell what they mean: in which unit numbers are, or which of two numbers is the day.
These are marked, and read once all batches have voted (``TimeVote``).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.arrays import Bools, Bytes, Int64s
from shoal.core.promise import DAY_S
from shoal.core.schema import TIME
from shoal.core.time_format import TimeFormat
from shoal.core.zones import Zone
from shoal.errors import InputError
from shoal.reading.clock_text import parse_iso, parse_national, parse_pattern, seconds_of_digits
from shoal.reading.marks import NUMBER, REPEATED, SKIPPED, UNORDERED
from shoal.reading.values import INTEGER, as_bytes, as_text, finite_numbers, is_text

PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_TOO_LARGE = 2.0**62  # numbers from here on are no time in any unit
FIRST_SECOND = -62_135_596_800  # 0001-01-01T00:00:00Z
LAST_SECOND = 253_402_300_799  # 9999-12-31T23:59:59Z
# Up to which magnitude numbers are Unix seconds, milliseconds, microseconds; beyond, nanoseconds. As seconds
# 1e11 is the year 5138, as milliseconds it is 1973; and so on by thousands.
_UNIT_BOUNDS = (10**11, 10**14, 10**17)
# Digits of numbers that are clock times, such as 20240517083000, 202405170830 and 20240517, and what is to be added to
# them. In years that people have data of, none is a plausible Unix time: the year 2611 in milliseconds, 1976, or 1970.
_CLOCK_DIGITS = {14: 1, 12: 10**2, 8: 10**6}
FIRST_YEAR, LAST_YEAR = 1900, 2100  # of such numbers
_SAY_SO = "with --time-format, such as '%d/%m/%Y %H:%M:%S'"


class Times(NamedTuple):
    """Unix seconds or, where ``marks`` say so, what all batches together will make seconds of (``TimeVote``).

    ``local`` are those that were written without a zone.
    """

    value: Int64s
    missing: Bools
    valid: Bools
    marks: Bytes
    local: Bools


def read_times(
    column: Any, zone: Zone, pattern: TimeFormat | None = None, *, only_iso: bool = False
) -> Times:
    """Times of one batch; those without a zone are on the clock of ``zone``.

    Text is written like ``pattern`` if there is one; with ``only_iso``, anything but ISO 8601 in text is no time.
    """
    kind = column.type
    if pa.types.is_dictionary(kind):
        return read_times(column.dictionary_decode(), zone, pattern, only_iso=only_iso)
    if pattern is not None:
        return _by_pattern(column, zone, pattern)
    missing = column.is_null().to_numpy(zero_copy_only=False)
    if is_text(kind):
        return _from_text(as_bytes(column), zone, only_iso=only_iso)
    if pa.types.is_timestamp(kind):
        seconds = _integers(column) // PER_SECOND[kind.unit]
        return _known(seconds, missing, None if kind.tz is not None else zone)
    if pa.types.is_date(kind):
        days = _integers(column.cast(pa.date32(), safe=False))
        return _known(days * DAY_S, missing, zone)
    if pa.types.is_integer(kind) and kind != pa.uint64():
        return _numeric(_integers(column), missing, ~missing)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _from_floats(column.cast(pa.float64(), safe=False), missing)
    if pa.types.is_null(kind):
        return _known(np.zeros(len(column), np.int64), missing, None)
    if isinstance(kind, pa.ExtensionType) and "period" in kind.extension_name:
        raise InputError(
            "The time column holds periods of pandas: expected moments; turn them into such with .dt.to_timestamp()."
        )
    raise InputError(
        f"The time column holds values of type {kind}: expected timestamps, ISO 8601 text or Unix seconds."
    )


def _known(seconds: Int64s, missing: Bools, zone: Zone | None) -> Times:
    """Times that leave no question, in UTC or on the clock of a zone."""
    local, marks = np.full(len(seconds), zone is not None), np.zeros(len(seconds), np.uint8)
    if zone is not None:
        seconds, marks = read_clock(seconds, zone)
    return Times(seconds, missing, ~missing, marks, local)


def read_clock(local: Int64s, zone: Zone) -> tuple[Int64s, Bytes]:
    """Unix seconds of clock times, and a mark for each that clocks skipped or showed twice."""
    read = zone.resolve(local)
    marks = np.zeros(len(local), np.uint8)
    marks[read.skipped], marks[read.repeated] = SKIPPED, REPEATED
    return read.seconds, marks


def _numeric(numbers: Int64s, missing: Bools, valid: Bools) -> Times:
    return Times(
        numbers, missing, valid, np.full(len(numbers), NUMBER, np.uint8), np.zeros(len(numbers), bool)
    )


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


def _from_text(text: Any, zone: Zone, *, only_iso: bool) -> Times:
    text = pc.fill_null(text, b"")
    missing = pc.equal(pc.binary_length(text), 0).to_numpy(zero_copy_only=False)
    value, valid, zoned = parse_iso(text)
    local, marks = valid & ~zoned, np.zeros(len(text), np.uint8)
    others = np.flatnonzero(~valid & ~missing & (not only_iso))
    if len(others):
        value[others], valid[others] = _numbers_in_text(text.take(pa.array(others)))
        marks[others[valid[others]]] = NUMBER
        others = others[~valid[others]]
    if len(others):
        value[others], valid[others], unordered = parse_national(text.take(pa.array(others)))
        marks[others[unordered]] = UNORDERED
        local[others] = valid[others]
    clocks = local & (marks == 0)
    if clocks.any():
        value[clocks], marks[clocks] = read_clock(value[clocks], zone)
    return Times(value, missing, valid, marks, local)


def _by_pattern(column: Any, zone: Zone, pattern: TimeFormat) -> Times:
    kind = column.type
    if pa.types.is_temporal(kind):
        raise InputError(
            f"--time-format is for times in text or digits, found a time column of type {kind}: leave it out."
        )
    text = as_bytes(column if is_text(kind) else as_text(column, TIME))
    text = pc.fill_null(text, b"")
    missing = pc.equal(pc.binary_length(text), 0).to_numpy(zero_copy_only=False)
    value, valid, zoned = parse_pattern(text, pattern)
    local, marks = valid & ~zoned, np.zeros(len(text), np.uint8)
    if local.any():
        value[local], marks[local] = read_clock(value[local], zone)
    return Times(value, missing, valid & ~missing, marks, local)


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


class TimeMeaning(NamedTuple):
    """What pending times mean: numbers are clock times of so many digits, or so many of them make a second; in dates
    that a batch alone cannot tell, the day comes first or the month."""

    clock_digits: int | None
    per_second: int
    day_first: bool


def read_pending(
    value: Int64s, marks: Bytes, meaning: TimeMeaning, zone: Zone
) -> tuple[Int64s, Bytes, Bools]:
    """Unix seconds of all times of a batch, those that were pending included, the marks that are left, and which are
    times at all."""
    numbers, dates = (marks & mark > 0 for mark in (NUMBER, UNORDERED))
    left, valid = marks & ~np.uint8(NUMBER | UNORDERED), np.ones(len(value), bool)
    if meaning.clock_digits is None and not dates.any():
        seconds = value if meaning.per_second == 1 else np.where(numbers, value // meaning.per_second, value)
        return seconds, left, valid
    seconds, clocks = value.copy(), dates.copy()
    if meaning.clock_digits is None:
        seconds[numbers] //= meaning.per_second
    else:
        seconds[numbers], valid[numbers] = read_clock_numbers(value[numbers], meaning.clock_digits)
        clocks |= numbers
    seconds[dates], valid[dates] = seconds_of_digits(value[dates], day_first=meaning.day_first)
    clocks &= valid
    seconds[clocks], changed = read_clock(seconds[clocks], zone)
    left[clocks] |= changed
    return seconds, left, valid


class TimeVote:
    """Decides, once it has seen all batches, what the times mean that a batch alone could not tell."""

    def __init__(self) -> None:
        self.numbers = NumberVote()
        self.dates = DateVote()

    def add(self, value: Int64s, marks: Bytes) -> None:
        """Look at the times of one batch that are marked."""
        for mark, vote in ((NUMBER, self.numbers), (UNORDERED, self.dates)):
            marked = marks & mark > 0
            if marked.any():
                vote.add(value[marked])

    def meaning(self) -> TimeMeaning:
        """The decision; an error where nobody can tell."""
        return TimeMeaning(self.numbers.clock_digits, self.numbers.per_second, self.dates.day_first())


class NumberVote:
    """Decides whether numbers are digits of a clock, else by their median whether seconds, milli-, micro- or nano-."""

    def __init__(self) -> None:
        self._counts = np.zeros(len(_UNIT_BOUNDS) + 1, np.int64)
        self._of_clocks = dict.fromkeys(_CLOCK_DIGITS, 0)

    def add(self, numbers: Int64s) -> None:
        """Count numeric times by magnitude, and those that look like clock times."""
        magnitude = np.searchsorted(np.array(_UNIT_BOUNDS), np.abs(numbers), side="right")
        self._counts += np.bincount(magnitude, minlength=len(self._counts))
        for digits in _CLOCK_DIGITS:
            self._of_clocks[digits] += int(np.count_nonzero(read_clock_numbers(numbers, digits)[1]))

    @property
    def per_second(self) -> int:
        """How many units make a second."""
        below = np.cumsum(self._counts)
        return 1000 ** int(np.searchsorted(below, (below[-1] + 1) // 2)) if below[-1] else 1

    @property
    def clock_digits(self) -> int | None:
        """How many digits the numbers have, if most are clock times; None where they count units."""
        total = int(self._counts.sum())
        return next((digits for digits, n in self._of_clocks.items() if 2 * n > total), None)


def read_clock_numbers(numbers: Int64s, digits: int) -> tuple[Int64s, Bools]:
    """Seconds since 1970 on the clock of numbers of so many digits, and which of them are plausible clock times."""
    seconds, valid = np.zeros(len(numbers), np.int64), np.zeros(len(numbers), bool)
    first, beyond = (year * 10 ** (digits - 4) for year in (FIRST_YEAR, LAST_YEAR + 1))
    rows = np.flatnonzero((numbers >= first) & (numbers < beyond))
    if len(rows):
        seconds[rows], valid[rows] = seconds_of_digits(numbers[rows] * _CLOCK_DIGITS[digits])
    return seconds, valid


class DateVote:
    """Decides whether day or month comes first in dates such as 03/04/2024: by days above 12, if there are any."""

    def __init__(self) -> None:
        self._day_first = self._month_first = self._either = False

    def add(self, digits: Int64s) -> None:
        """Look at dates as ``clock_text.NationalTimes`` has them."""
        (one, month_first), (other, day_first) = (
            seconds_of_digits(digits, day_first=order) for order in (False, True)
        )
        self._day_first |= bool((day_first & ~month_first).any())
        self._month_first |= bool((month_first & ~day_first).any())
        self._either |= bool((one != other).any())

    def day_first(self) -> bool:
        """Whether the day comes first; an error where nobody can tell, and where it does in some dates only."""
        if self._day_first and self._month_first:
            raise InputError(
                "The time column has dates that can only be dd/mm/yyyy, and others that can only be mm/dd/yyyy: say"
                f" which are right {_SAY_SO}."
            )
        if self._either and not (self._day_first or self._month_first):
            raise InputError(
                "The time column has dates that may be dd/mm/yyyy or mm/dd/yyyy, since no day is above 12: say which"
                f" {_SAY_SO}."
            )
        return self._day_first
