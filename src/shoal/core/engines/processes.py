"""An engine of processes on this machine: Python code, which needs Python's lock, runs side by side as well.

The processes are children of our own making rather than multiprocessing's, which would run the main script of whoever
calls shoal again in every one of them.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from queue import SimpleQueue
from threading import Lock
from typing import IO, Any

from shoal.core.code_cache import with_same_place
from shoal.core.engines.interface import Result, Task
from shoal.core.workers import results_in_order
from shoal.errors import UnfinishedError

_ATTEMPTS = 3  # a task whose process dies is done again, but not for ever: it may be what kills them


class ProcessEngine:
    """So many children, each doing one task at a time; one that dies is replaced."""

    def __init__(self, count: int) -> None:
        self.n_tasks = 2 * count
        self._threads = ThreadPoolExecutor(count)
        self._idle: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
        self._children: set[subprocess.Popen[bytes]] = set()
        self._lock = Lock()
        self._closing = False
        for _ in range(count):
            self._idle.put(self._new_child())

    def map(self, call: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """call(task) for every task, results in their order."""
        return results_in_order(
            lambda task: self._threads.submit(self._done, call, task), tasks, self.n_tasks
        )

    def as_completed(self, call: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """call(task) for every task, begun in their order, results as they come."""
        futures = [self._threads.submit(self._done, call, task) for task in tasks]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            for future in futures:
                future.cancel()

    def _done(self, call: Callable[[Task], Result], task: Task) -> Result:
        for _ in range(_ATTEMPTS):
            child = self._idle.get()
            try:
                ended, result = _ask(child, (call, task))
            except (OSError, EOFError, pickle.UnpicklingError):
                self._idle.put(self._replaced(child))
                continue
            except BaseException:
                self._idle.put(self._replaced(child))
                raise
            self._idle.put(child)
            if not ended:
                raise result
            return result  # type: ignore[no-any-return]
        raise UnfinishedError(
            "Worker processes keep being ended by the system, most often for want of memory:"
            " give fewer --workers, then go on with --resume."
        )

    def _new_child(self) -> subprocess.Popen[bytes]:
        """A child that finds modules and compiled code where this process does, and nowhere else."""
        with self._lock:
            if self._closing:
                raise CancelledError
            child = subprocess.Popen(
                [sys.executable, "-P", "-m", "shoal.core.engines.child"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=with_same_place(
                    {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
                ),
            )
            self._children.add(child)
            return child

    def _replaced(self, child: subprocess.Popen[bytes]) -> subprocess.Popen[bytes]:
        _end(child)
        with self._lock:
            self._children.discard(child)
        return self._new_child()

    def close(self) -> None:
        """End all children, whatever they are doing; from now on none is replaced."""
        with self._lock:
            self._closing = True
            children = list(self._children)
        for child in children:
            child.kill()
        self._threads.shutdown(cancel_futures=True)
        for child in children:
            _end(child)


def _end(child: subprocess.Popen[bytes]) -> None:
    child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:  # what was still to be written has nobody to read it
                continue


def _ask(child: subprocess.Popen[bytes], request: object) -> tuple[bool, Any]:
    assert child.stdin is not None
    assert child.stdout is not None
    send(child.stdin, request)
    return receive(child.stdout)  # type: ignore[no-any-return]


def send(pipe: IO[bytes], message: object) -> None:
    """Send a message down a pipe."""
    pickle.dump(message, pipe, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.flush()


def receive(pipe: IO[bytes]) -> Any:
    """The next message from a pipe."""
    return pickle.load(pipe)
