"""Compilation ahead of a run, in processes side by side: the compiler can do one thing at a time in each.

What a run will need is found by a rehearsal. A few synthetic people go through the same work, kernels are interpreted
instead of compiled, and the types with which each is called are noted; that takes a fraction of a second. Then the
processes compile one kernel after the other, the largest first, into the folder from which every process loads them.
Should any of this fail, kernels are compiled as ever, when they are called for the first time.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import logging
import pickle
import platform
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import llvmlite.binding
import numba
import numpy as np
from numba.core.dispatcher import Dispatcher
from numba.core.registry import CPUDispatcher
from numba.core.types import Type

from shoal.core.code_cache import CACHE_IS_KEPT
from shoal.core.engines.processes import ProcessEngine
from shoal.core.progress import Progress, SilentProgress
from shoal.errors import UnfinishedError

_MOST_PROCESSES = 4  # more would mostly compile the same building blocks
_SIZE_A_SECOND = 2_500  # bytes of Python's code that one core compiles; measured, see docs/scaling.md

_log = logging.getLogger("shoal")
_interpreting = Event()
_loaded: set[str] = set()  # names of rehearsals that this process has been through
_TypedCall = tuple[Dispatcher, tuple[Type, ...]]


class Rehearsal(NamedTuple):
    """Some work on synthetic people that calls the kernels of a run; the same name means the same kernels."""

    name: str
    work: Callable[[], object]  # can be pickled


class KernelCall(NamedTuple):
    """A kernel, the types of the arguments with which it was called (pickled), and how much there is to compile."""

    module: str
    name: str
    types: bytes
    size: int


def make_ready(
    rehearsals: Sequence[Rehearsal], n_processes: int, progress: Progress, what: str = "the engine"
) -> float:
    """Load the kernels that runs like these need; first compile them where that was not done yet.

    Returns the seconds that took, 0 where there was nothing to compile.
    """
    began = time.perf_counter()
    waiting = [rehearsal for rehearsal in rehearsals if rehearsal.name not in _loaded]
    compiled = compile_ahead(waiting, n_processes, progress)
    progress.stage(f"loading {what}")
    for rehearsal in waiting:
        rehearsal.work()
    if not _interpreting.is_set():
        _loaded.update(rehearsal.name for rehearsal in waiting)
        _note_compiled(waiting)
    return time.perf_counter() - began if compiled else 0.0


def compile_ahead(rehearsals: Sequence[Rehearsal], n_processes: int, progress: Progress) -> bool:
    """Compile the kernels that runs like these need, where that was not done yet; returns whether there was any need.

    Should that fail for whatever reason, kernels are compiled when they are called.
    """
    missing = not_compiled(rehearsals)
    if missing:
        try:
            compile_side_by_side(missing, n_processes, progress)
        except Exception:
            _tell("compiling in one process, as several cannot be had", progress)
    return bool(missing)


def not_compiled(rehearsals: Sequence[Rehearsal]) -> list[Rehearsal]:
    """The rehearsals whose kernels were not compiled yet, by this version on a processor like this."""
    if _interpreting.is_set():  # inside another rehearsal
        return []
    return [rehearsal for rehearsal in rehearsals if not _mark(rehearsal).exists()]


def compile_side_by_side(rehearsals: Sequence[Rehearsal], n_processes: int, progress: Progress) -> None:
    """Compile the kernels that rehearsals call, in processes of their own."""
    if "python" not in Path(sys.executable or "").name.lower():
        raise UnfinishedError("Python runs inside another program, which cannot be started as a worker.")
    progress.stage("compiling")
    count = min(n_processes, _MOST_PROCESSES)
    with contextlib.closing(ProcessEngine(count)) as engine:
        found = engine.as_completed(rehearse, [rehearsal.work for rehearsal in rehearsals])
        calls = sorted({call for each in found for call in each}, key=lambda call: (-call.size, call))
        seconds = sum(call.size for call in calls) / _SIZE_A_SECOND / count
        when = "once" if CACHE_IS_KEPT else "as there is no folder to keep it in"
        _tell(f"compiling, {when} (about {max(5, 5 * round(seconds / 5))} s)", progress)
        for _ in engine.as_completed(compile_kernel, calls):
            pass
    _note_compiled(rehearsals)


def _tell(stage: str, progress: Progress) -> None:
    """Begin a stage that takes long; whoever calls from Python and listens to no progress finds it in the log."""
    progress.stage(stage)
    if isinstance(progress, SilentProgress):
        _log.warning("shoal: %s; shoal.warm_up() does it ahead", stage)


def _note_compiled(rehearsals: Sequence[Rehearsal]) -> None:
    for rehearsal in rehearsals:
        with contextlib.suppress(OSError):
            _mark(rehearsal).touch()


def _mark(rehearsal: Rehearsal) -> Path:
    """An empty file beside the compiled code that says: everything this rehearsal calls is there."""
    digest = hashlib.blake2b(f"{rehearsal.name} {_compiler()}".encode(), digest_size=8).hexdigest()
    return Path(numba.config.CACHE_DIR) / f"ready-{digest}"


@cache
def _compiler() -> str:
    """What else compiled code depends on: it is made for this very processor."""
    processor = llvmlite.binding.get_host_cpu_name(), llvmlite.binding.get_host_cpu_features().flatten()
    return " ".join((platform.python_version(), numba.__version__, *processor))


def compile_kernel(call: KernelCall) -> None:
    """Compile a kernel and its building blocks into the folder where they are kept."""
    kernel = getattr(importlib.import_module(call.module), call.name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the compiler: nobody can do anything about them here
        kernel.compile(pickle.loads(call.types))


def rehearse(work: Callable[[], object]) -> list[KernelCall]:
    """Do some work with kernels interpreted, and note their calls. For a process of its own: others would be slowed.

    Should interpreted kernels not get through, the calls until then are worth something, too.
    """
    calls: dict[_TypedCall, None] = {}
    with _interpreted(calls), warnings.catch_warnings(), contextlib.suppress(Exception):
        warnings.simplefilter("ignore")  # numbers that overflow: compiled, they do so silently
        work()
    return [call for kernel, argument_types in calls if (call := _call_of(kernel, argument_types))]


@contextlib.contextmanager
def _interpreted(calls: dict[_TypedCall, None]) -> Iterator[None]:
    """Let kernels be interpreted inside a ``with`` block, and note which are called from Python with which types."""
    inside = False  # a kernel: those that it calls are compiled along with it
    usual = CPUDispatcher._compile_for_args

    def interpret(kernel: Dispatcher, *given: Any) -> Callable[..., Any]:
        """What the dispatcher calls in place of compiled code."""
        if inside:
            return kernel.py_func
        calls[kernel, tuple(kernel.typeof_pyval(value) for value in given)] = None
        return partial(call_from_python, kernel.py_func)

    def call_from_python(function: Callable[..., Any], *given: Any) -> Any:
        nonlocal inside
        inside = True
        try:
            return _as_compiled(function(*given))
        finally:
            inside = False

    CPUDispatcher._compile_for_args = interpret
    _interpreting.set()
    try:
        yield
    finally:
        CPUDispatcher._compile_for_args = usual
        _interpreting.clear()


def _as_compiled(result: Any) -> Any:
    """What compiled code would have returned: Python's numbers, not NumPy's."""
    if isinstance(result, tuple):
        parts = [_as_compiled(part) for part in result]
        return type(result)(*parts) if hasattr(result, "_fields") else tuple(parts)
    return result.item() if isinstance(result, np.generic) else result


def _call_of(kernel: Dispatcher, argument_types: tuple[Type, ...]) -> KernelCall | None:
    """A call that can be sent to another process; None where the kernel cannot be found by a name."""
    function = kernel.py_func
    if getattr(importlib.import_module(function.__module__), function.__name__, None) is not kernel:
        return None
    return KernelCall(
        function.__module__, function.__name__, pickle.dumps(argument_types), _size(function, set())
    )


def _size(function: Any, counted: set[Any]) -> int:
    """The bytes of Python's code of a function and of all kernels that it calls, each once."""
    counted.add(function)
    called = [function.__globals__.get(name) for name in function.__code__.co_names]
    return len(function.__code__.co_code) + sum(
        _size(kernel.py_func, counted)
        for kernel in called
        if isinstance(kernel, Dispatcher) and kernel.py_func not in counted
    )
