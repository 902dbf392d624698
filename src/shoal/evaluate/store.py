"""Points of a sweep that are measured already: kept in a folder from which an interrupted sweep goes on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, Protocol

from shoal.errors import InputError, UnfinishedError
from shoal.storage.files import reason

_HEADER = "sweep.json"


class Store(Protocol):
    """What was measured, by name."""

    def get(self, name: str) -> Any:
        """What was kept under a name, or None."""

    def put(self, name: str, value: Any) -> None:
        """Keep a value."""


class MemoryStore:
    """Ends with the process."""

    def __init__(self) -> None:
        self._kept: dict[str, Any] = {}

    def get(self, name: str) -> Any:
        """What was kept under a name, or None."""
        return self._kept.get(name)

    def put(self, name: str, value: Any) -> None:
        """Keep a value."""
        self._kept[name] = value


class FolderStore:
    """A file per point. The header tells the sweep apart from others; it is secret like the events (mode 0700)."""

    def __init__(self, folder: Path, identity: dict[str, Any], *, resume: bool) -> None:
        self._folder = folder
        if folder.exists() and not resume:
            raise InputError(
                f"Found {folder.name} of an unfinished sweep: add --resume to go on with it, or remove it."
            )
        try:
            folder.mkdir(mode=0o700, exist_ok=resume)
        except OSError as error:
            raise _unwritable(error) from error
        noted = self.get(_HEADER)
        if noted is None:
            self.put(_HEADER, identity)
        elif noted != identity:
            raise InputError(
                f"{folder.name} belongs to a sweep of other events or settings:"
                " resume with the same, or remove it."
            )

    def get(self, name: str) -> Any:
        """What was kept under a name, or None."""
        try:
            return json.loads((self._folder / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def put(self, name: str, value: Any) -> None:
        """Keep a value; it appears whole or not at all."""
        try:
            unfinished = self._folder / f"{name}.part"
            unfinished.write_text(json.dumps(value), encoding="utf-8")
            unfinished.replace(self._folder / name)
        except OSError as error:
            raise _unwritable(error) from error


def checkpoint_of(output: Path) -> Path:
    """Where a sweep into a folder keeps what it has measured."""
    return output.with_name(output.name + ".checkpoint")


def remove(checkpoint: Path) -> None:
    """Nothing is left to go on with."""
    shutil.rmtree(checkpoint, ignore_errors=True)


def _unwritable(error: OSError) -> UnfinishedError:
    return UnfinishedError(
        f"Could not keep what was measured ({reason(error)}): make room or mend that, then go on with --resume."
    )
