"""The folder of a run: its journal, from which a killed run goes on, and what does not fit into memory.

It holds raw data, so it is readable by its owner only; it goes away on success, and samples put aside in it whenever
the run ends.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from shoal.core.interrupts import InterruptedAfterwards, LeftBehind, defer_interrupts
from shoal.core.options import HidingOptions
from shoal.core.promise import Promise
from shoal.errors import InputError
from shoal.hiding.journal import FolderJournal, Journal, MemoryJournal, check_format
from shoal.reading import Events
from shoal.storage.files import append_private, as_unfinished_error, file_identity, make_private_folder
from shoal.storage.locks import is_locked, take_lock

_LOCK, _PLACING = "lock", "placing"


class Checkpoint:
    """A run's folder, held against other processes; without a folder everything stays in memory."""

    def __init__(self, folder: Path | None, *, resume: bool) -> None:
        self.folder = folder
        self._journal: Journal | None = None
        self._lock: int | None = None
        self._finished = False
        if folder is None:
            return
        check_checkpoint(folder, resume=resume)
        check_format(folder)
        self._made_here = not folder.exists()
        with as_unfinished_error("the checkpoint", "begin again"):
            make_private_folder(folder, exist_ok=True)
            self._lock = take_lock(folder / _LOCK)
        if self._lock is None:
            raise _busy(folder)

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

    def note_placing(self, identities: Iterable[str]) -> None:
        """From now on files with these identities may appear at their final places, beside those of an earlier try."""
        if self.folder is not None:
            with (
                as_unfinished_error("the checkpoint", "go on with --resume"),
                append_private(self.folder / _PLACING) as file,
            ):
                file.write("".join(f"{identity}\n" for identity in identities).encode())

    def remove(self) -> bool:
        """The run is over: take the folder away, and say whether that worked."""
        self._finished = True
        if self.folder is None:
            return True
        shutil.rmtree(self.folder, ignore_errors=True)
        return not self.folder.exists()

    def give_up(self, error: BaseException) -> str:
        """The run failed: leave what one can go on with and nothing else, and say what that is."""
        if self.folder is None or self.samples is None:
            return "Nothing was published."
        if self._finished or isinstance(error, InterruptedAfterwards):
            removed = self.remove()
            return "" if removed else f"{self.folder.name} could not be removed and holds secrets: remove it."
        hopeless = isinstance(error, InputError) or self._journal is None
        # What an earlier run has done is not lost for an error of this one.
        if self._made_here and hopeless and self.remove():
            return "Nothing was published, and nothing is left behind."
        shutil.rmtree(self.samples, ignore_errors=True)
        secrets = "raw samples and who hides whom" if self.samples.exists() else "who hides whom"
        return (
            f"Nothing was published. {self.folder.name} is left, readable by you alone, and tells {secrets}:"
            " go on with --resume, or remove it."
        )

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
        with defer_interrupts():
            left = checkpoint.give_up(error)
            if left:
                error.add_note(LeftBehind(left))
        raise
    finally:
        checkpoint.close()


def checkpoint_folder(output: Path) -> Path:
    """Where the checkpoint of a run that will publish ``output`` lies."""
    return output.with_name(output.name + ".checkpoint")


def check_checkpoint(folder: Path, *, resume: bool) -> None:
    """Refuse a checkpoint at which another run is at work, or that is not meant to be resumed."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InputError(f"{folder.name} must become a folder but is a file: rename or remove it.")
    if is_locked(folder / _LOCK):
        raise _busy(folder)
    if not resume:
        raise InputError(
            f"Found {folder.name}, the checkpoint of an unfinished run:"
            " add --resume to go on with it, or remove it."
        )


def _busy(folder: Path) -> InputError:
    return InputError(
        f"Another run is still at work on the checkpoint {folder.name}: wait for it, or choose another output."
    )


def was_placed(folder: Path, path: Path) -> bool:
    """Whether a file was put in place by the run of this checkpoint, which did not live to see the end of that."""
    try:
        placed = (folder / _PLACING).read_text().splitlines()
        return file_identity(path) in placed
    except OSError:
        return False


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
