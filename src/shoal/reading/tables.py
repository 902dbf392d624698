"""Tables in memory (pandas, polars, pyarrow, duckdb: anything with the Arrow PyCapsule interface) and Parquet files."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from shoal.errors import InputError, ShoalError
from shoal.reading.source import BATCH_ROWS, as_input_error
from shoal.reading.summary import DroppedRows

# The default keeps all bytes that were read in memory until the file is closed.
_FRUGAL = {"pre_buffer": False, "buffer_size": 1 << 20, "page_checksum_verification": True}


class Table:
    """A table handed over by Python code."""

    title = "The table"

    def __init__(self, table: Any) -> None:
        self.warnings: list[str] = []
        self._table = table
        self._stream: Any = None
        self.metadata: dict[bytes, bytes] = {}
        self.schema: Any = None  # of frames, whose columns are converted when they are wanted
        self.names = _labels(table)
        if not self.names:
            self.schema = self._open(table).schema
            self.names, self.metadata = list(self.schema.names), self.schema.metadata or {}

    @property
    def numeric(self) -> list[str]:
        """The columns of a frame of pandas or polars that hold numbers."""
        kinds = zip(getattr(self._table, "columns", ()), getattr(self._table, "dtypes", ()), strict=False)
        return [name for name, kind in kinds if re.fullmatch(r"(u?int|float)\d*", str(kind).lower())]

    def batches(self, columns: Mapping[str, str], reject: DroppedRows, *, threads: int) -> Iterator[Any]:  # noqa: ARG002
        """Batches of the wanted columns in their own types."""
        stream = self._stream if self._stream is not None else self._open(self._narrowed(columns))
        places = [stream.schema.get_field_index(name) for name in columns.values()]
        try:
            for batch in stream:
                for start in range(0, batch.num_rows, BATCH_ROWS):
                    piece = batch.slice(start, BATCH_ROWS)
                    yield pa.RecordBatch.from_arrays([piece.column(place) for place in places], list(columns))
        except (pa.ArrowException, OSError):
            raise self._unreadable() from None

    def _open(self, table: Any) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of names of columns that mix types, among other things
                self._stream = pa.RecordBatchReader.from_stream(table)
        except ShoalError:
            raise
        except Exception:  # each library has exceptions of its own, which quote data
            raise self._unreadable() from None
        return self._stream

    def _narrowed(self, columns: Mapping[str, str]) -> Any:
        """Only the wanted columns, so that no other needs to be converted."""
        try:
            return self._table[list(dict.fromkeys(columns.values()))]
        except Exception:  # not a frame after all
            return self._table

    def _unreadable(self) -> InputError:
        return InputError(
            "The table cannot be read as Arrow: expected columns of one type each; convert those that mix types."
        )


def _labels(table: Any) -> list[str]:
    """The names of columns as pandas and polars keep them; empty for other tables."""
    labels = getattr(table, "columns", ())
    return [label for label in labels if isinstance(label, str)] if hasattr(labels, "__iter__") else []


class ParquetFile:
    """A Parquet file with plain columns."""

    def __init__(self, path: Path, title: str) -> None:
        self.title = title
        self.warnings: list[str] = []
        self.row_groups: Sequence[int] | None = None  # all unless somebody says which
        self.rows_each: int | None = None  # all rows of these, unless only the first so many
        self._path = path
        with as_input_error(title, "Parquet"), pq.ParquetFile(path) as file:
            self.schema, self.footer = file.schema_arrow, file.metadata
        self.names: list[str] = list(self.schema.names)
        self.metadata: dict[bytes, bytes] = self.schema.metadata or {}

    def batches(self, columns: Mapping[str, str], reject: DroppedRows, *, threads: int) -> Iterator[Any]:  # noqa: ARG002
        """Batches of the wanted columns in their own types."""
        with as_input_error(self.title, "Parquet"), pq.ParquetFile(self._path, **_FRUGAL) as file:
            wanted = sorted(set(columns.values()))
            groups = [None] if self.row_groups is None else [[group] for group in self.row_groups]
            for group in groups:
                left = self.footer.num_rows if self.rows_each is None else self.rows_each
                for batch in file.iter_batches(
                    min(BATCH_ROWS, max(left, 1)), group, columns=wanted, use_threads=threads > 1
                ):
                    held = batch.slice(0, left)
                    yield held.select(list(columns.values())).rename_columns(list(columns))
                    left -= len(held)
                    if left <= 0:
                        break

    def with_dictionaries(self, columns: list[str]) -> Iterator[Any]:
        """Batches of columns of text with the dictionaries that stand in the file, whatever type the file names."""
        with (
            as_input_error(self.title, "Parquet"),
            pq.ParquetFile(self._path, read_dictionary=columns, **_FRUGAL) as file,
        ):
            yield from file.iter_batches(BATCH_ROWS, columns=columns)
