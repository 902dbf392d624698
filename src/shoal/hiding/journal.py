"""What a fold has done so far, step by step: in memory, or in a folder from which a killed run goes on.

What is noted are secrets (who hid whom): the folder must be for its owner only.
"""

from __future__ import annotations

import contextlib
import io
import json
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from shoal.core.boxes import Boxes
from shoal.core.interrupts import defer_interrupts
from shoal.errors import InputError, UnfinishedError
from shoal.hiding.fold import Step
from shoal.hiding.hardening import Witnesses
from shoal.hiding.suppression import NOBODY_MARKED, Marked
from shoal.hiding.window import HidingSets
from shoal.storage.files import CHECKPOINT_CHANGED, as_unfinished_error, write_private

_HEADER = "run.json"
_FORMAT = 3  # of the journal and the checkpoint around it; 1 had no number, 2 no epochs of witnesses
_MARKED = "marked-{}.npz"  # without whom everything began anew, by how often it had
_TORN = (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile, zlib.error)


class Journal(Protocol):
    """Steps in the order of time; appending is all that happens to it until everything begins anew without some users.

    marked: the users who are left out since then, by epoch; secret.
    """

    @property
    def marked(self) -> Marked:
        """Users who are not published in some epochs, as limits on boxes need it."""

    def begin_anew(self, marked: Marked) -> None:
        """Forget all steps: everything is done again without these users."""

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
        self.marked: Marked = NOBODY_MARKED

    def begin_anew(self, marked: Marked) -> None:
        """Forget all steps."""
        self._steps, self.marked = [], marked

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
        self._round, self.marked = 0, NOBODY_MARKED
        if self._agrees(identity):
            self._round, self.marked = self._latest_round()
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
            for stale in (*self._folder.glob("step-*.npz"), *self._folder.glob(_MARKED.format("*"))):
                stale.unlink()
        self._put(_HEADER, json.dumps({"format": _FORMAT, **identity}, sort_keys=True).encode())

    def _path(self, number: int) -> Path:
        anew = f"{self._round}-" if self._round else ""
        return self._folder / f"step-{anew}{number:07d}.npz"

    def _latest_round(self) -> tuple[int, Marked]:
        """How often everything has begun anew, and without whom the last time."""
        rounds = [int(path.stem.rpartition("-")[2]) for path in self._folder.glob(_MARKED.format("*"))]
        if not rounds:
            return 0, NOBODY_MARKED
        latest = max(rounds)
        try:
            with np.load(self._folder / _MARKED.format(latest)) as noted:
                epochs = noted["epochs"].tolist()
                return latest, {epoch: noted[f"arr_{place}"] for place, epoch in enumerate(epochs)}
        except _TORN:
            raise UnfinishedError(CHECKPOINT_CHANGED) from None

    def begin_anew(self, marked: Marked) -> None:
        """Forget all steps; what is left of earlier rounds, should the process be killed now, is not read again."""
        content = io.BytesIO()
        np.savez(content, *marked.values(), epochs=np.array([*marked], np.int64))
        earlier = [self._path(number) for number in range(self._length)]
        earlier += [self._folder / _MARKED.format(self._round)] if self._round else []
        self._put(_MARKED.format(self._round + 1), content.getvalue())
        self._round, self._length, self.marked = self._round + 1, 0, marked
        with _explained():
            for path in earlier:
                path.unlink(missing_ok=True)

    def _readable(self, number: int) -> bool:
        try:
            self._load(number)
        except _TORN:
            return False
        return True

    def _load(self, number: int) -> Step:
        with np.load(self._path(number)) as noted:
            hiding_sets = None
            if "hiding_owners" in noted:
                hiding_sets = HidingSets(*(noted[f"hiding_{name}"] for name in HidingSets._fields))
            witnesses = Witnesses(*(noted[f"witness_{name}"] for name in Witnesses._fields))
            return Step(
                int(noted["first_epoch"]),
                hiding_sets,
                Boxes(*(noted[name] for name in Boxes._fields)),
                witnesses,
            )

    def _put(self, name: str, content: bytes) -> None:
        with _explained():
            unfinished = self._folder / f"{name}.part"
            with write_private(unfinished) as file:
                file.write(content)
            unfinished.replace(self._folder / name)

    def append(self, step: Step) -> None:
        """Note one more step."""
        hiding_sets = (
            {}
            if step.hiding_sets is None
            else {f"hiding_{name}": value for name, value in step.hiding_sets._asdict().items()}
        )
        witnesses = {f"witness_{name}": value for name, value in step.witnesses._asdict().items()}
        path = self._path(self._length)
        unfinished = path.with_suffix(".part")
        with _explained(), defer_interrupts():
            with write_private(unfinished) as file:
                np.savez(
                    file,
                    first_epoch=np.int64(step.first_epoch),
                    **hiding_sets,
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
