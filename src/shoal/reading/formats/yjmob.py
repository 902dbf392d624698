"""YJMob100K: days and half hours counted from an unknown date, cells of 500 m; 999 is a masked place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.core.schema import TIME, USER, X, Y
from shoal.errors import InputError
from shoal.reading.formats.format import Files, Format, mostly
from shoal.reading.formats.tables import MappedTable, header_names, open_tables
from shoal.reading.formats.text_rows import Columns
from shoal.reading.source import Source
from shoal.reading.values import Numbers, read_numbers

_HEADER = ("uid", "d", "t", "x", "y")
_PLACE = r"(1?\d{1,2}|200|999)(\.0)?"
_ROW = rf"\d+,[0-7]?\d,[0-4]?\d,{_PLACE},{_PLACE}"
_HALF_HOUR_S = 1800
_HALF_HOURS = 48
_CELL_M = 500.0
_CELLS = 200
_MASKED = 999
_MOST_DAYS = 100_000
_NO_HALF_HOUR, _MISSING = -1, -2


def _to_roles(columns: Columns) -> Iterator[Columns]:
    """Day 0 is 1970-01-01, since nobody knows which day it was; cell 3 begins at 1,500 m."""
    yield {
        USER: columns["uid"],
        TIME: _times(read_numbers(columns["d"], "d"), read_numbers(columns["t"], "t")),
        X: _metres(columns["x"], X),
        Y: _metres(columns["y"], Y),
    }


def _times(d: Numbers, t: Numbers) -> Any:
    """Local times as text, spelled once for each half hour that occurs; where there is none, text that is no time."""
    with np.errstate(invalid="ignore"):
        whole = (np.floor(d.value) == d.value) & (np.floor(t.value) == t.value)
        known = whole & (d.value >= 0) & (d.value < _MOST_DAYS) & (t.value >= 0) & (t.value < _HALF_HOURS)
        half_hour = np.where(known, d.value * _HALF_HOURS + t.value, _NO_HALF_HOUR).astype(np.int64)
    half_hour[d.missing | t.missing] = _MISSING
    occurring, place = np.unique(half_hour, return_inverse=True)
    moments = np.datetime_as_string((occurring * _HALF_HOUR_S).astype("datetime64[s]")).tolist()
    other = {_NO_HALF_HOUR: "no half hour of a day", _MISSING: ""}
    words = [other.get(number, moment) for number, moment in zip(occurring.tolist(), moments, strict=True)]
    return pa.array(words, pa.string()).take(pa.array(place))


def _metres(column: Any, role: str) -> Any:
    """Where a cell begins; nothing for a masked one, infinitely far for one off the map."""
    cell = read_numbers(column, role)
    with np.errstate(invalid="ignore"):
        on_map = (cell.value >= 1) & (cell.value <= _CELLS)
        metres = np.where(on_map, cell.value * _CELL_M, np.inf)
    return pa.array(metres, mask=cell.missing | (cell.value == _MASKED))


def _recognises(path: Path, lines: list[str]) -> bool:  # noqa: ARG001
    return tuple(header_names(lines)) == _HEADER and mostly(_ROW, lines[1:])


def _open(files: Files) -> Source:
    if len(files.paths) > 1:
        raise InputError(
            f"{files.title} holds {len(files.paths)} files, and each numbers its users anew: give one of them."
        )
    return _mapped(open_tables(files))


def _mapped(table: Source) -> Source:
    return MappedTable(table, _HEADER, (USER, TIME, X, Y), _to_roles)


YJMOB = Format(
    name="yjmob",
    what="YJMob100K and the HuMob challenges",
    files=r"(?!.*POI).*\.(csv(\.gz|\.zst)?|parquet|pq)",
    example="yjmob100k-dataset1.csv.gz",
    recognises=_recognises,
    open=_open,
    beside=r".*POI.*\.csv(\.gz|\.zst)?",
    wraps=_mapped,
)
