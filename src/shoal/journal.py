"""What a fold has done so far, step by step: in memory, or in a folder from which a killed run goes on.

The folder holds raw-data secrets (who hid whom), so it is readable by its owner only and goes away on success.
"""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from shoal.boxes import Boxes
from shoal.errors import InputError
from shoal.fold import Step
from shoal.hiding.matching import Picks

_HEADER = "run.json"


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
    """A journal on disk, one file per step; a file appears whole or not at all."""

    def __init__(self, folder: Path, identity: dict[str, Any], *, resume: bool) -> None:
        self._folder = folder
        if folder.exists():
            if not resume:
                raise InputError(
                    f"Found the checkpoint {folder.name} of an unfinished run:"
                    " add --resume to go on with it, or remove it."
                )
            self._check(identity)
        else:
            folder.mkdir(mode=0o700)
            self._put(_HEADER, json.dumps(identity, sort_keys=True).encode())
        self._length = 0
        while self._readable(self._length):
            self._length += 1

    def _check(self, identity: dict[str, Any]) -> None:
        try:
            found = json.loads((self._folder / _HEADER).read_text())
        except (OSError, ValueError):
            found = {}
        differing = sorted(name for name in identity if found.get(name) != identity[name])
        if differing:
            raise InputError(
                f"The checkpoint {self._folder.name} belongs to a run with another {' and '.join(differing)}:"
                " resume with the same events and options, or remove it."
            )

    def _path(self, number: int) -> Path:
        return self._folder / f"step-{number:07d}.npz"

    def _readable(self, number: int) -> bool:
        return zipfile.is_zipfile(self._path(number))

    def _put(self, name: str, content: bytes) -> None:
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
        with unfinished.open("wb") as file:
            np.savez(file, window=np.int64(step.window), **picks, **step.boxes._asdict())
        unfinished.replace(path)
        self._length += 1

    def __iter__(self) -> Iterator[Step]:
        for number in range(self._length):
            with np.load(self._path(number)) as noted:
                picks = None
                if "pick_owners" in noted:
                    picks = Picks(*(noted[f"pick_{name}"] for name in Picks._fields))
                yield Step(int(noted["window"]), picks, Boxes(*(noted[name] for name in Boxes._fields)))

    def __len__(self) -> int:
        return self._length

    def remove(self) -> None:
        """The run is over and its files are in place."""
        shutil.rmtree(self._folder)


def checkpoint_folder(output: Path) -> Path:
    """Where the journal of a run that will publish ``output`` lies."""
    return output.with_name(output.name + ".checkpoint")
