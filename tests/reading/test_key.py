"""Keys name every record once, and only users of the events."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from reading.refusals import refusal
from shoal.core.boxes import NONE
from shoal.core.promise import Grid
from shoal.reading import read_events, read_key, read_parts_key

USERS = np.array(["-3", "12", "7", "Zoé", "canary"], object)
NAMES = np.array(["5", "r1", "r2"], object)
KEY = {"user": ["canary", "12", "Zoé"], "record": ["r1", "5", "r2"]}
OWN = [NONE, 0, NONE, 2, 1]
CANARIES = ("canary", "Zoé", "12", "r1", "r2", "stranger")


def test_files_and_tables(tmp_path: Path) -> None:
    table = pa.table(KEY | {"note": [1, 2, 3]})
    pq.write_table(table, tmp_path / "key.parquet")
    pa.csv.write_csv(table, tmp_path / "key.csv")
    (tmp_path / "key.csv.gz").write_bytes(gzip.compress((tmp_path / "key.csv").read_bytes()))
    files = [tmp_path / name for name in ("key.parquet", "key.csv", "key.csv.gz")]
    for source in (*files, str(files[0]), table, table.to_pandas(), pl.from_arrow(table), table[::-1]):
        own = read_key(source, USERS, NAMES)
        assert own.dtype == np.int64
        assert own.tolist() == OWN


@pytest.mark.parametrize(
    "users",
    [
        pa.array([12, -3, 7]),
        pa.array([12.0, -3.0, 7.0]),
        pa.array(["12.0", " -3", "7"]),
        pa.array(["12", "-3", "7"]).dictionary_encode(),
        pa.array([12, -3, 7], pa.int16()).dictionary_encode(),
        pa.array(["12", "-3", "7"], pa.large_string()),
        pa.array([b"12", b"-3", b"7"]),
    ],
    ids=lambda users: str(users.type),
)
def test_users_are_the_same_however_they_are_stored(users: pa.Array) -> None:
    key = pa.table({"user": users, "record": ["r2", "r1", "5"]})
    assert read_key(key, USERS, NAMES).tolist() == [1, 2, 0, NONE, NONE]
    events = pd.DataFrame({"user": [12.0, -3.0, 7.0, 99.0], "time": 5, "x": 1.0, "y": 1.0})
    samples = read_events(events, grid=Grid()).samples
    assert dict(zip(samples.users, read_key(key, samples.users, NAMES), strict=True)) == {
        "-3": 1, "12": 2, "7": 0, "99": NONE,
    }  # fmt: skip


def test_numbered_records() -> None:
    key = pd.DataFrame({"user": ["canary", "7"], "record": [5, 6]})
    assert read_key(key, USERS, np.array(["5", "6"], object)).tolist() == [NONE, NONE, 1, NONE, 0]


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (
            {"user": ["canary"], "time": [1]},  # the events
            r"^The key lacks record among its 2 columns: expected user, record; check which file is which, rename",
        ),
        ({"user": [], "record": []}, "has no rows"),
        ({"user": ["canary", None, ""], "record": ["r1", "r2", "5"]}, "has 2 of 3 rows without a user and"),
        ({"user": ["canary", "Zoé", "7"], "record": ["r1", None, " "]}, "has 2 of 3 rows without a user and"),
        ({"user": ["canary", "7", "canary"], "record": ["r1", "r2", "5"]}, "names 1 of its users again"),
        ({"user": ["-3", "-3.0", "7"], "record": ["r1", "r2", "5"]}, "names 1 of its users again"),
        ({"user": ["canary", "Zoé", "7"], "record": ["r1", "r1", "r1"]}, "names 2 of its records again: exp"),
        (
            {"user": ["canary", "Zoé", "7"], "record": ["r1", "r2", "stranger"]},
            "names 1 of 3 records that the published table does not have: give the key of this release",
        ),
        ({"user": ["canary", "Zoé"], "record": ["r1", "r2"]}, "lacks 1 of the 3 records of the published"),
        (
            {"user": ["canary", "stranger", "another stranger"], "record": ["r1", "r2", "5"]},
            "names 2 of 3 users who do not occur in the events: give the key and the events of this release",
        ),
        ({"user": [["canary"], ["7"]], "record": ["r1", "r2"]}, "user column holds values of type list"),
    ],
)
def test_keys_that_do_not_fit(columns: dict[str, Any], expected: str) -> None:
    message = refusal(lambda: read_key(pa.table(columns), USERS, NAMES), CANARIES)
    assert re.search(expected, message), message


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("key.csv", "user,record\ncanary,r1\nZoé\n", "^The key 'key.csv' has 1 of 2 rows without a user"),
        ("key.csv", "canary,r1\nZoé,r2\n", "lacks user and record among its 2 columns: check which file"),
        ("key.csv", "user,record\n", "has no rows"),
        ("key.parquet", "user,record\ncanary,r1\n", "cannot be read as Parquet"),
        ("key.json", "{}", "unknown suffix"),
    ],
)
def test_bad_files(tmp_path: Path, name: str, content: str, expected: str) -> None:
    (tmp_path / name).write_text(content)
    message = refusal(lambda: read_key(tmp_path / name, USERS, NAMES), CANARIES)
    assert re.search(expected, message), message


def test_neither_path_nor_table() -> None:
    assert refusal(lambda: read_key({"canary": "r1"}, USERS, NAMES), CANARIES).startswith(
        "A key must be a path"
    )


# --- keys of parts -------------------------------------------------------------------------------------------------

PARTS = {
    "user": ["canary", "12", "canary", "Zoé"],
    "part": [1, 1, 2, 3],
    "record": ["r1", "5", "r2", "r3"],
}
PART_NAMES = np.array(["5", "r1", "r2", "r3"], object)


def test_keys_of_parts(tmp_path: Path) -> None:
    table = pa.table(PARTS)
    pq.write_table(table, tmp_path / "key.parquet")
    pa.csv.write_csv(table, tmp_path / "key.csv")
    as_texts = table.set_column(1, "part", table["part"].cast(pa.string()))
    for source in (tmp_path / "key.parquet", tmp_path / "key.csv", table, table.to_pandas(), as_texts):
        found = read_parts_key(source, USERS, PART_NAMES)
        assert [column.tolist() for column in found] == [[4, 1, 4, 3], [1, 1, 2, 3], [1, 0, 2, 3]]
    assert not any(text in repr(found) for text in ("canary", "Zoé", "r1"))


def test_a_name_that_lives_on_is_no_fault_of_the_key() -> None:
    lines = PARTS | {"record": ["r1", "5", "r1", "r2"]}
    assert read_parts_key(pa.table(lines), USERS, NAMES).record.tolist() == [1, 0, 1, 2]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"part": None}, r"^The key lacks part among its 2 columns: expected user, part, record"),
        ({"part": [1, 1, 1, 3]}, "names 1 parts of users again: expected every part of a user once"),
        ({"part": [0, 1, 2, 3]}, "has parts that are no numbers from 1 on"),
        ({"part": [-1, 1, 2, 3]}, "has parts that are no numbers from 1 on"),
        ({"part": ["first", "1", "2", "3"]}, "has parts that are no numbers from 1 on"),
        ({"part": [None, 1, 2, 3]}, "has parts that are no numbers from 1 on"),
        ({"part": [1.5, 1, 2, 3]}, "has parts that are no numbers from 1 on"),
        ({"part": [10**12, 1, 2, 3]}, "has parts that are no numbers from 1 on"),
        ({"record": ["r1", "r1", "r2", "5"]}, "lacks 1 of the 4 records of the published table"),
        ({"record": ["r1", "5", "stranger", "stranger 2"]}, "names 2 of 4 records that the published table"),
        ({"user": ["canary", "12", "stranger", "Zoé"]}, "names 1 of 4 users who do not occur in the events"),
        ({"user": [None, "12", "canary", "Zoé"]}, "has 1 of 4 rows without a user and a record"),
        ({"record": ["r1", "5", "", "r3"]}, "has 1 of 4 rows without a user and a record"),
    ],
)
def test_keys_of_parts_that_do_not_fit(changes: dict[str, Any], expected: str) -> None:
    lines = {name: column for name, column in (PARTS | changes).items() if column is not None}
    message = refusal(lambda: read_parts_key(pa.table(lines), USERS, PART_NAMES), (*CANARIES, "r3", "first"))
    assert re.search(expected, message), message


def test_a_record_of_several_users_is_refused() -> None:
    lines = PARTS | {"record": ["r1", "r1", "r2", "5"]}
    message = refusal(lambda: read_parts_key(pa.table(lines), USERS, NAMES), CANARIES)
    assert "names records as parts of several users" in message
