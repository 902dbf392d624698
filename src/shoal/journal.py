"""What a fold has done so far, step by step: in memory, or in a folder from which a killed run goes on.

The folder holds raw-data secrets (who hid whom), so it is readable by its owner only and goes away on success.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from shoal.boxes import Boxes
from shoal.disk import explained
from shoal.errors import InputError
from shoal.fold import Step
from shoal.hiding.matching import Picks
from shoal.interrupts import held

_HEADER, _LOCK, _WRITING = "run.json", "lock", "writing"
_TORN = (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile, zlib.error)


class Journal(Protocol):
    """Steps in the order of time; appending is all that ever happens to it."""

    def append(self, step: Step) -> None:
        """Note one more step."""

    def __iter__(self) -> Iterator[Step]:
        """The steps noted so far."""

    def __len__(self) -> int:
        """How many there are."""


class MemoryJournal:
    """A journal that ends with the process."""

    def __init__(self) -> None:
        self._steps: list[Step] = []

    def append(self, step: Step) -> None:
        """Note one more step."""
        self._steps.append(step)

    def __iter__(self) -> Iterator[Step]:
        return iter(self._steps)

    def __len__(self) -> int:
        return len(self._steps)


class FolderJournal:
    """A journal on disk, one file per step; a file appears whole or not at all.

    Only the unbroken run of readable steps from the first on counts, whatever else a killed process left behind.
    """

    def __init__(self, folder: Path, identity: dict[str, Any], *, resume: bool) -> None:
        self._folder = folder
        if folder.exists() and not resume:
            raise InputError(
                f"Found the checkpoint {folder.name} of an unfinished run:"
                " add --resume to go on with it, or remove it."
            )
        with _explained():
            folder.mkdir(mode=0o700, exist_ok=resume)
        self._lock = _lock(folder)
        try:
            self._length = 0
            if self._agrees(identity):
                while self._readable(self._length):
                    self._length += 1
        except BaseException:
            self.close()
            raise

    def _agrees(self, identity: dict[str, Any]) -> bool:
        """Whether there are steps of the same run; what no header vouches for is cleared away."""
        try:
            found = dict(json.loads((self._folder / _HEADER).read_text()))
        except (OSError, ValueError, TypeError):
            self._begin(identity)
            return False
        differing = sorted(name for name in identity if found.get(name) != identity[name])
        if differing:
            raise InputError(
                f"The checkpoint {self._folder.name} belongs to a run with another {' and '.join(differing)}:"
                " resume with the same events and options, or remove it."
            )
        return True

    def _begin(self, identity: dict[str, Any]) -> None:
        with _explained():
            for stale in self._folder.glob("step-*.npz"):
                stale.unlink()
        self._put(_HEADER, json.dumps(identity, sort_keys=True).encode())

    def _path(self, number: int) -> Path:
        return self._folder / f"step-{number:07d}.npz"

    def _readable(self, number: int) -> bool:
        try:
            self._load(number)
        except _TORN:
            return False
        return True

    def _load(self, number: int) -> Step:
        with np.load(self._path(number)) as noted:
            picks = None
            if "pick_owners" in noted:
                picks = Picks(*(noted[f"pick_{name}"] for name in Picks._fields))
            return Step(int(noted["window"]), picks, Boxes(*(noted[name] for name in Boxes._fields)))

    def _put(self, name: str, content: bytes) -> None:
        with _explained():
            unfinished = self._folder / f"{name}.part"
            unfinished.write_bytes(content)
            unfinished.replace(self._folder / name)

    def append(self, step: Step) -> None:
        """Note one more step."""
        picks = (
            {}
            if step.picks is None
            else {f"pick_{name}": value for name, value in step.picks._asdict().items()}
        )
        path = self._path(self._length)
        unfinished = path.with_suffix(".part")
        with _explained(), held():
            with unfinished.open("wb") as file:
                np.savez(file, window=np.int64(step.window), **picks, **step.boxes._asdict())
            unfinished.replace(path)
            self._length += 1

    def __iter__(self) -> Iterator[Step]:
        return (self._load(number) for number in range(self._length))

    def __len__(self) -> int:
        return self._length

    def note_writing(self) -> None:
        """From now on files of this run may appear at their final places."""
        self._put(_WRITING, b"")

    def remove(self) -> bool:
        """The run is over: take the folder away, and say whether that worked."""
        shutil.rmtree(self._folder, ignore_errors=True)
        return not self._folder.exists()

    def close(self) -> None:
        """Let another process go on with the folder."""
        os.close(self._lock)


@contextlib.contextmanager
def open_journal(
    folder: Path | None, identity: dict[str, Any], *, resume: bool
) -> Iterator[MemoryJournal | FolderJournal]:
    """The journal of a run: in a folder, or in memory where there is none."""
    if folder is None:
        yield MemoryJournal()
        return
    journal = FolderJournal(folder, identity, resume=resume)
    try:
        yield journal
    except InputError:  # no run on this input can ever succeed, so there is nothing to go on with
        journal.remove()
        raise
    finally:
        journal.close()


def checkpoint_folder(output: Path) -> Path:
    """Where the journal of a run that will publish ``output`` lies."""
    return output.with_name(output.name + ".checkpoint")


def was_writing(folder: Path) -> bool:
    """Whether the run of this journal had begun to put its files in place."""
    return (folder / _WRITING).exists()


def _lock(folder: Path) -> int:
    """Hold the folder against a second process; the operating system lets go when this one ends, however it does."""
    with _explained():
        descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise InputError(
            f"Another run is still at work on the checkpoint {folder.name}: wait for it, or end it first."
        ) from None
    except (ImportError, OSError):  # no locks on this system: two runs at a time are the user's care
        pass
    return descriptor


def _explained() -> contextlib.AbstractContextManager[None]:
    return explained("the checkpoint", "go on with --resume")
