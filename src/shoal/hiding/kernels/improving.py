"""Improving step by step until nothing helps: who is looked at next, and which gain counts."""

from __future__ import annotations

from shoal.core.arrays import Bools
from shoal.core.compiled import jit_inline

LEAST_GAIN = 1e-9  # share of the cost: less is rounding, and might be gained for ever


@jit_inline
def next_waiting(waiting: Bools, place: int) -> int:
    """The first place from ``place`` on, round the array, that is still to be looked at; -1 if none is.

    Users wait at the beginning, and again whenever something about them has changed: when nobody waits, nothing helps.
    """
    for step in range(len(waiting)):
        there = place + step if place + step < len(waiting) else place + step - len(waiting)
        if waiting[there]:
            return there
    return -1
