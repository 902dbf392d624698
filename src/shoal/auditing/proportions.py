"""Proportions with Wilson's 95 % interval, and the binomial test of whether one is above a bound."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.core.formatting import percent

_Z = 1.959963984540054  # of 95 %


class Proportion(NamedTuple):
    """A share of n attempts, or the mean of their chances of success, with its 95 % interval.

    ``victims``: how many different people were attacked, None where that is not known. ``side``: "under" or "over"
    where ``value`` is only a bound, as it may be in public.
    """

    value: float
    low: float
    high: float
    n: int
    victims: int | None = None
    side: str = ""

    def in_words(self) -> str:
        """The share without its interval."""
        return f"{self.side} {percent(self.value)}".lstrip()


def proportion_of(outcomes: npt.ArrayLike, victim: npt.ArrayLike | None = None) -> Proportion | None:
    """The mean of outcomes between 0 and 1 with its interval; None without outcomes. ``victim``: who was attacked.

    Where outcomes are chances, the interval is wider than it needs to be: chances vary less than successes would.
    """
    outcomes = np.asarray(outcomes, dtype=np.float64)
    n = len(outcomes)
    if n == 0:
        return None
    return proportion_among(float(outcomes.mean()), n, None if victim is None else len(np.unique(victim)))


def proportion_among(value: float, n: int, victims: int | None = None) -> Proportion:
    """A share of n attempts with Wilson's interval.

    The interval is that of as many attempts as there are different victims, where these are known: a second attack on
    the same victim hardly tells anything new.
    """
    many = n if victims is None else victims
    middle = (value + _Z**2 / (2 * many)) / (1 + _Z**2 / many)
    half = _Z / (1 + _Z**2 / many) * math.sqrt(value * (1 - value) / many + _Z**2 / (4 * many**2))
    return Proportion(
        value, max(0.0, min(value, middle - half)), min(1.0, max(value, middle + half)), n, victims
    )


def chance_of_more(successes: int, n: int, p: float) -> float:
    """The binomial tail: the probability of at least so many successes in n attempts that each succeed with p."""
    if successes <= 0:
        return 1.0
    ks = range(successes, n + 1)
    logs = np.array([
        math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        + k * math.log(p) + (n - k) * math.log1p(-p)
        for k in ks
    ])  # fmt: skip
    return min(1.0, float(np.exp(logs).sum()))
