"""Compilation ahead: in other processes, of everything that is needed, told while it happens, and never in the way."""

from __future__ import annotations

import importlib
import logging
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numba
import pytest
from numba.core.registry import CPUDispatcher

import shoal
from shoal.core import code_cache, compiling
from shoal.core.code_cache import choose_place
from shoal.core.compiling import make_ready, rehearse
from shoal.core.progress import SilentProgress
from shoal.hiding.pipeline import usual_rehearsals
from support import tiny_kernels
from support.paths import PROJECT
from support.run_command import left_in, run
from support.tiny_kernels import TINY, tiny_work, work_that_fails


def run_python(script: str, *arguments: object, **environment: object) -> subprocess.CompletedProcess[str]:
    """A script in a process of its own, which knows the package and what supports its tests."""
    paths = os.pathsep.join([str(Path(shoal.__file__).parents[1]), str(PROJECT / "tests")])
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": paths, **{name: str(value) for name, value in environment.items()}},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


# ---- what a run will need -----------------------------------------------------------------------------------------


def test_a_rehearsal_notes_what_python_calls() -> None:
    """Not what kernels call; and with the types that compiled code would see: an int32 comes back as Python's int."""
    calls = {call.name: pickle.loads(call.types) for call in rehearse(tiny_work)}
    values = numba.types.Array(numba.int64, 1, "C")
    assert calls == {"count_up": (values,), "twice": (numba.int64,)}
    assert not tiny_kernels.twice.signatures
    larger, smaller = rehearse(tiny_work)
    assert larger.size > smaller.size > 0


def test_a_rehearsal_that_fails_notes_what_came_before() -> None:
    usual = CPUDispatcher._compile_for_args
    assert [call.name for call in rehearse(work_that_fails)] == ["twice"]
    assert CPUDispatcher._compile_for_args is usual


NOTHING_LEFT = """
import gc, sys
from numba.core.dispatcher import Dispatcher
from shoal.auditing.coverage.chunks import CHECK_REHEARSAL
from shoal.auditing.rehearsal import rehearsal_of_audit
from shoal.core.compiling import compile_kernel, rehearse
from shoal.hiding.pipeline import usual_rehearsals

def compiled():
    kernels = (each for each in gc.get_objects() if isinstance(each, Dispatcher))
    return {(kernel.__name__, types) for kernel in kernels for types in kernel.signatures}

rehearsals = [*usual_rehearsals(), CHECK_REHEARSAL, *map(rehearsal_of_audit, (False, True))]
[rehearsal] = [each for each in rehearsals if each.name == sys.argv[1]]
calls = rehearse(rehearsal.work)
for call in calls:
    compile_kernel(call)
before = compiled()
rehearsal.work()
print(len(calls), sorted(name for name, _ in compiled() - before))
"""


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("hiding: windows, matching, reuse once, hardened", 20),
        ("hiding: whole trajectories, k 2, mutual, reuse once", 5),
        ("hiding: whole trajectories, k 3, mutual, reuse once", 5),
        ("check", 5),
    ],
)
def test_nothing_is_left_to_compile_after_a_rehearsal(name: str, least: int) -> None:
    """Kernels are found by interpreting them: what these call must be what compiled ones call."""
    n_calls, left = run_python(NOTHING_LEFT, name).stdout.split(maxsplit=1)
    assert int(n_calls) >= least
    assert left == "[]\n"


def test_names_of_rehearsals_differ() -> None:
    names = [rehearsal.name for rehearsal in usual_rehearsals()]
    assert len(set(names)) == len(names)


# ---- in other processes -------------------------------------------------------------------------------------------

READY = """
from shoal.core.compiling import make_ready
from shoal.core.progress import SilentProgress
from support.tiny_kernels import TINY, count_up
from support.progress_listener import Listener
heard = Listener()
print(make_ready([TINY], 2, heard) > 0, sum(count_up.stats.cache_misses.values()), heard.names)
heard = Listener()
print(make_ready([TINY], 2, heard), heard.names)
"""


def test_kernels_are_compiled_elsewhere_and_once(tmp_path: Path) -> None:
    lines = [run_python(READY, NUMBA_CACHE_DIR=tmp_path).stdout.splitlines() for _ in range(2)]
    stages = ["compiling", "compiling, once (about 5 s)", "loading the engine"]
    assert lines[0] == [f"True 0 {stages}", f"0.0 {stages[2:]}"]
    assert lines[1] == [f"False 0 {stages[2:]}", f"0.0 {stages[2:]}"]


SILENT = """
from shoal.core.compiling import make_ready
from shoal.core.progress import SilentProgress
from support.tiny_kernels import TINY
make_ready([TINY], 1, SilentProgress())
"""


def test_whoever_listens_to_no_progress_is_told_in_the_log(tmp_path: Path) -> None:
    for said in ("shoal: compiling, once (about 5 s); shoal.warm_up() does it ahead\n", ""):
        done = run_python(SILENT, NUMBA_CACHE_DIR=tmp_path)
        assert (done.stdout, done.stderr) == ("", said)


def test_without_a_folder_to_keep_it_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    aside = tmp_path / "aside"
    aside.mkdir()
    done = run_python(SILENT, NUMBA_CACHE_DIR=tmp_path / "file" / "cache", TMPDIR=aside)
    assert "compiling, as there is no folder to keep it in (about 5 s)" in done.stderr
    assert left_in(tmp_path) == {"file", "aside"}


@pytest.mark.parametrize("fault", ["no processes", "inside another program"])
def test_where_processes_cannot_be_had_it_is_done_here(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(_: int) -> None:
        raise OSError("no more processes")

    if fault == "no processes":
        monkeypatch.setattr(compiling, "ProcessEngine", refuse)
    else:
        monkeypatch.setattr(sys, "executable", "/usr/sbin/webserver")
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiling, "_loaded", set())
    done: list[int] = []
    with caplog.at_level(logging.WARNING):
        assert make_ready([TINY._replace(work=lambda: done.append(1))], 2, SilentProgress()) > 0
    assert done == [1]
    assert "compiling in one process" in caplog.text
    assert make_ready([TINY._replace(work=lambda: done.append(2))], 2, SilentProgress()) == 0
    assert done == [1]


# ---- where compiled code is kept ----------------------------------------------------------------------------------


def test_the_first_place_that_takes_files(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    places = [tmp_path / "file" / "cache", tmp_path / "new" / "cache", tmp_path / "other"]
    assert choose_place(places) == (places[1], True)
    assert left_in(tmp_path) == {"file", "new", "new/cache"}


def test_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    beside = Path(code_cache.__file__).parent / "__pycache__"
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert code_cache._places() == [beside, tmp_path / ".cache" / "shoal"]
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert code_cache._places() == [beside, tmp_path / "caches" / "shoal"]
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "given"))
    assert code_cache._places() == [tmp_path / "given"]


# ---- shoal warm-up ------------------------------------------------------------------------------------------------


def test_warm_up_compiles_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    api, seen = importlib.import_module("shoal.api"), []
    monkeypatch.setattr(api, "not_compiled", lambda rehearsals: rehearsals[:2])
    monkeypatch.setattr(
        api,
        "compile_side_by_side",
        lambda missing, count, _: seen.append(([each.name for each in missing], count)),
    )
    done = run("warm-up", "--workers", 2)
    assert (done.code, done.err) == (0, "")
    assert done.out == "Compiled in 0 s.\n"
    assert seen == [([rehearsal.name for rehearsal in usual_rehearsals()[:2]], 2)]
    monkeypatch.setattr(api, "not_compiled", lambda _: [])
    assert run("warm-up") == (0, "Everything was compiled already.\n", "")


def test_warm_up_needs_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.api.CACHE_IS_KEPT", False)
    done = run("warm-up")
    assert (done.code, done.out) == (3, "")
    assert done.err == (
        "shoal: There is no folder to keep compiled code in: make the home folder writable, or name another in"
        " NUMBA_CACHE_DIR.\n"
    )
