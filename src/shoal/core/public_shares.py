"""Shares of people as a datasheet tells them: in whole per cent, and only as far as no few people show in them."""

from __future__ import annotations

import math
from typing import NamedTuple


class Told(NamedTuple):
    """A share in whole per cent; where ``side`` is "under" or "over", a bound of it."""

    value: float
    side: str = ""


def tell_share(value: float, n_people: int, few: int) -> Told | None:
    """A share of so many people, counted in people; None where they are too few to tell anything.

    Whether it holds for nobody or for any number below ``few`` looks alike, and so does for whom it does not hold. Of
    fewer than two times ``few`` people, that leaves nothing to tell.
    """
    if n_people < 2 * few:
        return None
    yes, no = (round(part * n_people, 6) for part in (value, 1 - value))
    if yes < few or value < 0.005:
        return Told(rounded_up(few / n_people), "under")
    if no < few or value >= 0.995:
        return Told(rounded_down((n_people - few) / n_people), "over")
    return Told(round(value, 2))


def rounded_down(share: float) -> float:
    """In whole per cent; a low bound stays one."""
    return math.floor(100 * share) / 100


def rounded_up(share: float) -> float:
    """In whole per cent; a high bound stays one."""
    return math.ceil(100 * share) / 100
