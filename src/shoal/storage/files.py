"""Files that appear whole or not at all, private files, checksums, and what goes wrong on a disk."""

from __future__ import annotations

import contextlib
import glob
import hashlib
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, NamedTuple

from shoal.core.interrupts import InterruptedAfterwards, defer_interrupts
from shoal.errors import UnfinishedError

_OWNER_ONLY = 0o600
CHECKPOINT_CHANGED = "Files of the checkpoint were changed or removed while they were in use: begin again."


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def unfinished_path(target: Path) -> Path:
    """A name beside ``target`` for what is not ready to be seen, different every time; the suffix stays."""
    return target.with_name(f".part.{secrets.token_hex(4)}.{target.name}")


def remove_leftovers(target: Path) -> None:
    """Remove the unfinished files that killed runs left beside ``target``."""
    for leftover in target.parent.glob(f".part.????????.{glob.escape(target.name)}"):
        leftover.unlink(missing_ok=True)


class _WaitingFile(NamedTuple):
    """A file that is written under another name, and the permissions that it has in the end."""

    unfinished: Path
    target: Path
    permissions: int


class AtomicFiles:
    """Several files that appear together at the end of a ``with`` block, or none of them if it fails.

    Until then they are for their owner only. Files that were there before are replaced, and come back if a later one
    cannot be put in place; where they ``may_replace`` none, one that appeared meanwhile is a failure, too. ``then`` is
    what to do once the cause of a failure is mended. An interruption while files are put in place waits for the end.
    """

    def __init__(
        self, then: str = "try again", *, may_replace: Callable[[Path], bool] = lambda _: True
    ) -> None:
        self._then, self._may_replace = then, may_replace
        self._waiting: list[_WaitingFile] = []

    def __enter__(self) -> AtomicFiles:
        return self

    @contextlib.contextmanager
    def open(self, target: Path, *, mode: int = 0o666, before: Path | None = None) -> Iterator[IO[bytes]]:
        """A file to write in place of ``target``; it appears after those opened earlier, or just ``before`` one.

        In the end it gets the permissions that a new file of this ``mode`` has there.
        """
        remove_leftovers(target)
        waiting = _WaitingFile(unfinished_path(target), target, _permissions_of_new_file(target, mode))
        descriptor = os.open(waiting.unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY)
        targets = [other.target for other in self._waiting]
        self._waiting.insert(targets.index(before) if before else len(targets), waiting)
        with os.fdopen(descriptor, "wb") as file:
            yield file
            if not file.closed:
                file.flush()
                os.fsync(file.fileno())

    def waiting(self, target: Path) -> Path:
        """Where what was written in place of ``target`` is until the end."""
        return next(file.unfinished for file in self._waiting if file.target == target)

    @property
    def identities(self) -> list[str]:
        """What tells each file from all others, here and later in its place."""
        return [file_identity(file.unfinished) for file in self._waiting]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        in_place = False
        try:
            with defer_interrupts():
                try:
                    if kind is None:
                        self._put_in_place()
                        in_place = True
                except OSError as refused:
                    error = refused
                finally:
                    self._tidy_up()
        except KeyboardInterrupt as interrupt:
            if in_place:
                raise InterruptedAfterwards(*interrupt.args) from None
            raise
        if isinstance(error, OSError):
            raise UnfinishedError(
                f"Could not write the output ({reason(error)}): nothing was published;"
                f" make room or mend that, then {self._then}."
            ) from error

    def _tidy_up(self) -> None:
        for file in self._waiting:
            file.unfinished.unlink(missing_ok=True)

    def _put_in_place(self) -> None:
        """Move every file to its name; on a failure undo those moved already."""
        moved: list[tuple[Path, Path | None]] = []
        try:
            for unfinished, target, permissions in self._waiting:
                unfinished.chmod(permissions)
                if self._may_replace(target):
                    moved.append((target, _second_name(target)))
                    unfinished.replace(target)
                elif _move_to_new(unfinished, target):
                    moved.append((target, None))
                else:
                    raise UnfinishedError(
                        f"{target.name} appeared while this run was at work, and is not overwritten: nothing was"
                        f" published; move it away or choose another name, then {self._then}."
                    )
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


def _permissions_of_new_file(target: Path, mode: int) -> int:
    """What a file of this mode may be read and written by, once the umask and the folder's rules are applied.

    An empty file is made to find out: Python can ask for the umask only by changing it for all threads.
    """
    trial = unfinished_path(target)
    descriptor = os.open(trial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        return stat.S_IMODE(os.fstat(descriptor).st_mode)
    finally:
        os.close(descriptor)
        trial.unlink()


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


def _move_to_new(unfinished: Path, target: Path) -> bool:
    """Give a file its name; False where there is one of that name already."""
    try:
        os.link(unfinished, target)
    except FileExistsError:
        return False
    except OSError:  # a file system without links
        if target.exists() or target.is_symlink():
            return False
        unfinished.replace(target)
    return True


def file_identity(path: Path) -> str:
    """What tells a file from all others in its folder, whatever its name, as long as nobody writes to it."""
    found = path.stat(follow_symlinks=False)
    return f"{found.st_ino} {found.st_size} {found.st_mtime_ns}"


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
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, _OWNER_ONLY), "ab")


def write_private(path: Path) -> IO[bytes]:
    """A new file for its owner only."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _OWNER_ONLY), "wb")


def make_private_folder(folder: Path, *, exist_ok: bool = False) -> None:
    """A folder for its owner only, also where it was there before."""
    folder.mkdir(mode=0o700, exist_ok=exist_ok)
    folder.chmod(0o700)
