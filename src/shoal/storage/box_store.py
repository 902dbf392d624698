"""Published boxes by when they begin, in memory or in files: whoever reads a stretch of time never holds the others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import numpy as np

from shoal.core.arrays import Int64s
from shoal.core.boxes import Boxes, concatenate
from shoal.errors import UnfinishedError
from shoal.storage.box_piles import Piles, Rows, open_box_piles, put_aside
from shoal.storage.files import CHANGED, explained

_FOLDER = "boxes"


class BoxStore:
    """Boxes in buckets of time; bucket i has those that begin in edges[i - 1] .. edges[i] - 1.

    What begins before the first edge or after the last is in the first or last bucket, so that their number is known
    whatever comes. Owners are numbers of records.
    """

    def __init__(self, edges: Int64s, piles: Piles) -> None:
        self._edges, self._piles = edges, piles
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
        for number, rows in put_aside(boxes, bucket, self._piles):
            self._note(number, rows)

    def _note(self, bucket: int, rows: Rows) -> None:
        begin, end = int(rows["t0"].min()), int(rows["t1"].max())
        if self._lengths[bucket]:
            begin, end = min(begin, int(self._begin[bucket])), max(end, int(self._end[bucket]))
        self._begin[bucket], self._end[bucket] = begin, end
        self._lengths[bucket] += len(rows)

    def between(self, begin: int, end: int) -> Boxes:
        """The boxes that meet slots begin .. end - 1: bucket by bucket, in each as they came."""
        meets = (self._lengths > 0) & (self._begin < end) & (self._end >= begin)
        return concatenate(
            _meeting(self._read(bucket), begin, end) for bucket in np.flatnonzero(meets).tolist()
        )

    def _read(self, bucket: int) -> Rows:
        rows = self._piles.read(bucket)
        if len(rows) != self._lengths[bucket]:
            raise UnfinishedError(CHANGED)
        return rows


def _meeting(rows: Rows, begin: int, end: int) -> Boxes:
    meets = (rows["t0"] < end) & (rows["t1"] >= begin)
    return Boxes._make(rows[name][meets] for name in Boxes._fields)


@contextmanager
def open_box_store(edges: Int64s, folder: Path | None) -> Iterator[BoxStore]:
    """Empty buckets, in memory or inside a folder, from which they are gone in the end."""
    with open_box_piles(None if folder is None else folder / _FOLDER, _explained) as piles:
        yield BoxStore(edges, piles)


def _explained() -> AbstractContextManager[None]:
    return explained("the checkpoint", "go on with --resume")
