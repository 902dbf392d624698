"""Arrays that wait until they are needed, in memory or in private files, so that data may be larger than memory.

``open_spill`` gives a ``Spill``, which makes a ``SpillFile`` for each part of the data. Batches of rows and rows by
time (reading), boxes by record (box_sorting) and boxes by time (box_store) all wait in such files.
"""

from __future__ import annotations

import shutil
from array import array
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from shoal.core.boxes import Boxes, BoxRows, as_rows
from shoal.core.sorting import group_rows
from shoal.errors import UnfinishedError
from shoal.storage.files import CHECKPOINT_CHANGED, append_private, as_unfinished_error
from shoal.storage.sample_store import Column, FileColumn, MemoryColumn

Arrays = Sequence[npt.NDArray[Any]]

_SUFFIX = ".spill"


class SpillPurpose(NamedTuple):
    """What files are for, in the words of the messages about a disk that fails: see ``as_unfinished_error``."""

    what: str
    then: str
    changed: str

    def explain_errors(self) -> AbstractContextManager[None]:
        """Errors of the disk inside a ``with`` block, in these words."""
        return as_unfinished_error(self.what, self.then)


BOXES = SpillPurpose("the checkpoint", "go on with --resume", CHECKPOINT_CHANGED)
ROWS = SpillPurpose(
    "rows that do not fit into memory",
    "begin again",
    "Files of rows were changed or removed while they were in use: begin again.",
)


class SpillFile(Protocol):
    """Groups of arrays in the order in which they came; the arrays of all groups have the same types."""

    def append(self, arrays: Arrays) -> None:
        """Add one more group."""

    def __iter__(self) -> Iterator[Arrays]:
        """The groups, one at a time; their arrays must not be written to."""

    def rows(self, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        """All groups end to end, where each is one array of this type; it must not be written to."""

    def column(self) -> Column:
        """All groups end to end, where each is one array of 32-bit numbers: to read parts of."""

    def clear(self) -> None:
        """Let go of everything."""


class MemorySpillFile:
    """Groups in memory."""

    def __init__(self) -> None:
        self._groups: list[Arrays] = []

    def append(self, arrays: Arrays) -> None:
        """Add one more group."""
        self._groups.append(arrays)

    def __iter__(self) -> Iterator[Arrays]:
        return iter(self._groups)

    def rows(self, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        """All groups end to end; from then on they are one."""
        joined = np.concatenate([np.empty(0, dtype), *(values for (values,) in self._groups)])
        self._groups = [[joined]]
        return joined

    def column(self) -> Column:
        """All groups end to end; they are let go of here."""
        column = MemoryColumn(self.rows(np.dtype(np.int32)))
        self.clear()
        return column

    def clear(self) -> None:
        """Let go of everything."""
        self._groups = []


class DiskSpillFile:
    """Groups in a file of nothing but numbers, for its owner only; types and lengths are remembered here.

    The file is opened for every write, since there may be more of them than a process may have open.
    """

    def __init__(self, path: Path, purpose: SpillPurpose) -> None:
        self._path, self._purpose = path, purpose
        self._dtypes: list[np.dtype[Any]] = []
        self._lengths = array("q")  # of the arrays of all groups

    def append(self, arrays: Arrays) -> None:
        """Add one more group."""
        dtypes = [values.dtype for values in arrays]
        if self._lengths and dtypes != self._dtypes:
            raise TypeError(f"a spill file of {self._dtypes} takes no {dtypes}")
        with self._purpose.explain_errors(), append_private(self._path) as file:
            for values in arrays:
                file.write(np.ascontiguousarray(values).data)
        self._dtypes = dtypes
        self._lengths.extend(map(len, arrays))

    def __iter__(self) -> Iterator[Arrays]:
        if not self._lengths:
            return
        try:
            with self._path.open("rb") as file:
                for start in range(0, len(self._lengths), len(self._dtypes)):
                    lengths = self._lengths[start : start + len(self._dtypes)]
                    pairs = zip(self._dtypes, lengths, strict=True)
                    yield [self._read(file, dtype, length) for dtype, length in pairs]
        except OSError:
            raise UnfinishedError(self._purpose.changed) from None

    def rows(self, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        """All groups end to end."""
        if not self._lengths:
            return np.empty(0, dtype)
        try:
            with self._path.open("rb") as file:
                rows = self._read(file, dtype, sum(self._lengths))
                if not file.read(1):
                    return rows
        except OSError:
            pass
        raise UnfinishedError(self._purpose.changed)

    def _read(self, file: IO[bytes], dtype: np.dtype[Any], length: int) -> npt.NDArray[Any]:
        values = np.fromfile(file, dtype, length)
        if len(values) < length:
            raise UnfinishedError(self._purpose.changed)
        values.flags.writeable = False  # a change would be lost: append another array instead
        return values

    def column(self) -> Column:
        """All groups end to end; they stay in the file."""
        return FileColumn(self._path)

    def clear(self) -> None:
        """Let go of everything."""
        self._lengths = array("q")
        with self._purpose.explain_errors():
            self._path.unlink(missing_ok=True)


class Spill:
    """Makes spill files: in a folder, or in memory where there is none."""

    def __init__(self, folder: Path | None, purpose: SpillPurpose) -> None:
        self._folder, self._purpose = folder, purpose

    def new_file(self, name: str) -> SpillFile:
        """An empty file; its name is for the folder."""
        if self._folder is None:
            return MemorySpillFile()
        return DiskSpillFile(self._folder / (name + _SUFFIX), self._purpose)

    def new_files(self, name: str, count: int) -> list[SpillFile]:
        """So many empty files, numbered."""
        return [self.new_file(f"{name}-{number:07d}") for number in range(count)]


@contextmanager
def open_spill(folder: Path | None, purpose: SpillPurpose, *, keep: bool = False) -> Iterator[Spill]:
    """A spill in a folder for its owner only, without the files of killed runs; in memory where there is no folder.

    In the end the folder is removed. ``keep``: the files stay if all went well, and the folder is the caller's: it may
    hold other files, and is removed after a failure only if it was made here.
    """
    if folder is None:
        yield Spill(None, purpose)
        return
    made = not folder.exists()
    with purpose.explain_errors():
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700, exist_ok=keep)
        _remove_files(folder)
    finished = False
    try:
        yield Spill(folder, purpose)
        finished = True
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
        elif not finished:
            with suppress(OSError):
                _remove_files(folder)
                if made:
                    folder.rmdir()


def _remove_files(folder: Path) -> None:
    for path in folder.glob("*" + _SUFFIX):
        path.unlink()


def spill_boxes(
    boxes: Boxes, number: npt.NDArray[np.integer], files: Sequence[SpillFile]
) -> list[tuple[int, BoxRows]]:
    """Append every box to the file of its number, in their order; returns what went where."""
    order, groups = group_rows(number)
    rows = as_rows(boxes, order)
    parts = [(file, rows[group]) for file, group in groups]
    for file, part in parts:
        files[file].append([part])
    return parts
