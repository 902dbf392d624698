"""Clock times in text, a column at a time: ISO 8601, dates as countries write them, and patterns that somebody names.

Grammar of ISO 8601: ``YYYY-MM-DD``, alone or followed by ``T`` or a space and ``HH:MM[:SS[.fraction]]`` and, if there
is one, a zone: ``Z``, ``UTC``, ``+HH``, ``+HHMM`` or ``+HH:MM`` (one space may stand before it).

Grammar of dates as countries write them: ``D.M.YYYY``, ``D/M/YYYY``, ``M/D/YYYY``, the same with ``-``, ``YYYY/M/D`` or
``YYYY.M.D``, days and months with one digit or two, alone or followed by a space and ``H:MM[:SS[.fraction]]``.

Fractions of a second are cut off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core import time_format
from shoal.core.arrays import Bools, Bytes, Int64s
from shoal.core.promise import DAY_S
from shoal.core.time_format import Directive, TimeFormat

_ZONE = re.compile(rb" ?(?:(Z|z|UTC)|([+-])(\d\d)(?::?([0-5]\d))?)")
_BEFORE_ZONE = r"^.{16}(?::\d\d(?:[.,]\d+)?)?"
_T, _SPACE, _COLON, _DASH, _DOT, _PLUS, _Z = (ord(mark) for mark in "T :-.+Z")
_BLANKS = b" \t"
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_HALVES = ("AM", "PM")
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_LETTERS = 3  # of an abbreviation, which no two months or weekdays share
_LOWER = 0x20  # what makes a letter of ASCII a small one
_DECIMALS, _MOST_DECIMALS = 6, 9  # of seconds, where digits follow and where they do not
_PIVOT = 69  # years of two digits from here on are of the century before 2000, as for strptime
_BEYOND = 32  # bytes behind the last text, which may be looked at


class WrittenTimes(NamedTuple):
    """Seconds since 1970 on the clock of the text; UTC where ``zoned``, meaningless where not ``valid``."""

    seconds: Int64s
    valid: Bools
    zoned: Bools


# ---- ISO 8601 ----------------------------------------------------------------------------------------------------


def parse_iso(text: Any) -> WrittenTimes:
    """Read a large_binary array without nulls; what does not follow the grammar is not valid."""
    n = len(text)
    result = WrittenTimes(np.zeros(n, np.int64), np.zeros(n, bool), np.zeros(n, bool))
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
        self.data, edges = _bytes_and_edges(text)
        self._start = edges[:-1]
        self.length: Int64s = np.diff(edges)

    def rows(self, rows: npt.NDArray[np.intp]) -> _Characters:
        """The same for some of the texts."""
        some = object.__new__(_Characters)
        some.data, some._start, some.length = self.data, self._start[rows], self.length[rows]
        return some

    def at(self, j: int) -> Bytes:
        """Byte j of every text (j < 32)."""
        return self.data[self._start + j]

    def number(self, *positions: int) -> tuple[Int64s, Bools]:
        """The number written with the digits at some positions, and whether they all are digits."""
        value, digits = np.zeros(len(self._start), np.int64), np.ones(len(self._start), bool)
        for j in positions:
            digit = self.at(j) - np.uint8(ord("0"))
            digits &= digit <= 9
            value = value * 10 + digit
        return value, digits


def _bytes_and_edges(text: Any) -> tuple[Bytes, Int64s]:
    """The bytes of all texts in a row, some more behind them, and where each text begins and the last ends."""
    _, offsets, data = text.buffers()
    edges = np.frombuffer(offsets, np.int64)[text.offset : text.offset + len(text) + 1]
    first, last = (int(edges[0]), int(edges[-1])) if len(edges) else (0, 0)
    held = np.frombuffer(data, np.uint8)[first:last] if data is not None else np.zeros(0, np.uint8)
    return np.concatenate([held, np.zeros(_BEYOND, np.uint8)]), edges - first


def _date_and_time(characters: _Characters) -> tuple[Int64s, Bools, Int64s]:
    """Seconds and validity of what stands before the zone, and its length without a fraction."""
    year, valid = characters.number(0, 1, 2, 3)
    month, month_valid = characters.number(5, 6)
    day, day_valid = characters.number(8, 9)
    days, dated = days_since_1970(year, month, day)
    valid &= month_valid & day_valid & dated
    seconds = days * DAY_S
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


# ---- the calendar ------------------------------------------------------------------------------------------------


def days_since_1970(year: Int64s, month: Int64s, day: Int64s) -> tuple[Int64s, Bools]:
    """Days since 1970-01-01, and which of them the calendar has."""
    valid = (year >= 1) & (year <= 9999) & (month >= 1) & (month <= 12) & (day >= 1)
    months = np.where(valid, (year - 1970) * 12 + month - 1, 0)
    first, after = (_day_of_month_start(months + later) for later in (0, 1))
    valid &= first + day <= after
    return first + day - 1, valid


def _day_of_month_start(months: Int64s) -> Int64s:
    return months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)


def seconds_of_digits(digits: Int64s, *, day_first: bool = False) -> tuple[Int64s, Bools]:
    """Clock times of numbers such as 20240517083000, and which of them are one; as YYYYDDMM... if ``day_first``."""
    parts = [digits // 10**place % 100 for place in (8, 6, 4, 2, 0)]
    hour, minute, second = parts[2:]
    month, day = parts[1::-1] if day_first else parts[:2]
    days, valid = days_since_1970(digits // 10**10, month, day)
    valid &= (hour <= 23) & (minute <= 59) & (second <= 59)
    return days * DAY_S + hour * 3600 + minute * 60 + second, valid


# ---- dates as countries write them -------------------------------------------------------------------------------


class NationalTimes(NamedTuple):
    """Seconds since 1970 on the clock of the text; where ``unordered``, digits YYYYAABBhhmmss of which either A or B is
    the day (``seconds_of_digits`` reads both); meaningless where not ``valid``."""

    value: Int64s
    valid: Bools
    unordered: Bools


def parse_national(text: Any) -> NationalTimes:
    """Read a large_binary array without nulls; what does not follow the grammar is not valid."""
    n = len(text)
    result = NationalTimes(np.zeros(n, np.int64), np.zeros(n, bool), np.zeros(n, bool))
    cursor = _Cursor(text)
    first, first_digits = cursor.counted(1, 4)
    separator = cursor.any_of(b"./-")
    rows = np.flatnonzero(cursor.valid)
    if len(rows) == 0:
        return result
    cursor = cursor[rows]
    first, first_digits, separator = first[rows], first_digits[rows], separator[rows]
    middle, _ = cursor.counted(1, 2)
    cursor.valid &= cursor.any_of(b"./-") == separator
    last, last_digits = cursor.counted(1, 4)
    year_last = (first_digits <= 2) & (last_digits == 4)
    year_first = (first_digits == 4) & (last_digits <= 2) & (separator != _DASH)
    cursor.valid &= year_last | year_first
    clock = _clock(cursor)
    unordered = year_last & (separator != _DOT)
    one = np.where(unordered, first, middle)
    two = np.where(unordered, middle, np.where(year_last, first, last))
    digits = ((np.where(year_last, last, first) * 100 + one) * 100 + two) * 10**6 + clock
    seconds, dated = seconds_of_digits(digits)
    _, dated_otherwise = seconds_of_digits(digits, day_first=True)
    result.value[rows] = np.where(unordered, digits, seconds)
    result.valid[rows] = cursor.valid & (dated | (unordered & dated_otherwise))
    result.unordered[rows] = result.valid[rows] & unordered
    return result


def _clock(cursor: _Cursor) -> Int64s:
    """The digits hhmmss of the time of day that may follow a date; 0 where nothing does."""
    clock = np.zeros(len(cursor.valid), np.int64)
    with cursor.going_on() as timed:
        timed.literal(_SPACE)
        hour = timed.number(1, 2)
        timed.literal(_COLON)
        minute, second = timed.number(2, 2), np.zeros(len(hour), np.int64)
        with timed.going_on() as rest:
            rest.literal(_COLON)
            second[rest.rows] = rest.number(2, 2)
            with rest.going_on() as fraction:
                fraction.any_of(b".,")
                fraction.number(1, _MOST_DECIMALS)
                fraction.end()
        clock[timed.rows] = (hour * 100 + minute) * 100 + second
    return clock


# ---- patterns that somebody names --------------------------------------------------------------------------------


def parse_pattern(text: Any, pattern: TimeFormat) -> WrittenTimes:
    """Read a large_binary array without nulls as a pattern says; what is written otherwise is not valid."""
    cursor = _Cursor(text)
    told: dict[str, Int64s] = {}
    for part in pattern.parts:
        if isinstance(part, Directive):
            told[part.tells] = _directive(cursor, part)
        elif part == time_format.SPACE:
            cursor.blanks()
        else:
            for byte in part.encode():
                cursor.literal(byte)
    cursor.end()
    days, valid = days_since_1970(
        *(told[part] for part in (time_format.YEAR, time_format.MONTH, time_format.DAY))
    )
    hour, minute, second, half, offset = (
        told.get(part, np.zeros(len(days), np.int64))
        for part in (
            time_format.HOUR, time_format.MINUTE, time_format.SECOND, time_format.HALF, time_format.ZONE,
        )
    )  # fmt: skip
    if time_format.HALF in told:
        valid &= (hour >= 1) & (hour <= 12)
        hour = hour % 12 + half
    valid &= cursor.valid & (hour <= 23) & (minute <= 59) & (second <= 59)
    seconds = days * DAY_S + hour * 3600 + minute * 60 + second - offset
    return WrittenTimes(seconds, valid, np.full(len(days), pattern.zoned))


def _directive(cursor: _Cursor, part: Directive) -> Int64s:
    """What a directive tells: a number, the number of a month, hours to add in the afternoon, seconds east of UTC."""
    match part.letter:
        case "Y":
            return cursor.number(4, 4)
        case "y":
            year = cursor.number(2, 2)
            return year + np.where(year < _PIVOT, 2000, 1900)
        case "f":
            return cursor.number(
                _DECIMALS if part.padded else 1, _DECIMALS if part.padded else _MOST_DECIMALS
            )
        case "b" | "B":
            return cursor.name(_MONTHS, whole=part.letter == "B") + 1
        case "a" | "A":
            return cursor.name(_WEEKDAYS, whole=part.letter == "A")
        case "p":
            return cursor.name(_HALVES, whole=True) * 12
        case "z":
            return cursor.zone()
        case _:
            return cursor.number(2 if part.padded else 1, 2)


class _Cursor:
    """A place in every text of a column, which moves to the right as the texts are read, all at once.

    ``valid`` are the texts that fitted so far; in others the place does not matter. ``rows`` are those of the cursor
    that this one goes on from.
    """

    def __init__(self, text: Any) -> None:
        self._data, edges = _bytes_and_edges(text)
        self._at, self._end = edges[:-1].copy(), edges[1:]
        self.valid = np.ones(len(text), bool)
        self.rows = np.arange(len(text))

    def __getitem__(self, rows: npt.NDArray[np.intp]) -> _Cursor:
        """The same for some of the texts."""
        some = object.__new__(_Cursor)
        some._data, some.rows = self._data, rows
        some._at, some._end, some.valid = self._at[rows], self._end[rows], self.valid[rows]
        return some

    @contextmanager
    def going_on(self) -> Iterator[_Cursor]:
        """A cursor for the texts that are not at their end; what it leaves unread makes them invalid."""
        some = self[np.flatnonzero(self.valid & (self._at < self._end))]
        yield some
        some.end()
        self._merge(some)

    def end(self) -> None:
        """Nothing must be left."""
        self.valid &= self._at == self._end

    def literal(self, byte: int) -> None:
        """One byte."""
        self._take((self._at < self._end) & (self._data[self._at] == byte))

    def any_of(self, marks: bytes) -> Bytes:
        """One of some bytes; tells which."""
        found = self._data[self._at]
        fits = np.zeros(len(found), bool)
        for mark in marks:
            fits |= found == mark
        self._take(fits & (self._at < self._end))
        return found

    def blanks(self) -> None:
        """A space or a tab, or several of them."""
        self.any_of(_BLANKS)
        while (
            more := self.valid & (self._at < self._end) & np.isin(self._data[self._at], list(_BLANKS))
        ).any():
            self._at += more

    def number(self, least: int, most: int) -> Int64s:
        """As many digits as there are, from ``least`` to ``most``."""
        return self.counted(least, most)[0]

    def counted(self, least: int, most: int) -> tuple[Int64s, Int64s]:
        """As number(), and how many digits there are."""
        value, digits = np.zeros(len(self._at), np.int64), np.zeros(len(self._at), np.int64)
        going = self.valid.copy()
        for _ in range(most):
            digit = self._data[self._at] - np.uint8(ord("0"))
            going &= (self._at < self._end) & (digit <= 9)
            value = np.where(going, value * 10 + digit, value)
            digits += going
            self._at += going
        self.valid &= digits >= least
        return value, digits

    def name(self, names: tuple[str, ...], *, whole: bool) -> Int64s:
        """The number of a name, in any case: of its first three letters, or, if ``whole``, of all of them."""
        length = min(_LETTERS, *map(len, names))
        codes = np.array([_code(name[:length].lower().encode()) for name in names])
        found = np.zeros(len(self._at), np.int64)
        for place in range(length):
            found = found << 8 | (self._data[self._at + place] | _LOWER)
        order = np.argsort(codes)
        number = order[np.minimum(np.searchsorted(codes[order], found), len(names) - 1)]
        fits = (codes[number] == found) & (self._at + length <= self._end)
        self.valid &= fits
        self._at += length * fits
        for each, name in enumerate(names if whole else ()):
            some = self[np.flatnonzero(self.valid & (number == each))]
            for letter in name[length:].lower().encode():
                some.any_of(bytes([letter, letter & ~_LOWER]))
            self._merge(some)
        return number

    def zone(self) -> Int64s:
        """Seconds east of UTC: Z, +HH, +HHMM or +HH:MM."""
        sign = self.any_of(b"Zz+-")
        some = self[np.flatnonzero(self.valid & ((sign == _PLUS) | (sign == _DASH)))]
        hours = some.number(2, 2)
        colon = (some._at < some._end) & (some._data[some._at] == _COLON)
        some._at += colon
        minutes, digits = some.counted(0, 2)
        some.valid &= (hours <= 23) & (minutes <= 59) & ((digits == 2) | ((digits == 0) & ~colon))
        self._merge(some)
        offset = np.zeros(len(sign), np.int64)
        offset[some.rows] = np.where(sign[some.rows] == _DASH, -1, 1) * (hours * 3600 + minutes * 60)
        return offset

    def _take(self, fits: Bools) -> None:
        self.valid &= fits
        self._at += fits

    def _merge(self, some: _Cursor) -> None:
        """Go on where a cursor for some of the texts stopped."""
        self._at[some.rows], self.valid[some.rows] = some._at, some.valid


def _code(letters: bytes) -> int:
    return int.from_bytes(letters, "big")
