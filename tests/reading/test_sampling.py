"""Parts of large events: whole rows, the first and the last among them, of files, row groups and folders."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.reading import sampling
from shoal.reading.sampling import Extent, take_sample
from shoal.reading.source import open_path
from shoal.reading.summary import DroppedRows

COLUMNS = {"user": "user", "time": "time"}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes of which a test has more."""
    monkeypatch.setattr(sampling, "WHOLE_BYTES", 4_000)
    monkeypatch.setattr(sampling, "WHOLE_ROWS", 160)
    monkeypatch.setattr(sampling, "_SMALLEST_PIECE", 200)
    monkeypatch.setattr(sampling, "_SMALLEST_PART", 10)


def rows_of(path: Path) -> tuple[list[tuple[str, str]], Extent, int]:
    """The rows of a sample, its extent, and how many rows were malformed."""
    rejected = DroppedRows()
    sampled = take_sample(open_path(path))
    batches = list(sampled.source.batches(COLUMNS, rejected, threads=1))
    rows = [
        row
        for batch in batches
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)
    ]
    return rows, sampled.read(), rejected.rows


def lines(number: int, end: str = "\n") -> str:
    return f"user,time,note{end}" + "".join(f"u{row},{row},n{end}" for row in range(number))


def test_small_files_are_taken_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(lines(100))
    rows, extent, _ = rows_of(path)
    assert (len(rows), extent.parts) == (100, 0)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_pieces_hold_whole_rows(end: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(lines(5_000, end).encode())
    rows, extent, malformed = rows_of(path)
    assert malformed == 0
    assert set(rows) <= {(f"u{row}", str(row)) for row in range(5_000)}
    assert len(set(rows)) == len(rows) < 1_000
    assert (rows[0], rows[-1]) == (("u0", "0"), ("u4999", "4999"))
    assert extent == Extent(8, 5_000)
    assert any(2_000 < int(time) < 3_000 for _, time in rows)


@pytest.mark.parametrize("plain", range(200, 300, 9))
def test_line_ends_inside_quotation_marks_are_none(plain: int, tmp_path: Path) -> None:
    """Later notes hold several lines that look like rows; so most places there are inside of marks."""
    note = '"' + "fake,1,n\n" * 9 + '"'
    notes = ["n" * 80] * plain + [note] * 250
    path = tmp_path / "a.csv"
    path.write_text("user,time,note\n" + "".join(f"u{row},{row},{note}\n" for row, note in enumerate(notes)))
    rows, extent, malformed = rows_of(path)
    assert malformed == 0
    assert not [user for user, _ in rows if user == "fake"]
    assert extent.parts == 8


def test_a_stray_mark_costs_no_row(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(lines(5_000).replace("u0,0,n", 'u0,0,5" nail'))
    rows, extent, malformed = rows_of(path)
    assert (malformed, extent.parts) == (0, 8)
    assert set(rows) <= {(f"u{row}", str(row)) for row in range(5_000)}
    assert (rows[0], rows[-1]) == (("u0", "0"), ("u4999", "4999"))


def test_the_last_row_needs_no_line_end(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(lines(5_000).rstrip("\n"))
    rows, extent, _ = rows_of(path)
    assert rows[-1] == ("u4999", "4999")
    assert extent.rows_in_all == 5_000


def test_row_groups(tmp_path: Path) -> None:
    table = pa.table(
        {"user": [f"u{row}" for row in range(3_000)], "time": [str(row) for row in range(3_000)]}
    )
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=100)
    rows, extent, _ = rows_of(tmp_path / "a.parquet")
    assert (len(rows), extent) == (160, Extent(8, 3_000))
    assert rows[0] == ("u0", "0")
    assert rows[-1] == ("u2919", "2919")  # the last of the first rows of the last group
    pq.write_table(table, tmp_path / "one.parquet")
    rows, extent, _ = rows_of(tmp_path / "one.parquet")
    assert (len(rows), extent) == (160, Extent(1, 3_000))


def test_compressed_files_give_their_first_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(lines(100).encode()))
    rows, extent, _ = rows_of(path)
    assert (len(rows), extent.parts) == (100, 0)
    monkeypatch.setattr("shoal.reading.csv_files._BLOCK_BYTES", 2_000)
    path.write_bytes(gzip.compress(lines(9_000).encode()))
    rows, extent, _ = rows_of(path)
    assert extent == Extent(1, None)
    assert 160 <= len(rows) < 9_000
    assert rows[0] == ("u0", "0")


def test_folders(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.csv").write_text(lines(1_000))
    rows, extent, malformed = rows_of(tmp_path)
    assert (malformed, extent) == (0, Extent(3, 3_000))
    assert 60 < len(rows) < 2_000
    assert [time for _, time in rows].count("999") == 3  # the last of each


def test_a_folder_of_one_file(tmp_path: Path) -> None:
    (tmp_path / "0.csv").write_text(lines(5_000))
    rows, extent, _ = rows_of(tmp_path)
    assert extent == Extent(8, 5_000)
    assert rows[-1] == ("u4999", "4999")


def test_a_folder_of_row_groups(tmp_path: Path) -> None:
    table = pa.table({"user": ["u"] * 3_000, "time": [str(row) for row in range(3_000)]})
    for number in range(2):
        pq.write_table(table, tmp_path / f"{number}.parquet", row_group_size=100)
    rows, extent, _ = rows_of(tmp_path)
    assert (len(rows), extent) == (160, Extent(16, 6_000))


def test_several_small_files_are_taken_whole(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.csv").write_text(lines(10))
    rows, extent, _ = rows_of(tmp_path)
    assert (len(rows), extent.parts) == (30, 0)
