"""What every engine can do, and the engine that does it in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


class Engine(Protocol):
    """Does tasks, several at a time; ``n_tasks``: into how many to cut work so that all workers are busy."""

    n_tasks: int

    def map(self, call: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """call(task) for every task, results in their order; tasks are asked for as they can be begun."""
        ...

    def close(self) -> None:
        """Let go of the workers."""


class LocalEngine:
    """Does tasks one after the other in this process, each on as many threads as it likes."""

    n_tasks = 1

    def map(self, call: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """call(task) for every task."""
        return map(call, tasks)

    def close(self) -> None:
        """There is nothing to let go of."""
