"""Where a release goes: checked before long work begins, written when it is done."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.csv
import pyarrow.parquet

from shoal.errors import InputError
from shoal.journal import checkpoint_folder
from shoal.naming import NamedBoxes
from shoal.promise import Grid
from shoal.reading.projection import Projection
from shoal.writing import AtomicFiles, key_table, suffix_of, write_published

KEY_SUFFIXES = (".csv", ".parquet")


class Outputs(NamedTuple):
    """The files of a release: the published table, its manifest beside it, and the key if it is asked for."""

    published: Path
    key: Path | None = None

    @property
    def manifest(self) -> Path:
        """What is told about the release."""
        return self.published.with_name(self.published.name + ".manifest.json")

    @property
    def checkpoint(self) -> Path:
        """From where a killed run goes on."""
        return checkpoint_folder(self.published)

    @property
    def files(self) -> list[Path]:
        """Everything that appears in the end."""
        return [self.published, self.manifest] + ([self.key] if self.key else [])


def check_outputs(outputs: Outputs, source: Path | None, *, force: bool, resume: bool) -> None:
    """Refuse outputs that could not be written in the end, or that would destroy something."""
    suffix_of(outputs.published)
    if outputs.key is not None and outputs.key.suffix.lower() not in KEY_SUFFIXES:
        raise InputError(f"The key must end in one of {', '.join(KEY_SUFFIXES)}: rename it.")
    if len({path.resolve() for path in outputs.files}) < len(outputs.files):
        raise InputError("The published file, its manifest and the key must be different files: rename one.")
    for path in outputs.files:
        _check_target(path, source, force=force)
    if outputs.checkpoint.exists() and not resume:
        raise InputError(
            f"Found {outputs.checkpoint.name}, the checkpoint of an unfinished run:"
            " add --resume to go on with it, or remove it."
        )


def _check_target(path: Path, source: Path | None, *, force: bool) -> None:
    if source is not None and _inside(path, source):
        raise InputError(f"The output {path.name} would overwrite or join the input: choose another place.")
    if not path.parent.is_dir():
        raise InputError(f"The folder for {path.name} does not exist: create it first.")
    if not os.access(path.parent, os.W_OK):
        raise InputError(f"The folder for {path.name} cannot be written to: choose another.")
    if path.is_dir():
        raise InputError(f"The output {path.name} is a folder: name a file.")
    if path.exists() and not force:
        raise InputError(f"{path.name} exists already: add --force to replace it, or choose another name.")


def _inside(path: Path, source: Path) -> bool:
    """Whether a file is the input, or lies in the folder that is."""
    target, origin = path.resolve(), source.resolve()
    return target == origin or (source.is_dir() and origin in target.parents)


def write_outputs(
    outputs: Outputs,
    named: NamedBoxes,
    users: np.typing.NDArray[np.object_],
    grid: Grid,
    projection: Projection | None,
    manifest: dict[str, Any],
) -> None:
    """Put all files of a release in place, or none."""
    notes = {name: manifest[name] for name in ("format", "promise", "grid")}
    with AtomicFiles() as files:
        if outputs.key is not None:
            with files.open(outputs.key, mode=0o600) as file:
                key = key_table(named, users)
                if outputs.key.suffix.lower() == ".csv":
                    pyarrow.csv.write_csv(key, file)
                else:
                    pyarrow.parquet.write_table(key, file)
        with files.open(outputs.manifest) as file:
            file.write((json.dumps(manifest, indent=2) + "\n").encode())
        with files.open(outputs.published) as file:
            write_published(file, suffix_of(outputs.published), named, grid, projection, notes)
