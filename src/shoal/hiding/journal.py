"""What a fold has done so far, step by step: in memory, or in a folder from which a killed run goes on.

What is noted are secrets (who hid whom): the folder must be for its owner only.
"""

from __future__ import annotations

import contextlib
import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from shoal.core.boxes import Boxes
from shoal.core.interrupts import defer_interrupts
from shoal.errors import InputError, UnfinishedError
from shoal.hiding.fold import DecidedWindow, Step
from shoal.hiding.hardening import Witnesses
from shoal.hiding.window import HidingSets
from shoal.storage.files import CHECKPOINT_CHANGED, as_unfinished_error, write_private

_HEADER = "run.json"
_FORMAT = (
    4  # of the journal and the checkpoint around it; 3 had one window in a step, 2 no epochs of witnesses
)
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

    def __init__(self, folder: Path, identity: dict[str, Any]) -> None:
        self._folder = folder
        self._length = 0
        if self._agrees(identity):
            while self._readable(self._length):
                self._length += 1

    def _agrees(self, identity: dict[str, Any]) -> bool:
        """Whether there are steps of the same run; steps without a readable header are cleared away."""
        check_format(self._folder)
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
        self._put(_HEADER, json.dumps({"format": _FORMAT, **identity}, sort_keys=True).encode())

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
            witnesses = Witnesses(*(noted[f"witness_{name}"] for name in Witnesses._fields))
            return Step(
                _windows_among(noted, "hiding"),
                Boxes(*(noted[name] for name in Boxes._fields)),
                witnesses,
                _windows_among(noted, "tentative"),
            )

    def _put(self, name: str, content: bytes) -> None:
        with _explained():
            unfinished = self._folder / f"{name}.part"
            with write_private(unfinished) as file:
                file.write(content)
            unfinished.replace(self._folder / name)

    def append(self, step: Step) -> None:
        """Note one more step."""
        windows = _columns(step.windows, "hiding") | _columns(step.tentative, "tentative")
        witnesses = {f"witness_{name}": value for name, value in step.witnesses._asdict().items()}
        path = self._path(self._length)
        unfinished = path.with_suffix(".part")
        with _explained(), defer_interrupts():
            with write_private(unfinished) as file:
                np.savez(
                    file,
                    **windows,
                    **witnesses,
                    **step.boxes._asdict(),
                )
            unfinished.replace(path)
            self._length += 1

    def __iter__(self) -> Iterator[Step]:
        return (self._kept(number) for number in range(self._length))

    def _kept(self, number: int) -> Step:
        try:
            return self._load(number)
        except _TORN:
            raise UnfinishedError(CHECKPOINT_CHANGED) from None

    def __len__(self) -> int:
        return self._length


def _columns(windows: tuple[DecidedWindow, ...], kind: str) -> dict[str, Any]:
    """Windows as named arrays, numbered from 0."""
    columns: dict[str, Any] = {}
    for number, window in enumerate(windows):
        columns[f"{kind}{number}_epochs"] = np.array([window.first_epoch, window.last_epoch], np.int64)
        for name, values in window.hiding_sets._asdict().items():
            columns[f"{kind}{number}_{name}"] = values
    return columns


def _windows_among(noted: Mapping[str, npt.NDArray[Any]], kind: str) -> tuple[DecidedWindow, ...]:
    """The windows that ``_columns`` wrote."""
    windows: list[DecidedWindow] = []
    while f"{kind}{len(windows)}_epochs" in noted:
        first, last = noted[f"{kind}{len(windows)}_epochs"].tolist()
        hiding_sets = HidingSets(*(noted[f"{kind}{len(windows)}_{name}"] for name in HidingSets._fields))
        windows.append(DecidedWindow(first, last, hiding_sets))
    return tuple(windows)


def check_format(folder: Path) -> None:
    """Refuse a folder with the journal of another version; one without a readable header is begun anew later."""
    try:
        found = dict(json.loads((folder / _HEADER).read_text())).get("format")
    except (OSError, ValueError, TypeError):
        return
    if found != _FORMAT:
        kind = "an older one" if found is None else f"format {found!r}"
        raise InputError(
            f"The checkpoint {folder.name} must be of format {_FORMAT}, found {kind}: resume it with the version of"
            " shoal that made it, or remove it."
        )


def _explained() -> contextlib.AbstractContextManager[None]:
    return as_unfinished_error("the checkpoint", "go on with --resume")
