"""Files that appear whole or not at all, private files, and what goes wrong on a disk."""

from __future__ import annotations

import contextlib
import glob
import os
import secrets
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, TracebackType
from typing import IO

from shoal.errors import UnfinishedError

CHECKPOINT_CHANGED = "Files of the checkpoint were changed or removed while they were in use: begin again."


def unfinished_path(target: Path) -> Path:
    """A name beside ``target`` for what is not ready to be seen, different every time; the suffix stays."""
    return target.with_name(f".part.{secrets.token_hex(4)}.{target.name}")


def remove_leftovers(target: Path) -> None:
    """Remove the unfinished files that killed runs left beside ``target``."""
    for leftover in target.parent.glob(f".part.????????.{glob.escape(target.name)}"):
        leftover.unlink(missing_ok=True)


class AtomicFiles:
    """Several files that appear together at the end of a ``with`` block, or none of them if it fails.

    Files that were there before are replaced, and come back if a later one cannot be put in place. ``then`` is what to
    do once the cause of a failure is mended.
    """

    def __init__(self, then: str = "try again") -> None:
        self._then = then
        self._waiting: list[tuple[Path, Path]] = []

    def __enter__(self) -> AtomicFiles:
        return self

    @contextlib.contextmanager
    def open(self, target: Path, *, mode: int = 0o666, before: Path | None = None) -> Iterator[IO[bytes]]:
        """A file to write in place of ``target``; it appears after those opened earlier, or just ``before`` one."""
        remove_leftovers(target)
        unfinished = unfinished_path(target)
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        place = [wanted for _, wanted in self._waiting].index(before) if before else len(self._waiting)
        self._waiting.insert(place, (unfinished, target))
        with os.fdopen(descriptor, "wb") as file:
            yield file
            if not file.closed:
                file.flush()
                os.fsync(file.fileno())

    def waiting(self, target: Path) -> Path:
        """Where what was written in place of ``target`` is until the end."""
        return next(unfinished for unfinished, wanted in self._waiting if wanted == target)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._put_in_place()
        except OSError as refused:
            error = refused
        finally:
            self._tidy_up()
        if isinstance(error, OSError):
            raise UnfinishedError(
                f"Could not write the output ({reason(error)}): nothing was published;"
                f" make room or mend that, then {self._then}."
            ) from error

    def _tidy_up(self) -> None:
        for unfinished, _ in self._waiting:
            unfinished.unlink(missing_ok=True)

    def _put_in_place(self) -> None:
        """Move every file to its name; on a failure undo those moved already."""
        moved: list[tuple[Path, Path | None]] = []
        try:
            for unfinished, target in self._waiting:
                earlier = _second_name(target)
                moved.append((target, earlier))
                unfinished.replace(target)
        except BaseException:
            for target, earlier in reversed(moved):
                if earlier is None:
                    target.unlink(missing_ok=True)
                    continue
                earlier.replace(target)
                earlier.unlink(missing_ok=True)  # still there where both are names of one file
            raise
        for _, earlier in moved:
            if earlier is not None:
                earlier.unlink(missing_ok=True)


def _second_name(target: Path) -> Path | None:
    """Another name for a file that is about to be replaced; None where there is no such file."""
    if not target.exists() and not target.is_symlink():
        return None
    second = unfinished_path(target)
    try:
        os.link(target, second, follow_symlinks=False)
    except OSError:  # a file system without links: for a moment there is no file of that name
        target.replace(second)
    return second


def reason(error: OSError) -> str:
    """What the operating system says, without the path that Python adds."""
    return error.strerror or "input/output error"


@contextlib.contextmanager
def as_unfinished_error(what: str, then: str) -> Iterator[None]:
    """Disk errors as UnfinishedError: ``what`` could not be written, and what to do ``then``, once that is mended."""
    try:
        yield
    except OSError as error:
        raise UnfinishedError(
            f"Could not write {what} ({reason(error)}): nothing was published;"
            f" make room or mend that, then {then}."
        ) from error


def append_private(path: Path) -> IO[bytes]:
    """A file to write at the end of, made for its owner only where there is none."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")


def write_private(path: Path) -> IO[bytes]:
    """A new file for its owner only."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")


@contextlib.contextmanager
def defer_interrupts() -> Iterator[None]:
    """Delay the effect of Ctrl-C to the end of a ``with`` block. For short work only.

    A library that is interrupted while it writes may fail on its way out with an error of its own, which then hides
    the interruption. Outside the main thread Ctrl-C does not arrive, and nothing is done.
    """
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(usual):
        yield
        return
    arrived: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: arrived.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
    if arrived:
        usual(*arrived[0])
