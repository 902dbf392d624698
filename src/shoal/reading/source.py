"""What a source of events is: batches of rows, read as often as needed."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

import pyarrow as pa

from shoal.errors import InputError, ShoalError
from shoal.reading.summary import DroppedRows

BATCH_ROWS = 1 << 19


class Source(Protocol):
    """Rows in batches, the names of their columns, and what a file notes about itself."""

    title: str
    names: list[str]
    warnings: list[str]
    metadata: dict[bytes, bytes]

    def batches(self, columns: Mapping[str, str], reject: DroppedRows, *, threads: int) -> Iterator[Any]:
        """Record batches with a column for each role; ``reject`` counts rows that are none."""
        ...


@contextmanager
def as_input_error(title: str, kind: str, fault: str = "it is damaged or of another kind") -> Iterator[None]:
    """Failures of the libraries below in our own words: theirs quote data."""
    try:
        yield
    except (ShoalError, MemoryError):
        raise
    except (pa.ArrowException, OSError, EOFError, UnicodeError, csv.Error):
        raise InputError(f"{title} cannot be read as {kind}: {fault}; mend it or make it again.") from None


def in_batches(batches: Iterable[Any]) -> Iterator[Any]:
    """The same rows in fewer batches; those of different types are not joined."""
    waiting: list[Any] = []
    rows = 0
    for batch in batches:
        if batch.num_rows == 0:
            continue
        if waiting and batch.schema != waiting[0].schema:
            yield _joined(waiting)
            waiting, rows = [], 0
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
