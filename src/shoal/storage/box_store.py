"""Published boxes by when they begin, in memory or in files: to read a stretch of time, only its boxes are loaded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from shoal.core.arrays import Int64s
from shoal.core.boxes import BOX_ROW, Boxes, BoxRows, concatenate, from_rows
from shoal.storage.spill import BOXES, Spill, open_spill, spill_boxes

_FOLDER = "boxes"


class BoxStore:
    """Boxes in buckets of time; bucket i has those that begin in edges[i - 1] .. edges[i] - 1.

    What begins before the first edge or after the last is in the first or last bucket, so that their number is known
    whatever comes. Owners are numbers of records.
    """

    def __init__(self, edges: Int64s, spill: Spill) -> None:
        self._edges = edges
        self._files = spill.new_files("bucket", len(edges) + 1)
        self._lengths = np.zeros(len(edges) + 1, np.int64)
        self._begin = np.zeros(len(edges) + 1, np.int64)  # of a bucket's first box
        self._end = np.zeros(len(edges) + 1, np.int64)  # of its last, included

    def __len__(self) -> int:
        return int(self._lengths.sum())

    @property
    def begin(self) -> int:
        """The first slot of any box."""
        return int(self._begin[self._lengths > 0].min())

    @property
    def end(self) -> int:
        """One past the last slot of any box."""
        return int(self._end[self._lengths > 0].max()) + 1

    def add(self, boxes: Boxes) -> None:
        """Put boxes, in any order, where they belong."""
        bucket = np.searchsorted(self._edges, boxes.t0, side="right")
        for number, rows in spill_boxes(boxes, bucket, self._files):
            self._note(number, rows)

    def _note(self, bucket: int, rows: BoxRows) -> None:
        begin, end = int(rows["t0"].min()), int(rows["t1"].max())
        if self._lengths[bucket]:
            begin, end = min(begin, int(self._begin[bucket])), max(end, int(self._end[bucket]))
        self._begin[bucket], self._end[bucket] = begin, end
        self._lengths[bucket] += len(rows)

    def between(self, begin: int, end: int) -> Boxes:
        """The boxes that meet slots begin .. end - 1: bucket by bucket, in each as they came."""
        meets = (self._lengths > 0) & (self._begin < end) & (self._end >= begin)
        return concatenate(
            _meeting(self._files[bucket].rows(BOX_ROW), begin, end)
            for bucket in np.flatnonzero(meets).tolist()
        )


def _meeting(rows: BoxRows, begin: int, end: int) -> Boxes:
    return from_rows(rows, (rows["t0"] < end) & (rows["t1"] >= begin))


@contextmanager
def open_box_store(edges: Int64s, folder: Path | None) -> Iterator[BoxStore]:
    """Empty buckets, in memory or inside a folder, from which they are gone in the end."""
    with open_spill(None if folder is None else folder / _FOLDER, BOXES) as spill:
        yield BoxStore(edges, spill)
