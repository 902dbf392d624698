"""Kernels over blocks of rows on a pool of threads, and results of a few tasks at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")

_BLOCKS_PER_WORKER = 8  # enough for threads to finish together although rows differ in cost
_SMALLEST_BLOCK = 64


class Workers:
    """A pool of threads; results never depend on how many there are."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._threads = ThreadPoolExecutor(count) if count > 1 else None

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._threads is not None:
            self._threads.shutdown(cancel_futures=True)

    def for_blocks(self, n: int, call: Callable[[int, int], object]) -> None:
        """Call ``call(begin, end)`` on blocks that together make up 0 .. n."""
        self.for_blocks_between(0, n, call)

    def for_blocks_between(self, start: int, stop: int, call: Callable[[int, int], object]) -> None:
        """Call ``call(begin, end)`` on blocks that together make up start .. stop."""
        n = stop - start
        if self._threads is None or n <= _SMALLEST_BLOCK:
            call(start, stop)
            return
        size = max(_SMALLEST_BLOCK, -(-n // (self.count * _BLOCKS_PER_WORKER)))
        left = deque(range(start, stop, size))

        def work() -> None:
            try:
                while True:
                    try:
                        begin = left.popleft()
                    except IndexError:
                        return
                    call(begin, min(begin + size, stop))
            except BaseException:
                left.clear()  # nobody else need begin
                raise

        others = [self._threads.submit(work) for _ in range(min(self.count, len(left)) - 1)]
        try:
            work()
        finally:
            wait(others)
        for other in others:
            other.result()

    def for_each(
        self, n: int, call: Callable[[int], object], tick: Callable[[], object] = lambda: None
    ) -> None:
        """Call ``call(i)`` for every i below n, and ``tick`` after each; calls may not share out work themselves."""
        if self._threads is None:
            for number in range(n):
                call(number)
                tick()
            return
        for future in [self._threads.submit(call, number) for number in range(n)]:
            future.result()
            tick()


def results_in_order(
    submit: Callable[[Task], Future[Result]], tasks: Iterable[Task], most: int
) -> Iterator[Result]:
    """The results of tasks in their order; at most ``most`` tasks are ahead, so that few are in memory at a time."""
    waiting: deque[Future[Result]] = deque()
    try:
        for task in tasks:
            waiting.append(submit(task))
            del task
            if len(waiting) > most:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()
