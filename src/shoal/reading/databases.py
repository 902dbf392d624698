"""Rows of SQLite and DuckDB files: those of a query, or of the only table.

Nothing is written to a database, and nothing of a query is repeated in a message: it may name people or hold a
password. What the libraries say quotes it, so their errors are told by their kind.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from shoal.errors import InputError, ShoalError
from shoal.reading.source import BATCH_ROWS, in_batches
from shoal.reading.summary import DroppedRows
from shoal.reading.values import decode

SQLITE, DUCKDB = "SQLite", "DuckDB"
SUFFIXES = (".sqlite", ".sqlite3", ".db", ".duckdb")
_SQLITE_MARK, _DUCKDB_MARK, _DUCKDB_AT = b"SQLite format 3\0", b"DUCK", 8
_ROWS_AT_A_TIME = 1 << 16  # of SQLite, as Python values
_HEAD_ROWS = 50
_EXACT = 2.0**53  # whole numbers up to here are the same as floats
_MOST_LISTED, _LONGEST = 8, 40  # tables, and letters of a name, in a message
_SQLITE_TABLES = (
    "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    " ORDER BY name"
)
_DUCKDB_TABLES = (
    "SELECT CASE WHEN table_schema = 'main' THEN table_name ELSE table_schema || '.' || table_name END,"
    " '\"' || replace(table_schema, '\"', '\"\"') || '\".\"' || replace(table_name, '\"', '\"\"') || '\"'"
    " FROM information_schema.tables ORDER BY table_schema, table_name"
)
_FAULTS = {  # what SQLite says, and names of DuckDB's errors: what is wrong with the query
    "OperationalError no such table": "names a table that is not there",
    "OperationalError no such column": "names a column that is not there",
    "OperationalError near": "is no valid SQL",
    "OperationalError incomplete input": "is no valid SQL",
    "OperationalError unrecognized token": "is no valid SQL",
    "You can only execute one statement": "is more than one statement",
    "CatalogException": "names a table or function that is not there",
    "BinderException": "names a column that is not there, or does not fit the columns",
    "ParserException": "is no valid SQL",
}


def database_kind(source: object) -> str | None:
    """SQLite or DuckDB where a path leads to such a file, by its first bytes; None for anything else."""
    try:
        path = Path(source)  # type: ignore[arg-type]
        if not path.is_file():
            return None
        with path.open("rb") as file:
            head = file.read(len(_SQLITE_MARK))
    except (TypeError, OSError, ValueError):  # no path, or one that whoever opens it will complain of
        return None
    if head == _SQLITE_MARK:
        return SQLITE
    return DUCKDB if head[_DUCKDB_AT:].startswith(_DUCKDB_MARK) else None


class DatabaseRows:
    """The rows of a query, in their order and once; ``head`` has the first of them."""

    def __init__(self, title: str, batches: Iterator[Any]) -> None:
        self.title = title
        self.warnings: list[str] = []
        self.metadata: dict[bytes, bytes] = {}
        first = next(batches)
        self.head = pa.Table.from_batches([first.slice(0, _HEAD_ROWS)])
        self.names: list[str] = list(first.schema.names)
        self._batches = chain([first], batches)

    def batches(self, columns: Mapping[str, str], reject: DroppedRows, *, threads: int) -> Iterator[Any]:  # noqa: ARG002
        """Batches of the wanted columns; those of SQLite have types of their own each."""
        places = [self.names.index(name) for name in columns.values()]
        return in_batches(
            pa.RecordBatch.from_arrays([batch.column(place) for place in places], list(columns))
            for batch in self._batches
        )


@contextmanager
def open_database(path: Path, kind: str, query: str | None) -> Iterator[DatabaseRows]:
    """The rows that a query, or the only table of a database, gives; the database is open until they are read."""
    opened = _open_sqlite if kind == SQLITE else _open_duckdb
    with opened(path, query) as batches:
        yield DatabaseRows(repr(path.name), batches)


@contextmanager
def _open_sqlite(path: Path, query: str | None) -> Iterator[Iterator[Any]]:
    title = repr(path.name)
    with _in_our_words(title, SQLITE, sqlite3.Error):
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    connection.text_factory = decode

    def rows(query: str) -> Iterator[Any]:
        cursor = connection.execute(query)
        names = [name for name, *_ in cursor.description]
        empty = True
        while (some := cursor.fetchmany(_ROWS_AT_A_TIME)) or empty:
            empty = False
            columns = zip(*some, strict=True) if some else ((),) * len(names)
            yield pa.RecordBatch.from_arrays([_array(values) for values in columns], names)

    try:
        with _in_our_words(title, SQLITE, sqlite3.Error):
            tables = [name for (name,) in connection.execute(_SQLITE_TABLES)]
        wanted = query or f"SELECT * FROM {_quoted(_only_table(tables, title))}"
        faults = _Faults(title, SQLITE, tables, asked=query is not None)
        yield faults.told(rows(wanted), sqlite3.Error, sqlite3.Warning)
    finally:
        connection.close()


@contextmanager
def _open_duckdb(path: Path, query: str | None) -> Iterator[Iterator[Any]]:
    title = repr(path.name)
    try:
        import duckdb
    except ImportError:
        raise InputError(
            f"{title} is a DuckDB file, which needs duckdb, which is not installed: pip install 'shoal[duckdb]'."
        ) from None
    with _in_our_words(title, DUCKDB, duckdb.Error):
        connection = duckdb.connect(
            str(path), read_only=True, config={"autoinstall_known_extensions": "false"}
        )

    def rows(query: str) -> Iterator[Any]:
        statements = connection.extract_statements(query)
        if [statement.type for statement in statements] != [duckdb.StatementType.SELECT]:
            raise InputError(
                f"--query for {title} must be one SELECT: give what gives the rows of the events."
            )
        reader = pa.RecordBatchReader.from_stream(connection.sql(query))
        empty = True
        for batch in reader:
            empty = False
            yield from (batch.slice(start, BATCH_ROWS) for start in range(0, batch.num_rows, BATCH_ROWS))
        if empty:
            yield pa.RecordBatch.from_pylist([], reader.schema)

    try:
        with _in_our_words(title, DUCKDB, duckdb.Error):
            tables = dict(connection.execute(_DUCKDB_TABLES).fetchall())
        wanted = query or f"SELECT * FROM {tables[_only_table(list(tables), title)]}"
        faults = _Faults(title, DUCKDB, list(tables), asked=query is not None)
        yield faults.told(rows(wanted), duckdb.Error)
    finally:
        connection.close()


def _only_table(tables: Sequence[str], title: str) -> str:
    if len(tables) == 1:
        return tables[0]
    if not tables:
        raise InputError(f"{title} holds no tables: expected one with the events; check the path.")
    raise InputError(
        f"{title} holds {len(tables)} tables ({_listed(tables)}): say which rows are the events with --query, such as"
        " --query 'SELECT * FROM ...'."
    )


def _listed(tables: Sequence[str]) -> str:
    """Names of tables, which are no data, as far as they fit into a line."""
    shown = [name for name in tables if name.isprintable() and len(name) <= _LONGEST][:_MOST_LISTED]
    others = len(tables) - len(shown)
    return ", ".join(shown) + (f" and {others} more" if others else "")


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


class _Faults(NamedTuple):
    """What to say where rows cannot be read: ``asked`` for by a query, or those of the only table."""

    title: str
    kind: str
    tables: Sequence[str]
    asked: bool

    def told(self, batches: Iterator[Any], *errors: type[Exception]) -> Iterator[Any]:
        """The same batches; what is wrong with the query or the file in our own words."""
        expected: tuple[type[Exception], ...] = (pa.ArrowException, OSError, UnicodeError, *errors)
        try:
            yield from batches
        except (ShoalError, MemoryError):
            raise
        except expected as error:
            raise self._in_words(f"{type(error).__name__} {error}") from None

    def _in_words(self, said: str) -> InputError:
        if not self.asked:
            return _unreadable(self.title, self.kind)
        fault = next((words for mark, words in _FAULTS.items() if mark in said), None)
        if fault is None:
            return InputError(
                f"The --query for {self.title} fails on its rows, or the file is damaged: try it in another program."
            )
        there = f"the tables are {_listed(self.tables)}" if self.tables else "there are no tables"
        return InputError(f"The --query for {self.title} {fault}: correct it; {there}.")


@contextmanager
def _in_our_words(title: str, kind: str, *errors: type[Exception]) -> Iterator[None]:
    expected: tuple[type[Exception], ...] = (OSError, *errors)
    try:
        yield
    except expected:
        raise _unreadable(title, kind) from None


def _unreadable(title: str, kind: str) -> InputError:
    return InputError(
        f"{title} cannot be read as {kind}: it is damaged, locked by another program or of another version; mend it"
        " or make it again."
    )


def _array(values: tuple[Any, ...]) -> Any:
    """The values of a column of SQLite, which may mix types: as numbers if all of them are, else as text."""
    kinds = {type(value) for value in values} - {type(None)}
    if kinds <= {int}:
        return pa.array(values, pa.int64() if kinds else pa.null())
    if kinds <= {int, float} and all(value is None or abs(value) <= _EXACT for value in values):
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    if len(kinds) == 1:
        return pa.array(values)
    return pa.array([_text(value) for value in values], pa.large_string())


def _text(value: object) -> str | None:
    if value is None:
        return None
    return decode(value) if isinstance(value, bytes) else str(value)
