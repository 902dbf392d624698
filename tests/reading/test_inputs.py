"""The same events, however they are packed or handed over, are the same samples; bad packings are refused in a line."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import sqlite3
import stat
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from reading import refusals
from shoal.core.promise import Grid
from shoal.errors import UnfinishedError
from shoal.reading import Events, read_events
from shoal.reading.inputs import open_input
from support.reading import read_with

CANARIES = ("canary", "48.12", "1700000", "sesame")
ROWS = [
    (user, str(1_700_000_000 + 600 * turn), f"{48 + number / 10 + turn / 1000:.3f}", f"{2 + turn / 100:.2f}")
    for number, user in enumerate(("canary", "Zoë", "12", "007"))
    for turn in range(6)
] + [("", "1700000000", "48", "2"), ("12", "no time", "48", "2"), ("12", "1700000000", "", "2")]
NAMES = ("user", "time", "lat", "lon")


def as_csv(rows: list[tuple[str, ...]] = ROWS) -> bytes:
    return "".join(",".join(row) + "\n" for row in (NAMES, *rows)).encode()


def as_zst(raw: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(raw, asbytes=True))


def as_parquet() -> bytes:
    out = io.BytesIO()
    pa.parquet.write_table(pa.table(dict(zip(NAMES, zip(*ROWS, strict=True), strict=True))), out)
    return out.getvalue()


def as_zip(members: dict[str, bytes], **how: Any) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, **how) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def as_geojson() -> bytes:
    """Missing coordinates are null there, and so is a missing user."""
    features = [
        {
            "type": "Feature",
            "properties": {"user": user, "time": time, "lat": lat or None, "lon": lon},
            "geometry": None,
        }
        for user, time, lat, lon in ROWS
    ]
    return json.dumps({"type": "FeatureCollection", "features": features}).encode()


def write_sqlite(path: Path, table: str = "events") -> Path:
    with sqlite3.connect(path) as connection:
        connection.execute(f'CREATE TABLE "{table}" (user, time, lat, lon)')
        connection.executemany(f'INSERT INTO "{table}" VALUES (?, ?, ?, ?)', ROWS)
    connection.close()
    return path


def as_sqlite(folder: Path) -> bytes:
    return write_sqlite(folder / "made.sqlite").read_bytes()


def told(events: Events) -> tuple[Any, ...]:
    """All that reading found: the samples, and what became of every row."""
    summary = events.read_summary
    return events.store.fingerprint(), summary.rows_read, summary.dropped, summary.duplicates


@pytest.fixture
def expected(tmp_path: Path) -> tuple[Any, ...]:
    """What a plain CSV file gives, which is tested elsewhere against rows parsed by hand."""
    path = tmp_path / "plain.csv"
    path.write_bytes(as_csv())
    found = told(read_with(path))
    assert found[1:3] == (
        len(ROWS),
        {"missing user": 1, "unparsable time": 1, "missing position": 1},
    )
    return found


HALVES = {
    "day/one.csv": as_csv(ROWS[:10]),
    "day/two.csv": as_csv(ROWS[10:]),
}
FILES: dict[str, Callable[[Path], bytes]] = {
    "events.csv.gz": lambda _: gzip.compress(as_csv()),
    "events.csv.zst": lambda _: as_zst(as_csv()),
    "EVENTS.CSV.ZST": lambda _: as_zst(as_csv()),
    "events.tsv.zst": lambda _: as_zst(as_csv().replace(b",", b"\t")),
    "events.geojson.zst": lambda _: as_zst(as_geojson()),
    "one.zip": lambda _: as_zip({"whatever.csv": as_csv()}),
    "one.csv.zip": lambda _: as_zip({"folder/whatever.csv": as_csv()}),
    "several.zip": lambda _: as_zip(HALVES),
    "packed.zip": lambda _: as_zip({"events.csv.zst": as_zst(as_csv())}),
    "parquet.zip": lambda _: as_zip({"events.parquet": as_parquet()}),
    "sqlite.zip": lambda folder: as_zip({"events.sqlite": as_sqlite(folder)}),
    "events.sqlite": as_sqlite,
    "events.db": as_sqlite,
    "events.backup": as_sqlite,
}
STREAMS: dict[str, Callable[[Path], bytes]] = {
    "csv": lambda _: as_csv(),
    "csv with a mark": lambda _: b"\xef\xbb\xbf" + as_csv(),
    "tsv": lambda _: as_csv().replace(b",", b"\t"),
    "gzip": lambda _: gzip.compress(as_csv()),
    "zst": lambda _: as_zst(as_csv()),
    "zst behind a frame to skip": lambda _: b"\x52\x2a\x4d\x18\x02\0\0\0ab" + as_zst(as_csv()),
    "parquet": lambda _: as_parquet(),
    "geojson": lambda _: b"\n " + as_geojson(),
    "geojson in gzip": lambda _: gzip.compress(as_geojson()),
    "zip": lambda _: as_zip(HALVES),
    "sqlite": as_sqlite,
}


@pytest.mark.parametrize("name", FILES)
def test_however_it_is_packed(name: str, expected: tuple[Any, ...], tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(FILES[name](tmp_path))
    assert told(read_with(path)) == expected


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_is_known_by_its_content(name: str, expected: tuple[Any, ...], tmp_path: Path) -> None:
    assert told(read_with(io.BytesIO(STREAMS[name](tmp_path)))) == expected


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names on this system")
@pytest.mark.parametrize("name", ["csv", "zip"])
def test_a_pipe_is_read_once(name: str, expected: tuple[Any, ...], tmp_path: Path) -> None:
    raw, pipe = STREAMS[name](tmp_path), tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=[raw])
    writer.start()
    assert told(read_with(pipe)) == expected
    writer.join()


def test_formats_are_recognised_inside(tmp_path: Path) -> None:
    """T-Drive names its files after the taxis, and a zip file of them is read as a folder of them."""
    row = "{0},2008-02-02 15:36:08,116.51172,39.92123\n{0},2008-02-02 15:46:08,116.51135,39.93883\n"
    taxis = {f"release/{taxi}.txt": row.format(taxi).encode() for taxi in (1, 2, 3)}
    path = tmp_path / "taxis.zip"
    path.write_bytes(as_zip(taxis))
    found = read_with(path)
    assert found.read_summary.format == "t-drive"
    assert list(found.samples.users) == ["1", "2", "3"]


def test_what_is_not_read_of_a_zip_file_is_counted(expected: tuple[Any, ...], tmp_path: Path) -> None:
    path = tmp_path / "events.zip"
    path.write_bytes(as_zip(HALVES | {"canary.pdf": b"x", "canary/readme.md": b"x"}))
    found = read_with(path)
    assert told(found) == expected
    assert found.read_summary.warnings == ["2 files with other suffixes in the folder were not read."]


# ---- copies are private, and gone in the end ----------------------------------------------------------------------


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the system keeps temporary files."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("raw", [as_csv(), as_zip(HALVES)], ids=["csv", "zip"])
@pytest.mark.parametrize("to_spill", [False, True])
def test_copies_are_for_their_owner_only(raw: bytes, to_spill: bool, temporary: Path, tmp_path: Path) -> None:
    spill = tmp_path / "checkpoint" / "samples"
    spill.parent.mkdir()
    with open_input(io.BytesIO(raw), query=None, spill=spill if to_spill else None) as copy:
        assert isinstance(copy, Path)
        (folder,) = set((spill if to_spill else temporary).iterdir()) & {copy.parent, copy.parent.parent}
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        files = [path for path in folder.rglob("*") if path.is_file()]
        assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert list(spill.parent.iterdir()) == []


@pytest.mark.usefixtures("temporary")
def test_rows_stay_where_they_were_spilled_and_copies_do_not(tmp_path: Path) -> None:
    spill = tmp_path / "samples"
    found = read_events(io.BytesIO(as_csv()), grid=Grid(), spill=spill)
    assert {path.suffix for path in spill.iterdir()} == {".spill"}
    assert len(found.store) == 24
    with pytest.raises(Exception, match="No column 'user'"):
        read_events(io.BytesIO(as_csv().replace(b"user", b"who")), grid=Grid(), spill=tmp_path / "other")
    assert not (tmp_path / "other").exists()


@pytest.mark.usefixtures("temporary")
def test_a_zip_file_writes_nowhere_else(expected: tuple[Any, ...], tmp_path: Path) -> None:
    names = {"../../outside.csv": HALVES["day/one.csv"], "/abs/inside.csv": HALVES["day/two.csv"]}
    path = tmp_path / "events.zip"
    path.write_bytes(as_zip(names))
    before = set(tmp_path.rglob("*"))
    assert told(read_with(path)) == expected
    assert set(tmp_path.rglob("*")) == before


# ---- refusals -----------------------------------------------------------------------------------------------------


def encrypted() -> bytes:
    """A zip file whose members say that they are encrypted: in the local header and in the directory."""
    raw = bytearray(as_zip({"canary.csv": as_csv()}))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        raw[raw.index(mark) + offset] |= 1
    return bytes(raw)


def other_method() -> bytes:
    """A zip file packed with Deflate64, which Python does not know."""
    raw = bytearray(as_zip({"canary.csv": as_csv()}))
    for mark, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        raw[raw.index(mark) + offset] = 9
    return bytes(raw)


def flipped(raw: bytes, at: int) -> bytes:
    return raw[:at] + bytes([raw[at] ^ 0xFF]) + raw[at + 1 :]


LONG = as_csv(ROWS[:-3] * 5000)


def twice() -> bytes:
    """A zip file with two files of one name, made of one with two names of one length."""
    return as_zip({"canary.csv": HALVES["day/one.csv"], "canarz.csv": HALVES["day/two.csv"]}).replace(
        b"canarz", b"canary"
    )


@pytest.mark.parametrize(
    ("name", "raw", "words"),
    [
        ("a.zip", encrypted(), "'a.zip' is encrypted: unpack it with its password"),
        ("a.zip", other_method(), "is packed in a way that is not read"),
        ("a.zip", as_zip({}), "holds no files"),
        ("a.zip", as_zip({"canary.pdf": b"x", "canary.doc": b"x"}), "Folder 'a.zip' holds no data files"),
        ("a.zip", as_zip({"one.csv": as_csv(), "two.parquet": as_parquet()}), "files of several kinds"),
        ("a.zip", as_zip({"canary.zip": as_zip(HALVES), "b.zip": b"x"}), "holds no data files"),
        ("a.zip", as_zip({"[Content_Types].xml": b"x", "xl/sheet.xml": b"x"}), "is a spreadsheet"),
        ("a.zip", twice(), "several files of one name"),
        ("a.zip", as_zip(HALVES)[:-30], "cut off"),
        ("a.zip", flipped(as_zip({"a.csv": LONG}), 2000), "cannot be read as a zip file: it is damaged"),
        ("a.zip", as_csv(), "cannot be read as a zip file"),
        ("a.zip", b"", "cannot be read as a zip file"),
        ("a.zip", as_zip(HALVES | {"e.csv": b"who,when\n1,2\n"}), "File 3 of 3 in folder 'a.zip' lacks the user"),
        ("a.csv.zst", as_zst(LONG)[:-40], "ends too early, as if it was cut off"),
        ("a.csv.gz", gzip.compress(LONG)[:-40], "ends too early, as if it was cut off"),
        ("a.csv.zst", as_csv(), "cannot be read as CSV"),
        ("a.csv.zst", b"", "'a.csv.zst' is empty"),
        ("a.csv.bz2", b"x", "unknown suffix"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("temporary")
def test_refused_in_a_line(name: str, raw: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(raw)
    message = refusals.refusal(lambda: read_with(path), CANARIES)
    assert re.search(words, message), message


class Failing(io.BytesIO):
    """A stream that breaks after its first piece."""

    def read(self, size: int | None = -1, /) -> bytes:
        if self.tell():
            raise TimeoutError("canary was here")
        return super().read(size)


class Terminal(io.BytesIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "words"),
    [
        (io.BytesIO(b""), "'input.csv' is empty"),
        (io.BytesIO(b"BZh9" + b"\0" * 90), "not a text file"),
        (io.StringIO("user,time,lat,lon\n"), "open it with mode 'rb'"),
        (Failing(as_csv()), "cannot be read to its end"),
        (Terminal(b"user"), "nothing is piped in"),
        (io.BytesIO(as_zst(LONG)[:-40]), "ends too early"),
    ],
)
@pytest.mark.usefixtures("temporary")
def test_streams_that_are_refused(stream: Any, words: str) -> None:
    assert words in refusals.refusal(lambda: read_with(stream), CANARIES)


@pytest.mark.parametrize(
    "address", ["postgresql://canary:sesame@host/db", "https://host/canary.csv?k=sesame"]
)
@pytest.mark.parametrize("more", [{}, {"format": "geolife"}])
def test_an_address_is_not_repeated(address: str, more: dict[str, str]) -> None:
    message = refusals.refusal(lambda: read_with(address, **more), (*CANARIES, "host"))
    assert "got an address" in message


@pytest.mark.usefixtures("temporary")
def test_a_full_disk_is_told_and_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shoal.reading.inputs.write_private", full)
    for raw in (as_csv(), as_zip(HALVES)):
        with pytest.raises(UnfinishedError, match=r"private copy of the input \(No space left on device\)"):
            read_with(io.BytesIO(raw))
