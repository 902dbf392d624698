"""Output files: refused at the door where they cannot be written, and written whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from shoal.errors import InputError
from shoal.storage.files import AtomicFiles, reason, unfinished_path

TABLE_SUFFIXES = (".csv", ".parquet")  # of the key, and of other small tables


def check_table(path: Path, title: str = "The table") -> None:
    """Refuse a small table of a kind that is not written."""
    if path.suffix.lower() not in TABLE_SUFFIXES:
        raise InputError(
            f"{title} must end in one of {', '.join(TABLE_SUFFIXES)}, found {path.suffix or 'none'!r}: rename it."
        )


def write_table(path: Path, table: pa.Table, *, force: bool = True) -> None:
    """Write a small table that appears whole or not at all, and replaces another only by force."""
    with AtomicFiles(may_replace=lambda _: force) as files, files.open(path) as file:
        write_rows(table, path, file)


def write_rows(table: pa.Table, path: Path, file: IO[bytes]) -> None:
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


def as_json(content: dict[str, Any]) -> bytes:
    """JSON to read: indented, a line end at its end."""
    return (json.dumps(content, indent=2) + "\n").encode()


def write_whole(path: Path, content: bytes, *, force: bool = True, mode: int = 0o666) -> None:
    """Write a file that appears whole or not at all, and replaces another only by force."""
    with AtomicFiles(may_replace=lambda _: force) as files, files.open(path, mode=mode) as file:
        file.write(content)
