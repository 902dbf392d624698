"""Parquet files, in batches that never hold a whole row group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from shoal.reading.source import BATCH_ROWS, guarded
from shoal.reading.summary import Rejected

# The default keeps all bytes that were read in memory until the file is closed.
_FRUGAL = {"pre_buffer": False, "buffer_size": 1 << 20, "page_checksum_verification": True}


class ParquetFile:
    """A Parquet file with plain columns."""

    def __init__(self, path: Path, title: str) -> None:
        self.title = title
        self.warnings: list[str] = []
        self._path = path
        with guarded(title, "Parquet"), pq.ParquetFile(path) as file:
            schema = file.schema_arrow
        self.names: list[str] = list(schema.names)
        self.metadata: dict[bytes, bytes] = schema.metadata or {}

    def batches(self, columns: Mapping[str, str], reject: Rejected, *, threads: int) -> Iterator[Any]:  # noqa: ARG002
        """Batches of the wanted columns in their own types."""
        with guarded(self.title, "Parquet"), pq.ParquetFile(self._path, **_FRUGAL) as file:
            wanted = sorted(set(columns.values()))
            for batch in file.iter_batches(BATCH_ROWS, columns=wanted, use_threads=threads > 1):
                yield batch.select(list(columns.values())).rename_columns(list(columns))
