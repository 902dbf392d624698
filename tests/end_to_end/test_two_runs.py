"""Two runs that would write the same file: the second is refused at once, and nothing is overwritten."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from shoal.errors import InputError
from shoal.storage.locks import is_locked, reserved, take_lock
from support.killed_runs import Killed
from support.run_command import (
    HALF_HOURS,
    anonymize,
    city,
    complaints,
    in_metres,
    left_in,
    read_table,
    refused,
    run,
    spawn,
    write,
)

SWEEP = ("--over", "k", "--ks", "2,3", "--selectors", "matching")


@contextmanager
def standing_still(*command: object, once: Callable[[], bool]) -> Iterator[subprocess.Popen[str]]:
    """A run in a process of its own, held at some moment after a condition came true; then it goes on to its end."""
    process = spawn(*command)
    try:
        while process.poll() is None and not once():
            time.sleep(0.01)
        process.send_signal(signal.SIGSTOP)
        yield process
    finally:
        process.send_signal(signal.SIGCONT)
        _, err = process.communicate(timeout=180)
        assert process.returncode == 0, err
        assert complaints(err) == []


@pytest.fixture
def events(tmp_path: Path) -> Path:
    return write(city(300), tmp_path / "events.parquet")


def test_one_output_and_one_key(events: Path, tmp_path: Path) -> None:
    output, key, summary = tmp_path / "out.parquet", tmp_path / "key.csv", tmp_path / "summary.json"
    other = ("anonymize", events, "-o", tmp_path / "other.parquet", "--k", 2, *HALF_HOURS)
    first = ("anonymize", events, "-o", output, "--k", 2, *HALF_HOURS, "--key-out", key, "--json", summary)
    with standing_still(*first, once=lambda: bool(list(tmp_path.rglob("step-*.npz")))):
        for options in ((), ("--force",), ("--resume",)):
            command = ("anonymize", events, "-o", output, "--k", 2, *HALF_HOURS, *options)
            words = "Another run is still at work on the checkpoint out.parquet.checkpoint: wait for it, or"
            refused(tmp_path, *command, words=words)
        for options in (("--key-out", key), ("--key-out", key, "--force"), ("--json", summary)):
            words = f"Another run that writes {Path(str(options[1])).name} is still at work: wait for it, or"
            refused(tmp_path, *other, *options, words=words)
        (tmp_path / "link").symlink_to(tmp_path)
        refused(tmp_path, *other, "--key-out", tmp_path / "link" / "key.csv", words="is still at work")
        (tmp_path / "link").unlink()
    assert {name for name in left_in(tmp_path) if "key" not in name} == {
        "events.parquet", "out.parquet", "out.parquet.manifest.json", "summary.json",
    }  # fmt: skip
    assert set(read_table(key)["record"].to_pylist()) == set(read_table(output)["record"].to_pylist())
    assert run(*other).code == 0


def test_one_folder_of_a_sweep(events: Path, tmp_path: Path) -> None:
    command = ("sweep", events, "-o", tmp_path / "out", *SWEEP)
    with standing_still(*command, once=lambda: (tmp_path / "out.checkpoint" / "lock").exists()):
        for options in ((), ("--resume",), ("--force",)):
            words = "Another sweep is still at work on out.checkpoint: wait for it, or choose another output"
            refused(tmp_path, *command, *options, words=words)


def test_two_that_begin_together(events: Path, tmp_path: Path) -> None:
    """One of them wins, whichever; the key is that of its release."""
    options = ("--k", 2, *HALF_HOURS, "--key-out", tmp_path / "key.csv")
    processes = {
        name: spawn("anonymize", events, "-o", tmp_path / name, *options)
        for name in ("a.parquet", "b.parquet")
    }
    ends = {
        name: (process.communicate(timeout=180), process.returncode) for name, process in processes.items()
    }
    [winner] = [name for name, (_, code) in ends.items() if code == 0]
    [loser] = set(ends) - {winner}
    (out, err), code = ends[loser]
    assert (out, code) == ("", 2), err
    # A slow one finds the key of the quick one in place.
    assert complaints(err)[0].startswith(
        ("shoal: Another run that writes key.csv", "shoal: key.csv exists already")
    )
    assert len(complaints(err)) == 1
    assert not (tmp_path / loser).exists()
    records = read_table(tmp_path / winner)["record"].to_pylist()
    assert set(read_table(tmp_path / "key.csv")["record"].to_pylist()) == set(records)
    assert not [
        name for name in left_in(tmp_path) if "lock" in name or "checkpoint" in name or "part" in name
    ]


def test_a_file_that_appears_meanwhile_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever made it, and on file systems without locks."""
    events, key = write(in_metres(), tmp_path / "events.csv"), tmp_path / "key.csv"
    command = (events, tmp_path / "out.csv", "--key-out", key)

    def meanwhile(*_: object, **__: object) -> None:
        key.write_text("precious")

    with monkeypatch.context() as patched:
        patched.setattr("shoal.api.verify_release", meanwhile)
        done = anonymize(*command)
    assert done.code == 3
    assert done.err == (
        "shoal: key.csv appeared while this run was at work, and is not overwritten: nothing was published; move it"
        " away or choose another name, then go on with --resume.\n"
    )
    assert key.read_text() == "precious"
    assert {path.name for path in tmp_path.iterdir()} == {"events.csv", "key.csv", "out.csv.checkpoint"}
    refused(tmp_path, "anonymize", events, "-o", tmp_path / "out.csv", "--k", 2, *HALF_HOURS, "--key-out", key,
            "--resume", words="key.csv exists already: add --force")  # fmt: skip
    assert anonymize(events, tmp_path / "out.csv", "--key-out", tmp_path / "other.csv", "--resume").code == 0
    assert key.read_text() == "precious"


def test_the_key_of_another_run_is_not_taken_for_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run is killed while its files appear; another, meanwhile, writes the key that was still missing."""
    events, key = write(in_metres(), tmp_path / "events.csv"), tmp_path / "key.csv"
    command = (events, tmp_path / "out.csv", "--key-out", key)

    def killed(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr("shoal.storage.files.AtomicFiles._put_in_place", killed)
        with pytest.raises(Killed):
            anonymize(*command)
    assert anonymize(events, tmp_path / "other.csv", "--key-out", key).code == 0
    before = key.read_bytes()
    done = anonymize(*command, "--resume")
    assert (done.code, key.read_bytes()) == (2, before)
    assert done.err.startswith("shoal: key.csv exists already")


def test_locks_end_with_whoever_holds_them(tmp_path: Path) -> None:
    target = tmp_path / "key.csv"
    with reserved(target):
        assert left_in(tmp_path) == {".lock.key.csv"}
        assert is_locked(tmp_path / ".lock.key.csv")
        with pytest.raises(InputError, match=r"^Another run that writes key\.csv"), reserved(target):
            raise AssertionError
    assert left_in(tmp_path) == set()
    (tmp_path / ".lock.key.csv").touch()  # of a run that was killed
    assert not is_locked(tmp_path / ".lock.key.csv")
    with reserved(target):
        pass
    assert left_in(tmp_path) == set()


def test_a_lock_that_is_removed_while_one_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file that was opened is no longer that of this name: whoever comes next would hold another."""
    seen: list[int | None] = []

    def slow(path: Path) -> int | None:
        seen.append(take_lock(path))
        if len(seen) == 1:
            path.unlink()
        return seen[-1]

    monkeypatch.setattr("shoal.storage.locks.take_lock", slow)
    with reserved(tmp_path / "key.csv"):
        assert is_locked(tmp_path / ".lock.key.csv")
    assert len(seen) == 2


def test_a_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    def refuse(*_: object) -> None:
        raise OSError(95, os.strerror(95))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with reserved(tmp_path / "key.csv"), reserved(tmp_path / "key.csv"):
        assert not is_locked(tmp_path / ".lock.key.csv")
    assert left_in(tmp_path) == set()
