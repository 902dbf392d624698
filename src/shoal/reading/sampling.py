"""A part of large events, so that a first look at them takes seconds.

Of a text file these are pieces spread over it, the first and the last rows among them; of Parquet the first rows of row
groups spread over it; of a folder the same of some of its files. Of anything else, compressed text among it, only the
first rows can be had without reading all. Small events are taken whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from shoal.reading.csv_files import CsvFile
from shoal.reading.source import Folder, Source, as_input_error, compression_of, names_recur
from shoal.reading.summary import DroppedRows
from shoal.reading.tables import ParquetFile

WHOLE_BYTES = 1 << 25  # of text that is taken whole; and that a sample of more has
WHOLE_ROWS = 1 << 19  # the same, of what has rows but no bytes
_PIECES = 8
_MOST_FILES = 64  # of a folder that are opened
_SMALLEST_PIECE = 1 << 16  # bytes
_SMALLEST_PART = 1 << 12  # rows
_BLOCK = 1 << 22  # bytes that are counted at once


class Extent(NamedTuple):
    """How much of events a sample holds: ``parts`` pieces or row groups, 1 for the first rows only, 0 for everything.

    ``rows_in_all`` counts the lines of a text file, or the rows of Parquet; None where that is not known.
    """

    parts: int
    rows_in_all: int | None


class Sampled(NamedTuple):
    """A source that gives a part of its rows, or all; how much is known once they were read."""

    source: Source
    part: FirstRows | None
    extent: Extent

    def read(self) -> Extent:
        """How much was read, now that it was."""
        if self.part is not None and self.part.complete:
            return Extent(0, self.extent.rows_in_all)
        return self.extent


def take_sample(source: Source) -> Sampled:
    """A part of a source that is large, all of one that is not."""
    if isinstance(source, CsvFile) and compression_of(source.path) is None:
        return Sampled(source, None, _pieces_of_text(source, WHOLE_BYTES))
    if isinstance(source, ParquetFile):
        return Sampled(source, None, _parts_of_parquet(source, WHOLE_ROWS))
    if isinstance(source, Folder):
        extent = _parts_of_folder(source)
        if extent is not None:
            return Sampled(source, None, extent)
    first = FirstRows(source, WHOLE_ROWS)
    return Sampled(first, first, Extent(1, None))


class FirstRows:
    """The first rows of a source; ``complete`` tells whether these were all, once they were read."""

    def __init__(self, source: Source, most: int) -> None:
        self.title, self.names, self.metadata = source.title, source.names, source.metadata
        self.warnings = source.warnings
        self.names_recur = names_recur(source)
        self.complete = False
        self._source, self._most = source, most

    def batches(self, columns: Mapping[str, str], reject: DroppedRows, *, threads: int) -> Iterator[Any]:
        """Batches of the wanted columns, up to the one that is enough."""
        rows = 0
        for batch in self._source.batches(columns, reject, threads=threads):
            yield batch
            rows += batch.num_rows
            if rows >= self._most:
                return
        self.complete = True


# ---- text ---------------------------------------------------------------------------------------------------------


def _pieces_of_text(source: CsvFile, most_bytes: int) -> Extent:
    """Narrow a text file down to pieces of so many bytes together, unless it has no more."""
    size = source.path.stat().st_size
    if size <= most_bytes:
        return Extent(0, None)
    piece = max(most_bytes // _PIECES, _SMALLEST_PIECE)
    begins = [place * (size - piece) // (_PIECES - 1) for place in range(_PIECES)]
    with as_input_error(source.title, "text"):
        counted = _count_lines(source.path, sorted({*begins, *(begin + piece for begin in begins)}))
        source.pieces = _at_lines(source.path, [(begin, begin + piece) for begin in begins], counted)
    return Extent(len(source.pieces), counted.lines - source.lines_skipped)


class _Counted(NamedTuple):
    """Lines of a text file, how they end, and at which of some places quotation marks are open."""

    lines: int
    line_end: bytes
    quoted: dict[int, bool]


def _count_lines(path: Path, places: Sequence[int]) -> _Counted:
    """Count the lines of a file in one go; a mark is open where an odd number of them stands before."""
    lines, marks, begin, last = 0, 0, 0, b""
    line_end, quoted, left = b"", {}, list(places)
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            line_end = line_end or (b"\n" if b"\n" in block else b"\r")
            while left and left[0] <= begin + len(block):
                place = left.pop(0)
                quoted[place] = (marks + block[: place - begin].count(b'"')) % 2 == 1
            lines += block.count(line_end)
            marks += block.count(b'"')
            begin, last = begin + len(block), block[-1:]
    return _Counted(lines + (last != line_end), line_end, quoted)


def _at_lines(path: Path, pieces: Sequence[tuple[int, int]], counted: _Counted) -> list[tuple[int, int]]:
    """The same pieces from the begin of a line to the end of one, none of which overlap."""
    moved: list[tuple[int, int]] = []
    with path.open("rb") as file:
        for begin, end in pieces:
            first = 0 if begin == 0 else _next_line(file, begin, counted)
            beyond = _next_line(file, end, counted)
            first = max(first, moved[-1][1] if moved else 0)
            if first < beyond:
                moved.append((first, beyond))
    return moved


def _next_line(file: Any, place: int, counted: _Counted) -> int:
    """Where the first line behind a place begins; line ends inside quotation marks are none."""
    file.seek(place)
    text = file.read(_SMALLEST_PIECE)
    ends = [found.start() for found in re.finditer(counted.line_end, text)]
    for end in ends:
        if (counted.quoted[place] + text[:end].count(b'"')) % 2 == 0:
            return place + end + 1
    return place + (ends[0] + 1 if ends else len(text))


# ---- Parquet and folders ------------------------------------------------------------------------------------------


def _parts_of_parquet(source: ParquetFile, most_rows: int) -> Extent:
    """Narrow a Parquet file down to so many rows, unless it has no more."""
    rows, groups = source.footer.num_rows, source.footer.num_row_groups
    if rows <= most_rows:
        return Extent(0, rows)
    source.row_groups = _spread(groups, _PIECES)
    source.rows_each = max(most_rows // len(source.row_groups), _SMALLEST_PART)
    return Extent(len(source.row_groups), rows)


def _parts_of_folder(folder: Folder) -> Extent | None:
    """Narrow a folder of text or Parquet files down; None where that cannot be done."""
    files = [folder.open(number) for number in range(len(folder.paths))]
    numbers = _spread(len(files), _MOST_FILES)
    tables = [file for file in files if isinstance(file, ParquetFile)]
    if len(tables) == len(files):
        rows = sum(table.footer.num_rows for table in tables)
        if rows <= WHOLE_ROWS:
            return Extent(0, rows)
        narrow = partial(_narrow_parquet, most_rows=WHOLE_ROWS // len(numbers))
        folder.take(numbers, narrow)
        return Extent(sum(narrow(files[number]) for number in numbers), rows)
    texts = [file for file in files if isinstance(file, CsvFile) and compression_of(file.path) is None]
    if len(texts) != len(files):
        return None
    if sum(text.path.stat().st_size for text in texts) <= WHOLE_BYTES:
        return Extent(0, None)
    narrow = partial(_narrow_text, most_bytes=WHOLE_BYTES // len(numbers))
    folder.take(numbers, narrow)
    lines = sum(_count_lines(text.path, ()).lines - text.lines_skipped for text in texts)
    return Extent(len(numbers) if len(numbers) > 1 else narrow(texts[0]), lines)


def _narrow_parquet(source: Source, most_rows: int) -> int:
    """Narrow a file of a folder down, and say into how many parts; 1 for all of it."""
    return _parts_of_parquet(source, most_rows).parts or 1 if isinstance(source, ParquetFile) else 1


def _narrow_text(source: Source, most_bytes: int) -> int:
    """The same of text."""
    return _pieces_of_text(source, most_bytes).parts or 1 if isinstance(source, CsvFile) else 1


def _spread(number: int, most: int) -> list[int]:
    """Numbers below ``number``, the first and the last among them, at most so many and evenly spread."""
    if number <= most:
        return list(range(number))
    return [place * (number - 1) // (most - 1) for place in range(most)]
