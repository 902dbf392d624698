"""Boxes put aside in numbered piles, in memory or in files: whoever reads one pile never holds the others."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from shoal.core.boxes import Boxes
from shoal.storage.files import append_private

ROW = np.dtype([(name, np.int64 if name in ("t0", "t1") else np.int32) for name in Boxes._fields])
Rows = npt.NDArray[np.void]
Explained = Callable[[], AbstractContextManager[None]]


class Piles(Protocol):
    """Rows of dtype ROW by the number of their pile."""

    def add(self, number: int, rows: Rows) -> None:
        """Put rows behind those that are on a pile already."""

    def read(self, number: int) -> Rows:
        """All that is on a pile."""

    def clear(self, number: int) -> None:
        """Let go of a pile."""


class MemoryPiles:
    """Piles in memory."""

    def __init__(self) -> None:
        self._parts: dict[int, list[Rows]] = {}

    def add(self, number: int, rows: Rows) -> None:
        """Put rows behind those that are on a pile already."""
        self._parts.setdefault(number, []).append(rows)

    def read(self, number: int) -> Rows:
        """All that is on a pile."""
        self._parts[number] = [np.concatenate([np.empty(0, ROW), *self._parts.get(number, [])])]
        return self._parts[number][0]

    def clear(self, number: int) -> None:
        """Let go of a pile."""
        self._parts.pop(number, None)


class FilePiles:
    """Piles in files that only their owner may read; opened for every write, since there may be thousands."""

    def __init__(self, folder: Path, explained: Explained) -> None:
        self._folder, self._explained = folder, explained

    def add(self, number: int, rows: Rows) -> None:
        """Put rows behind those that are on a pile already."""
        with self._explained(), append_private(self._path(number)) as file:
            file.write(rows.tobytes())

    def read(self, number: int) -> Rows:
        """All that is on a pile; nothing where the file is gone, which whoever counted the rows will notice."""
        try:
            return np.fromfile(self._path(number), ROW)
        except OSError:
            return np.empty(0, ROW)

    def clear(self, number: int) -> None:
        """Let go of a pile."""
        self._path(number).unlink(missing_ok=True)

    def _path(self, number: int) -> Path:
        return self._folder / f"pile-{number:07d}"


@contextlib.contextmanager
def open_box_piles(folder: Path | None, explained: Explained) -> Iterator[Piles]:
    """Empty piles, of which nothing is left in the end; what a killed run left in the folder goes away.

    ``explained`` tells failures of the disk in words that fit what the piles are for.
    """
    if folder is None:
        yield MemoryPiles()
        return
    with explained():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
    try:
        yield FilePiles(folder, explained)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def put_aside(boxes: Boxes, number: npt.NDArray[np.integer], piles: Piles) -> list[tuple[int, Rows]]:
    """Put every box on the pile of its number, in their order; what went where."""
    if not boxes.n_boxes:
        return []
    order = np.argsort(number, kind="stable")
    rows = np.empty(boxes.n_boxes, ROW)
    for name in Boxes._fields:
        rows[name] = getattr(boxes, name)[order]
    numbers, first = np.unique(number[order], return_index=True)
    parts = list(zip(numbers.tolist(), np.split(rows, first[1:]), strict=True))
    for each, part in parts:
        piles.add(each, part)
    return parts
