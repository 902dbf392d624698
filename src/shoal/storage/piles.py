"""Arrays put aside until they are needed: in memory, or in files of a folder that grow beyond it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from shoal.errors import UnfinishedError
from shoal.storage.files import append_private, explained
from shoal.storage.sample_store import Column, FileColumn, MemoryColumn

Arrays = Sequence[npt.NDArray[Any]]

_SUFFIX = ".pile"


class Pile(Protocol):
    """Groups of arrays in the order in which they were put there."""

    def append(self, arrays: Arrays) -> None:
        """Put one more group there."""

    def __iter__(self) -> Iterator[Arrays]:
        """The groups, one at a time; their arrays must not be written to."""

    def clear(self) -> None:
        """Let go of everything."""

    def column(self) -> Column:
        """The 32-bit numbers of all groups, end to end."""


class MemoryPile:
    """A pile in memory."""

    def __init__(self) -> None:
        self._groups: list[Arrays] = []

    def append(self, arrays: Arrays) -> None:
        """Put one more group there."""
        self._groups.append(arrays)

    def __iter__(self) -> Iterator[Arrays]:
        return iter(self._groups)

    def clear(self) -> None:
        """Let go of everything."""
        self._groups = []

    def column(self) -> Column:
        """The 32-bit numbers of all groups, end to end, which are let go of."""
        values = np.concatenate([array for arrays in self._groups for array in arrays])
        self.clear()
        return MemoryColumn(values)


class FilePile:
    """A pile in a file of nothing but numbers; which types and how many is remembered here."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._groups: list[list[tuple[np.dtype[Any], int]]] = []

    def append(self, arrays: Arrays) -> None:
        """Put one more group there."""
        with _explained(), append_private(self._path) as file:
            for array in arrays:
                file.write(np.ascontiguousarray(array).data)
        self._groups.append([(array.dtype, len(array)) for array in arrays])

    def __iter__(self) -> Iterator[Arrays]:
        if not self._groups:
            return
        try:
            with self._path.open("rb") as file:
                for group in self._groups:
                    yield [_read(file, kind, length) for kind, length in group]
        except OSError:
            raise _changed() from None

    def clear(self) -> None:
        """Let go of everything."""
        self._groups = []
        with _explained():
            self._path.unlink(missing_ok=True)

    def column(self) -> Column:
        """The 32-bit numbers of all groups, end to end; they stay in the file."""
        return FileColumn(self._path)


class MemoryPiles:
    """Makes piles in memory."""

    def new(self, name: str) -> Pile:  # noqa: ARG002
        """A pile; its name is for those in files."""
        return MemoryPile()


class FolderPiles:
    """Makes piles in a folder for its owner only; those of an earlier run are cleared away first."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made = not folder.exists()
        with _explained():
            folder.mkdir(mode=0o700, exist_ok=True)
            self._clear()

    def new(self, name: str) -> Pile:
        """A pile in a file of that name."""
        return FilePile(self._folder / (name + _SUFFIX))

    def abandon(self) -> None:
        """Leave nothing behind: what was begun will not be finished."""
        with contextlib.suppress(OSError):
            self._clear()
            if self._made:
                self._folder.rmdir()

    def _clear(self) -> None:
        for stale in self._folder.glob("*" + _SUFFIX):
            stale.unlink()


Piles = MemoryPiles | FolderPiles


@contextlib.contextmanager
def open_piles(folder: Path | None) -> Iterator[Piles]:
    """Piles in a folder, cleared away if what they are for fails; in memory where there is none."""
    if folder is None:
        yield MemoryPiles()
        return
    piles = FolderPiles(folder)
    try:
        yield piles
    except BaseException:
        piles.abandon()
        raise


def _read(file: Any, kind: np.dtype[Any], length: int) -> npt.NDArray[Any]:
    values = np.fromfile(file, kind, length)
    if len(values) < length:
        raise _changed()
    values.flags.writeable = False  # a change would be lost: put another array there instead
    return values


def _explained() -> contextlib.AbstractContextManager[None]:
    return explained("rows that do not fit into memory", "begin again")


def _changed() -> UnfinishedError:
    return UnfinishedError("Files of rows were changed or removed while they were in use: begin again.")
