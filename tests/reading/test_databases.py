"""Rows of databases are those of the same table in a file; wrong queries are refused without repeating them."""

from __future__ import annotations

import random
import re
import sqlite3
import stat
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from reading import refusals
from shoal.core.options import ReadingOptions
from shoal.errors import ParameterError
from shoal.reading import database_kind
from support.reading import read_with

try:
    import duckdb
except ImportError:
    duckdb = None

CANARIES = ("canary", "sesame", "48.12", "1700000000")
with_duckdb = pytest.mark.skipif(duckdb is None, reason="duckdb is not installed")
KINDS = ["SQLite", pytest.param("DuckDB", marks=with_duckdb)]
COLUMNS = {
    "user": ["canary", "canary", "bob", "12", "12", None],
    "time": [1_700_000_000, 1_700_000_600, 1_700_000_000, 1_700_001_000, None, 1_700_001_000],
    "lat": [48.125, 48.0, 48.25, None, 48.0, 48.0],
    "lon": [2.0, 2.125, 2.25, 2.5, 2.0, 2.0],
}


def make(path: Path, kind: str, *statements: str, columns: dict[str, list[Any]] = COLUMNS) -> Path:
    """A database with a table ``events`` of these columns, changed by some statements."""
    rows = list(zip(*columns.values(), strict=True))
    names = ", ".join(columns)
    if kind == "SQLite":
        connection: Any = sqlite3.connect(path)
        connection.execute(f"CREATE TABLE events ({names})")
    else:
        connection = duckdb.connect(str(path))
        types = {"user": "VARCHAR", "time": "BIGINT", "lat": "DOUBLE", "lon": "DOUBLE"}
        typed = ", ".join(f"{name} {types.get(name, 'VARCHAR')}" for name in columns)
        connection.execute(f"CREATE TABLE events ({typed})")
    connection.executemany(f"INSERT INTO events VALUES ({', '.join('?' * len(columns))})", rows)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return path


def told(source: object, **options: Any) -> tuple[Any, ...]:
    found = read_with(source, **options)
    return found.store.fingerprint(), found.read_summary.rows_read, found.read_summary.dropped


@pytest.mark.parametrize("kind", KINDS)
def test_the_only_table(kind: str, tmp_path: Path) -> None:
    path = make(tmp_path / "events.db", kind)
    assert database_kind(path) == kind
    assert told(path) == told(pa.table(COLUMNS))


@pytest.mark.parametrize("kind", KINDS)
def test_a_query_of_several_tables(kind: str, tmp_path: Path) -> None:
    path = make(
        tmp_path / "events.db",
        kind,
        "CREATE TABLE sites (site INTEGER, lat DOUBLE, lon DOUBLE)",
        "CREATE VIEW few AS SELECT * FROM events WHERE lat > 48.1",
    )
    few = pa.table(COLUMNS).filter(pa.compute.greater(pa.array(COLUMNS["lat"]), 48.1))
    for query in ("SELECT * FROM few", "-- all\n(SELECT lon, lat, time, user FROM events WHERE lat > 48.1)"):
        if kind == "SQLite":
            query = query.replace("(", "").replace(")", "")
        assert told(path, query=query) == told(few)
    message = refusals.refusal(lambda: read_with(path), CANARIES)
    assert "'events.db' holds 3 tables (events, few, sites): say which rows" in message


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_written(kind: str, tmp_path: Path) -> None:
    path = make(tmp_path / "events.db", kind)
    before = path.read_bytes()
    path.chmod(stat.S_IRUSR)
    read_with(path)
    refusals.refusal(lambda: read_with(path, query="WITH a AS (SELECT 1) DELETE FROM events"), CANARIES)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["events.db"]


def test_values_of_sqlite_mix_types(tmp_path: Path) -> None:
    """Every value is that of the same table in CSV, where all are text, whatever else is in its batch."""
    draw = random.Random(4)
    spelled = [str, int, float, str.encode]
    rows = [
        (
            str(draw.randrange(9)),
            str(1_700_000_000 + 60 * turn),
            str(draw.randrange(80)),
            str(draw.randrange(80)),
        )
        for turn in range(400)
    ]
    columns = {
        name: [draw.choice(spelled)(value) for value in values]
        for name, values in zip(COLUMNS, zip(*rows, strict=True), strict=True)
    }
    path = make(tmp_path / "events.sqlite", "SQLite", columns=columns)
    text = dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
    assert told(path) == told(pa.table(text))


def test_large_numbers_beside_a_float_stay_apart(tmp_path: Path) -> None:
    """As floats both would be one user."""
    users = [2**60 + 1, 2**60 + 3, 12.0, 12, None, None]
    path = make(tmp_path / "events.sqlite", "SQLite", columns=COLUMNS | {"user": users, "lat": [48.0] * 6})
    assert list(read_with(path).samples.users) == [str(2**60 + 1), str(2**60 + 3), "12"]


def test_text_of_sqlite_that_is_no_utf8(tmp_path: Path) -> None:
    path = make(
        tmp_path / "events.sqlite",
        "SQLite",
        "UPDATE events SET user = CAST(x'5a6feb' AS TEXT) WHERE user = 'bob'",
    )
    assert list(read_with(path).samples.users) == ["Zoë", "canary"]


def test_sessions_are_recognised_in_a_table(tmp_path: Path) -> None:
    columns = {
        "user": ["a", "b"], "start": ["2024-01-01 08:00", "2024-01-01 09:00"],
        "end": ["2024-01-01 08:30", "2024-01-01 09:30"], "lat": [48.0, 48.1], "lon": [2.0, 2.1],
    }  # fmt: skip
    found = read_with(make(tmp_path / "events.sqlite", "SQLite", columns=columns))
    assert found.read_summary.format == "sessions"
    assert len(found.samples) == 4


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("SELECT * FROM canary", "that is not there: correct it; the tables are events."),
        ("SELECT sesame FROM events", "names a column that is not there"),
        ("SELECT * FORM events WHERE user = 'canary'", "is no valid SQL"),
        ("SELECT * FROM events WHERE user = 'canary", "is no valid SQL"),
        ("SELECT user, time FROM events; SELECT * FROM canary", "one S|one s"),
        ("SELECT * FROM events WHERE 0 = 1", "'events.db' has no rows"),
        ("SELECT user AS u2, time, lat, lon FROM events", "No column 'user' among u2, time, lat, lon"),
        ("SELECT abs(-9223372036854775807 - 1), user FROM events", "fails on its rows|No column"),
    ],
)
def test_queries_that_are_refused(kind: str, query: str, words: str, tmp_path: Path) -> None:
    path = make(tmp_path / "events.db", kind)
    message = refusals.refusal(lambda: read_with(path, query=query), CANARIES)
    assert re.search(words, message), message


@pytest.mark.parametrize(
    "query", ["", " ", "DELETE FROM canary", "PRAGMA sesame", "; SELECT 1", 5, "SELECTED x"]
)
def test_what_is_no_query_at_all(query: Any) -> None:
    with pytest.raises(ParameterError, match="query must be one SELECT in SQL") as caught:
        ReadingOptions(query=query)
    assert "canary" not in str(caught.value)
    assert "query" not in repr(ReadingOptions(query="SELECT 'canary'"))


def test_a_query_needs_a_database(tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    path.write_text("user,time,lat,lon\ncanary,1,1,1\n")
    for source in (path, pa.table(COLUMNS), tmp_path):
        message = refusals.refusal(lambda source=source: read_with(source, query="SELECT 'canary'"), CANARIES)
        assert (
            message == "--query goes with an SQLite or DuckDB file, which the events are not: leave it out."
        )


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_databases(kind: str, tmp_path: Path) -> None:
    path = make(
        tmp_path / "events.db", kind, columns={name: values * 3000 for name, values in COLUMNS.items()}
    )
    raw = path.read_bytes()
    path.write_bytes(raw[: len(raw) // 3])
    message = refusals.refusal(lambda: read_with(path), CANARIES)
    assert f"'events.db' cannot be read as {kind}" in message


@pytest.mark.parametrize("suffix", [".sqlite", ".duckdb", ".db"])
@pytest.mark.parametrize("raw", [b"", b"user,time\ncanary,1\n"])
def test_files_named_like_databases(suffix: str, raw: bytes, tmp_path: Path) -> None:
    path = tmp_path / f"events{suffix}"
    path.write_bytes(raw)
    assert "is no SQLite or DuckDB file" in refusals.refusal(lambda: read_with(path), CANARIES)


def test_an_empty_database(tmp_path: Path) -> None:
    path = make(tmp_path / "events.sqlite", "SQLite", "DROP TABLE events")
    assert "'events.sqlite' holds no tables" in refusals.refusal(lambda: read_with(path), CANARIES)


def test_many_tables_are_listed_as_far_as_they_fit(tmp_path: Path) -> None:
    path = make(tmp_path / "e.sqlite", "SQLite", *(f"CREATE TABLE day_{n:03d} (a)" for n in range(30)))
    message = refusals.refusal(lambda: read_with(path), CANARIES)
    assert (
        "31 tables (day_000, day_001, day_002, day_003, day_004, day_005, day_006, day_007 and 23 more)"
        in message
    )


def test_without_duckdb_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    path = tmp_path / "events.duckdb"
    path.write_bytes(b"\0" * 8 + b"DUCK" + b"\0" * 4096)
    assert "pip install 'shoal[duckdb]'" in refusals.refusal(lambda: read_with(path), CANARIES)
