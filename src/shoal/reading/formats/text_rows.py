"""Text files without a header line, of which the format knows the columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from shoal.core.schema import LAT, LON, TIME, USER
from shoal.errors import InputError
from shoal.reading.csv_files import BlankLines, TextLayout, text_rows, text_stream
from shoal.reading.formats.format import Files, text_lines
from shoal.reading.source import as_input_error, in_batches
from shoal.reading.summary import DroppedRows

Columns = Mapping[str, Any]
_HEAD_BYTES = 1 << 16  # more than any header


class RowLayout(NamedTuple):
    """The columns of a file in their order, and how to make user, time and position of them.

    ``header`` matches a line that may stand above the rows. ``to_roles`` makes one or more batches of ``roles`` from
    the columns of a batch (all text) and the file they come from; without it the columns that are named like roles
    are taken as they are.
    """

    kind: str
    columns: tuple[str, ...]
    separator: str = ","
    lines_skipped: int = 0
    header: str | None = None
    unused: tuple[str, ...] = ()
    roles: tuple[str, ...] = (USER, TIME, LAT, LON)
    to_roles: Callable[[Columns, Path], Iterable[Columns]] | None = None


class RowFiles:
    """Rows of one or many text files; small files share a batch."""

    def __init__(self, files: Files, layout: RowLayout) -> None:
        self.title = files.title
        self.warnings = files.warnings
        self.metadata: dict[bytes, bytes] = {}
        self.names = [*layout.roles, *layout.unused]
        self._files = files
        self._layout = layout

    def batches(self, columns: Mapping[str, str], reject: DroppedRows, *, threads: int) -> Iterator[Any]:
        """Batches of the roles asked for."""
        return in_batches(self._small_batches(list(columns), reject, threads))

    def _small_batches(self, roles: list[str], reject: DroppedRows, threads: int) -> Iterator[Any]:
        layout = self._layout
        wanted = [name for name in layout.columns if name not in layout.unused]
        places = [f"c{layout.columns.index(name)}" for name in wanted]
        for number, path in enumerate(self._files.paths):
            title = self._files.title_of(number)
            skipped = _lines_above(path, title, layout, reject)
            if skipped is None:
                continue
            text = TextLayout(len(layout.columns), layout.separator, skipped, quoted=False)
            for batch in text_rows(path, title, layout.kind, text, places, reject, threads=threads):
                held = dict(zip(wanted, batch.columns, strict=True))
                for batch_of_roles in layout.to_roles(held, path) if layout.to_roles else (held,):
                    yield pa.RecordBatch.from_arrays([batch_of_roles[role] for role in roles], roles)


def _lines_above(path: Path, title: str, layout: RowLayout, reject: DroppedRows) -> int | None:
    """How many lines stand above the rows; None where nothing stands below, which Arrow takes for a fault."""
    blank_lines = BlankLines(quoted=False)
    with as_input_error(title, layout.kind), text_stream(path, blank_lines) as stream:
        head = stream.read(_HEAD_BYTES)
        if b"\0" in head:
            raise InputError(
                f"{title} is not a text file: expected {layout.kind}; check the path and --format."
            )
        lines = text_lines(head)
        above = layout.lines_skipped
        first = next((number for number, line in enumerate(lines) if line.strip()), len(lines))
        if layout.header is not None and re.fullmatch(
            layout.header, "".join(lines[first:][:1]), re.IGNORECASE
        ):
            above = first + 1
        below = any(line.strip() for line in lines[above:])
        while not below and (more := stream.read(_HEAD_BYTES)):
            below = bool(more.strip())
    if below:
        return above
    reject.blank_lines += blank_lines.finish()
    return None


def same(value: str, columns: Columns) -> Any:
    """A column that says the same in every row of a batch."""
    return pa.repeat(pa.scalar(value, pa.string()), len(next(iter(columns.values()))))
