"""Shares as a datasheet tells them: in whole per cent, and never as nothing or all what is not."""

from __future__ import annotations

import math
from typing import NamedTuple


class Told(NamedTuple):
    """A share in whole per cent; where ``side`` is "under" or "over", a bound of it."""

    value: float
    side: str = ""


def tell_share(value: float) -> Told:
    """Only none at all is 0, and only all is 1."""
    if 0 < value < 0.005:
        return Told(0.01, "under")
    if 0.995 <= value < 1:
        return Told(0.99, "over")
    return Told(round(value, 2))


def rounded_down(share: float) -> float:
    """In whole per cent; a low bound stays one."""
    return math.floor(100 * share) / 100


def rounded_up(share: float) -> float:
    """In whole per cent; a high bound stays one."""
    return math.ceil(100 * share) / 100
