"""Boxes from the order of time to that of publication, by record and time, without all of them in memory.

One pass over the parts puts every box into the bucket of its record, in memory or in files. Then the buckets, which
hold the records one range after the other, are sorted one by one, and each goes away as it is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from shoal.core.arrays import Int32s, Int64s
from shoal.core.boxes import BOX_ROW, Boxes, concatenate, from_rows
from shoal.errors import UnfinishedError
from shoal.storage.spill import BOXES, open_spill, spill_boxes

_BUCKET = 2_000_000  # boxes that are sorted at a time, about: a record is never cut


def in_order(
    parts: Iterable[Boxes], record: Int32s, sizes: Int64s, spill: Path | None = None
) -> Iterator[Boxes]:
    """All boxes by record and time, bucket by bucket; the owner of those given back is the record.

    ``record[i]`` is the record of owner i, ``sizes[r]`` how many boxes record r has. Buckets are files in the folder
    ``spill``, which is made and removed here; without one they are in memory.
    """
    bucket = np.maximum(np.cumsum(sizes) - 1, 0) // _BUCKET
    expected = np.bincount(bucket, weights=sizes).astype(np.int64)
    bucket = bucket.astype(np.min_scalar_type(len(expected)))  # there are as many of these as boxes, below
    with open_spill(spill if len(expected) > 1 else None, BOXES) as space:
        files = space.new_files("bucket", len(expected))
        for boxes in _gathered(parts):
            boxes = boxes._replace(owner=record[boxes.owner])
            spill_boxes(boxes, bucket[boxes.owner], files)
        for number in np.flatnonzero(expected).tolist():
            rows = files[number].rows(BOX_ROW)
            files[number].clear()
            if len(rows) != expected[number]:
                raise UnfinishedError(BOXES.changed)
            yield from_rows(rows, np.lexsort((rows["t0"], rows["owner"])))


def in_pieces(parts: Iterable[Boxes], most: int) -> Iterator[Boxes]:
    """The same boxes ``most`` at a time, whatever the parts were; one empty piece where there are none."""
    rest = concatenate([])
    empty = True
    for part in parts:
        rest = concatenate([rest, part])
        whole = rest.n_boxes // most * most
        for begin in range(0, whole, most):
            empty = False
            yield _slice(rest, begin, begin + most)
        rest = _slice(rest, whole, rest.n_boxes)
    if rest.n_boxes or empty:
        yield rest


def _slice(boxes: Boxes, begin: int, end: int) -> Boxes:
    return Boxes._make(column[begin:end] for column in boxes)


def _gathered(parts: Iterable[Boxes]) -> Iterator[Boxes]:
    """Parts together, a bucket's worth at a time, since many small ones would mean many small writes."""
    waiting: list[Boxes] = []
    for part in parts:
        waiting.append(part)
        if sum(boxes.n_boxes for boxes in waiting) >= _BUCKET:
            yield concatenate(waiting)
            waiting = []
    yield concatenate(waiting)
