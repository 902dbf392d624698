"""Many small batches to few large ones: thousands of files or trajectories may hold a few rows each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from shoal.reading.source import BATCH_ROWS


def gathered(batches: Iterable[Any]) -> Iterator[Any]:
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
