"""YJMob100K: days and half hours counted from an unknown date, cells of 500 m; 999 is a masked place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.reading.foreign.format import Format, mostly
from shoal.reading.foreign.rows import Columns
from shoal.reading.foreign.tabular import Retold, header_names, open_tables
from shoal.reading.numbers import Floats, read_numbers
from shoal.reading.zones import DAY_S
from shoal.schema import TIME, USER, X, Y

_HEADER = ("uid", "d", "t", "x", "y")
_ROW = r"\d+,[0-7]?\d,[0-4]?\d,(1?\d{1,2}|200|999),(1?\d{1,2}|200|999)"
_HALF_HOUR_S = 1800
_HALF_HOURS = 48
_CELL_M = 500.0
_CELLS = 200
_MASKED = 999


def _tell(columns: Columns) -> Iterator[Columns]:
    """Day 0 is 1970-01-01, since nobody knows which day it was; cell 3 begins at 1,500 m."""
    d, t = read_numbers(columns["d"], "d"), read_numbers(columns["t"], "t")
    with np.errstate(invalid="ignore"):
        whole = (np.floor(d.value) == d.value) & (np.floor(t.value) == t.value)
        known = whole & (d.value >= 0) & (t.value >= 0) & (t.value < _HALF_HOURS)
    seconds = np.where(known, d.value * DAY_S + t.value * _HALF_HOUR_S, np.nan)
    missing = d.missing | t.missing
    yield {
        USER: columns["uid"],
        TIME: _time(seconds, missing),
        X: _metres(columns["x"], X),
        Y: _metres(columns["y"], Y),
    }


def _time(seconds: Floats, missing: Any) -> Any:
    """Local times; text that is no time where there is a number but no half hour of it."""
    known = np.isfinite(seconds)
    text = np.datetime_as_string(np.where(known, seconds, 0).astype("int64").astype("datetime64[s]"))
    text = np.where(known, text, np.where(missing, "", "no half hour of a day"))
    return pa.array(text, pa.string())


def _metres(column: Any, role: str) -> Any:
    """Where a cell begins; nothing for a masked one, infinitely far for one off the map."""
    cell = read_numbers(column, role)
    with np.errstate(invalid="ignore"):
        on_map = (cell.value >= 1) & (cell.value <= _CELLS)
        metres = np.where(on_map, cell.value * _CELL_M, np.inf)
    return pa.array(metres, mask=cell.missing | (cell.value == _MASKED))


def _recognises(path: Path, lines: list[str]) -> bool:  # noqa: ARG001
    return tuple(header_names(lines)) == _HEADER and mostly(_ROW, lines[1:])


YJMOB = Format(
    name="yjmob",
    what="YJMob100K and the HuMob challenges",
    files=r"(?!cell_POIcat).*\.csv(\.gz)?",
    example="yjmob100k-dataset1.csv.gz",
    recognises=_recognises,
    open=lambda files: Retold(open_tables(files), _HEADER, (USER, TIME, X, Y), _tell),
    beside=r"cell_POIcat.*",
    wraps=lambda table: Retold(table, _HEADER, (USER, TIME, X, Y), _tell),
)
