"""The first lines of whatever may be events, by which formats are known; a table is told as CSV."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from shoal.errors import ShoalError
from shoal.reading.csv_files import text_stream
from shoal.reading.formats.files import text_lines
from shoal.reading.opening import kind_of
from shoal.reading.source import guarded

_HEAD_BYTES = 1 << 16
_HEAD_ROWS = 50


def head_lines(path: Path) -> list[str]:
    """The first lines of a file; none of a file that is empty, neither text nor Parquet, or not readable."""
    try:
        with guarded("", ""):
            return _parquet_lines(path) if kind_of(path) == "parquet" else _text_head(path)
    except ShoalError:
        return []


def table_lines(table: Any) -> list[str]:
    """The first rows of a table in memory as lines of CSV; none of one that can be read only once."""
    cut = getattr(table, "head", None)  # pandas, polars
    if cut is None and hasattr(table, "slice"):  # pyarrow

        def cut(rows: int) -> Any:
            return table.slice(0, rows)

    if cut is None:
        return []
    try:
        return _csv_lines(pa.RecordBatchReader.from_stream(cut(_HEAD_ROWS)).read_all())
    except (
        Exception
    ):  # each library has exceptions of its own; whoever reads the table will say what is wrong
        return []


def _text_head(path: Path) -> list[str]:
    with text_stream(path) as stream:
        head = stream.read(_HEAD_BYTES)
    if b"\0" in head:
        return []
    lines = text_lines(head)
    return lines[:-1] if len(head) == _HEAD_BYTES and len(lines) > 1 else lines


def _parquet_lines(path: Path) -> list[str]:
    with pq.ParquetFile(
        path, pre_buffer=False, buffer_size=1 << 20
    ) as file:  # or it would read all of a row group
        first = next(file.iter_batches(_HEAD_ROWS), None)
        return _csv_lines(file.schema_arrow.empty_table() if first is None else first)


def _csv_lines(table: Any) -> list[str]:
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(table.schema.names)
    writer.writerows(zip(*(map(_cell, column.to_pylist()) for column in table.columns), strict=True))
    return lines.getvalue().split("\n")


def _cell(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value
