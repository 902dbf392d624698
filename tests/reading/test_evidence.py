"""Evidence is read as it was written; what is damaged, or belongs to another release, is refused in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from reading.refusals import refusal
from shoal.core.schema import EVIDENCE_SCHEMA
from shoal.reading import evidence_beside, read_evidence

USERS = np.array(["canary", "mole", "Zoé"], object)
NAMES = np.array(["r1", "r2"], object)
ROWS = {
    "begin": [0, 0, 1800],
    "end": [3600, 3600, 3600],
    "user": ["Zoé", "canary", "canary"],
    "record": ["r2", "r1", "r2"],
    "span": ["window", "window", "epoch"],
}
CANARIES = ("canary", "Zoé", "stranger", "r1", "r2", "r3")


def written(folder: Path, *, notes: dict[bytes, str] | None = None, **other: Any) -> Path:
    """Evidence in a file, with other values in some columns."""
    columns = {**ROWS, **other}
    arrays = [
        pa.array(columns[field.name]).dictionary_encode().cast(field.type)
        if pa.types.is_dictionary(field.type)
        else pa.array(columns[field.name], field.type)
        for field in EVIDENCE_SCHEMA
    ]
    notes = {b"shoal": json.dumps({"format": 1})} if notes is None else notes
    schema = pa.schema([field.with_nullable(True) for field in EVIDENCE_SCHEMA]) if None in [
        value for values in columns.values() for value in values
    ] else EVIDENCE_SCHEMA  # fmt: skip
    path = folder / "key.csv.evidence.parquet"
    pa.parquet.write_table(pa.Table.from_arrays(arrays, schema=schema.with_metadata(notes)), path)
    return path


def test_numbers_and_slots(tmp_path: Path) -> None:
    found = read_evidence(written(tmp_path), USERS, NAMES, 60)
    assert [column.tolist() for column in found] == [
        [0, 0, 30], [60, 60, 60], [2, 0, 0], [1, 0, 1], [False, False, True],
    ]  # fmt: skip
    assert [column.dtype for column in found] == [np.int64, np.int64, np.int32, np.int32, np.bool_]


def test_no_rows_at_all(tmp_path: Path) -> None:
    nothing = pa.array([], pa.string())
    path = written(tmp_path, begin=[], end=[], user=nothing, record=nothing, span=nothing)
    found = read_evidence(path, USERS, NAMES, 60)
    assert [len(column) for column in found] == [0] * 5


@pytest.mark.parametrize(
    ("other", "step_s", "words"),
    [
        ({"user": ["Zoé", "stranger", "stranger"]}, 60, "names users who do not occur in the events, in 2 of 3 rows"),
        ({"record": ["r2", "r1", "r3"]}, 60, "names records that the published table does not have, in 1 of 3 rows"),
        ({"span": ["window", "week", "epoch"]}, 60, "other spans than window and epoch"),
        ({"end": [3600, 0, 3600]}, 60, "end before they begin"),
        ({"begin": [0, 30, 1800]}, 60, "not whole steps of 60 s"),
        ({}, 3600, "not whole steps of 3600 s"),
        ({"notes": {b"shoal": '{"format": 2}'}}, 60, "must be of format 1, found 2"),
        ({"notes": {}}, 60, "must be of format 1, found None"),
        ({"notes": {b"shoal": "[]"}}, 60, "must be of format 1, found None"),
    ],
)  # fmt: skip
def test_refusals(other: dict[str, Any], step_s: int, words: str, tmp_path: Path) -> None:
    path = written(tmp_path, **other)
    assert words in refusal(lambda: read_evidence(path, USERS, NAMES, step_s), CANARIES)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-9]), "cannot be read as Parquet"),
        (lambda path: path.write_text("user,record\n"), "cannot be read as Parquet"),
        (lambda path: _rewritten(path, lambda table: table.drop_columns("span")), "must have the columns"),
        (lambda path: _rewritten(path, lambda table: table.append_column("more", table["end"])), "must have"),
        (lambda path: _rewritten(path, _with_texts), "must have the columns"),
    ],
)
def test_damaged_files(spoil: Callable[[Path], object], words: str, tmp_path: Path) -> None:
    path = written(tmp_path)
    spoil(path)
    assert words in refusal(lambda: read_evidence(path, USERS, NAMES, 60), CANARIES)


def test_missing_values(tmp_path: Path) -> None:
    path = written(tmp_path, user=["Zoé", None, "canary"])
    refusal(lambda: read_evidence(path, USERS, NAMES, 60), CANARIES)


def _rewritten(path: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    table = pa.parquet.read_table(path)
    pa.parquet.write_table(change(table).replace_schema_metadata(table.schema.metadata), path)


def _with_texts(table: pa.Table) -> pa.Table:
    place = table.column_names.index("user")
    return table.set_column(place, "user", table["user"].cast(pa.string()))


def test_found_beside_a_key(tmp_path: Path) -> None:
    key = tmp_path / "key.csv"
    assert evidence_beside(key) is None
    path = written(tmp_path)
    assert evidence_beside(key) == evidence_beside(str(key)) == path
    assert evidence_beside(None) is None
    assert evidence_beside(pa.table({"user": ["a"], "record": ["b"]})) is None
