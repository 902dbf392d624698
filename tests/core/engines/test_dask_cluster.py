"""A Dask cluster on loopback: the same boxes, whatever becomes of its workers and its scheduler."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shoal
from shoal.auditing.coverage import chunks
from shoal.core.engines import dask_cluster
from shoal.core.engines.dask_cluster import DaskEngine
from shoal.core.progress import SilentProgress
from shoal.errors import InputError, UnfinishedError
from shoal.hiding import window_tasks
from support.run_command import run, write

pytest.importorskip("distributed")

KNOCKING_S, CONNECTING_S = dask_cluster._KNOCKING_S, dask_cluster._CONNECTING_S
PROMISE: dict[str, Any] = {"k": 2, "tau": "30min", "epsilon": "30min"}


class Loopback:
    """A scheduler and its workers, each a process of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        host, port = "127.0.0.1", self.address.rsplit(":", 1)[1]
        self.scheduler = self._start(
            "dask_scheduler", "--host", host, "--port", port, "--no-dashboard", "--no-show"
        )
        self.workers: list[subprocess.Popen[bytes]] = []

    def _start(self, *command: str) -> subprocess.Popen[bytes]:
        module, *options = command
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{module}", *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self._folder,
        )

    def add_worker(self) -> subprocess.Popen[bytes]:
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1")
        self.workers.append(self._start("dask_worker", self.address, *options))
        return self.workers[-1]

    def stop(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Workers leave files where they are started."""
    return tmp_path_factory.mktemp("cluster")


@pytest.fixture(autouse=True)
def _much_to_send(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nearly every window has tasks for the workers; those may take their time to start."""
    monkeypatch.setattr(window_tasks, "_SMALLEST", 20)
    for name in ("_KNOCKING_S", "_CONNECTING_S", "_GATHERING_S"):
        monkeypatch.setattr(dask_cluster, name, 60.0)


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "_PATIENCE_S", 2.0)
    monkeypatch.setattr(dask_cluster, "_SILENCE_S", 5.0)


@pytest.fixture(scope="module")
def unharmed(folder: Path) -> Iterator[Loopback]:
    """A cluster that stays as it is."""
    yield from running(folder)


@pytest.fixture
def loopback(folder: Path) -> Iterator[Loopback]:
    """A cluster for a test to harm."""
    yield from running(folder)


@pytest.fixture
def soon_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "_RECONNECTING_S", 2.0)


def running(folder: Path) -> Iterator[Loopback]:
    loopback = Loopback(folder)
    try:
        for _ in range(2):
            loopback.add_worker()
        yield loopback
    finally:
        loopback.stop()


class After(SilentProgress):
    """Does something a moment after a run has come so far in hiding, that is, while tasks are out."""

    def __init__(self, steps: int, call: Callable[[], object]) -> None:
        self._left = steps
        self._call = call
        self._hiding = False

    def stage(self, name: str, total: int | None = None) -> None:  # noqa: ARG002
        self._hiding = name == "hiding"

    def advance(self) -> None:
        self._left -= self._hiding
        if self._left == 0:
            self._left = -1
            threading.Timer(0.02, self._call).start()


@pytest.fixture(scope="module")
def events() -> Any:
    return shoal.make_city(800)


@pytest.fixture(scope="module")
def expected(events: Any) -> Any:
    return shoal.anonymize(events, **PROMISE, shard_size=100, effort=2).outcome.boxes


def published(events: Any, loopback: Loopback, **more: Any) -> Any:
    return shoal.anonymize(events, **PROMISE, shard_size=100, effort=2, cluster=loopback.address, **more)


def same(boxes: Any, expected: Any) -> bool:
    return all(np.array_equal(one, other) for one, other in zip(boxes, expected, strict=True))


def test_parts_are_the_same_on_a_cluster(unharmed: Loopback) -> None:
    """Where records get new names; the self-check goes there as well."""
    events, parts = shoal.make_city(200), {"rename_every": "6h", "timezone": "Asia/Kolkata"}
    here = shoal.anonymize(events, **PROMISE, shard_size=100, effort=2, **parts)
    there = published(events, unharmed, **parts)
    assert there.verified
    assert there.outcome.n_records == here.outcome.n_records > 400
    assert same(there.outcome.boxes, here.outcome.boxes)


def test_boxes_are_the_same_on_a_cluster(events: Any, expected: Any, unharmed: Loopback) -> None:
    assert same(published(events, unharmed).outcome.boxes, expected)


def test_the_audit_checks_on_a_cluster_what_it_checks_here(
    events: Any, unharmed: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that breaks the promise: the same counts and counterexamples, from several chunks."""
    monkeypatch.setattr(chunks, "MOST_SAMPLES", 2000)
    release = shoal.anonymize(events, **PROMISE)
    boxes, key = release.to_pandas(), release.key()
    broken = boxes[~boxes["record"].duplicated() | (boxes.index % 2 == 0)]
    grid = {"cell": "100m", "step": "1min", "crs": release.manifest["grid"]["crs"]}
    here, there = (
        shoal.audit(events, broken, **PROMISE, **grid, key=key, attacks=20, cluster=address)
        for address in (None, unharmed.address)
    )
    assert here.coverage.n_strict > 100
    assert here.coverage == there.coverage


def test_a_killed_worker_is_replaced(events: Any, expected: Any, loopback: Loopback) -> None:
    def kill_one() -> None:
        loopback.workers[0].kill()
        loopback.add_worker()

    found = published(events, loopback, progress=After(12, kill_one))
    assert loopback.workers[0].poll() is not None
    assert same(found.outcome.boxes, expected)


@pytest.mark.usefixtures("hurried")
def test_a_frozen_worker_is_worked_around(events: Any, expected: Any, loopback: Loopback) -> None:
    def freeze_one() -> None:
        os.kill(loopback.workers[0].pid, signal.SIGSTOP)

    found = published(events, loopback, progress=After(20, freeze_one))
    assert same(found.outcome.boxes, expected)


@pytest.mark.usefixtures("hurried")
def test_all_workers_frozen_is_an_error(
    events: Any, loopback: Loopback, tmp_path: Path, expected: Any
) -> None:
    def freeze_all() -> None:
        for worker in loopback.workers:
            os.kill(worker.pid, signal.SIGSTOP)

    output = tmp_path / "published.parquet"
    with pytest.raises(UnfinishedError, match=r"cluster was lost.*resume=True"):
        published(events, loopback, output=output, progress=After(20, freeze_all))
    assert not output.exists()
    resumed = shoal.anonymize(events, **PROMISE, shard_size=100, effort=2, output=output, resume=True)
    assert same(resumed.outcome.boxes, expected)


@pytest.mark.usefixtures("soon_given_up")
def test_a_lost_scheduler_is_an_error_and_the_run_goes_on_without(
    events: Any, expected: Any, loopback: Loopback, tmp_path: Path
) -> None:
    output = tmp_path / "published.parquet"
    with pytest.raises(UnfinishedError, match=r"cluster was lost.*resume=True"):
        published(events, loopback, output=output, progress=After(15, loopback.scheduler.kill))
    assert not output.exists()
    resumed = shoal.anonymize(events, **PROMISE, shard_size=100, effort=2, output=output, resume=True)
    assert same(resumed.outcome.boxes, expected)


@pytest.mark.usefixtures("soon_given_up")
def test_a_frozen_scheduler_is_an_error(
    events: Any, loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_cluster, "_PATIENCE_S", 2.0)
    monkeypatch.setattr(dask_cluster, "_ANSWERING_S", 2.0)

    def freeze() -> None:
        os.kill(loopback.scheduler.pid, signal.SIGSTOP)

    with pytest.raises(UnfinishedError, match="cluster was lost"):
        published(events, loopback, progress=After(15, freeze))


@pytest.mark.parametrize(
    "address",
    [
        "tcp://127.0.0.1:1",
        "nonsense",
        "10.0.0.1",
        "",
        "tls://127.0.0.1:1",
        "http://a:1",
        "tcp://no-such-host.invalid:1",
        "tcp://127.0.0.1:99999",
        "tcp://..:1",
    ],
)
def test_nobody_there(
    address: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dask_cluster, "_KNOCKING_S", 1.0)
    with pytest.raises(InputError, match=r"No Dask scheduler with workers answers at .*tcp://host:8786"):
        DaskEngine(address)
    assert capfd.readouterr().err == ""


def test_a_wrong_address_is_told_in_one_line_within_ten_seconds(
    events: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dask is not even asked; and as nothing is sent there, nothing is warned of."""
    monkeypatch.setattr(dask_cluster, "_KNOCKING_S", KNOCKING_S)
    monkeypatch.setattr(dask_cluster, "_connected", lambda *_: pytest.fail("Dask was asked"))
    file = write(events, tmp_path / "events.csv")
    command = ("anonymize", file, "-o", tmp_path / "out.csv", "--k", 2, "--tau", "1h", "--epsilon", "1h")
    done = run(*command, "--cluster", "tcp://127.0.0.1:1")
    assert done.code == 2
    assert done.err.startswith("shoal: No Dask scheduler with workers answers at 'tcp://127.0.0.1:1'")
    assert done.err.count("\n") == 1
    assert (
        KNOCKING_S + CONNECTING_S + dask_cluster._GLANCE_S < 10
    )  # where somebody listens who is no scheduler


@pytest.fixture
def listener() -> Iterator[str]:
    """The address of somebody who listens and is no scheduler, without its scheme."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def test_somebody_who_listens_and_says_nothing(
    listener: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dask_cluster, "_CONNECTING_S", 1.0)
    with pytest.raises(InputError, match="No Dask scheduler with workers answers at"):
        DaskEngine(f"tcp://{listener}")
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(("scheme", "warned"), [("tcp", True), ("tls", False)])
def test_a_connection_that_is_not_encrypted_is_warned_of(
    scheme: str,
    warned: bool,
    listener: str,
    events: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    address = f"{scheme}://{listener}"
    monkeypatch.setattr(dask_cluster, "_CONNECTING_S", 1.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(InputError, match="No Dask scheduler"):
            shoal.anonymize(events, **PROMISE, cluster=address)
    told = [
        str(each.message) for each in caught if "neither encrypted nor authenticated" in str(each.message)
    ]
    assert len(told) == warned
    output = tmp_path / "out.csv"
    file = write(events, tmp_path / "events.csv")
    for command in (
        ("anonymize", file, "-o", output, "--k", 2, "--tau", "1h", "--epsilon", "1h"),
        ("audit", file, write_release(tmp_path), "--attacks", 5),
    ):
        done = run(*command, "--cluster", address)
        assert done.code == 2
        *before, refusal = done.err.splitlines()
        assert "No Dask scheduler" in refusal
        assert before == [f"Warning: {line}" for line in told]


def write_release(folder: Path) -> Path:
    """A file that can be audited."""
    output = folder / "release.parquet"
    if not output.exists():
        shoal.anonymize(shoal.make_city(800), **PROMISE, harden=0, verify=False, output=output)
    return output


def test_a_task_that_fails_fails_here(unharmed: Loopback) -> None:
    engine = DaskEngine(unharmed.address)
    try:
        with pytest.raises(ZeroDivisionError):
            list(engine.map(eval, ["1", "1/0"]))
        assert list(engine.map(abs, range(-9, 0))) == list(range(9, 0, -1))
    finally:
        engine.close()


def test_workers_with_other_versions_are_refused(unharmed: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "versions", lambda: "shoal 99")
    engine = DaskEngine(unharmed.address)
    try:
        with pytest.raises(
            UnfinishedError, match=r"here are shoal 99: install the same versions.*resume=True"
        ):
            list(engine.map(abs, [1]))
    finally:
        engine.close()


def test_a_task_is_not_waited_for_longer_than_its_worker_lives(loopback: Loopback) -> None:
    """Both workers die with a task at hand; a new one takes over."""
    engine = DaskEngine(loopback.address)
    killers = [threading.Timer(1.0, worker.kill) for worker in loopback.workers]
    killers.append(threading.Timer(2.0, loopback.add_worker))  # type: ignore[arg-type]
    for killer in killers:
        killer.start()
    try:
        began = time.monotonic()
        assert list(engine.map(time.sleep, [3.0, 3.0])) == [None, None]
        assert time.monotonic() - began < 45
    finally:
        engine.close()


def test_a_broken_connection_is_made_anew(loopback: Loopback) -> None:
    """The scheduler forgets the tasks of a client that it lost: they are sent again."""
    engine = DaskEngine(loopback.address)
    client = engine._client
    cut = threading.Timer(0.5, lambda: client.loop.add_callback(client.scheduler_comm.comm.abort))
    cut.start()
    try:
        assert list(engine.map(time.sleep, [1.5] * 4)) == [None] * 4
        assert engine._client is not client
    finally:
        engine.close()


def test_looking_often_does_no_harm(unharmed: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dask's client that is interrupted while it fetches a result may fetch none ever after."""
    monkeypatch.setattr(dask_cluster, "_GLANCE_S", 0.003)
    engine = DaskEngine(unharmed.address)
    client = engine._client
    try:
        assert list(engine.map(abs, range(500))) == list(range(500))
        assert engine._client is client
    finally:
        engine.close()


@pytest.mark.usefixtures("hurried")
def test_a_task_that_takes_long_is_waited_for(unharmed: Loopback) -> None:
    """Longer than patience and silence together: its worker is heard all the time, so nothing is sent twice."""
    engine = DaskEngine(unharmed.address)
    try:
        assert list(engine.map(time.sleep, [9.0, 0.0])) == [None, None]
        assert not engine._avoided
    finally:
        engine.close()


@pytest.mark.usefixtures("hurried")
def test_without_workers_the_run_ends(loopback: Loopback) -> None:
    engine = DaskEngine(loopback.address)
    try:
        for worker in loopback.workers:
            worker.kill()
        with pytest.raises(UnfinishedError, match="it has no workers"):
            list(engine.map(time.sleep, [1.0]))
    finally:
        engine.close()


@pytest.mark.usefixtures("soon_given_up")
def test_a_checkpoint_outlives_workers_that_do_not_fit(
    events: Any, expected: Any, loopback: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "published.parquet"
    with pytest.raises(UnfinishedError, match="cluster was lost"):
        published(events, loopback, output=output, progress=After(25, loopback.scheduler.kill))
    steps = len(list((tmp_path / "published.parquet.checkpoint").glob("step-*")))
    assert steps >= 20
    fresh = Loopback(tmp_path)
    try:
        fresh.add_worker()
        with monkeypatch.context() as other:
            other.setattr(dask_cluster, "versions", lambda: "shoal 99")
            with pytest.raises(UnfinishedError, match="install the same versions"):
                published(events, fresh, output=output, resume=True)
        assert len(list((tmp_path / "published.parquet.checkpoint").glob("step-*"))) == steps
        assert same(published(events, fresh, output=output, resume=True).outcome.boxes, expected)
    finally:
        fresh.stop()
