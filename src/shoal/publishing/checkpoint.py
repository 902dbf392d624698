"""The folder of a run: its journal, from which a killed run goes on, and what does not fit into memory.

It holds raw data, so it is readable by its owner only; it goes away on success, and samples put aside in it whenever
the run ends.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from shoal.core.options import HidingOptions
from shoal.core.promise import Promise
from shoal.errors import InputError
from shoal.hiding.journal import FolderJournal, Journal, MemoryJournal, check_format
from shoal.reading import Events
from shoal.storage.files import as_unfinished_error, make_private_folder

_LOCK, _WRITING = "lock", "writing"


class Checkpoint:
    """A run's folder, held against other processes; without a folder everything stays in memory."""

    def __init__(self, folder: Path | None, *, resume: bool) -> None:
        self.folder = folder
        self._journal: Journal | None = None
        self._lock: int | None = None
        if folder is None:
            return
        if folder.exists() and not resume:
            raise InputError(
                f"Found the checkpoint {folder.name} of an unfinished run:"
                " add --resume to go on with it, or remove it."
            )
        check_format(folder)
        self._made_here = not folder.exists()
        with as_unfinished_error("the checkpoint", "begin again"):
            make_private_folder(folder, exist_ok=True)
            self._lock = _lock(folder)

    @property
    def samples(self) -> Path | None:
        """Where samples are put aside."""
        return None if self.folder is None else self.folder / "samples"

    @property
    def sorting(self) -> Path | None:
        """Where boxes are put in order."""
        return None if self.folder is None else self.folder / "sorting"

    def journal(self, identity: dict[str, Any]) -> Journal:
        """The journal of a run with this identity: what was noted so far, if anything was."""
        self._journal = MemoryJournal() if self.folder is None else FolderJournal(self.folder, identity)
        return self._journal

    def note_writing(self) -> None:
        """From now on files of this run may appear at their final places."""
        if self.folder is not None:
            with as_unfinished_error("the checkpoint", "go on with --resume"):
                (self.folder / _WRITING).touch()

    def remove(self) -> bool:
        """The run is over: take the folder away, and say whether that worked."""
        if self.folder is None:
            return True
        shutil.rmtree(self.folder, ignore_errors=True)
        return not self.folder.exists()

    def give_up(self, error: BaseException) -> None:
        """The run failed: leave what one can go on with, and nothing else."""
        if self.folder is None:
            return
        hopeless = isinstance(error, InputError) or self._journal is None
        if self._made_here and hopeless:  # what an earlier run has done is not lost for an error of this one
            self.remove()
        elif self.samples is not None:
            shutil.rmtree(self.samples, ignore_errors=True)

    def close(self) -> None:
        """Let another process go on with the folder."""
        if self._lock is not None:
            os.close(self._lock)


@contextlib.contextmanager
def open_checkpoint(folder: Path | None, *, resume: bool) -> Iterator[Checkpoint]:
    """The checkpoint of a run: in a folder, or in memory where there is none."""
    checkpoint = Checkpoint(folder, resume=resume)
    try:
        yield checkpoint
    except BaseException as error:
        checkpoint.give_up(error)
        raise
    finally:
        checkpoint.close()


def checkpoint_folder(output: Path) -> Path:
    """Where the checkpoint of a run that will publish ``output`` lies."""
    return output.with_name(output.name + ".checkpoint")


def was_writing(folder: Path) -> bool:
    """Whether the run of this checkpoint had begun to put its files in place."""
    return (folder / _WRITING).exists()


def _lock(folder: Path) -> int:
    """Hold the folder against a second process; the operating system lets go when this one ends, however it does."""
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


def run_identity(events: Events, promise: Promise, options: HidingOptions) -> dict[str, Any]:
    """What must be equal for one run to go on where another ended."""
    return {
        "dataset": events.store.fingerprint(),
        "k": promise.k,
        "tau": promise.tau,
        "epsilon": promise.epsilon,
        "cell": events.grid.cell_m,
        "step": events.grid.step_s,
        **{name.replace("_", " "): value for name, value in options.deciding().items()},
        **_renaming(events, options),
        "version of shoal": version("shoal"),
    }


def _renaming(events: Events, options: HidingOptions) -> dict[str, Any]:
    """When names change, whatever unit the period was given in, and on whose clock."""
    if options.rename_s is None:
        return {}
    return {"rename every": f"{options.rename_s} s", "time zone": events.timezone}
