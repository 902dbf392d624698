"""``shoal check``: a screen, JSON and exit codes; nothing that names a person or a place, wherever events come from."""

from __future__ import annotations

import io
import json
import re
import shlex
import sys
from pathlib import Path

import pytest

from support.dirty_events import FAULTS, RAW, dirty_text
from support.paths import PROJECT
from support.run_command import anonymize, city, left_in, refused, run, write


@pytest.fixture
def dirty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("dirty.csv").write_text(dirty_text())
    return Path("dirty.csv")


def next_commands(out: str) -> list[list[str]]:
    """The commands at the end of a screen, as a shell takes them."""
    told = out.replace(" \\\n", " ").splitlines()
    return [shlex.split(line) for line in told if line.startswith("  shoal ")]


def test_a_screen(dirty: Path) -> None:
    done = run("check", dirty)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert not RAW.search(done.out)
    assert [line.split()[0] for line in lines if line[:1].strip()][:4] == [
        "Rows",
        "Columns",
        "First",
        "Times",
    ]
    assert "user: msisdn, time: event_time, lat: lat, lon: lon" in done.out
    assert "  aaaaaaaa-9999  99/99/9999 99:99  9.999999  9.999999  2024-03-11 " in done.out
    assert "1 blank line passed over" in done.out
    assert "10 problems:" in done.out
    assert left_in(Path()) == {"dirty.csv"}


def test_the_page_shows_what_the_command_shows(dirty: Path) -> None:
    page = (PROJECT / "docs/check.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert run("check", dirty.rename("events.csv")).out == shown


def test_the_commands_run_as_they_are(dirty: Path) -> None:
    plan, then = next_commands(run("check", dirty).out)
    assert plan[:3] == ["shoal", "plan", "dirty.csv"]
    limited = [*then[1:], "--from", "2024-03-11T12:00", "--to", "2024-03-11T13:00"]
    done = run(*limited)
    assert done.code == 0, done.err
    assert "30 rows" not in done.err
    assert "published.parquet" in left_in(Path())


def test_a_second_look_mends_what_the_first_told(dirty: Path) -> None:
    dirty.write_text(dirty_text("abonne;horodatage;latitude_deg;longitude_deg;Remark"))
    first = run("check", dirty)
    assert (first.code, first.err) == (2, "")
    assert max(map(len, first.out.splitlines())) <= 80
    (again,) = next_commands(first.out)
    second = run(*again[1:], "--json", "-")
    assert (second.code, second.err) == (0, "")
    assert json.loads(second.out)["dropped"] == FAULTS


def test_json(dirty: Path) -> None:
    done = run("check", dirty, "--json", "found.json")
    assert done.code == 0
    content = json.loads(Path("found.json").read_text())
    assert json.loads(run("check", dirty, "--json", "-").out) == content
    assert not RAW.search(json.dumps(content))
    assert {"what", "remedy", "rows"} == set(content["problems"][0])
    refused(Path(), "check", dirty, "--json", "found.json", words="add --force")
    refused(Path(), "check", dirty, "--json", "dirty.csv", words="would overwrite or join the input")


def test_settings(dirty: Path) -> None:
    assert run("check", dirty, "--timezone", "Africa/Abidjan", "--save-config", "reading.toml").code == 0
    shown = run("check", dirty, "--config", "reading.toml").out
    assert "on the clock of Africa/Abidjan" in shown
    assert "--timezone Africa/Abidjan" in shown
    refused(Path(), "plan", dirty, "--config", "reading.toml", "--ks", 900, words="needs at least 900 users")


def test_standard_input(dirty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Standard(io.BytesIO):
        name = "<stdin>"

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Standard(dirty.read_bytes())))
    piped = run("check", "-")
    assert piped.code == 0
    assert (
        piped.out.replace("shoal plan -", "shoal plan dirty.csv").split("Then:")[0]
        == (run("check", dirty).out.split("Then:")[0])
    )


def test_other_kinds_of_events(tmp_path: Path) -> None:
    table = city()
    for name in ("events.parquet", "events.csv"):
        done = run("check", write(table, tmp_path / name))
        assert done.code == 0, done.err
        assert f"{len(table):,}, all of them read" in done.out
    folder = tmp_path / "folder"
    folder.mkdir()
    write(table, folder / "a.parquet")
    assert run("check", folder).code == 0


def test_a_screen_says_what_is_told_from_a_sample(dirty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.reading.sampling.WHOLE_BYTES", 1 << 17)
    monkeypatch.setattr("shoal.reading.sampling._SMALLEST_PIECE", 1 << 10)
    part = run("check", dirty)
    assert part.code == 0
    words = " ".join(part.out.split())
    assert "about 8,141. Everything below is told from a sample: " in words  # a line is blank
    assert "rows in 8 parts spread over the events. --all-rows reads all." in words
    assert "the median user has about " in words
    assert not RAW.search(part.out)
    whole = run("check", dirty, "--all-rows").out
    assert "8,140, all of them read" in whole
    assert "sample:" not in whole


def test_without_a_header_the_first_row_is_no_name(dirty: Path) -> None:
    dirty.write_text("Zanzibar-4711;2024-03-11 10:00;5.3123;-4.0271;Sophie\n" * 9)
    done = run("check", dirty)
    assert done.code == 2
    assert "no header line" in done.out
    assert "column 1, column 2" in done.out
    assert not RAW.search(done.out + done.err)


def test_refusals(dirty: Path) -> None:
    refused(Path(), "check", "none.csv", words="No file or folder 'none.csv'")
    refused(Path(), "check", dirty, "--timezone", "Zanzibar/4711x", words="Unknown time zone")
    refused(Path(), "check", dirty, "--cell", "0m", words="cell")
    refused(Path(), "check", words="EVENTS")


def test_the_counts_are_those_that_anonymize_tells(dirty: Path) -> None:
    """On one hour, so that a release is quick; its summary is on the screen."""
    hour = ("--from", "2024-03-11T12:00", "--to", "2024-03-11T13:00")
    done = anonymize(dirty, Path("out.parquet"), *hour, "--json", "summary.json")
    assert done.code == 0, done.err
    summary = json.loads(Path("summary.json").read_text())
    found = json.loads(run("check", dirty, *hour, "--json", "-").out)
    for name, known in (
        ("rows", "rows"),
        ("samples", "samples"),
        ("users", "users"),
        ("rows_dropped", "dropped"),
        ("duplicates", "duplicates"),
        ("blank_lines", "blank_lines"),
        ("columns_dropped", "columns_not_used"),
    ):
        assert summary[name] == found[known], name


def test_one_row_is_one_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    times = ["12:00:00", "12:00:10", "13:00:00", "18:00:00"]
    lines = [
        "user,time,lat,lon",
        *(f"u{place % 2},2024-03-11T{time}Z,48.{place % 2},2.3" for place, time in enumerate(times)),
    ]
    Path("few.csv").write_text("\n".join([*lines, "u0,2024-03-11T12:00:20Z,48.0,2.3"]))
    out = run("check", "few.csv", "--to", "2024-03-11T15:00Z").out
    assert "1 row repeats another within one cell" in out
    assert "1 row left out" in out
