"""Sessions: a table of who was where from when to when.

A session says that somebody was at one place at its start and at its end, and these two samples are taken. What was
in between (another antenna, no connection) it does not say, so nothing is put there. A session that ends before it
starts says nothing at all: either of its times may be wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.core.arrays import Bools
from shoal.core.schema import ALIASES, LAT, POINTS, SITE, TIME, USER, X
from shoal.core.time_format import TimeFormat
from shoal.core.zones import Zone
from shoal.errors import InputError
from shoal.reading.columns import plain
from shoal.reading.formats.format import Format
from shoal.reading.formats.tables import header_names, open_tables
from shoal.reading.marks import UNORDERED
from shoal.reading.source import Source, as_input_error
from shoal.reading.summary import ENDS_BEFORE_START, DroppedRows
from shoal.reading.times import read_times

_ANY_CLOCK = Zone("UTC")
STARTS = ("start", "start_time", "begin", "begin_time", "started_at", "session_start")
ENDS = ("end", "end_time", "finish", "finish_time", "ended_at", "finished_at", "session_end")


class Sessions:
    """A table of sessions, read as samples: a batch of starts, then one of ends.

    ``respell`` brings times that are written in the table's own way to a common one; ``pattern`` is how times are
    written where somebody says it.
    """

    def __init__(self, table: Source, respell: Callable[[Any], Any] = lambda times: times) -> None:
        self._respell = respell
        self.pattern: TimeFormat | None = None
        self.title, self.warnings, self.metadata = table.title, table.warnings, table.metadata
        self._start, self._end = (_one(table, names) for names in (STARTS, ENDS))
        self.names = [TIME, *(name for name in table.names if name not in (self._start, self._end, TIME))]
        self._table = table

    def batches(self, columns: Mapping[str, str], reject: DroppedRows, *, threads: int) -> Iterator[Any]:
        """Batches of the wanted columns, each session twice."""
        others = {role: name for role, name in columns.items() if role != TIME}
        wanted = {**others, "start": self._start, "end": self._end}
        for batch in self._table.batches(wanted, reject, threads=threads):
            edges = [self._respell(batch.column(edge)) for edge in ("start", "end")]
            forward = _forward(*edges, pattern=self.pattern)
            if not forward.all():
                reject(2 * int(np.count_nonzero(~forward)), ENDS_BEFORE_START)
            for times in edges:
                samples = pa.RecordBatch.from_arrays(
                    [*(batch.column(role) for role in others), times], [*others, TIME]
                )
                yield samples if forward.all() else samples.filter(pa.array(forward))


def _forward(start: Any, end: Any, *, pattern: TimeFormat | None) -> Bools:
    """Which sessions do not end before they start; where only one time has a zone, or is any, nobody can tell."""
    with as_input_error("The input", "events"):
        first, last = (read_times(edge, _ANY_CLOCK, pattern) for edge in (start, end))
    if ((first.marks | last.marks) & UNORDERED).any():
        raise InputError(
            "Dates of sessions may be dd/mm/yyyy or mm/dd/yyyy, and starts must be compared with ends: say which they"
            " are with --time-format, such as '%d/%m/%Y %H:%M:%S'."
        )
    comparable = first.valid & last.valid & (first.marks == last.marks) & (first.local == last.local)
    forward: Bools = ~comparable | (first.value <= last.value)
    return forward


def _one(table: Source, names: tuple[str, ...]) -> str:
    found = [name for name in table.names if plain(name) in names]
    if len(found) != 1:
        raise InputError(
            f"{table.title} has {len(found) or 'no'} columns for the {names[0]} of sessions: expected one of"
            f" {', '.join(names)}."
        )
    return found[0]


def looks_like_sessions(names: list[str]) -> bool:
    """Whether columns are those of sessions: one start, one end, no other time, a user and a place."""
    plainly = [plain(name) for name in names]
    edges = [sum(name in these for name in plainly) for these in (STARTS, ENDS)]
    times = [name for name in plainly if name in ALIASES[TIME] and name not in STARTS]
    known = any(name in ALIASES[USER] for name in plainly)
    places = {*POINTS, *(name for role in (LAT, X, SITE) for name in ALIASES[role])}
    placed = any(name in places for name in plainly)
    return edges == [1, 1] and not times and known and placed


def _recognises(path: Path, lines: list[str]) -> bool:  # noqa: ARG001
    names = header_names(lines)
    return looks_like_sessions(names) and "month" not in map(plain, names)  # which is Shanghai Telecom's


SESSIONS = Format(
    name="sessions",
    what="tables with a start and an end",
    files=r".*\.(csv|tsv|parquet|pq)(\.gz|\.zst)?",
    example="a table with columns such as user, start, end, lat and lon",
    recognises=_recognises,
    open=lambda files: Sessions(open_tables(files)),
    wraps=Sessions,
    timezone=None,
)
