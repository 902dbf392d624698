"""CSV and TSV files, also compressed: every line below the header is a row, or counted as malformed or blank."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from shoal.errors import InputError
from shoal.reading.source import as_input_error, compression_of
from shoal.reading.summary import DroppedRows
from shoal.reading.values import Utf8Stream

_HEAD_BYTES = 1 << 20
_HEAD_ROWS = 1000
_BLOCK_BYTES = 1 << 24
_SEPARATORS = ",;\t|"
_FAULT = "it is damaged, or a quotation mark is never closed"
_FAULT_UNQUOTED = "it is damaged or of another kind"
_LINE_END = re.compile(rb"\r\n|\n|\r")
Pieces = Sequence[tuple[int, int]]  # from which byte up to but without which, in order
_UTF16 = ("ÿþ".encode(), "þÿ".encode())  # its mark, as the stream passes it on


class CsvFile:
    """A text file with a header line, in UTF-8 or Latin-1."""

    def __init__(self, path: Path, title: str, *, tabs: bool) -> None:
        self.title = title
        self.warnings: list[str] = []
        self.metadata: dict[bytes, bytes] = {}
        self.pieces: Pieces | None = None  # all of the file unless somebody says which parts
        self.path = path
        self._kind = "TSV" if tabs else "CSV"
        with as_input_error(title, self._kind):
            with text_stream(path) as stream:
                head = stream.read(_HEAD_BYTES)
            header, self.lines_skipped = _header_line(head, title)
            self._separator = "\t" if tabs else _separator(header)
            self.names = [name.strip() for name in next(csv.reader([header], delimiter=self._separator))]
            self.names_recur = _recur(self.names, head, self.lines_skipped, self._separator)

    def batches(self, columns: Mapping[str, str], reject: DroppedRows, *, threads: int) -> Iterator[Any]:
        """Batches of the wanted columns as bytes."""
        places = {role: f"c{self.names.index(name)}" for role, name in columns.items()}
        wanted = sorted(set(places.values()))
        layout = TextLayout(len(self.names), self._separator, self.lines_skipped)
        rows = text_rows(
            self.path, self.title, self._kind, layout, wanted, reject, threads=threads, pieces=self.pieces
        )
        for batch in rows:
            yield batch.select(list(places.values())).rename_columns(list(places))


class TextLayout(NamedTuple):
    """How the rows of a text file are written; its columns are c0, c1 and so on."""

    n_columns: int
    separator: str
    lines_skipped: int = 0
    quoted: bool = True


def text_stream(
    path: Path, listener: Callable[[bytes], None] | None = None, pieces: Pieces | None = None
) -> Any:
    """A text file as a stream of UTF-8, unpacked where its name ends in .gz or .zst; ``listener`` gets what is read.

    With ``pieces`` only these are read, one after the other, of a file that is not compressed.
    """
    if pieces is None:
        stream = pa.input_stream(str(path), compression=compression_of(path))
    else:
        stream = _PiecesStream(path, pieces)
    return pa.PythonFile(Utf8Stream(stream, listener), mode="r")


class _PiecesStream:
    """The bytes of some pieces of a file, as if there were no others."""

    def __init__(self, path: Path, pieces: Pieces) -> None:
        self._file = path.open("rb")
        self._left = list(pieces)

    def read(self, size: int | None = None) -> bytes:
        """As many bytes as asked for at most, those of one piece; none at the end."""
        if not self._left:
            return b""
        begin, end = self._left.pop(0)
        self._file.seek(begin)
        found = self._file.read(end - begin if size is None else min(size, end - begin))
        if found and begin + len(found) < end:
            self._left.insert(0, (begin + len(found), end))
        return found

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class BlankLines:
    """Counts lines without anything in a stream of text; Arrow leaves them out without a word.

    A blank line inside quotation marks is none. (Marks inside a value that is not quoted may mislead the count; they
    mislead no row.)
    """

    def __init__(self, *, quoted: bool) -> None:
        self.count = 0
        self._quoted = quoted
        self._inside = False  # of quotation marks
        self._line_begins = True
        self._carry = b""  # a return of which the line feed may follow

    def __call__(self, piece: bytes) -> None:
        """Look at the next piece."""
        piece = self._carry + piece
        self._carry = b"\r" if piece.endswith(b"\r") else b""
        piece = piece.removesuffix(self._carry)
        if b"\r" in piece:
            piece = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        self._add(piece)

    def finish(self) -> int:
        """How many there were, now that all was read."""
        self._add(b"\n" if self._carry else b"")
        self._carry = b""
        return self.count

    def _add(self, piece: bytes) -> None:
        """Look at a piece in which lines end with line feeds."""
        if not piece:
            return
        ends = np.frombuffer(piece, np.uint8) == ord("\n")
        blank = ends.copy()
        blank[1:] &= ends[:-1]
        blank[0] &= self._line_begins
        marks = np.empty(0, np.intp)
        if self._quoted and b'"' in piece:
            marks = np.flatnonzero(np.frombuffer(piece, np.uint8) == ord('"'))
        if blank.any():
            before = np.searchsorted(marks, np.flatnonzero(blank)) + self._inside
            self.count += int(np.count_nonzero(before % 2 == 0))
        self._inside = bool((len(marks) + self._inside) % 2)
        self._line_begins = bool(ends[-1])


def text_rows(
    path: Path,
    title: str,
    kind: str,
    layout: TextLayout,
    wanted: list[str],
    reject: DroppedRows,
    *,
    threads: int,
    pieces: Pieces | None = None,
) -> Iterator[Any]:
    """Batches of some columns of a text file, or of pieces of it, as text; rows with more or fewer columns are
    rejected."""

    def skip(row: Any) -> str:
        if row.text.strip():
            reject(1 + row.text.count("\n"))  # a quotation mark that is not closed swallows lines
        else:
            reject.blank_lines += 1  # with a space in it
        return "skip"

    blank_lines = BlankLines(quoted=layout.quoted)
    with (
        as_input_error(title, kind, _FAULT if layout.quoted else _FAULT_UNQUOTED),
        text_stream(path, blank_lines, pieces) as stream,
    ):
        reader = pa.csv.open_csv(
            stream,
            pa.csv.ReadOptions(
                column_names=[f"c{place}" for place in range(layout.n_columns)],
                skip_rows=layout.lines_skipped,
                block_size=_BLOCK_BYTES,
                use_threads=threads > 1,
            ),
            pa.csv.ParseOptions(
                delimiter=layout.separator,
                quote_char='"' if layout.quoted else False,
                newlines_in_values=layout.quoted,
                invalid_row_handler=skip,
            ),
            pa.csv.ConvertOptions(
                include_columns=wanted,
                column_types=dict.fromkeys(wanted, pa.string()),
                strings_can_be_null=False,
            ),
        )
        for batch in reader:
            yield _without_line_breaks(batch, reject) if layout.quoted else batch
    reject.blank_lines += blank_lines.finish()


def _header_line(head: bytes, title: str) -> tuple[str, int]:
    """The first line that is not blank, and how many lines end with it."""
    if head.startswith(_UTF16):
        raise InputError(f"{title} is UTF-16 text: save it as UTF-8.")
    if b"\0" in head:
        raise InputError(f"{title} is not a text file although its name says so: expected CSV or TSV text.")
    lines = _LINE_END.split(head.removeprefix(b"\xef\xbb\xbf"))
    for number, line in enumerate(lines, 1):
        if line.strip():
            if number == len(lines) and len(head) < _HEAD_BYTES:
                raise InputError(
                    f"{title} has a single line: expected column names in the first line and rows below."
                )
            return line.decode(), number
    raise InputError(f"{title} is empty: expected column names in the first line and rows below.")


def _recur(names: list[str], head: bytes, lines_skipped: int, separator: str) -> bool:
    """Whether one of the first rows has a value that stands above it, too: there may be no header line."""
    lines = [line.decode() for line in _LINE_END.split(head)[lines_skipped : lines_skipped + _HEAD_ROWS]]
    rows = csv.reader(lines, delimiter=separator)
    return any(
        name and name == value.strip() for row in rows for name, value in zip(names, row, strict=False)
    )


def _separator(header: str) -> str:
    """The separator that occurs most often outside quotation marks; commas first among equals."""
    bare = re.sub(r'"[^"]*"', "", header)
    return max(_SEPARATORS, key=bare.count)


def _without_line_breaks(batch: Any, reject: DroppedRows) -> Any:
    """Leave out rows of which a wanted value spans lines: a quotation mark was not closed."""
    breaks = np.zeros(batch.num_rows, np.int64)
    for column in batch.columns:
        if pc.any(pc.match_substring(column, "\n")).as_py():
            breaks += pc.count_substring(column, "\n").to_numpy(zero_copy_only=False)
    if not breaks.any():
        return batch
    reject(int((breaks[breaks > 0] + 1).sum()))
    return batch.filter(pa.array(breaks == 0))
