"""Formats that are tables with a header: other columns are made of theirs, batch by batch."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from shoal.reading.columns import need_columns
from shoal.reading.formats.format import Files
from shoal.reading.formats.text_rows import Columns
from shoal.reading.source import Folder, Source, as_input_error, kind_of, open_file
from shoal.reading.summary import DroppedRows

SEPARATORS = ",;\t"


def open_tables(files: Files) -> Source:
    """The tables of some files, which all have the same columns; text unless the suffix says otherwise."""
    kinds = [(path, kind_of(path) or "csv") for path in files.paths]
    if files.in_folder:
        folder = Folder(files.title, kinds, others=0)
        folder.warnings += files.warnings
        return folder
    return open_file(*kinds[0], files.title)


def header_names(lines: list[str]) -> list[str]:
    """The names in the first line that is not blank."""
    line = next((line for line in lines if line.strip()), "")
    separator = max(SEPARATORS, key=line.count)
    return [name.strip() for name in next(csv.reader([line], delimiter=separator), [])]


class MappedTable:
    """A table of which the columns are mapped to user, time and position."""

    def __init__(
        self,
        table: Source,
        wanted: tuple[str, ...],
        roles: tuple[str, ...],
        to_roles: Callable[[Columns], Iterable[Columns]],
    ) -> None:
        self.title, self.warnings, self.metadata = table.title, table.warnings, table.metadata
        self._wanted = need_columns(table.names, wanted, table.title)
        self.names = [*roles, *(name for name in table.names if name not in wanted)]
        self._table = table
        self._to_roles = to_roles

    def batches(self, columns: Mapping[str, str], reject: DroppedRows, *, threads: int) -> Iterator[Any]:
        """Batches of the roles asked for."""
        for batch in self._table.batches(self._wanted, reject, threads=threads):
            held = dict(zip(batch.schema.names, batch.columns, strict=True))
            with as_input_error(self.title, "events"):
                mapped = [
                    pa.RecordBatch.from_arrays([each[role] for role in columns], list(columns))
                    for each in self._to_roles(held)
                ]
            yield from mapped
