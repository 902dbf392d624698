"""Text files without a header line, of which the format knows the columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from shoal.errors import InputError
from shoal.reading.csv_files import TextLayout, text_rows, text_stream
from shoal.reading.foreign.files import Files
from shoal.reading.sources import BATCH_ROWS, Reject, guarded
from shoal.schema import LAT, LON, TIME, USER

Columns = Mapping[str, Any]
_MOST_HEADER_BYTES = 1 << 16


class Layout(NamedTuple):
    """The columns of a file in their order, and what they tell of user, time and position.

    ``tell`` makes one or more batches of ``roles`` from the columns of a batch (all text) and the file they come
    from; without it the columns that are named like roles are taken as they are.
    """

    kind: str
    columns: tuple[str, ...]
    separator: str = ","
    lines_skipped: int = 0
    unused: tuple[str, ...] = ()
    roles: tuple[str, ...] = (USER, TIME, LAT, LON)
    tell: Callable[[Columns, Path], Iterable[Columns]] | None = None


class RowFiles:
    """Rows of one or many text files; small files share a batch."""

    def __init__(self, files: Files, layout: Layout) -> None:
        self.title = files.title
        self.warnings = files.warnings
        self.metadata: dict[bytes, bytes] = {}
        self.names = [*layout.roles, *layout.unused]
        self._files = files
        self._layout = layout

    def batches(self, columns: Mapping[str, str], reject: Reject, *, threads: int) -> Iterator[Any]:
        """Batches of the roles asked for."""
        return gathered(self._small_batches(list(columns), reject, threads))

    def _small_batches(self, roles: list[str], reject: Reject, threads: int) -> Iterator[Any]:
        layout = self._layout
        wanted = [name for name in layout.columns if name not in layout.unused]
        places = [f"c{layout.columns.index(name)}" for name in wanted]
        text = TextLayout(len(layout.columns), layout.separator, layout.lines_skipped, quoted=False)
        for number, path in enumerate(self._files.paths):
            title = self._files.title_of(number)
            if not _has_rows(path, title, layout):
                continue
            for batch in text_rows(path, title, layout.kind, text, places, reject, threads=threads):
                held = dict(zip(wanted, batch.columns, strict=True))
                for told in layout.tell(held, path) if layout.tell else (held,):
                    yield pa.RecordBatch.from_arrays([told[role] for role in roles], roles)


def _has_rows(path: Path, title: str, layout: Layout) -> bool:
    """Whether anything stands below the header lines; Arrow takes a file without rows for a fault."""
    try:
        with guarded(title, layout.kind), text_stream(path) as stream:
            head = stream.read(_MOST_HEADER_BYTES)
    except PermissionError:
        raise InputError(f"{title} cannot be opened: check its permissions.") from None
    lines = head.splitlines()[layout.lines_skipped :]
    return any(line.strip() for line in lines)


def gathered(batches: Iterable[Any]) -> Iterator[Any]:
    """The same rows in fewer batches: thousands of files may hold a few rows each."""
    waiting: list[Any] = []
    rows = 0
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        if rows >= BATCH_ROWS:
            yield _joined(waiting)
            waiting, rows = [], 0
    if waiting:
        yield _joined(waiting)


def _joined(batches: list[Any]) -> Any:
    if len(batches) == 1:
        return batches[0]
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


def same(value: str, columns: Columns) -> Any:
    """A column that says the same in every row of a batch."""
    return pa.repeat(pa.scalar(value, pa.string()), len(next(iter(columns.values()))))
