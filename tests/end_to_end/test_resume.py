"""A killed run goes on where it ended, and publishes the same boxes as one that was left in peace."""

from __future__ import annotations

import signal
import stat
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from shoal.storage.files import AtomicFiles
from support.killed_runs import Killed, end_after
from support.run_command import HALF_HOURS, anonymize, boxes_in, city, left_in, read_table, spawn, write

OUTPUTS = {
    "events.parquet", "out.parquet", "out.parquet.manifest.json",
    "key.csv", "key.csv.private.json", "key.csv.evidence.parquet",
}  # fmt: skip


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Counter[Any]]:
    """Events, and what an undisturbed run makes of them."""
    folder = tmp_path_factory.mktemp("world")
    events = write(city(150), folder / "events.parquet")
    assert anonymize(events, folder / "out.parquet", k=3).code == 0
    return events, boxes_in(folder / "out.parquet")


@pytest.fixture
def place(world: tuple[Path, Counter[Any]], tmp_path: Path) -> Path:
    (tmp_path / "events.parquet").write_bytes(world[0].read_bytes())
    return tmp_path


def resumed(place: Path) -> Counter[Any]:
    """Go on without --force, find every file in place and nothing else, and return the boxes."""
    done = anonymize(
        place / "events.parquet", place / "out.parquet", "--key-out", place / "key.csv", "--resume", k=3
    )
    assert done.code == 0, done.err
    assert left_in(place) == OUTPUTS
    key, table = read_table(place / "key.csv"), read_table(place / "out.parquet")
    assert set(key["record"].to_pylist()) == set(table["record"].to_pylist())
    return boxes_in(place / "out.parquet")


@pytest.mark.parametrize("steps", [0, 1, 20, 40])
def test_ended_between_steps(
    steps: int, place: Path, world: tuple[Path, Counter[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = (place / "events.parquet", place / "out.parquet", "--key-out", place / "key.csv")
    with monkeypatch.context() as patched:
        end_after(steps, patched)
        with pytest.raises(Killed):
            anonymize(*command, k=3)
    checkpoint = place / "out.parquet.checkpoint"
    assert stat.S_IMODE(checkpoint.stat().st_mode) == 0o700
    assert len(list(checkpoint.glob("step-*"))) == steps
    assert resumed(place) == world[1]


def test_windows_that_were_to_be_looked_at_again(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    again, events = ("--effort", 2), place / "events.parquet"
    assert anonymize(events, place / "calm.parquet", *again, k=3).code == 0
    with monkeypatch.context() as patched:
        end_after(25, patched)
        with pytest.raises(Killed):
            anonymize(events, place / "out.parquet", *again, k=3)
    refused = anonymize(events, place / "out.parquet", "--resume", k=3)
    assert (refused.code, "belongs to a run with another effort" in refused.err) == (2, True)
    assert anonymize(events, place / "out.parquet", *again, "--resume", k=3).code == 0
    assert boxes_in(place / "out.parquet") == boxes_in(place / "calm.parquet")


def test_a_torn_step_is_done_again(
    place: Path, world: tuple[Path, Counter[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        end_after(25, patched)
        with pytest.raises(Killed):
            anonymize(place / "events.parquet", place / "out.parquet", k=3)
    last = place / "out.parquet.checkpoint" / "step-0000024.npz"
    last.write_bytes(last.read_bytes()[:-7])
    assert resumed(place) == world[1]


@pytest.mark.parametrize("renames", range(6))
def test_killed_while_the_files_appear(
    renames: int, place: Path, world: tuple[Path, Counter[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some files are in place, others are not, and nothing could be tidied up."""

    def interrupted(self: AtomicFiles) -> None:
        for unfinished, target, _ in self._waiting[:renames]:
            unfinished.replace(target)
        raise Killed

    command = (place / "events.parquet", place / "out.parquet", "--key-out", place / "key.csv")
    with monkeypatch.context() as patched:
        patched.setattr(AtomicFiles, "_put_in_place", interrupted)
        patched.setattr(AtomicFiles, "_tidy_up", lambda _: None)
        with pytest.raises(Killed):
            anonymize(*command, k=3)
    there = left_in(place)
    assert len(there & (OUTPUTS - {"events.parquet"})) == renames
    assert len([name for name in there if name.startswith(".part.")]) == 5 - renames
    assert anonymize(place / "events.parquet", place / "out.parquet", k=3).code == 2
    assert resumed(place) == world[1]


def test_killed_by_the_system(place: Path, world: tuple[Path, Counter[Any]]) -> None:
    """A real process and a real kill, twice, at whatever it is doing then."""
    command = ("anonymize", place / "events.parquet", "-o", place / "out.parquet", "--k", 3, *HALF_HOURS,
               "--key-out", place / "key.csv", "--resume")  # fmt: skip
    checkpoint = place / "out.parquet.checkpoint"
    for steps in (3, 12):
        process = spawn(*command, start_new_session=True)
        while len(list(checkpoint.glob("step-*.npz"))) < steps and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
    assert resumed(place) == world[1]
