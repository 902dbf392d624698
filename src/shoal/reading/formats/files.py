"""Files of a format: one, or those of a folder. Messages number them, since their names may be of people."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from shoal.errors import InputError
from shoal.reading.opening import refuse_spreadsheets


class Files(NamedTuple):
    """Files to read one after the other; ``root`` is the folder they are in, ``others`` counts what is left."""

    title: str
    root: Path
    paths: list[Path]
    others: int
    in_folder: bool

    def title_of(self, number: int) -> str:
        """What messages call the file of a number, counted from 0."""
        if self.in_folder:
            return f"File {number + 1} of {len(self.paths)} in {self.title[0].lower()}{self.title[1:]}"
        return self.title

    @property
    def warnings(self) -> list[str]:
        """What to say of files that are not read."""
        return [f"{self.others:,} other files in the folder were not read."] if self.others else []


def find_files(path: Path, pattern: str, beside: str, expected: str) -> Files:
    """A file, whatever its name, or the files of a folder whose names match."""
    if not path.is_dir():
        refuse_spreadsheets(repr(path.name), [path])
        return Files(repr(path.name), path.parent, [path], 0, in_folder=False)
    everything = files_in(path)
    wanted = matching(everything, pattern)
    title = f"Folder {path.name!r}"
    if not wanted:
        refuse_spreadsheets(title, everything)
        raise InputError(f"{title} holds no such files: expected {expected}; check the path and --format.")
    others = len(everything) - len(wanted) - len(matching(everything, beside))
    return Files(title, path, wanted, others, in_folder=True)


def matching(paths: list[Path], pattern: str) -> list[Path]:
    """Files whose names match a regular expression, upper or lower case alike."""
    return [path for path in paths if re.fullmatch(pattern, path.name, re.IGNORECASE)]


def files_in(folder: Path) -> list[Path]:
    """All files below a folder in the order of their paths, except hidden ones."""
    return [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
    ]


def text_lines(raw: bytes) -> list[str]:
    """Lines as the reader of rows sees them: Latin-1 has characters that Python breaks lines at, too."""
    return re.split("\r\n|\n|\r", raw.decode("utf-8", "replace").removeprefix("\ufeff"))


def stem(path: Path) -> str:
    """A file's name without its suffix, and without .gz: ``anna.smith.gpx`` is of anna.smith, not of anna."""
    name = path.name
    return Path(name[: -len(".gz")] if name.lower().endswith(".gz") else name).stem
