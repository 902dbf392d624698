"""Published tables that cannot be used: one line each that says why, and never a piece of the data."""

from __future__ import annotations

import gzip
import io
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from reading.refusals import refusal
from shoal.core.promise import Grid
from shoal.reading import read_published

CANARIES = ("canary", "12345", "67890", "2024", "05-17")

GOOD = {
    "record": ["canary-12345", "canary-67890"],
    "t_start": ["2024-05-17T12:00:00Z"] * 2,
    "t_end": ["2024-05-17T12:30:00Z"] * 2,
    "x_min": [1234500.0, 6789000.0],
    "x_max": [1234600.0, 6789100.0],
    "y_min": [-6789000.0, -1234500.0],
    "y_max": [-6788900.0, -1234400.0],
}


def changed(**columns: Any) -> dict[str, Any]:
    return GOOD | columns


def without(*names: str) -> dict[str, Any]:
    return {name: values for name, values in GOOD.items() if name not in names}


BAD_TABLES: list[tuple[dict[str, Any], str]] = [
    (without("x_min"), "^The table lacks x_min among its 6 columns: expected record, t_start, .*header line"),
    (without("record", "t_end"), "lacks record and t_end among its 5 columns: expected .*y_max; rename"),
    (
        {"user": ["canary"], "record": ["r1"]},  # the key
        "lacks t_start, t_end, x_min, x_max, y_min and y_max among its 2 columns: check which file is which, ren",
    ),
    (
        {"user": ["canary"], "time": [1], "lat": [1.5], "lon": [1.5]},  # the events
        "lacks record, t_start, t_end, x_min, x_max, y_min and y_max among its 4 columns: check which file is",
    ),
    ({name: values[:0] for name, values in GOOD.items()}, "has no rows: expected at least one box"),
    (changed(record=[None, "canary"]), "has 1 missing values in 2 rows: every row needs a record"),
    (changed(record=["", " "]), "has 2 missing values"),
    (changed(record=[["canary"], ["b"]]), "record column holds values of type list"),
    (changed(t_start=["2024-05-17T12:00:00Z", None]), "1 missing values"),
    (changed(t_end=[None, ""]), "2 missing values"),
    (changed(t_end=["17 May 2024 12:00", "2024-05-17"]), "1 times that are neither timestamps nor ISO 8601"),
    (changed(t_start=["1715949296", "2024-05-17"]), "1 times that are neither timestamps nor ISO 8601"),
    (changed(t_start=[1715904000, 1715904000]), "t_start column holds values of type int64: expected timest"),
    (changed(t_end=[True, False]), "t_end column holds values of type bool"),
    (changed(t_end=["2024-05-17T12:30:30Z", "2024-05-17T12:30:00Z"]), "1 times that are not whole steps of 60 s"),
    (changed(t_end=["2024-05-17T12:30:00.500Z"] * 2), "2 times that are not whole steps of 60 s in 2 rows: the step"),
    (changed(t_end=pa.array([1715949000_001] * 2, pa.timestamp("ms"))), "2 times that are not whole steps"),
    (changed(t_end=pa.array([2**60, 1715949000], pa.timestamp("s"))), "1 times outside the years 1 to 9999"),
    (changed(t_end=GOOD["t_start"]), "2 boxes that are empty in 2 rows: ends do not belong"),
    (changed(t_end=["2024-05-16T12:00:00Z"] * 2), "2 boxes that are empty"),
    (changed(x_max=[1234600.0, None]), "1 missing values"),
    (changed(x_max=[float("inf"), -float("inf")]), "2 edges that are no finite numbers in 2 rows: expected met"),
    (changed(y_min=pa.array([float("nan"), -1234500.0])), "1 edges that are no finite numbers"),
    (changed(y_min=["canary", "-1234500"]), "1 edges that are no finite numbers"),
    (changed(y_min=[True, False]), "y_min column holds values of type bool: expected numbers"),
    (changed(x_min=[1234567.0, 6789000.0]), "1 edges that are not whole cells of 100 m in 2 rows: the cell"),
    (changed(x_min=[1234500.001, 6789000.0]), "1 edges that are not whole cells"),
    (changed(x_max=GOOD["x_min"]), "2 boxes that are empty"),
    (changed(x_max=[1234600.0, 6788900.0]), "1 boxes that are empty"),
    (changed(y_max=[-6789000.00001, -1234400.0]), "1 edges that are not whole cells"),
    (changed(x_max=[1234600.0, 2.0**31 * 100]), "1 edges too many cells away from the origin"),
    (changed(y_min=[-(2.0**30 + 1) * 100, -1e308]), "2 edges too many cells away"),
]  # fmt: skip


@pytest.mark.parametrize(("columns", "expected"), BAD_TABLES)
def test_bad_tables(columns: dict[str, Any], expected: str) -> None:
    message = refusal(lambda: read_published(pa.table(columns), grid=Grid()), CANARIES)
    assert re.search(expected, message), message


def test_repeated_columns(tmp_path: Path) -> None:
    table = pa.table(GOOD)
    twice = table.append_column("x_min", table["x_min"])
    frame = table.to_pandas()
    for source in (twice, pd.concat([frame, frame[["x_min"]]], axis=1)):
        message = refusal(lambda source=source: read_published(source, grid=Grid()), CANARIES)
        assert message == "The table has several columns named x_min: rename all but one."
    path = tmp_path / "out.csv"
    path.write_text(",".join([*GOOD, "x_min", "t_end"]) + "\n")
    assert "several columns named t_end and x_min" in refusal(
        lambda: read_published(path, grid=Grid()), CANARIES
    )


def as_csv(columns: dict[str, Any]) -> str:
    return pd.DataFrame(columns).to_csv(index=False)


def as_parquet(columns: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("out.csv", "", "is empty"),
        ("out.csv", as_csv(GOOD).splitlines()[0], "single line"),
        ("out.csv", as_csv(GOOD).splitlines()[0] + "\n", "has no rows"),
        ("out.csv", as_csv(GOOD).split("\n", 1)[1], "lacks record, t_start, .*or add a header line"),
        ("out.csv", as_csv(GOOD) + "canary,2024\n", "has 1 malformed rows in 3 rows: mend them"),
        ("out.csv", as_csv(changed(x_min=["1234500", "12,5"])), "1 edges that are no finite numbers"),
        ("out.csv", as_csv(changed(x_min=["", "1234500"])), "1 missing values in 2 rows"),
        ("out.csv.gz", gzip.compress((as_csv(GOOD) * 99).encode())[:-20], "cannot be read as CSV"),
        ("out.parquet", as_csv(GOOD), "cannot be read as Parquet"),
        ("out.parquet", as_parquet(GOOD)[:-9], "cannot be read as Parquet"),
        ("out.geoparquet", as_parquet(without("y_max")), "lacks y_max among its 6 columns"),
        ("out.shp", as_csv(GOOD), "unknown suffix"),
        ("out.csv/1.csv", as_csv(GOOD), "^Folder 'out.csv' cannot be read as one published table: name a file"),
    ],
)  # fmt: skip
def test_bad_files(tmp_path: Path, name: str, content: str | bytes, expected: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    source = tmp_path / name.split("/")[0]
    message = refusal(lambda: read_published(source, grid=Grid()), CANARIES)
    assert re.search(expected, message), message


def test_neither_path_nor_table(tmp_path: Path) -> None:
    assert "No file or folder" in refusal(lambda: read_published(tmp_path / "no.csv"), ())
    for source in (None, [1], {"record": ["canary"]}):
        message = refusal(lambda source=source: read_published(source), CANARIES)
        assert message.startswith("A published table must be a path or a table")
