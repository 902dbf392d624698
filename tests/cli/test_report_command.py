"""``shoal report``: bad input gets one line and exit code 2, nothing is left behind, and no input is overwritten."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq
import pytest

from support.run_command import anonymize, city, left_in, refused, run, write


class World(NamedTuple):
    """Events, a release of them, and a second one with another key."""

    folder: Path
    events: Path
    published: Path
    key: Path
    other_key: Path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    events = write(city(40), folder / "events.parquet")
    for name in ("published", "other"):
        done = anonymize(events, folder / f"{name}.parquet", "--key-out", folder / f"{name}-key.csv")
        assert done.code == 0, done.err
    return folder


@pytest.fixture
def world(made: Path, tmp_path: Path) -> World:
    folder = tmp_path / "world"
    shutil.copytree(made, folder)
    names = ("events.parquet", "published.parquet", "published-key.csv", "other-key.csv")
    return World(folder, *(folder / name for name in names))


def test_a_page_is_written(world: World) -> None:
    page = world.folder / "report.html"
    command = ("report", world.events, world.published, "-o", page, "--key", world.key, "--attacks", 20)
    done = run(*command, "--tolerance", 0.2)
    assert done.code == 0, done.err
    assert page.read_text().startswith("<!doctype html>")
    assert done.out.splitlines()[0].startswith("Guarantee 1 KEPT, 2 weakened")
    weakened = run(*command, "--force")
    assert weakened.code == 1
    assert weakened.out.startswith("WEAKENED: guarantee 1 KEPT")


def test_a_datasheet_needs_the_key_and_the_files_own_promise(world: World) -> None:
    report = ("report", world.events, world.published, "-o", world.folder / "sheet.html", "--public")
    refused(world.folder, *report, words="A datasheet needs the key")
    weaker = ("--key", world.key, "--k", 2, "--tau", "10min", "--epsilon", "30min")
    refused(world.folder, *report, *weaker, words="found a shorter tau: leave --k")


def test_an_older_datasheet_is_not_taken_for_a_new_one(world: World) -> None:
    """A broken promise writes none, and what is there stays: that is said."""
    page = world.folder / "sheet.html"
    report = ("report", world.events, world.published, "-o", page, "--public", "--key", world.key)
    stronger = ("--k", 9, "--tau", "30min", "--epsilon", "30min", "--attacks", 20, "--force")
    missing = run(*report, *stronger)
    assert missing.code == 1
    assert "is still there" not in missing.out
    page.write_text("an older one")
    done = run(*report, *stronger)
    assert done.code == 1
    assert "sheet.html is still there from an earlier run" in " ".join(done.out.split())
    assert page.read_text() == "an older one"


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("missing/report.html", "does not exist: choose another, or create it first"),
        ("report.pdf", "must end in .html, found '.pdf'"),
        ("report", "must end in .html, found 'none'"),
    ],
)
def test_places_where_no_page_can_go(world: World, output: str, words: str) -> None:
    refused(world.folder, "report", world.events, world.published, "-o", world.folder / output, words=words)


@pytest.mark.parametrize("name", ["events", "published", "key", "manifest"])
def test_no_input_is_overwritten_even_by_force(world: World, name: str) -> None:
    """Each is given the name of a page, for another one is refused anyway."""
    files = {"events": world.events, "published": world.published, "key": world.key}
    files["manifest"] = Path(f"{world.published}.manifest.json")
    page = files[name].with_name("input.html")
    page.symlink_to(files[name])
    before = files[name].read_bytes()
    options = ("-o", page, "--key", world.key, "--force")
    refused(world.folder, "report", world.events, world.published, *options, words="would overwrite or join")
    assert files[name].read_bytes() == before


def test_no_device_or_pipe_is_replaced_by_force(world: World) -> None:
    """A pipe stands for a device, which a test must not put at risk."""
    pipe = world.folder / "pipe.html"
    os.mkfifo(pipe)
    options = ("-o", pipe, "--force")
    refused(world.folder, "report", world.events, world.published, *options, words="a device or a pipe")
    assert pipe.is_fifo()


def test_events_and_published_swapped(world: World) -> None:
    page = world.folder / "report.html"
    refused(
        world.folder, "report", world.published, world.events, "-o", page, words="check which file is which"
    )


def test_the_key_of_another_release(world: World) -> None:
    options = ("-o", world.folder / "report.html", "--key", world.other_key)
    refused(
        world.folder, "report", world.events, world.published, *options, words="give the key of this release"
    )


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("bad.txt", b"hello\n", "unknown suffix"),
        ("bad.parquet", b"hello\n", "cannot be read as Parquet"),
        ("empty.parquet", b"", "is empty"),
        ("empty.csv", b"", "is empty"),
    ],
)
def test_files_of_the_wrong_kind(world: World, name: str, content: bytes, words: str) -> None:
    bad, page = world.folder / name, world.folder / "report.html"
    bad.write_bytes(content)
    refused(world.folder, "report", world.events, bad, "-o", page, words=words)
    refused(world.folder, "report", bad, world.published, "-o", page, words=words)


def test_a_published_file_without_boxes(world: World) -> None:
    none = world.folder / "none.parquet"
    pq.write_table(pq.read_table(world.published).slice(0, 0), none)
    page = world.folder / "report.html"
    refused(world.folder, "report", world.events, none, "-o", page, words="expected at least one box")


def test_a_table_without_a_manifest(world: World) -> None:
    lost = world.folder / "lost.csv"
    anonymize(world.events, lost)
    Path(f"{lost}.manifest.json").unlink()
    page = world.folder / "report.html"
    refused(world.folder, "report", world.events, lost, "-o", page, words="give its cell and step")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written(world: World) -> None:
    closed = world.folder / "closed"
    closed.mkdir(mode=0o500)
    page = closed / "report.html"
    refused(world.folder, "report", world.events, world.published, "-o", page, words="Permission denied")


def test_a_disk_that_fills_up_leaves_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shoal.storage.files.os.fsync", full)
    before = left_in(world.folder)
    page = world.folder / "report.html"
    done = run("report", world.events, world.published, "-o", page, "--attacks", 20)
    assert done.code == 3
    assert done.err.startswith("shoal: Could not write the output (No space left on device)")
    assert left_in(world.folder) == before
