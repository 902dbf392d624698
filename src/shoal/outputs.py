"""Where a release goes: checked before long work begins, written when it is done."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from shoal.atomic import AtomicFiles, reason, unfinished_path
from shoal.checkpoint import checkpoint_folder, was_writing
from shoal.errors import InputError
from shoal.naming import NamedBoxes
from shoal.promise import Grid
from shoal.reading.projection import Plane
from shoal.schema import MANIFEST_SUFFIX
from shoal.writing import key_table, suffix_of, write_published

TABLE_SUFFIXES = (".csv", ".parquet")  # of the key, and of other small tables


class Outputs(NamedTuple):
    """The files of a release: the published table, its manifest beside it, and the key and summary if asked for."""

    published: Path
    key: Path | None = None
    summary: Path | None = None

    @property
    def manifest(self) -> Path:
        """What is told about the release."""
        return self.published.with_name(self.published.name + MANIFEST_SUFFIX)

    @property
    def checkpoint(self) -> Path:
        """From where a killed run goes on."""
        return checkpoint_folder(self.published)

    @property
    def files(self) -> list[Path]:
        """Everything that appears in the end."""
        wanted = (self.published, self.manifest, self.key, self.summary)
        return [path for path in wanted if path is not None]


def check_outputs(outputs: Outputs, inputs: Iterable[Path], *, force: bool, resume: bool) -> None:
    """Refuse outputs that could not be written in the end, or that would destroy something."""
    suffix_of(outputs.published)
    if outputs.key is not None:
        check_table(outputs.key, "The key")
    # A run that was killed while its files appeared may find some of them, and has every right to replace them.
    force = force or (resume and was_writing(outputs.checkpoint))
    sources = list(inputs)
    for path in outputs.files:
        check_target(path, sources, force=force)
    if len({path.resolve() for path in outputs.files}) < len(outputs.files):
        raise InputError(
            "The published file, its manifest, the key and the summary must be different files: rename one."
        )
    if not outputs.checkpoint.exists():
        return
    if not outputs.checkpoint.is_dir():
        raise InputError(
            f"{outputs.checkpoint.name} must become a folder but is a file: rename or remove it."
        )
    if not resume:
        raise InputError(
            f"Found {outputs.checkpoint.name}, the checkpoint of an unfinished run:"
            " add --resume to go on with it, or remove it."
        )


def check_table(path: Path, title: str = "The table") -> None:
    """Refuse a small table of a kind that is not written."""
    if path.suffix.lower() not in TABLE_SUFFIXES:
        raise InputError(
            f"{title} must end in one of {', '.join(TABLE_SUFFIXES)}, found {path.suffix or 'none'!r}: rename it."
        )


def write_table(path: Path, table: pa.Table) -> None:
    """Write a small table that appears whole or not at all."""
    with AtomicFiles() as files, files.open(path) as file:
        _write_rows(table, path, file)


def _write_rows(table: pa.Table, path: Path, file: IO[bytes]) -> None:
    if path.suffix.lower() == ".csv":
        pyarrow.csv.write_csv(table, file)
    else:
        pyarrow.parquet.write_table(table, file)


def check_page(path: Path) -> None:
    """Refuse a page that no browser would take for one."""
    if path.suffix.lower() != ".html":
        raise InputError(f"The page must end in .html, found {path.suffix or 'none'!r}: rename it.")


def check_folder(path: Path, inputs: Iterable[Path], *, force: bool) -> None:
    """Refuse a folder that holds something (unless forced), that cannot be made, or that belongs to the input."""
    if path.exists() and not path.is_dir():
        raise InputError(f"The output {path.name} must be a folder but is a file: choose another name.")
    if path.is_dir() and any(path.iterdir()) and not force:
        raise InputError(
            f"The folder {path.name} is not empty: add --force to write into it, or choose another."
        )
    check_target(path / "trial" if path.is_dir() else path, inputs, force=True)


def check_target(path: Path, inputs: Iterable[Path], *, force: bool) -> None:
    """Refuse a file that cannot be made, that is there already (unless forced), or that belongs to the input."""
    try:
        if any(_inside(path, source) for source in inputs):
            raise InputError(
                f"The output {path.name} would overwrite or join the input: choose another place."
            )
        if not path.parent.is_dir():
            lack = "is a file" if path.parent.exists() else "does not exist"
            raise InputError(f"The folder for {path.name} {lack}: choose another, or create it first.")
        if path.is_dir():
            raise InputError(f"The output {path.name} is a folder: name a file.")
        if path.exists() and not path.is_file():
            raise InputError(f"The output {path.name} is a device or a pipe: name a file.")
        if not force and (path.exists() or path.is_symlink()):
            raise InputError(
                f"{path.name} exists already: add --force to replace it, or choose another name."
            )
        _try_out(path)
    except OSError as error:
        raise InputError(
            f"The output {path.name} cannot be written ({reason(error)}): choose another place or name."
        ) from None
    except RuntimeError:
        raise InputError(f"The path of {path.name} leads in circles: choose another place.") from None


def _inside(path: Path, source: Path) -> bool:
    """Whether a file is the input, or lies in the folder that is."""
    target, origin = path.resolve(), source.resolve()
    return target == origin or (source.is_dir() and origin in target.parents)


def _try_out(path: Path) -> None:
    """Make and remove a file as it will be made in the end: permissions alone do not tell all."""
    trial = unfinished_path(path)
    os.close(os.open(trial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    trial.unlink()


def write_outputs(
    outputs: Outputs,
    named: NamedBoxes,
    users: np.typing.NDArray[np.object_],
    grid: Grid,
    projection: Plane | None,
    *,
    manifest: dict[str, Any],
    summary: dict[str, Any],
    check: Callable[[object], None] | None = None,
    spill: Path | None = None,
) -> None:
    """Put all files of a release in place, or none; the published one last, after ``check`` was shown it.

    What the check finds may still enter the manifest and the summary. The boxes are put in order in files in the
    folder ``spill``, or in memory without one.
    """
    notes = {name: manifest[name] for name in ("format", "promise", "grid")}
    with AtomicFiles(then="go on with --resume") as files:
        if outputs.key is not None:
            with files.open(outputs.key, mode=0o600) as file:
                _write_rows(key_table(named, users), outputs.key, file)
        with files.open(outputs.published) as file:
            write_published(file, suffix_of(outputs.published), named, grid, projection, notes, spill)
        if check is not None:
            check(files.waiting(outputs.published))
        if outputs.summary is not None:
            with files.open(outputs.summary, before=outputs.published) as file:
                file.write(as_json(summary))
        with files.open(outputs.manifest, before=outputs.published) as file:
            file.write(as_json(manifest))


def as_json(content: dict[str, Any]) -> bytes:
    """JSON to read: indented, a line end at its end."""
    return (json.dumps(content, indent=2) + "\n").encode()


def write_whole(path: Path, content: bytes, *, mode: int = 0o666) -> None:
    """Write a file that appears whole or not at all."""
    with AtomicFiles() as files, files.open(path, mode=mode) as file:
        file.write(content)
