"""Published boxes by when they begin, in memory or in files: whoever reads a stretch of time never holds the others."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from shoal.atomic import reason
from shoal.boxes import Boxes, concatenate
from shoal.errors import UnfinishedError
from shoal.samples import Int64s

_FOLDER = "boxes"
_ROW = np.dtype([
    ("owner", np.int32), ("t0", np.int64), ("t1", np.int64),
    ("x0", np.int32), ("x1", np.int32), ("y0", np.int32), ("y1", np.int32),
])  # fmt: skip
Lines = npt.NDArray[np.void]


class Place(Protocol):
    """Where the boxes of buckets are kept, as rows of dtype ``_ROW``."""

    def add(self, bucket: int, lines: Lines) -> None:
        """Put some more into a bucket."""

    def read(self, bucket: int) -> Lines:
        """All that a bucket holds."""


class Memory:
    """Buckets in memory."""

    def __init__(self) -> None:
        self._parts: dict[int, list[Lines]] = {}

    def add(self, bucket: int, lines: Lines) -> None:
        """Put some more into a bucket."""
        self._parts.setdefault(bucket, []).append(lines)

    def read(self, bucket: int) -> Lines:
        """All that a bucket holds."""
        self._parts[bucket] = [np.concatenate(self._parts[bucket])]
        return self._parts[bucket][0]


class Files:
    """Buckets in files of a folder, readable by their owner only: nothing is published yet."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, bucket: int, lines: Lines) -> None:
        """Put some more into a bucket."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        try:
            with os.fdopen(os.open(self._path(bucket), flags, 0o600), "wb") as file:
                file.write(lines.tobytes())
        except OSError as error:
            raise _no_room(error) from error

    def read(self, bucket: int) -> Lines:
        """All that a bucket holds."""
        try:
            return np.fromfile(self._path(bucket), _ROW)
        except OSError as error:
            raise _no_room(error) from error

    def _path(self, bucket: int) -> Path:
        return self._folder / f"{bucket:07d}"


class Buckets:
    """Boxes in buckets of time; bucket i has those that begin in edges[i - 1] .. edges[i] - 1.

    What begins before the first edge or after the last is in the first or last bucket, so that their number is known
    whatever comes. Owners are numbers of records.
    """

    def __init__(self, edges: Int64s, place: Place) -> None:
        self._edges, self._place = edges, place
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
        order = np.argsort(bucket, kind="stable")
        lines = np.empty(boxes.n_boxes, _ROW)
        for name in Boxes._fields:
            lines[name] = getattr(boxes, name)[order]
        found, first = np.unique(bucket[order], return_index=True)
        for number, part in zip(found.tolist(), np.split(lines, first[1:]), strict=True):
            self._note(number, part)
            self._place.add(number, part)

    def _note(self, bucket: int, lines: Lines) -> None:
        begin, end = int(lines["t0"].min()), int(lines["t1"].max())
        if self._lengths[bucket]:
            begin, end = min(begin, int(self._begin[bucket])), max(end, int(self._end[bucket]))
        self._begin[bucket], self._end[bucket] = begin, end
        self._lengths[bucket] += len(lines)

    def between(self, begin: int, end: int) -> Boxes:
        """The boxes that meet slots begin .. end - 1: bucket by bucket, in each as they came."""
        meets = (self._lengths > 0) & (self._begin < end) & (self._end >= begin)
        return concatenate(
            _meeting(self._read(bucket), begin, end) for bucket in np.flatnonzero(meets).tolist()
        )

    def _read(self, bucket: int) -> Lines:
        lines = self._place.read(bucket)
        if len(lines) != self._lengths[bucket]:
            raise UnfinishedError(
                "Files of the checkpoint were changed or removed while they were in use: begin again."
            )
        return lines


def _meeting(lines: Lines, begin: int, end: int) -> Boxes:
    meets = (lines["t0"] < end) & (lines["t1"] >= begin)
    return Boxes._make(lines[name][meets] for name in Boxes._fields)


@contextmanager
def open_buckets(edges: Int64s, folder: Path | None) -> Iterator[Buckets]:
    """Empty buckets, in memory or inside a folder, from which they are gone in the end."""
    if folder is None:
        yield Buckets(edges, Memory())
        return
    place = folder / _FOLDER
    shutil.rmtree(place, ignore_errors=True)  # of a run that was killed
    try:
        place.mkdir(mode=0o700)
    except OSError as error:
        raise _no_room(error) from error
    try:
        yield Buckets(edges, Files(place))
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _no_room(error: OSError) -> UnfinishedError:
    return UnfinishedError(
        f"Could not keep boxes in the checkpoint while checking them ({reason(error)}): nothing was published;"
        " make room or mend that, then go on with --resume."
    )
