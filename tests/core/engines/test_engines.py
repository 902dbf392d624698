"""Engines do tasks: all of them, in order, whatever becomes of those who work."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import shoal
from shoal.core.engines import LocalEngine, ProcessEngine, open_engine
from shoal.errors import ParameterError, UnfinishedError


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessEngine]:
    engine = ProcessEngine(2)
    yield engine
    engine.close()


def test_results_come_in_the_order_of_the_tasks(processes: ProcessEngine) -> None:
    tasks = [0.2, 0.0, 0.1, 0.0, 0.0, 0.05]
    assert list(processes.map(time.sleep, tasks)) == [None] * 6
    numbers = list(range(60))
    for engine in (LocalEngine(), processes):
        assert list(engine.map(math.factorial, numbers)) == [math.factorial(n) for n in numbers]
    assert list(processes.map(abs, [])) == []


def test_tasks_are_asked_for_as_they_can_be_begun(processes: ProcessEngine) -> None:
    """A country's tasks do not fit into memory at once."""
    asked = 0

    def tasks() -> Iterator[int]:
        nonlocal asked
        for n in range(50):
            asked += 1
            yield n

    results = processes.map(math.sqrt, tasks())
    assert next(results) == 0
    assert asked <= processes.n_tasks + 1
    assert len(list(results)) == 49


def test_work_is_done_in_other_processes(processes: ProcessEngine) -> None:
    pids = set(processes.map(eval, ["__import__('time').sleep(0.1) or __import__('os').getpid()"] * 8))
    assert len(pids) == 2
    assert os.getpid() not in pids


def test_what_a_task_raises_is_raised_here(processes: ProcessEngine) -> None:
    with pytest.raises(ValueError, match="negative"):
        list(processes.map(math.factorial, [3, -1, 4]))
    assert list(processes.map(math.factorial, [3])) == [6]


def test_what_a_task_prints_is_no_answer(processes: ProcessEngine) -> None:
    assert list(processes.map(print, ["not an answer"])) == [None]


def test_a_task_whose_process_dies_is_done_by_another(processes: ProcessEngine, tmp_path: Path) -> None:
    """Each of these ends its process the first time it is done."""
    code = "import os, pathlib\np = pathlib.Path({!r})\nif not p.exists(): p.touch(); os._exit(9)"
    tasks = [code.format(str(tmp_path / f"task{n}")) for n in range(4)]
    assert list(processes.map(exec, tasks)) == [None] * 4
    assert len(list(tmp_path.iterdir())) == 4
    assert list(processes.map(abs, range(9))) == list(range(9))


def test_a_task_that_kills_every_process_ends_the_run(processes: ProcessEngine) -> None:
    with pytest.raises(UnfinishedError, match="fewer workers"):
        list(processes.map(os._exit, [9]))
    assert list(processes.map(abs, [-1])) == [1]


def test_children_end_with_the_engine() -> None:
    engine = ProcessEngine(2)
    pids = set(engine.map(eval, ["__import__('time').sleep(0.1) or __import__('os').getpid()"] * 8))
    engine.close()
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_an_engine_that_is_busy_can_be_closed() -> None:
    """As after Ctrl-C, or when one task fails while others are at work."""
    engine = ProcessEngine(2)
    with pytest.raises(ZeroDivisionError):
        list(engine.map(eval, ["1/0", *["__import__('time').sleep(60)"] * 5]))
    pids = [child.pid for child in engine._children]
    began = time.monotonic()
    engine.close()
    assert time.monotonic() - began < 10
    assert len(pids) == 2
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_children_do_not_import_what_lies_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "queue.py").write_text("raise ImportError")
    monkeypatch.chdir(tmp_path)
    engine = ProcessEngine(1)
    try:
        assert list(engine.map(abs, [-1])) == [1]
    finally:
        engine.close()


def test_a_script_without_a_guard_is_not_run_again(tmp_path: Path) -> None:
    """multiprocessing would run it in every child."""
    script = tmp_path / "publish.py"
    script.write_text(
        "import shoal\nprint('once')\n"
        "events = shoal.make_city(1200)\n"
        "shoal.anonymize(events, k=2, tau='30min', epsilon='30min', engine='processes', workers=2)\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert done.stdout == "once\n"


def test_boxes_are_the_same_in_processes() -> None:
    events = shoal.make_city(1500)
    boxes = [
        shoal.anonymize(
            events, k=2, tau="30min", epsilon="30min", engine=engine, workers=2, shard_size=200, effort=2
        ).outcome.boxes
        for engine in ("threads", "processes")
    ]
    assert all(np.array_equal(one, other) for one, other in zip(*boxes, strict=True))


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(ParameterError, match="threads, processes"), open_engine("steam", 2, None):
        pass
