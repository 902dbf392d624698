"""Sources of events, which give batches of rows: what a source is, and opening a file, a folder or a table as one."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from shoal.core.checks import check_path, path_told
from shoal.core.formatting import counted
from shoal.errors import InputError, ShoalError
from shoal.reading.columns import check_same_columns
from shoal.reading.summary import DroppedRows

BATCH_ROWS = 1 << 19
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}  # of text, by what follows its suffix
SUFFIXES = {
    f".{kind}{packed}": kind for kind in ("csv", "tsv", "geojson") for packed in ("", *COMPRESSIONS)
} | dict.fromkeys((".parquet", ".pq", ".geoparquet"), "parquet")
_SPREADSHEETS = (".xlsx", ".xls", ".ods")
EXPECTED = "expected CSV, TSV or GeoJSON (.csv, .tsv, .geojson, also .gz or .zst) or Parquet (.parquet)"
_CUT_OFF = "Truncated compressed stream"  # as Arrow says it
_ADDRESS = re.compile(r"[A-Za-z][\w+.-]+:/")  # of a database or a web page; Path has made one slash of two


class Source(Protocol):
    """Rows in batches, the names of their columns, and what a file notes about itself."""

    title: str
    names: list[str]
    warnings: list[str]
    metadata: dict[bytes, bytes]

    def batches(self, columns: Mapping[str, str], reject: DroppedRows, *, threads: int) -> Iterator[Any]:
        """Record batches with a column for each role; ``reject`` counts rows that are none."""
        ...


def names_recur(source: Source) -> bool:
    """Whether names of columns stand in rows as well, so that they may be data; only text files can tell."""
    return bool(getattr(source, "names_recur", False))


def numeric_columns(source: Source) -> frozenset[str]:
    """The columns that are known to hold numbers before a row is read; text files do not say."""
    schema = getattr(source, "schema", None)
    numbers = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    of_schema = [each.name for each in schema or () if any(is_number(each.type) for is_number in numbers)]
    return frozenset([*of_schema, *getattr(source, "numeric", ())])


def open_source(source: object, what: str = "Events") -> Source:
    """Find out what a source is and read the names of its columns; ``what`` it should be is for messages."""
    if isinstance(source, str | os.PathLike):
        check_path(source, what, "a path or a table")
        return open_path(Path(source))
    if hasattr(source, "__arrow_c_stream__"):
        from shoal.reading.tables import Table

        return Table(source)
    hint = "; collect() it first" if hasattr(source, "collect") else ""
    raise InputError(
        f"{what} must be a path or a table (pandas, polars, pyarrow), got {type(source).__name__}{hint}."
    )


def open_path(path: Path) -> Source:
    """A file by its suffix, or a folder."""
    try:
        if path.is_dir():
            return _open_folder(path)
        if not path.exists():
            raise no_such_file(path, EXPECTED)
    except (OSError, ValueError):
        raise InputError(f"{path_told(path)} cannot be opened: check the path and its permissions.") from None
    kind = kind_of(path)
    if kind is None:
        refuse_spreadsheets(repr(path.name), [path])
        raise InputError(
            f"{path.name!r} has an unknown suffix: {EXPECTED}; rename or convert it, or name its --format."
        )
    return open_file(path, kind, repr(path.name))


def no_such_file(path: Path, expected: str) -> InputError:
    """What to say of a path that leads nowhere; addresses are not repeated, since they may hold a password."""
    if _ADDRESS.match(str(path)):
        return InputError(
            "Expected a file or a folder, got an address: save what is there to a file, and give that."
        )
    return InputError(f"No file or folder {path_told(path)}: {expected}; check the path.")


def compression_of(path: Path) -> str | None:
    """How a text file is compressed, by the end of its name; None for one that is not."""
    return COMPRESSIONS.get(path.suffix.lower())


def kind_of(path: Path) -> str | None:
    """csv, tsv, parquet or geojson by the suffix, whatever its case."""
    name = path.name.lower()
    return next((kind for suffix, kind in SUFFIXES.items() if name.endswith(suffix)), None)


def open_file(path: Path, kind: str, title: str) -> Source:
    """A file of a kind: csv, tsv, parquet or geojson."""
    from shoal.reading.csv_files import CsvFile
    from shoal.reading.geo.geojson import FeatureFile
    from shoal.reading.tables import ParquetFile

    try:
        with path.open("rb"):
            size = path.stat().st_size
    except OSError:
        raise InputError(f"{title} cannot be opened: check its permissions.") from None
    if size == 0:
        raise InputError(f"{title} is empty: {EXPECTED} with column names and rows.")
    if kind == "geojson":
        return FeatureFile(path, title)
    return ParquetFile(path, title) if kind == "parquet" else CsvFile(path, title, tabs=kind == "tsv")


def _open_folder(folder: Path) -> Source:
    files, others = [], 0
    for path in sorted(folder.rglob("*")):
        if is_hidden(path, folder) or not path.is_file():
            continue
        kind = kind_of(path)
        others += kind is None
        if kind is not None:
            files.append((path, kind))
    kinds = sorted({kind for _, kind in files})
    title = f"Folder {folder.name!r}"
    if not files:
        refuse_spreadsheets(title, folder.rglob("*"))
        hidden = hidden_in(folder)
        found = f" but {_hidden_files(hidden)}" if hidden else ""
        raise InputError(f"{title} holds no data files{found}: {EXPECTED}; or name its --format.")
    if len(kinds) > 1:
        raise InputError(f"{title} holds files of several kinds ({', '.join(kinds)}): keep one kind.")
    return Folder(title, files, others, hidden_in(folder))


def is_hidden(path: Path, folder: Path) -> bool:
    """Whether a file is one that programs put beside data: its name, or that of a folder above, begins with . or _."""
    return any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)


def hidden_in(folder: Path) -> int:
    """How many files below a folder are not read because of their names."""
    return sum(is_hidden(path, folder) and path.is_file() for path in folder.rglob("*"))


def hidden_warnings(hidden: int) -> list[str]:
    """What to say of files that are not read because of their names."""
    were = "was" if hidden == 1 else "were"
    return [f"{_hidden_files(hidden)} {were} not read: rename any that holds events."] if hidden else []


def _hidden_files(hidden: int) -> str:
    return f"{counted(hidden, 'file')} whose {'name begins' if hidden == 1 else 'names begin'} with . or _"


class Folder:
    """Files of one kind, read one after the other; messages number them, since names may be of people."""

    def __init__(self, title: str, files: list[tuple[Path, str]], others: int, hidden: int = 0) -> None:
        self.title = title
        self.paths = [path for path, _ in files]
        self._files = files
        self._numbers: Sequence[int] = range(len(files))
        self._narrow: Callable[[Source], object] | None = None
        first = self.open(0)
        self.names, self.metadata = first.names, first.metadata
        self.names_recur = names_recur(first)
        self.warnings = hidden_warnings(hidden)
        if others:
            were = "was" if others == 1 else "were"
            self.warnings.insert(
                0, f"{counted(others, 'file')} with other suffixes in the folder {were} not read."
            )

    def take(self, numbers: Sequence[int], narrow: Callable[[Source], object]) -> None:
        """Read only these files, and of each what is left of it by ``narrow``."""
        self._numbers, self._narrow = numbers, narrow

    def open(self, number: int) -> Source:
        """The file of a number, counted from 0."""
        path, kind = self._files[number]
        title = f"{self.title[0].lower()}{self.title[1:]}"
        return open_file(path, kind, f"File {number + 1} of {len(self._files)} in {title}")

    def batches(self, columns: Mapping[str, str], reject: DroppedRows, *, threads: int) -> Iterator[Any]:
        """Batches of all files, one file after the other."""
        for number in self._numbers:
            source = self.open(number)
            check_same_columns(columns, source.names, source.title, "files")
            if self._narrow is not None:
                self._narrow(source)
            yield from source.batches(columns, reject, threads=threads)


def refuse_spreadsheets(title: str, paths: Iterable[Path]) -> None:
    """Say what to do with spreadsheets, which are not read."""
    if any(path.suffix.lower() in _SPREADSHEETS for path in paths):
        raise InputError(
            f"{title} is a spreadsheet, or holds some: save every sheet as CSV (UTF-8), and give that."
        )


@contextmanager
def as_input_error(title: str, kind: str, fault: str = "it is damaged or of another kind") -> Iterator[None]:
    """Failures of the libraries below in our own words: theirs quote data."""
    try:
        yield
    except (ShoalError, MemoryError):
        raise
    except (pa.ArrowException, OSError, EOFError, UnicodeError, csv.Error) as error:
        if _CUT_OFF in str(error):
            fault = "it ends too early, as if it was cut off"
        raise InputError(f"{title} cannot be read as {kind}: {fault}; mend it or make it again.") from None


def in_batches(batches: Iterable[Any]) -> Iterator[Any]:
    """The same rows in fewer batches; those of different types are not joined."""
    waiting: list[Any] = []
    rows = 0
    for batch in batches:
        if batch.num_rows == 0:
            continue
        if waiting and batch.schema != waiting[0].schema:
            yield _joined(waiting)
            waiting, rows = [], 0
        waiting.append(batch)
        rows += batch.num_rows
        if rows >= BATCH_ROWS:
            yield _joined(waiting)
            waiting, rows = [], 0
    if waiting:
        yield _joined(waiting)


def _joined(batches: list[Any]) -> Any:
    if len(batches) == 1:
        return batches[0]
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]
