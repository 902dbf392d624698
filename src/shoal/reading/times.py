"""Times of events to Unix seconds, a column at a time: timestamps, dates, numbers of some unit, and ISO 8601 text.

Grammar of the text: ``YYYY-MM-DD``, alone or followed by ``T`` or a space and ``HH:MM[:SS[.fraction]]`` and, if there
is one, a zone: ``Z``, ``UTC``, ``+HH``, ``+HHMM`` or ``+HH:MM`` (one space may stand before it). Fractions of a second
are cut off.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.arrays import Bools, Int64s
from shoal.core.promise import DAY_S
from shoal.core.zones import Zone
from shoal.errors import InputError
from shoal.reading.values import INTEGER, as_bytes, finite_numbers, is_text

_ZONE = re.compile(rb" ?(?:(Z|z|UTC)|([+-])(\d\d)(?::?([0-5]\d))?)")
_BEFORE_ZONE = r"^.{16}(?::\d\d(?:[.,]\d+)?)?"
_T, _SPACE, _COLON, _DASH, _Z = (ord(mark) for mark in "T :-Z")
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


class IsoTimes(NamedTuple):
    """Seconds since 1970 on the clock of the text; UTC where ``zoned``, meaningless where not ``valid``."""

    seconds: Int64s
    valid: Bools
    zoned: Bools


def parse_iso(text: Any) -> IsoTimes:
    """Read a large_binary array without nulls; what does not follow the grammar is not valid."""
    n = len(text)
    result = IsoTimes(np.zeros(n, np.int64), np.zeros(n, bool), np.zeros(n, bool))
    characters = _Characters(text)
    dated = (characters.length >= 10) & (characters.at(4) == _DASH) & (characters.at(7) == _DASH)
    rows = np.flatnonzero(dated)
    if len(rows) == 0:
        return result
    if len(rows) < n:
        text, characters = text.take(pa.array(rows)), characters.rows(rows)
    seconds, valid, body = _date_and_time(characters)
    offset, zoned, zone_valid = _zones(text, characters, valid, body)
    result.seconds[rows] = seconds - offset
    result.valid[rows] = valid & zone_valid
    result.zoned[rows] = zoned
    return result


class _Characters:
    """Random access to the j-th byte of every text at once; beyond a text's end the bytes are arbitrary."""

    def __init__(self, text: Any) -> None:
        _, offsets, data = text.buffers()
        edges = np.frombuffer(offsets, np.int64)[text.offset : text.offset + len(text) + 1]
        first, last = (int(edges[0]), int(edges[-1])) if len(edges) else (0, 0)
        held = np.frombuffer(data, np.uint8)[first:last] if data is not None else np.zeros(0, np.uint8)
        self._data = np.concatenate([held, np.zeros(32, np.uint8)])
        self._start = edges[:-1] - first
        self.length: Int64s = np.diff(edges)

    def rows(self, rows: npt.NDArray[np.intp]) -> _Characters:
        """The same for some of the texts."""
        some = object.__new__(_Characters)
        some._data, some._start, some.length = self._data, self._start[rows], self.length[rows]
        return some

    def at(self, j: int) -> npt.NDArray[np.uint8]:
        """Byte j of every text (j < 32)."""
        return self._data[self._start + j]

    def number(self, *positions: int) -> tuple[Int64s, Bools]:
        """The number written with the digits at some positions, and whether they all are digits."""
        value, digits = np.zeros(len(self._start), np.int64), np.ones(len(self._start), bool)
        for j in positions:
            digit = self.at(j) - np.uint8(ord("0"))
            digits &= digit <= 9
            value = value * 10 + digit
        return value, digits


def _date_and_time(characters: _Characters) -> tuple[Int64s, Bools, Int64s]:
    """Seconds and validity of what stands before the zone, and its length without a fraction."""
    year, valid = characters.number(0, 1, 2, 3)
    month, month_valid = characters.number(5, 6)
    day, day_valid = characters.number(8, 9)
    valid &= month_valid & day_valid & (year >= 1) & (month >= 1) & (month <= 12) & (day >= 1)
    months = np.where(valid, (year - 1970) * 12 + month - 1, 0)
    first, after = (_day_of_month_start(months + later) for later in (0, 1))
    valid &= first + day <= after
    seconds = (first + day - 1) * DAY_S
    timed = characters.length > 10
    if not timed.any():
        return seconds, valid, np.full(len(seconds), 10)
    with_seconds = (characters.length >= 19) & (characters.at(16) == _COLON)
    hour, hour_valid = characters.number(11, 12)
    minute, minute_valid = characters.number(14, 15)
    second, second_valid = characters.number(17, 18)
    mark = characters.at(10)
    time_valid = (characters.length >= 16) & ((mark == _T) | (mark == _SPACE)) & (characters.at(13) == _COLON)
    time_valid &= hour_valid & minute_valid & (hour <= 23) & (minute <= 59)
    time_valid &= ~with_seconds | (second_valid & (second <= 59))
    valid &= ~timed | time_valid
    seconds += np.where(timed & time_valid, hour * 3600 + minute * 60 + np.where(with_seconds, second, 0), 0)
    return seconds, valid, np.where(timed, np.where(with_seconds, 19, 16), 10)


def _day_of_month_start(months: Int64s) -> Int64s:
    return months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)


def _zones(text: Any, characters: _Characters, valid: Bools, body: Int64s) -> tuple[Int64s, Bools, Bools]:
    """Seconds east of UTC, whether a zone is written, and whether nothing else follows the time."""
    n = len(body)
    offset, zoned, zone_valid = np.zeros(n, np.int64), np.zeros(n, bool), np.ones(n, bool)
    rest = characters.length - body
    for length in (16, 19):
        zoned |= (body == length) & (rest == 1) & (characters.at(length) == _Z)
    rows = np.flatnonzero(valid & (rest > 0) & ~zoned)
    if len(rows):
        written = pc.replace_substring_regex(text.take(pa.array(rows)), pattern=_BEFORE_ZONE, replacement="")
        written = written.dictionary_encode()
        kinds = [_zone_offset(zone) for zone in written.dictionary.to_pylist()]
        kind = written.indices.to_numpy()
        offset[rows] = np.array([each or 0 for each in kinds])[kind]
        zoned[rows] = np.array([each is not None for each in kinds])[kind]
        zone_valid[rows] = (
            zoned[rows] | np.array([zone == b"" for zone in written.dictionary.to_pylist()])[kind]
        )
    return offset, zoned, zone_valid


def _zone_offset(written: bytes) -> int | None:
    match = _ZONE.fullmatch(written)
    if match is None:
        return None
    if match[1]:
        return 0
    if int(match[3]) > 23:
        return None
    seconds = int(match[3]) * 3600 + int(match[4] or 0) * 60
    return -seconds if match[2] == b"-" else seconds
