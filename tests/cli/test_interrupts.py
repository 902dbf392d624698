"""Ctrl-C, SIGTERM and SIGHUP end a command with one line that says what is left, whatever it is doing.

They wait for the end of what must not be left half done, and are never mistaken for an error.
"""

from __future__ import annotations

import os
import pkgutil
import shutil
import signal
import stat
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from shoal.cli import main
from shoal.core.interrupts import defer_interrupts, signals_as_interrupts
from support.run_command import HALF_HOURS, anonymize, city, complaints, in_metres, left_in, run, spawn, write

NAMES = {signal.SIGINT: "", signal.SIGTERM: " (SIGTERM)", signal.SIGHUP: " (SIGHUP)"}
RESUMABLE = (
    "Nothing was published. out.parquet.checkpoint is left, readable by you alone, and tells who hides whom:"
    " go on with --resume, or remove it."
)


@pytest.fixture(autouse=True)
def usual_signals() -> Iterator[None]:
    """As in a terminal: a process in the background is born deaf to Ctrl-C, one under nohup to SIGHUP."""
    usual = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: signal.SIG_DFL,
        signal.SIGHUP: signal.SIG_DFL,
    }
    before = {number: signal.signal(number, handler) for number, handler in usual.items()}
    yield
    for number, handler in usual.items():
        assert signal.getsignal(number) is handler
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def events(tmp_path: Path) -> Path:
    return write(in_metres(), tmp_path / "events.csv")


# ---- waiting for the end of something short -----------------------------------------------------------------------


@pytest.mark.parametrize("number", NAMES)
def test_it_takes_effect_at_the_end(number: signal.Signals) -> None:
    done = []

    def work() -> None:
        with signals_as_interrupts(), defer_interrupts():
            signal.raise_signal(number)
            done.append("all")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["all"]


def test_an_error_of_the_work_itself_passes() -> None:
    with pytest.raises(OSError, match="full"), defer_interrupts():
        raise OSError("full")


def test_nothing_happens_in_other_threads() -> None:
    seen = []

    def work() -> None:
        with signals_as_interrupts(), defer_interrupts():
            seen.extend(signal.getsignal(number) for number in NAMES)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler, signal.SIG_DFL, signal.SIG_DFL]


# ---- wherever it comes --------------------------------------------------------------------------------------------


def raising(number: signal.Signals, call: Callable[..., Any]) -> Callable[..., Any]:
    """The same call, during which a signal arrives."""

    def interrupted(*given: Any, **options: Any) -> Any:
        signal.raise_signal(number)
        return call(*given, **options)

    return interrupted


STAGES = {
    "reading": ("shoal.api.read_events", "Nothing was published, and nothing is left behind."),
    "compiling": ("shoal.api.make_ready", "Nothing was published, and nothing is left behind."),
    "hiding": ("shoal.hiding.journal.FolderJournal.append", RESUMABLE),
    "noting": ("shoal.hiding.journal.np.savez", RESUMABLE),
    "writing": ("shoal.publishing.outputs.write_evidence", RESUMABLE),
    "checking": ("shoal.api.verify_release", RESUMABLE),
}  # fmt: skip


@pytest.mark.parametrize("number", NAMES)
@pytest.mark.parametrize("stage", STAGES)
def test_whatever_a_run_is_doing(
    stage: str, number: signal.Signals, events: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, told = STAGES[stage]
    command = (events, tmp_path / "out.parquet", "--key-out", tmp_path / "key.csv")
    with monkeypatch.context() as patched:
        patched.setattr(place, raising(number, pkgutil.resolve_name(place)))
        done = anonymize(*command)
    assert (done.code, done.out) == (3, "")
    assert done.err == f"shoal: Interrupted{NAMES[number]}. {told}\n"
    checkpoint = tmp_path / "out.parquet.checkpoint"
    assert {path.name for path in tmp_path.iterdir()} == {"events.csv"} | (
        {checkpoint.name} if told is RESUMABLE else set()
    )
    if checkpoint.exists():
        assert stat.S_IMODE(checkpoint.stat().st_mode) == 0o700
        assert {stat.S_IMODE(path.stat().st_mode) for path in checkpoint.iterdir()} == {0o600}
        assert not (checkpoint / "samples").exists()
    assert anonymize(*command, "--resume").code == 0
    assert not checkpoint.exists()


def test_while_files_are_put_in_place_they_all_are(
    events: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("shoal.storage.files.AtomicFiles._put_in_place", "shoal.storage.files._second_name"):
        monkeypatch.setattr(place, raising(signal.SIGTERM, pkgutil.resolve_name(place)))
    done = anonymize(events, tmp_path / "out.parquet", "--force")
    assert (done.code, done.out) == (3, "")
    assert done.err == "shoal: Interrupted (SIGTERM) when all files were in place.\n"
    assert left_in(tmp_path) == {"events.csv", "out.parquet", "out.parquet.manifest.json"}


def test_a_second_signal_does_not_keep_raw_samples_from_being_removed(
    events: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.api.verify_release", raising(signal.SIGTERM, lambda: None))
    remove = shutil.rmtree

    def twice(path: Path, **options: Any) -> None:
        signal.raise_signal(signal.SIGTERM)
        remove(path, **options)

    monkeypatch.setattr("shoal.publishing.checkpoint.shutil.rmtree", twice)
    done = anonymize(events, tmp_path / "out.parquet")
    assert done.code == 3
    assert done.err == f"shoal: Interrupted (SIGTERM). {RESUMABLE}\n"
    assert not (tmp_path / "out.parquet.checkpoint" / "samples").exists()


def test_samples_that_cannot_be_removed_are_told(
    events: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.api.verify_release", raising(signal.SIGTERM, lambda: None))
    monkeypatch.setattr("shoal.publishing.checkpoint.shutil.rmtree", lambda *_, **__: None)
    done = anonymize(events, tmp_path / "out.parquet")
    assert "is left, readable by you alone, and tells raw samples and who hides whom: go on" in done.err


def test_without_files_nothing_is_left(events: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In Python: the exception says so itself."""
    import shoal

    monkeypatch.setattr("shoal.api.verify_release", raising(signal.SIGINT, lambda: None))
    with pytest.raises(KeyboardInterrupt) as caught:
        shoal.anonymize(events, k=2, tau="30min", epsilon="30min")
    assert caught.value.__notes__ == ["Nothing was published."]


def test_other_commands(events: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = tmp_path / "out.parquet"
    assert anonymize(events, output).code == 0
    before = left_in(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr("shoal.api.run_audit", raising(signal.SIGHUP, lambda: None))
        done = run("audit", events, output, "--json", tmp_path / "audit.json")
    assert (done.code, done.err) == (3, "shoal: Interrupted (SIGHUP). Nothing was published.\n")
    assert left_in(tmp_path) == before


def test_a_sweep(events: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = (
        "sweep",
        events,
        "-o",
        tmp_path / "out",
        "--over",
        "k",
        "--ks",
        "2,3",
        "--selectors",
        "matching",
    )
    put, left = "shoal.evaluate.sweep.FolderSweepStore.put", []
    from shoal.evaluate.sweep import FolderSweepStore

    usual = FolderSweepStore.put

    def ending(self: FolderSweepStore, name: str, value: Any) -> None:
        usual(self, name, value)
        if name.startswith("matching") and "hours" not in name:
            signal.raise_signal(signal.SIGTERM)

    with monkeypatch.context() as patched:
        patched.setattr("shoal.evaluate.sweep.make_ready", raising(signal.SIGTERM, lambda: None))
        left.append(run(*command))
        assert left_in(tmp_path) == {"events.csv"}
        patched.undo()
        patched.setattr(put, ending)
        left.append(run(*command))
    assert [done.code for done in left] == [3, 3]
    assert [done.err for done in left] == [
        "shoal: Interrupted (SIGTERM). Nothing was published.\n",
        "shoal: Interrupted (SIGTERM). out.checkpoint is left, readable by you alone, with what was measured: go on"
        " with --resume, or remove it.\n",
    ]
    assert stat.S_IMODE((tmp_path / "out.checkpoint").stat().st_mode) == 0o700
    assert run(*command, "--resume").code == 0
    assert not (tmp_path / "out.checkpoint").exists()


def test_what_is_ignored_stays_ignored(events: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under nohup a closed terminal ends nothing."""
    from shoal.api import read_events

    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        monkeypatch.setattr("shoal.api.read_events", raising(signal.SIGHUP, read_events))
        assert anonymize(events, tmp_path / "out.parquet").code == 0
    finally:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def test_an_error_on_the_way_out_of_an_interruption_is_told_as_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_: list[str]) -> None:
        try:
            raise KeyboardInterrupt("SIGTERM")
        finally:
            error = ValueError("cannot close")
            error.add_note("a note of a library, which may quote data")
            raise error

    monkeypatch.setattr(main, "_run", interrupted)
    with pytest.raises(SystemExit) as end:
        main.main([])
    assert end.value.code == 3
    assert capsys.readouterr().err == "shoal: Interrupted (SIGTERM). Nothing was published.\n"


# ---- real processes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "engine"), [(signal.SIGHUP, "threads"), (signal.SIGTERM, "processes")])
def test_a_signal_to_a_run_and_all_its_workers(number: signal.Signals, engine: str, tmp_path: Path) -> None:
    events, output = write(city(300), tmp_path / "events.parquet"), tmp_path / "out.parquet"
    options = ("--k", 3, "--tau", "10min", "--epsilon", "10min", "--workers", 2, "--engine", engine)
    process = spawn("anonymize", events, "-o", output, *options, start_new_session=True)
    while process.poll() is None and len(list(tmp_path.rglob("step-*.npz"))) < 4:
        time.sleep(0.01)
    os.killpg(process.pid, number)
    out, err = process.communicate(timeout=180)
    assert (process.returncode, out) == (3, "")
    assert complaints(err) == [f"shoal: Interrupted{NAMES[number]}. {RESUMABLE}"]
    assert {path.name for path in tmp_path.iterdir()} == {"events.parquet", "out.parquet.checkpoint"}
    wait_until_gone(process.pid)


def test_ctrl_c_while_compiling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    events = write(in_metres(), tmp_path / "events.csv")
    command = ("anonymize", events, "-o", tmp_path / "out.csv", "--k", 2, *HALF_HOURS, "--workers", 2)
    process = spawn(*command, start_new_session=True)
    assert process.stderr is not None
    said = ""
    while "compiling" not in said:
        said = process.stderr.readline()
        assert said, "the run ended before it compiled"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (3, "")
    assert complaints(err) == ["shoal: Interrupted. Nothing was published, and nothing is left behind."]
    assert not list((tmp_path / "cache").rglob("ready-*"))
    assert {path.name for path in tmp_path.iterdir()} == {"cache", "events.csv"}
    wait_until_gone(process.pid)


def wait_until_gone(group: int) -> None:
    """Wait until no process of a group is left."""
    patience = time.monotonic() + 60
    while time.monotonic() < patience:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    raise AssertionError("processes are left behind")
