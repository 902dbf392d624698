"""Files that one run at a time can hold, so that two runs do not write the same output."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from shoal.errors import InputError
from shoal.storage.files import as_unfinished_error

_OWNER_ONLY = 0o600


def take_lock(path: Path) -> int | None:
    """Hold an empty file, made where there is none; None where another run holds it.

    It is held until the descriptor is closed; the operating system lets go of it when the process ends, however it
    does.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, _OWNER_ONLY)
    if _lock(descriptor):
        return descriptor
    os.close(descriptor)
    return None


def is_locked(path: Path) -> bool:
    """Whether another run holds a file; the file is not made."""
    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        return not _lock(descriptor)
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """Try to lock an open file; on a system without locks two runs at a time are the user's care."""
    try:
        import fcntl  # not on Windows

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return True
    return True


@contextlib.contextmanager
def reserved(target: Path) -> Iterator[None]:
    """Inside a ``with`` block refuse other runs that would write ``target``, by a hidden file beside it."""
    lock = target.parent.resolve() / f".lock.{target.name}"
    with as_unfinished_error(f"the lock of {target.name}", "begin again"):
        descriptor = take_lock(lock)
        # Whoever held the file removes it in the end: one that was opened just before that is nobody's any more.
        while descriptor is not None and not _is_at(lock, descriptor):
            os.close(descriptor)
            descriptor = take_lock(lock)
    if descriptor is None:
        raise InputError(
            f"Another run that writes {target.name} is still at work: wait for it, or choose another name."
        )
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
        os.close(descriptor)


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
