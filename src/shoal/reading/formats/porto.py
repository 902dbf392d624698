"""Porto taxis: a row per trip, with a position every 15 seconds from its start on, longitude first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.arrays import Bools, Int64s
from shoal.core.schema import LAT, LON, TIME, USER
from shoal.reading.formats.format import Format
from shoal.reading.formats.tables import MappedTable, header_names, open_tables
from shoal.reading.formats.text_rows import Columns
from shoal.reading.values import INTEGER

_HEADER = (
    "TRIP_ID", "CALL_TYPE", "ORIGIN_CALL", "ORIGIN_STAND", "TAXI_ID", "TIMESTAMP", "DAY_TYPE", "MISSING_DATA",
    "POLYLINE",
)  # fmt: skip
_WANTED = ("TAXI_ID", "TIMESTAMP", "MISSING_DATA", "POLYLINE")
_EVERY_S = 15


def _to_roles(columns: Columns) -> Iterator[Columns]:
    """A row for every position of a trip; a trip without any is one row without a position.

    Where positions are missing nobody knows which, so no position of such a trip has a time.
    """
    columns = {name: pc.fill_null(column.cast(pa.string()), "") for name, column in columns.items()}
    line = pc.replace_substring_regex(columns["POLYLINE"], pattern=r"\s+", replacement="")
    inner = pc.utf8_trim(line, "[]")
    positions = pc.split_pattern(inner, "],[")
    trip = pc.list_parent_indices(positions).to_numpy(zero_copy_only=False)
    lengths = np.diff(positions.offsets.to_numpy())
    turn = np.arange(len(trip)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    start, started = _seconds(columns["TIMESTAMP"])
    gaps = pc.equal(pc.utf8_lower(pc.utf8_trim_whitespace(columns["MISSING_DATA"])), "true")
    written = pa.array(start[trip] + _EVERY_S * turn).cast(pa.string())
    written = pc.if_else(pa.array(started[trip]), written, columns["TIMESTAMP"].take(pa.array(trip)))
    yield {
        USER: columns["TAXI_ID"].take(pa.array(trip)),
        TIME: pc.if_else(gaps.take(pa.array(trip)), pa.scalar("", pa.string()), written),
        **_degrees(positions.flatten()),
    }


def _seconds(column: Any) -> tuple[Int64s, Bools]:
    """Unix seconds, and whether there are any."""
    text = pc.utf8_trim_whitespace(column)
    whole = pc.match_substring_regex(text, INTEGER)
    value = pc.if_else(whole, text, pa.scalar("0", pa.string())).cast(pa.int64())
    return value.to_numpy(zero_copy_only=False), whole.to_numpy(zero_copy_only=False)


def _degrees(positions: Any) -> Columns:
    """Longitude and latitude of texts such as ``-8.61,41.14``; no position where the text is empty."""
    return {
        LON: pc.replace_substring_regex(positions, pattern=r"^([^,]*),.*$", replacement=r"\1"),
        LAT: pc.replace_substring_regex(positions, pattern=r"^[^,]*,(.*)$", replacement=r"\1"),
    }


def _recognises(path: Path, lines: list[str]) -> bool:  # noqa: ARG001
    return set(_WANTED) <= set(header_names(lines)) <= set(_HEADER)


PORTO = Format(
    name="porto",
    what="Porto taxis",
    files=r"(train|test).*\.(csv(\.gz|\.zst)?|parquet|pq)",
    example="train.csv",
    recognises=_recognises,
    open=lambda files: MappedTable(open_tables(files), _WANTED, (USER, TIME, LAT, LON), _to_roles),
    wraps=lambda table: MappedTable(table, _WANTED, (USER, TIME, LAT, LON), _to_roles),
)
