"""Threads that share out rows: every row once, and what fails, fails at once and alone; tasks a few at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pytest

from shoal.core.workers import Workers, results_in_order


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 1000, 12_345])
def test_every_row_is_met_once(count: int, n: int) -> None:
    met = np.zeros(n, np.int64)

    def meet(begin: int, end: int) -> None:
        met[begin:end] += 1

    with Workers(count) as workers:
        workers.for_blocks(n, meet)
    assert (met == 1).all()


@pytest.mark.parametrize("in_main", [True, False])
def test_an_error_stops_the_others_and_nobody_is_left_running(in_main: bool) -> None:
    calls, running = [], []

    def fail(begin: int, _end: int) -> None:
        calls.append(begin)
        running.append(begin)
        time.sleep(0.01)
        running.remove(begin)
        if (threading.current_thread() is threading.main_thread()) == in_main:
            raise ValueError("no")

    with Workers(3) as workers:
        with pytest.raises(ValueError, match="no"):
            workers.for_blocks(64 * 24, fail)
        assert running == []
    assert len(calls) <= 9  # of 24: three at a time, and at most two turns more than the one that fails


def test_an_interrupt_is_not_hidden_by_an_error_elsewhere() -> None:
    def both(_begin: int, _end: int) -> None:
        time.sleep(0.01)
        if threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt
        raise ValueError("elsewhere")

    with Workers(2) as workers, pytest.raises(KeyboardInterrupt):
        workers.for_blocks(64 * 16, both)


def test_results_come_in_order_and_few_tasks_are_ahead() -> None:
    begun: list[int] = []

    def tasks() -> Iterator[int]:
        for number in range(20):
            begun.append(number)
            yield number

    with ThreadPoolExecutor(3) as pool:
        for done, square in enumerate(results_in_order(lambda task: pool.submit(pow, task, 2), tasks(), 4)):
            assert square == done**2
            assert len(begun) <= done + 5
    assert begun == list(range(20))


def test_tasks_ahead_are_cancelled_when_nobody_wants_results_any_more() -> None:
    submitted: list[Future[int]] = []
    cancelled: list[Future[int]] = []

    class Noted(Future[int]):
        def cancel(self) -> bool:
            cancelled.append(self)
            return super().cancel()

    def submit(task: int) -> Future[int]:
        submitted.append(Noted())
        submitted[-1].set_result(task)
        return submitted[-1]

    results = results_in_order(submit, range(9), 2)
    assert next(results) == 0
    results.close()
    assert len(submitted) == 3
    assert cancelled == submitted[1:]
