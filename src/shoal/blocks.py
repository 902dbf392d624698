"""Kernels over blocks of rows, on a pool of threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from types import TracebackType

import numpy as np

from shoal.kernels.merge import merge_costs
from shoal.kernels.pools import Pools, empty_pools, union_sizes, unite
from shoal.samples import Int64s

_BLOCKS_PER_WORKER = 8  # enough for threads to finish together although rows differ in cost
_SMALLEST_BLOCK = 64


class Workers:
    """Threads that share out rows; results never depend on their number."""

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

    def over(self, n: int, call: Callable[[int, int], object]) -> None:
        """Call ``call(begin, end)`` on blocks that together make up 0 .. n."""
        self.between(0, n, call)

    def between(self, start: int, stop: int, call: Callable[[int, int], object]) -> None:
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

    def each(self, n: int, call: Callable[[int], object], tick: Callable[[], object] = lambda: None) -> None:
        """Call ``call(i)`` for every i below n, and ``tick`` after each; calls may not share out work themselves."""
        if self._threads is None:
            for number in range(n):
                call(number)
                tick()
            return
        for future in [self._threads.submit(call, number) for number in range(n)]:
            future.result()
            tick()


def with_members(pools: Pools, raw: Pools, rows: Int64s, workers: Workers) -> Pools:
    """Each row of ``pools`` with one more user: row rows[i] of ``raw``, or nobody where that is -1."""
    sizes = np.empty(len(rows), np.int64)
    workers.over(len(rows), lambda begin, end: union_sizes(pools, raw, rows, begin, end, sizes))
    out = empty_pools(np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)]))
    workers.over(len(rows), lambda begin, end: unite(pools, raw, rows, begin, end, out))
    return out


def costs_of(pools: Pools, weight: float, workers: Workers) -> np.typing.NDArray[np.float64]:
    """Cost of the optimal merge of every row."""
    costs = np.empty(len(pools.ptr) - 1)
    workers.over(len(costs), lambda begin, end: merge_costs(pools, weight, begin, end, costs))
    return costs
