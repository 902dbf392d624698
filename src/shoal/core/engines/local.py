"""The engine of a single process: tasks one after the other, each on as many threads as it likes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from shoal.core.engines.interface import Result, Task


class LocalEngine:
    """Does tasks here and now."""

    n_tasks = 1

    def map(self, call: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """call(task) for every task."""
        return map(call, tasks)

    def close(self) -> None:
        """There is nothing to let go of."""
