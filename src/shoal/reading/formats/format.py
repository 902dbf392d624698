"""What a format of other people's data is (one value of ``Format``, in a file of its own), and the files it reads.

Messages number the files of a folder, since their names may be of people.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from shoal.core.formatting import counted
from shoal.errors import InputError, ShoalError
from shoal.reading.csv_files import text_stream
from shoal.reading.source import (
    Source,
    as_input_error,
    compression_of,
    hidden_in,
    hidden_warnings,
    is_hidden,
    kind_of,
    refuse_spreadsheets,
)

_HEAD_BYTES = 1 << 16
_HEAD_ROWS = 50


class Format(NamedTuple):
    """How to know files of a format, and how to read them.

    ``files`` matches the names of those files in a folder that hold rows, whatever their case; ``beside`` those that
    belong to the format but hold none. ``recognises`` sees a file's path and its first lines. ``sites`` finds the
    table of sites, given what --sites says. ``timezone`` is that of times without a zone, None where the format does
    not say. ``wraps`` reads tables in memory, for formats that are tables.
    """

    name: str
    what: str
    files: str
    example: str
    recognises: Callable[[Path, list[str]], bool]
    open: Callable[[Files], Source]
    beside: str = ""
    timezone: str | None = "UTC"
    sites: Callable[[Files, object], object] | None = None
    wraps: Callable[[Source], Source] | None = None


def mostly(pattern: str, lines: Iterable[str]) -> bool:
    """Whether the first line that is not blank is written like that, and at least half of all.

    A file with a header line is thus never taken for one without.
    """
    written = [bool(re.fullmatch(pattern, line)) for line in lines if line.strip()]
    return bool(written) and written[0] and 2 * sum(written) >= len(written)


class Files(NamedTuple):
    """Files to read one after the other; ``root`` is the folder they are in, ``others`` counts what is left, ``hidden``
    what would be left anyway, by its name."""

    title: str
    root: Path
    paths: list[Path]
    others: int
    in_folder: bool
    hidden: int = 0

    def title_of(self, number: int) -> str:
        """What messages call the file of a number, counted from 0."""
        if self.in_folder:
            return f"File {number + 1} of {len(self.paths)} in {self.title[0].lower()}{self.title[1:]}"
        return self.title

    @property
    def warnings(self) -> list[str]:
        """What to say of files that are not read."""
        were = "was" if self.others == 1 else "were"
        others = (
            [f"{counted(self.others, 'other file')} in the folder {were} not read."] if self.others else []
        )
        return others + hidden_warnings(self.hidden)


def find_files(path: Path, pattern: str, beside: str, expected: str) -> Files:
    """A file, whatever its name, or the files of a folder whose names match."""
    if not path.is_dir():
        refuse_spreadsheets(repr(path.name), [path])
        return Files(repr(path.name), path.parent, [path], 0, in_folder=False)
    everything = files_in(path)
    wanted = matching(everything, pattern)
    title = f"Folder {path.name!r}"
    if not wanted:
        refuse_spreadsheets(title, everything)
        raise InputError(f"{title} holds no such files: expected {expected}; check the path and --format.")
    others = len(everything) - len(wanted) - len(matching(everything, beside))
    return Files(title, path, wanted, others, in_folder=True, hidden=hidden_in(path))


def matching(paths: list[Path], pattern: str) -> list[Path]:
    """Files whose names match a regular expression, upper or lower case alike."""
    return [path for path in paths if re.fullmatch(pattern, path.name, re.IGNORECASE)]


def files_in(folder: Path) -> list[Path]:
    """All files below a folder in the order of their paths, except hidden ones."""
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and not is_hidden(path, folder)]


def text_lines(raw: bytes) -> list[str]:
    """Lines as the reader of rows sees them: Latin-1 has characters that Python breaks lines at, too."""
    return re.split("\r\n|\n|\r", raw.decode("utf-8", "replace").removeprefix("\ufeff"))


def stem(path: Path) -> str:
    """A file's name without its suffix, and without .gz or .zst: ``anna.smith.gpx`` is of anna.smith, not of anna."""
    return Path(path.stem if compression_of(path) else path.name).stem


def head_lines(path: Path) -> list[str]:
    """The first lines of a file; none of a file that is empty, neither text nor Parquet, or not readable."""
    try:
        with as_input_error("", ""):
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
