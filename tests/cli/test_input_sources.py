"""The same events from a file, a pipe, a zip file and a database give the same boxes; queries are told to nobody."""

from __future__ import annotations

import gzip
import io
import json
import os
import sqlite3
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from support.run_command import (
    CANARY,
    HALF_HOURS,
    anonymize,
    audit,
    boxes_in,
    in_metres,
    left_in,
    published,
    refused,
    run,
    spawn,
    write,
)

QUERY = f"SELECT user, time, x, y FROM moves WHERE user <> '{CANARY}'"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sources")


@pytest.fixture(scope="module")
def events(folder: Path) -> Path:
    return write(in_metres(), folder / "events.csv")


@pytest.fixture(scope="module")
def plain(events: Path, folder: Path) -> Counter[Any]:
    """The boxes of the plain file."""
    return published(events, folder / "plain.parquet")


@pytest.fixture(scope="module")
def database(folder: Path) -> Path:
    """The same events, and somebody whom the query leaves out."""
    path = folder / "moves.sqlite"
    rows = [tuple(row.values()) for row in in_metres().to_pylist()]
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE moves (user, time, x, y)")
        connection.execute("CREATE TABLE other (a)")
        connection.executemany("INSERT INTO moves VALUES (?, ?, ?, ?)", [*rows, (CANARY, *rows[0][1:])])
    connection.close()
    return path


def piped(monkeypatch: pytest.MonkeyPatch, raw: bytes) -> None:
    """Put bytes into standard input."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(raw))))  # type: ignore[arg-type]


def test_a_zip_file_and_zst(events: Path, plain: Counter[Any], tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "events.zip", "w") as archive:
        archive.write(events, "2024/events.csv")
    packed = tmp_path / "events.csv.zst"
    packed.write_bytes(pa.Codec("zstd").compress(events.read_bytes(), asbytes=True))
    for path in (tmp_path / "events.zip", packed):
        assert published(path, tmp_path / "out.parquet") == plain


def test_standard_input(
    events: Path, plain: Counter[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for raw in (events.read_bytes(), gzip.compress(events.read_bytes())):
        piped(monkeypatch, raw)
        assert published("-", tmp_path / "out.parquet") == plain
    assert left_in(tmp_path) == {"out.parquet", "out.parquet.manifest.json"}


def test_the_installed_command_reads_a_pipe(events: Path, plain: Counter[Any], tmp_path: Path) -> None:
    output = tmp_path / "out.parquet"
    with events.open("rb") as file:
        done = spawn("anonymize", "-", "-o", output, "--k", 2, *HALF_HOURS, stdin=file)
        _, err = done.communicate()
    assert done.returncode == 0, err
    assert boxes_in(output) == plain


@pytest.mark.skipif(not Path("/bin/bash").exists(), reason="no bash")
def test_process_substitution(events: Path) -> None:
    """What bash makes of <(...): a pipe without a suffix."""
    script = f"{sys.executable} -m shoal plan <(cat {events}) --ks 2 --taus 30min --json -"
    source = Path(sys.modules["shoal"].__file__ or "").parents[1]
    env = {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run(["/bin/bash", "-c", script], capture_output=True, text=True, env=env, check=False)
    assert json.loads(done.stdout)["n_users"] == 12, done.stderr


def test_standard_input_goes_to_every_command(
    events: Path, folder: Path, plain: Counter[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert plain
    for command in (
        ("audit", "-", folder / "plain.parquet", "--attacks", 20, "--json", tmp_path / "audit.json"),
        ("plan", "-", "--ks", 2, "--taus", "30min", "--json", tmp_path / "plan.json"),
    ):
        piped(monkeypatch, events.read_bytes())
        done = run(*command)
        assert done.code in (0, 1), done.err
    assert json.loads((tmp_path / "audit.json").read_text())["counts"]["users"] == 12
    assert json.loads((tmp_path / "plan.json").read_text())["n_users"] == 12


def test_a_query_is_noted_for_the_audit_and_told_to_nobody_else(
    database: Path, plain: Counter[Any], tmp_path: Path
) -> None:
    output, key, summary = (tmp_path / name for name in ("out.parquet", "key.csv", "summary.json"))
    done = anonymize(database, output, "--query", QUERY, "--key-out", key, "--json", summary)
    assert done.code == 0, done.err
    assert boxes_in(output) == plain
    found = audit(database, output, "--key", key, "--json", tmp_path / "audit.json")
    told = json.loads((tmp_path / "audit.json").read_text())["events"]
    assert told["checked"] == "same"
    assert "--query" in told["note"]
    notes = tmp_path / "key.csv.private.json"
    assert json.loads(notes.read_text())["reading"]["query"] == QUERY
    written = [path.read_bytes() for path in tmp_path.iterdir() if path != notes]
    for text in (done.out, done.err, found.out, found.err, *written):
        raw = text if isinstance(text, bytes) else text.encode()
        assert b"SELECT" not in raw
        assert CANARY.encode() not in raw


def test_an_audit_of_the_same_rows_in_a_file_needs_no_query(
    database: Path, events: Path, tmp_path: Path
) -> None:
    output, key = tmp_path / "out.parquet", tmp_path / "key.csv"
    assert anonymize(database, output, "--query", QUERY, "--key-out", key).code == 0
    audit(events, output, "--key", key, "--json", tmp_path / "audit.json")
    assert json.loads((tmp_path / "audit.json").read_text())["events"]["checked"] == "same"


def test_refusals(database: Path, events: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = ("-o", tmp_path / "out.parquet", "--k", 2, *HALF_HOURS)
    refused(
        tmp_path, "anonymize", events, *good, "--query", QUERY, words="--query goes with an SQLite or DuckDB"
    )
    refused(tmp_path, "anonymize", database, *good, words="holds 2 tables (moves, other)")
    refused(tmp_path, "anonymize", database, *good, "--query", f"DROP {CANARY}", words="must be one SELECT")
    refused(tmp_path, "anonymize", database, *good, "--query", f"SELECT {CANARY}", words="not there")
    refused(tmp_path, "anonymize", f"mysql://{CANARY}:x@y/z", *good, words="got an address")
    piped(monkeypatch, b"")
    refused(tmp_path, "anonymize", "-", *good, words="input.csv' is empty")
