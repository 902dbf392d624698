"""From the order of time to the order of publication: boxes by record and time, without ever holding all of them.

One pass over the parts puts every box into the bucket of its record, in memory or in files. Then the buckets, which
hold the records one range after the other, are sorted one by one, and each goes away as it is read.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from shoal.boxes import Boxes, concatenate
from shoal.disk import CHANGED, append_private, explained
from shoal.errors import UnfinishedError
from shoal.samples import Int32s, Int64s

_BUCKET = 2_000_000  # boxes that are sorted at a time, about: a record is never cut
_ROW = np.dtype([(name, np.int64 if name in ("t0", "t1") else np.int32) for name in Boxes._fields])
Rows = npt.NDArray[np.void]


def in_order(
    parts: Iterable[Boxes], record: Int32s, sizes: Int64s, spill: Path | None = None
) -> Iterator[Boxes]:
    """All boxes by record and time, bucket by bucket; the owner of those given back is the record.

    ``record[i]`` is the record of owner i, ``sizes[r]`` how many boxes record r has. Buckets are files in the folder
    ``spill``, which is made and removed here; without one they are in memory.
    """
    bucket = np.maximum(np.cumsum(sizes) - 1, 0) // _BUCKET
    expected = np.bincount(bucket, weights=sizes).astype(np.int64)
    with _opened(spill if len(expected) > 1 else None) as buckets:
        for some in _gathered(parts):
            _distribute(some._replace(owner=record[some.owner]), bucket, buckets)
        for number in np.flatnonzero(expected).tolist():
            rows = buckets.take(number)
            if len(rows) != expected[number]:
                raise UnfinishedError(CHANGED)
            order = np.lexsort((rows["t0"], rows["owner"]))
            yield Boxes._make(rows[name][order] for name in Boxes._fields)


def cut(parts: Iterable[Boxes], most: int) -> Iterator[Boxes]:
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


def _distribute(boxes: Boxes, bucket: Int64s, buckets: _Buckets) -> None:
    """Put boxes into their buckets; boxes of one bucket stay in their order."""
    # Numbers as narrow as they can be, for those of 16 bits are sorted in linear time.
    target = bucket.astype(np.min_scalar_type(int(bucket.max(initial=0))))[boxes.owner]
    order = np.argsort(target, kind="stable")
    rows = np.empty(boxes.n_boxes, _ROW)
    for name in Boxes._fields:
        rows[name] = getattr(boxes, name)[order]
    numbers, first = np.unique(target[order], return_index=True)
    for number, part in zip(numbers.tolist(), np.split(rows, first[1:]), strict=False):
        buckets.add(number, part)


class _Buckets(Protocol):
    """Rows by number of bucket."""

    def add(self, number: int, rows: Rows) -> None:
        """Put rows behind those that are in a bucket already."""

    def take(self, number: int) -> Rows:
        """Take everything out of a bucket."""


class _MemoryBuckets:
    """Buckets in memory."""

    def __init__(self) -> None:
        self._parts: dict[int, list[Rows]] = {}

    def add(self, number: int, rows: Rows) -> None:
        """Put rows behind those that are in a bucket already."""
        self._parts.setdefault(number, []).append(rows)

    def take(self, number: int) -> Rows:
        """Take everything out of a bucket."""
        return np.concatenate([np.empty(0, _ROW), *self._parts.pop(number, [])])


class _FileBuckets:
    """Buckets in files that only their owner may read; opened for every write, since there may be thousands."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def _path(self, number: int) -> Path:
        return self._folder / f"bucket-{number:06d}"

    def add(self, number: int, rows: Rows) -> None:
        """Put rows behind those that are in a bucket already."""
        with _explained(), append_private(self._path(number)) as file:
            file.write(rows.tobytes())

    def take(self, number: int) -> Rows:
        """Take everything out of a bucket."""
        try:
            rows: Rows = np.fromfile(self._path(number), _ROW)
        except OSError:
            return np.empty(0, _ROW)
        self._path(number).unlink(missing_ok=True)
        return rows


@contextlib.contextmanager
def _opened(folder: Path | None) -> Iterator[_Buckets]:
    """Empty buckets, of which nothing is left in the end; what a killed run left in the folder goes away."""
    if folder is None:
        yield _MemoryBuckets()
        return
    with _explained():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
    try:
        yield _FileBuckets(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _explained() -> contextlib.AbstractContextManager[None]:
    return explained("the checkpoint", "go on with --resume")
