"""Shares of attacks, with 95 % intervals, and whether a share is above a bound beyond chance."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

_Z = 1.959963984540054  # of 95 %


class Share(NamedTuple):
    """A share of n attacks, or a mean of their chances of success, with its 95 % interval."""

    value: float
    low: float
    high: float
    n: int


def share_of(outcomes: npt.ArrayLike) -> Share | None:
    """Mean of outcomes between 0 and 1 with Wilson's interval; None where nothing was tried.

    For chances between 0 and 1 the interval is wider than it needs to be: they vary less than their successes would.
    """
    outcomes = np.asarray(outcomes, dtype=np.float64)
    n = len(outcomes)
    if n == 0:
        return None
    p = float(outcomes.mean())
    middle = (p + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z / (1 + _Z**2 / n) * math.sqrt(p * (1 - p) / n + _Z**2 / (4 * n**2))
    return Share(p, max(0.0, min(p, middle - half)), min(1.0, max(p, middle + half)), n)


def chance_of_more(successes: int, n: int, p: float) -> float:
    """Probability of at least so many successes in n attempts that succeed with probability p: the binomial tail."""
    if successes <= 0:
        return 1.0
    ks = range(successes, n + 1)
    logs = np.array([
        math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        + k * math.log(p) + (n - k) * math.log1p(-p)
        for k in ks
    ])  # fmt: skip
    return min(1.0, float(np.exp(logs).sum()))
