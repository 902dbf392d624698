"""Files that hold raw data: readable by their owner only, and failures of the disk in our own words."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from shoal.errors import UnfinishedError
from shoal.storage.atomic import reason

CHANGED = "Files of the checkpoint were changed or removed while they were in use: begin again."


@contextlib.contextmanager
def explained(what: str, then: str) -> Iterator[None]:
    """Say ``what`` could not be written, and what to do ``then``, once the cause is mended."""
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
