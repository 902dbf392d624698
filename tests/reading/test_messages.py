"""Bad input: one line each, with a remedy, and never a piece of the data."""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from reading import refusals
from shoal.core.options import ReadingOptions
from shoal.core.promise import Grid
from shoal.reading import read_events
from support.reading import read_with

CANARIES = ("canary", "48.123456", "7.654321", "1234567", "2024-05-17")
ROW = "canary,2024-05-17T12:34:56,48.123456,7.654321\n"
HEADER = "user,time,lat,lon\n"


def refusal(source: object, **options: object) -> str:
    """The message with which events are refused."""
    return refusals.refusal(lambda: read_with(source, **options), CANARIES)


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def to_file(content: str | bytes, name: str = "events.csv") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return to_file


def parquet_bytes(**columns: object) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


GOOD = parquet_bytes(
    user=["canary"] * 5000, time=["2024-05-17"] * 5000, lat=[48.123456] * 5000, lon=[7.654321] * 5000
)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.csv", "", "is empty"),
        ("a.csv", "\n\r\n \n", "is empty"),
        ("a.csv", HEADER, "has no rows"),
        ("a.csv", HEADER.strip(), "single line"),
        ("a.csv", ROW.strip(), "single line"),
        ("a.csv", ROW * 3, "seems to have no header line"),
        ("a.csv", "canary,home\ncanary,work\n", "add a header line"),
        ("a.csv", "canary;1715949296;12\n" * 3, "seems to have no header line"),
        ("a.csv", "canary,x,y,z\ncanary,1,2,3\n", "add a header line"),
        ("a.csv", "canary1234567,t,x\ncanary,1,2\n", "seems to have no header line"),
        ("a.csv", "canary@example.org,t\ncanary,1\n", "seems to have no header line"),
        ("a.tsv", HEADER + ROW, "add a header line|no header line"),
        (
            "a.csv",
            "uid2,ts,lat,lon\n" + ROW,
            r"^No column 'user' among uid2, ts, lat, lon: name it with --user-column \(closest: uid2\)\.$",
        ),
        (
            "a.csv",
            "user,ts2,lat,lon\n" + ROW,
            r"^No column 'time' among user, ts2, lat, lon: name it with --time-column\.$",
        ),
        (
            "a.csv",
            "user,time,lat,b\n" + ROW,
            "No column 'lon' among user, time, lat, b: name it with --lon-column",
        ),
        (
            "a.csv",
            "user,time,a,b\n" + ROW,
            "No position among user, time, a, b: expected lat and lon, or x and y",
        ),
        (
            "a.csv",
            "abonne,horodatage,latitude_deg,longitude_deg,remark\n1," + ROW,
            r"^No column 'user', no column 'time' and no position among abonne, .*, remark: name them with"
            r" --user-column \(closest: abonne\), --time-column \(closest: horodatage\), --lat-column \(closest:"
            r" latitude_deg\) and --lon-column \(closest: longitude_deg\), or the like\.$",
        ),
        (
            "a.csv",
            "who,when,latitude,east\n" + ROW,
            r"^No column 'user', no column 'time' and no column 'lon' among who, when, latitude, east: name them with"
            r" --user-column, --time-column and --lon-column\.$",
        ),
        (
            "a.csv",
            "canary,home,monday\nother,home,monday\n",
            "^No column 'user'.* in 'a.csv', and few of its 3",
        ),
        ("a.csv", "user,time,site\ncanary,2024-05-17,canary\n", "--sites"),
        ("a.csv", "user,time,lat,lon,x,y\n" + ROW, "both lat, lon and x, y"),
        (
            "a.csv",
            "uid,msisdn,time,lat,lon\n1," + ROW,
            "Columns uid, msisdn could each be the user.*--user-column",
        ),
        ("a.csv", "user,user,time,lat,lon\n1," + ROW, "has 2 columns named 'user'"),
        (
            "a.csv",
            HEADER + "canary,17 May,48.123456,7.654321\n",
            r"1 unparsable time\): times must be ISO 8601.*--time-format",
        ),
        (
            "a.csv",
            HEADER + 'canary,2024-05-17,"48.123.456","7,654,321"\n',
            "1 unparsable position.*numbers such as 48.85 or 48,85, without separators of thousands",
        ),
        (
            "a.csv",
            "user;time;x;y\ncanary;2024-05-17;451,234;7,654\n",
            "1 unparsable position.*without separators of thousands",
        ),
        (
            "a.csv",
            HEADER + "canary,12/05/2024 12:34,1,1\ncanary,11/05/2024,1,1\n",
            "may be dd/mm/yyyy or mm/dd/yyyy, since no day is above 12: say which with --time-format",
        ),
        (
            "a.csv",
            HEADER + "canary,17/05/2024 12:34,1,1\ncanary,05/17/2024,1,1\n",
            "can only be dd/mm/yyyy, and others that can only be mm/dd/yyyy: say which are right with --time-format",
        ),
        (
            "a.csv",
            "user,start,end,x,y\ncanary,17/05/2024 12:34,17/05/2024 12:35,1,1\n",
            "Dates of sessions may be dd/mm/yyyy or mm/dd/yyyy.*--time-format",
        ),
        ("a.csv", HEADER + "NULL,2024-05-17,1,1\n -,2024-05-17,1,1\n", "2 missing user"),
        ("a.csv", HEADER + "canary,2024-05-17,0,0\n,2024-05-17,1,1\n", "1 missing user, 1 position 0/0"),
        ("a.csv", HEADER + '"canary,2024-05-17,1,1\n', "1 malformed row"),
        ("a.csv", HEADER + "canary\n" * 7, "7 malformed row"),
        ("a.csv", b"\x00\x01canary\xff" * 9, "not a text file"),
        ("a.csv", (HEADER + ROW).encode("utf-16"), "UTF-16"),
        ("a.csv.gz", HEADER + ROW, "cannot be read as CSV"),
        ("a.csv.gz", gzip.compress((HEADER + ROW * 999).encode())[:-20], "cannot be read as CSV"),
        ("a.parquet", HEADER + ROW, "cannot be read as Parquet"),
        ("a.parquet", GOOD[:-9], "cannot be read as Parquet"),
        ("a.parquet", GOOD[:100] + b"canary" * 30 + GOOD[280:], "cannot be read as Parquet"),
        ("a.txt", HEADER + ROW, "unknown suffix.*expected CSV, TSV or GeoJSON"),
        ("a.parquet", parquet_bytes(user=["canary"], time=[True], lat=[48.123456], lon=[1.0]), "type bool"),
        ("a.parquet", parquet_bytes(user=[["canary"]], time=[1], lat=[1.0], lon=[1.0]), "type list"),
        (
            "a.parquet",
            parquet_bytes(user=["canary"], time=[1], lat=[True], lon=[1.0]),
            "lat column holds.*type bool",
        ),
        ("a.parquet", parquet_bytes(user=[], time=[], lat=[], lon=[]), "has no rows"),
        (
            "a.parquet",
            parquet_bytes(**{"1234567": ["canary"], "x": [1.0], "y": [1.0], "t": [3]}),
            "no header line",
        ),
    ],
)
def test_bad_files(write: Callable[..., Path], name: str, content: str | bytes, expected: str) -> None:
    message = refusal(write(content, name))
    assert re.search(expected, message), message


def test_quotation_mark_that_swallows_a_whole_block(
    write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.reading.csv_files._BLOCK_BYTES", 200)
    assert "a quotation mark is never closed" in refusal(write(HEADER + ROW + '"' + ROW * 30))


def test_no_such_file(tmp_path: Path) -> None:
    assert "No file or folder" in refusal(tmp_path / "nowhere.csv")


def test_long_lists_of_columns_are_cut(write: Callable[..., Path]) -> None:
    names = ["lat", "lon", "time", *("column_" + letter for letter in "abcdefghijklmnop"), "id_1234567"]
    message = refusal(write(",".join(names) + "\n" + ROW))
    assert message.endswith("column_h, column_i and 8 more: name it with --user-column.")


def test_mapped_column_that_is_not_there(write: Callable[..., Path]) -> None:
    path = write("person_no,ts,lat,lon\n" + ROW)
    message = refusal(path, columns={"user": "msisdn"})
    assert (
        message
        == "No column 'msisdn' among person_no, ts, lat, lon: check --user-column (closest: person_no)."
    )
    assert "not for 'who'" in refusal(path, columns={"who": "person_no"})
    assert "cannot be both" in refusal(path, columns={"user": "lat", "lat": "lat"})
    assert "do not go together" in refusal(path, columns={"user": "person_no", "lat": "lat", "x": "lon"})


def test_strict_names_reasons_and_counts(write: Callable[..., Path]) -> None:
    path = write(HEADER + ROW * 3 + "canary,2024-05-17,99.5,1\ncanary\n,2024-05-17,1,1\n")
    message = refusal(path, strict=True)
    expected = "3 of 6 rows cannot be used (1 malformed row, 1 missing user, 1 position out of range):"
    assert message.startswith(expected)
    clean = write(HEADER + ROW * 3 + "bird,2024-05-18,48,7\n", "clean.csv")
    events = read_events(clean, grid=Grid(), strict=True, options=ReadingOptions(end="2024-05-18"))
    assert (events.read_summary.dropped, events.read_summary.duplicates) == (
        {"before --from or after --to": 1},
        2,
    )


def test_choices_that_leave_nothing(write: Callable[..., Path]) -> None:
    path = write(HEADER + ROW)
    assert "widen --from and --to" in refusal(path, start="2025-01-01")
    assert "1 excluded user" in refusal(path, exclude_users=["canary"])


@pytest.mark.parametrize("zone", ["Europe/Atlantis", "", "../../etc/passwd", "CET+1x", "Europe"])
def test_unknown_zone(write: Callable[..., Path], zone: str) -> None:
    assert refusal(write(HEADER + ROW), timezone=zone).startswith(f"Unknown time zone {zone!r}")


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ("now", None, "--from must be a date or time"),
        (None, "2024-02-30", "--to must be a date or time"),
        ("2024-05-01T00:00:00.5", None, "whole seconds"),
        ("1700000000", None, "--from must be a date"),
        ("2024-05-02", "2024-05-02T00:00Z", "--from must be earlier than --to"),
    ],
)
def test_bad_periods(write: Callable[..., Path], start: str | None, end: str | None, expected: str) -> None:
    assert expected in refusal(write(HEADER + ROW), start=start, end=end)


def test_folders(write: Callable[..., Path], tmp_path: Path) -> None:
    write("notes", "empty/canary.md")
    assert "holds no data files" in refusal(tmp_path / "empty")
    write(HEADER + ROW, "mixed/canary.csv")
    write(GOOD, "mixed/canary.parquet")
    assert "several kinds (csv, parquet)" in refusal(tmp_path / "mixed")
    write(HEADER + ROW, "ragged/1.csv")
    write("who,time,lat,lon\n" + ROW, "ragged/canary-2.csv")
    message = refusal(tmp_path / "ragged")
    assert message.startswith("File 2 of 2 in folder 'ragged' lacks the user column of the first")
    write(b"\0", "damaged/canary.csv")
    assert refusal(tmp_path / "damaged").startswith("File 1 of 1 in folder 'damaged' is not a text file")


def test_a_folder_of_hidden_files(write: Callable[..., Path], tmp_path: Path) -> None:
    write(HEADER + ROW, "hidden/_canary.csv")
    assert "holds no data files but 1 file whose name begins with . or _" in refusal(tmp_path / "hidden")


def test_formats_of_times_that_do_not_go_with_the_events(write: Callable[..., Path]) -> None:
    row = "canary,2024-05-17T12:34:56Z,48.123456,7.654321,x\n".replace(",", "\t").replace("canary", "7")
    path = write(row * 3, "loc-gowalla_totalCheckins.txt")
    assert refusal(path, time_format="%d.%m.%Y") == (
        "Format snap knows how its times are written: leave out --time-format, or choose --format table."
    )
    assert "must tell the year" in refusal(write(HEADER + ROW), time_format="%d.%m")
    assert "leave it out" in refusal(
        pd.DataFrame({"user": ["canary"], "time": pd.to_datetime(["2024-05-17"]), "x": [1], "y": [1]}),
        time_format="%d.%m.%Y",
    )


def test_strict_wants_every_excluded_user(write: Callable[..., Path]) -> None:
    path = write(HEADER + ROW + ROW.replace("canary", "bird"))
    assert refusal(path, exclude_users=["canary", "canary-2", "canary-3"], strict=True) == (
        "--exclude-users must list users of the events, found 2 of its 3 identifiers nowhere there: mend the list, or"
        " leave out --strict."
    )
    assert len(read_with(path, exclude_users=["canary"], strict=True).samples) == 1


def test_excluded_users_file(write: Callable[..., Path], tmp_path: Path) -> None:
    assert "--exclude-users" in refusal(write(HEADER + ROW), exclude_users=tmp_path / "none.txt")


def test_a_list_of_excluded_users_that_matches_nobody(write: Callable[..., Path]) -> None:
    listed = write("Canary\ncanary-2\n\n", "left_out.txt")
    assert refusal(write(HEADER + ROW), exclude_users=listed) == (
        "--exclude-users must list users of the events, found none of its 2 identifiers there:"
        " check how they are written, and --user-column."
    )
    unusable = write(HEADER + "canary,never,1,1\n", "unusable.csv")
    assert "unparsable time" in refusal(unusable, exclude_users=["canary-2"])


@pytest.mark.parametrize("source", [[1, 2], 5, None, {"user": ["canary"]}])
def test_neither_path_nor_table(source: object) -> None:
    assert "must be a path or a table" in refusal(source)


def test_tables_that_cannot_be_read() -> None:
    mixed = pd.DataFrame({"user": ["canary", 5, b"x"], "time": [1, 2, 3], "x": [1, 2, 3], "y": [1, 2, 3]})
    assert "convert those that mix types" in refusal(mixed)
    assert "has no rows" in refusal(mixed.iloc[:0].astype(str))
    assert "collect() it first" in refusal(type("Lazy", (), {"collect": None})())
