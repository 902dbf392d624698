"""Kernels that are compiled in no time, one of them called by the other, and work that calls them."""

from __future__ import annotations

import numpy as np

from shoal.core.arrays import Int64s
from shoal.core.compiled import jit, jit_inline
from shoal.core.compiling import Rehearsal


@jit_inline
def next_of(value: int) -> int:
    """The next whole number."""
    return value + 1


@jit
def count_up(values: Int64s) -> np.int32:
    """Raise every value by one, and say how many there are."""
    for i in range(len(values)):
        values[i] = next_of(values[i])
    return np.int32(len(values))


@jit
def twice(number: int) -> int:
    """A number, doubled."""
    return 2 * number


def tiny_work() -> None:
    """Call both kernels, one with what the other returns."""
    twice(count_up(np.arange(3)))


def work_that_fails() -> None:
    """Call a kernel, then fail."""
    twice(1)
    raise ValueError


TINY = Rehearsal("tiny", tiny_work)
