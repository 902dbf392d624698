"""Shanghai Telecom: sessions at an antenna, a file per day; ``3.30`` is half past three, local time.

Also the published table, saved as CSV: month, date, start time, end time, latitude, longitude, user id.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import InputError
from shoal.reading.columns import plain
from shoal.reading.foreign.files import Files
from shoal.reading.foreign.format import Format, mostly
from shoal.reading.foreign.heads import head_lines
from shoal.reading.foreign.rows import Columns, Layout, RowFiles
from shoal.reading.foreign.sessions import Sessions
from shoal.reading.foreign.tabular import header_names, open_tables
from shoal.reading.sources import Source
from shoal.schema import LAT, LON, TIME, USER

_CLOCK = r"\d{1,2}(\.\d{0,2})?"
_ROW = rf"{_CLOCK}\t{_CLOCK}\t-?\d+(\.\d+)?\t-?\d+(\.\d+)?\t[0-9a-fA-F]{{32}}"
_TABLE = {"month", "date", "start_time", "end_time", "latitude", "longitude", "user_id"}
_DATE = re.compile(r"(?<!\d)(20\d\d)[-_.]?([01]\d)[-_.]?([0-3]\d)(?!\d)")


def _tell(columns: Columns, path: Path) -> Iterator[Columns]:
    """A sample at the start and one at the end; an end before its start is on the next day."""
    day = _day(path) or date.min  # files without a date are refused before
    start, end = columns["start"], columns["end"]
    overnight = pc.less(_minutes(end), _minutes(start))
    yield {**columns, TIME: _times(start, day)}
    yield {
        **columns,
        TIME: pc.if_else(pc.fill_null(overnight, False), _times(end, day + timedelta(1)), _times(end, day)),
    }


def _minutes(clock: Any) -> Any:
    """Minutes since midnight of clock times; null where there is none: ``3.3`` has lost a zero, not gained minutes."""
    parts = pc.extract_regex(pc.utf8_trim_whitespace(clock), r"^(?P<h>\d{1,2})(?:\.(?P<m>\d{0,2}))?$")
    hours = pc.struct_field(parts, "h").cast(pa.int64())
    minutes = pc.utf8_rpad(pc.struct_field(parts, "m"), 2, "0").cast(pa.int64())
    total = pc.add(pc.multiply(hours, 60), minutes)
    valid = pc.and_(pc.less(minutes, 60), pc.less_equal(total, 24 * 60))
    return pc.if_else(valid, total, pa.scalar(None, pa.int64()))


def _times(clock: Any, day: date) -> Any:
    """Local times of a day as ISO 8601; what is no clock time, as text that is no time."""
    minutes = _minutes(clock)
    midnight = pa.scalar(day, pa.date32()).cast(pa.timestamp("s"))
    moments = pc.add(midnight, pc.multiply(minutes, 60).cast(pa.duration("s")))
    written = pc.strftime(moments, format="%Y-%m-%dT%H:%M:%S")
    blank = pc.equal(pc.utf8_trim_whitespace(clock), "")
    other = pc.if_else(blank, pa.scalar("", pa.string()), pa.scalar("no time of day", pa.string()))
    return pc.coalesce(written, other)


def _day(path: Path) -> date | None:
    """The day in a file's name."""
    found = _DATE.search(path.name)
    try:
        return None if found is None else date(*map(int, found.groups()))
    except ValueError:
        return None


_LAYOUT = Layout("Shanghai Telecom day files", ("start", "end", LAT, LON, USER), separator="\t", tell=_tell)


def _is_table(lines: list[str]) -> bool:
    return set(map(plain, header_names(lines))) == _TABLE


def _open(files: Files) -> Source:
    if _is_table(head_lines(files.paths[0])):
        return Sessions(open_tables(files))
    for number, path in enumerate(files.paths):
        if _day(path) is None:
            raise InputError(
                f"{files.title_of(number)} has no date in its name: expected one such as 2014-06-01.txt; rename it."
            )
    return RowFiles(files, _LAYOUT)


SHANGHAI = Format(
    name="shanghai-telecom",
    what="Shanghai Telecom day files",
    files=r".*\.(txt|csv|tsv)(\.gz)?",
    example="2014-06-01.txt and the like",
    recognises=lambda _, lines: mostly(_ROW, lines) or _is_table(lines),
    open=_open,
    timezone="Asia/Shanghai",
)
