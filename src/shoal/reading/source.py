"""What a source of events is: batches of rows, read as often as needed."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

import pyarrow as pa

from shoal.errors import InputError, ShoalError
from shoal.reading.summary import Rejected

BATCH_ROWS = 1 << 19


class Source(Protocol):
    """Rows in batches, the names of their columns, and what a file notes about itself."""

    title: str
    names: list[str]
    warnings: list[str]
    metadata: dict[bytes, bytes]

    def batches(self, columns: Mapping[str, str], reject: Rejected, *, threads: int) -> Iterator[Any]:
        """Record batches with a column for each role; ``reject`` counts rows that are none."""
        ...


@contextmanager
def guarded(title: str, kind: str, fault: str = "it is damaged or of another kind") -> Iterator[None]:
    """Failures of the libraries below in our own words: theirs quote data."""
    try:
        yield
    except (ShoalError, MemoryError):
        raise
    except (pa.ArrowException, OSError, EOFError, UnicodeError, csv.Error):
        raise InputError(f"{title} cannot be read as {kind}: {fault}; mend it or make it again.") from None
