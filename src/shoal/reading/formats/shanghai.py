"""Shanghai Telecom: sessions at an antenna, a file per day; ``3.30`` is half past three, local time.

Also the published table, saved as CSV: month, date, start time, end time, latitude, longitude, user id.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.arrays import Int64s
from shoal.core.schema import LAT, LON, TIME, USER
from shoal.errors import InputError
from shoal.reading.columns import plain
from shoal.reading.formats.format import Files, Format, head_lines, mostly
from shoal.reading.formats.sessions import Sessions
from shoal.reading.formats.tables import header_names, open_tables
from shoal.reading.formats.text_rows import Columns, RowFiles, RowLayout
from shoal.reading.source import Source
from shoal.reading.values import is_text

_CLOCK = r"\d{1,2}(\.\d{0,2})?"
_ROW = rf"{_CLOCK}\t{_CLOCK}\t-?\d+(\.\d+)?\t-?\d+(\.\d+)?\t[0-9a-fA-F]{{32}}"
_TABLE = {"month", "date", "start_time", "end_time", "latitude", "longitude", "user_id"}
_PARTS = re.compile(r"(\d{1,2})(?:\.(\d{0,2}))?", re.ASCII)
_DAY_MINUTES = 24 * 60
_NO_CLOCK = 2 * _DAY_MINUTES + 1  # behind all minutes of a day and the next
_MISSING = _NO_CLOCK + 1
_SLASHES = r"^(\d{4})/(\d{1,2})/(\d{1,2}) (\d{1,2}):(\d\d(:\d\d)?)$"
_NO_DATE = (
    r"^([\d.]+|\d{1,2}[./-].*)$"  # a clock time alone, or a date of which nobody knows how it is written
)
_DATE = re.compile(r"(?<!\d)(20\d\d)[-_.]?([01]\d)[-_.]?([0-3]\d)(?!\d)")


def _to_roles(columns: Columns, path: Path) -> Iterator[Columns]:
    """A sample at the start and one at the end; an end before its start is on the next day."""
    start, end = _minutes(columns["start"]), _minutes(columns["end"])
    overnight = (end < start) & (start <= _DAY_MINUTES)
    words = _words(_day(path) or date.min)  # files without a date are refused before
    for minute in (start, end + _DAY_MINUTES * overnight):
        yield {**columns, TIME: words.take(pa.array(minute))}


def _words(day: date) -> Any:
    """Local times of a day and the next by their minute, then a text for a wrong time, then one for a missing time."""
    midnight = datetime.combine(day, time())
    minutes = (midnight + timedelta(minutes=minute) for minute in range(_NO_CLOCK))
    return pa.array([*(f"{moment:%Y-%m-%dT%H:%M}" for moment in minutes), "no time of day", ""], pa.string())


def _minutes(clock: Any) -> Int64s:
    """Minutes since midnight, or ``_NO_CLOCK``, or ``_MISSING``; each clock time that occurs is read once."""
    known = clock.dictionary_encode()
    minutes = np.array([_minute(text) for text in known.dictionary.to_pylist()], np.int64)
    read: Int64s = minutes[known.indices.to_numpy()]
    return read


def _minute(clock: str) -> int:
    """Minutes of a clock time: ``3.3`` has lost a zero, not gained minutes."""
    if not clock.strip():
        return _MISSING
    found = _PARTS.fullmatch(clock.strip())
    if found is None:
        return _NO_CLOCK
    minutes = int((found[2] or "").ljust(2, "0"))
    total = 60 * int(found[1]) + minutes
    return total if minutes < 60 and total <= _DAY_MINUTES else _NO_CLOCK


def _respelled(times: Any) -> Any:
    """Times of the published table as ISO 8601: spreadsheets write ``2014/6/1 8:05``, and a bare number has no date."""
    if not is_text(times.type):
        return times
    text = pc.utf8_trim_whitespace(times)
    padded = pc.replace_substring_regex(text, pattern=_SLASHES, replacement=r"\1-0\2-0\3T0\4:\5")
    respelled = pc.replace_substring_regex(padded, pattern=r"([-T])0(\d\d)", replacement=r"\1\2")
    text = pc.if_else(pc.match_substring_regex(text, _SLASHES), respelled, text)
    return pc.if_else(pc.match_substring_regex(text, _NO_DATE), pa.scalar("no date", pa.string()), text)


def _day(path: Path) -> date | None:
    """The day in a file's name."""
    found = _DATE.search(path.name)
    try:
        return None if found is None else date(*map(int, found.groups()))
    except ValueError:
        return None


_LAYOUT = RowLayout(
    "Shanghai Telecom day files", ("start", "end", LAT, LON, USER), separator="\t", to_roles=_to_roles
)


def _is_table(lines: list[str]) -> bool:
    return set(map(plain, header_names(lines))) == _TABLE


def _open(files: Files) -> Source:
    if _is_table(head_lines(files.paths[0])):
        return Sessions(open_tables(files), _respelled)
    for number, path in enumerate(files.paths):
        if _day(path) is None:
            raise InputError(
                f"{files.title_of(number)} has no date in its name: expected one such as 2014-06-01.txt; rename it,"
                " or move it elsewhere."
            )
    return RowFiles(files, _LAYOUT)


SHANGHAI = Format(
    name="shanghai-telecom",
    what="Shanghai Telecom day files",
    files=r".*\.(txt|csv|tsv)(\.gz|\.zst)?",
    example="2014-06-01.txt and the like",
    recognises=lambda _, lines: mostly(_ROW, lines) or _is_table(lines),
    open=_open,
    timezone="Asia/Shanghai",
)
