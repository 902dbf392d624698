"""Private notes beside a key: all that is needed to read the events again, for its owner only; none of it in public."""

from __future__ import annotations

import hashlib
import json
import stat
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal.core.options import ReadingOptions
from support.run_command import anonymize, in_metres, left_in, refused, run, write

HALF_HOURS: dict[str, Any] = {"k": 2, "tau": "30min", "epsilon": "30min"}
NOTES = "key.csv.private.json"


def notes_of(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / NOTES).read_text()))


def test_everything_is_noted_for_its_owner_only(tmp_path: Path) -> None:
    opted_out = tmp_path / "opted-out.txt"
    opted_out.write_text("u03\nu04\n\n")
    events = write(in_metres(users=24).rename_columns(["who", "time", "x", "y"]), tmp_path / "events.csv")
    options = (
        "--user-column", "who", "--format", "table", "--timezone", "Asia/Tokyo", "--from", "2023-11-14",
        "--to", "2024-01-01", "--exclude-users", opted_out, "--bbox", "0,0,9000,9000", "--min-days-active", 1,
        "--resample", "5min", "--cell", "200m", "--step", "5min", "--key-out", tmp_path / "key.csv",
    )  # fmt: skip
    assert anonymize(events, tmp_path / "out.csv", *options).code == 0
    assert stat.S_IMODE((tmp_path / NOTES).stat().st_mode) == 0o600
    notes = notes_of(tmp_path)
    assert set(notes) == {
        "format",
        "shoal",
        "grid",
        "reading",
        "events",
        "published",
        "evidence",
        "rows_dropped",
    }
    assert (notes["format"], notes["shoal"]) == (1, shoal.__version__)
    assert notes["grid"] == {"cell_m": 200.0, "step_s": 300, "crs": None}
    assert set(notes["reading"]) == set(ReadingOptions.names())
    assert notes["reading"] == {
        "columns": {"user": "who"}, "sites": None, "format": "table", "timezone": "Asia/Tokyo",
        "start": "2023-11-14", "end": "2024-01-01", "exclude_users": ["u03", "u04"], "bbox": "0,0,9000,9000",
        "min_days_active": 1, "resample": "5min", "query": None, "time_format": None, "missing_user": None,
    }  # fmt: skip
    assert {len(code) for code in notes["events"].values()} == {64}
    for name, file in (("published", "out.csv"), ("evidence", "key.csv.evidence.parquet")):
        assert notes[name]["sha256"] == hashlib.sha256((tmp_path / file).read_bytes()).hexdigest()
    assert notes["rows_dropped"]["excluded user"] == 16
    assert anonymize(events, tmp_path / "out.csv", *options, "--no-evidence", "--force").code == 0
    assert notes_of(tmp_path)["evidence"] == {"sha256": None}


def test_the_key_of_the_code_is_fresh_every_time(tmp_path: Path) -> None:
    events, found = write(in_metres(), tmp_path / "events.csv"), []
    for _ in range(2):
        command = (events, tmp_path / "out.csv", "--key-out", tmp_path / "key.csv", "--force")
        assert anonymize(*command).code == 0
        found.append(notes_of(tmp_path)["events"])
    assert found[0]["key"] != found[1]["key"]
    assert found[0]["hmac_sha256"] != found[1]["hmac_sha256"]


def test_the_manifest_tells_what_may_be_told_and_no_more(tmp_path: Path) -> None:
    opted_out = tmp_path / "opted-out.txt"
    opted_out.write_text("u03\n")
    events = write(in_metres(users=24), tmp_path / "events.csv")
    options = (
        "--timezone", "Asia/Tokyo", "--resample", "5min", "--bbox", "0,0,9123,9123", "--exclude-users", opted_out,
        "--from", "2023-11-14",
    )  # fmt: skip
    assert anonymize(events, tmp_path / "out.csv", *options, "--key-out", tmp_path / "key.csv").code == 0
    text = (tmp_path / "out.csv.manifest.json").read_text()
    assert json.loads(text)["reading"] == {"format": "table", "timezone": "Asia/Tokyo", "resample_s": 300}
    secret = notes_of(tmp_path)
    assert set(json.loads(text)["counts"]["rows_dropped"]) == {"left out by choice"}
    assert "excluded user" in secret["rows_dropped"]
    for told in (
        "bbox",
        "exclude",
        "--from",
        "9123",
        "u03",
        "2023-11-14",
        *secret["events"].values(),
        "sha256",
    ):
        assert told not in text


def test_nothing_without_a_key_and_none_is_replaced(tmp_path: Path) -> None:
    events = write(in_metres(), tmp_path / "events.csv")
    assert anonymize(events, tmp_path / "out.csv").code == 0
    assert left_in(tmp_path) == {"events.csv", "out.csv", "out.csv.manifest.json"}
    (tmp_path / NOTES).write_text("mine")
    command = (
        "anonymize",
        events,
        "-o",
        tmp_path / "other.csv",
        "--k",
        2,
        "--whole",
        "--key-out",
        tmp_path / "key.csv",
    )
    refused(tmp_path, *command, words=f"{NOTES} exists already")
    assert (tmp_path / NOTES).read_text() == "mine"
    assert run(*command, "--force").code == 0
    assert notes_of(tmp_path)["format"] == 1


def test_files_that_would_take_each_others_place(tmp_path: Path) -> None:
    events = write(in_metres(), tmp_path / "events.csv")
    command = (
        "anonymize",
        events,
        "-o",
        tmp_path / "out.csv",
        "--k",
        2,
        "--whole",
        "--key-out",
        tmp_path / "key.csv",
    )
    refused(tmp_path, *command, "--json", tmp_path / NOTES, words="must be different files")


def test_from_python(tmp_path: Path) -> None:
    sites = pa.table({"site": ["s0", "s1"], "x": [0.0, 5000.0], "y": [0.0, 0.0]})
    table = in_metres()
    events = pa.table(
        {"user": table["user"], "time": table["time"], "site": [f"s{row % 2}" for row in range(len(table))]}
    )
    excluded = ["nobody", str(table["user"][0].as_py())]
    shoal.anonymize(
        events, sites=sites, exclude_users=excluded, output=tmp_path / "out.csv", key_out=tmp_path / "key.csv",
        **HALF_HOURS,
    )  # fmt: skip
    reading = notes_of(tmp_path)["reading"]
    assert (reading["sites"], reading["exclude_users"]) == (
        None,
        sorted(["nobody", str(table["user"][0].as_py())]),
    )
    written = write(sites, tmp_path / "sites.csv")
    shoal.anonymize(
        events,
        sites=written,
        output=tmp_path / "out.csv",
        key_out=tmp_path / "key.csv",
        force=True,
        **HALF_HOURS,
    )
    assert notes_of(tmp_path)["reading"]["sites"] == str(written.absolute())


@pytest.mark.parametrize("keep", [True, False])
def test_nothing_is_left_where_writing_fails(
    keep: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = write(in_metres(), tmp_path / "events.csv")
    if keep:
        (tmp_path / NOTES).write_text("mine")
    before = left_in(tmp_path)

    def full(*_: object) -> dict[str, Any]:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shoal.publishing.outputs.private_notes", full)
    done = anonymize(events, tmp_path / "out.csv", "--key-out", tmp_path / "key.csv", "--force")
    assert done.code == 3
    assert {name for name in left_in(tmp_path) if "checkpoint" not in name} == before
