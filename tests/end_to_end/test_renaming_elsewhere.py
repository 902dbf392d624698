"""Runs with new names that are killed, resumed, or done in several processes publish the same boxes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from support.killed_runs import Killed, end_after
from support.renamed import read_key
from support.run_command import anonymize, boxes_in, city, read_table, refused, write

OPTIONS = ("--rename-every", "6h", "--timezone", "Asia/Kolkata", "--seed", 3)
HALF_HOURS = ("--tau", "30min", "--epsilon", "30min")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Counter[Any]]:
    """Events, and what an undisturbed run makes of them."""
    folder = tmp_path_factory.mktemp("world")
    events = write(city(60), folder / "events.parquet")
    done = anonymize(events, folder / "out.parquet", *OPTIONS)
    assert done.code == 0, done
    return events, boxes_in(folder / "out.parquet")


def ended_after(steps: int, command: tuple[object, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        end_after(steps, patched)
        with pytest.raises(Killed):
            anonymize(*command)


@pytest.mark.parametrize("steps", [1, 25])
def test_a_killed_run_goes_on(
    steps: int, world: tuple[Path, Counter[Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed before a border and behind one; the period may be given in another unit."""
    output, key = tmp_path / "out.parquet", tmp_path / "key.csv"
    ended_after(steps, (world[0], output, *OPTIONS, "--key-out", key), monkeypatch)
    same = ("--rename-every", "360min", *OPTIONS[2:])
    done = anonymize(world[0], output, *same, "--key-out", key, "--resume")
    assert done.code == 0, done
    assert boxes_in(output) == world[1]
    keyed = read_key(key)
    assert set(keyed["record"].to_pylist()) == set(read_table(output)["record"].to_pylist())
    assert set(keyed["part"].to_pylist()) == set(range(1, max(keyed["part"].to_pylist()) + 1))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (("--rename-every", "12h", "--timezone", "Asia/Kolkata"), "another rename every"),
        (("--timezone", "Asia/Kolkata"), "another rename every"),
        (("--rename-every", "6h", "--timezone", "UTC"), "another time zone"),
        (("--rename-every", "6h"), "another time zone"),
    ],
)
def test_a_killed_run_does_not_go_on_otherwise(
    changed: tuple[str, ...],
    words: str,
    world: tuple[Path, Counter[Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    output = tmp_path / "out.parquet"
    ended_after(1, (world[0], output, *OPTIONS), monkeypatch)
    command = ("anonymize", world[0], "-o", output, "--k", 2, *HALF_HOURS, "--seed", 3, "--resume")
    refused(tmp_path, *command, *changed, words=words)


def test_a_run_that_never_renames_does_not_go_on_with_new_names(
    world: tuple[Path, Counter[Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "out.parquet"
    ended_after(1, (world[0], output), monkeypatch)
    command = ("anonymize", world[0], "-o", output, "--k", 2, *HALF_HOURS, "--resume")
    refused(tmp_path, *command, "--rename-every", "6h", words="another rename every")


@pytest.mark.parametrize("more", [("--engine", "processes", "--workers", 2), ("--workers", 3)])
def test_the_same_parts_however_many_work(
    more: tuple[object, ...], world: tuple[Path, Counter[Any]], tmp_path: Path
) -> None:
    done = anonymize(world[0], tmp_path / "out.parquet", *OPTIONS, *more)
    assert done.code == 0, done
    assert boxes_in(tmp_path / "out.parquet") == world[1]
