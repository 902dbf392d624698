"""Statistical disclosure control: which counts and shares may be told to others.

Figures about a few people point at somebody, and exact figures give those away by subtraction. So few people look like
any other few, and everything else is rounded. The manifest and the datasheet keep to these rules; what stays with the
publisher (summary, internal report, audit) does not need them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

_MINIMUM = 10  # people; with k = 2 alone, "fewer than k" would say "one"


def minimum_people(k: int) -> int:
    """Figures about fewer people than this are not told."""
    return max(k, _MINIMUM)


def public_count(count: int, k: int) -> int | str:
    """A count that may be published: none, a few, or roughly how many (rounded up to two digits)."""
    few = minimum_people(k)
    if count == 0:
        return 0
    if count < few:
        return f"fewer than {few}"
    unit = int("1" + "0" * (len(str(count)) - 2))
    return -(-count // unit) * unit


def public_count_in_words(told: int | str) -> str:
    """A public count as part of a sentence: it was rounded up, unless it is in words already."""
    return told if isinstance(told, str) else f"up to {told:,}"


class CountRange(NamedTuple):
    """The least and the most that may stand behind a public count."""

    least: int
    most: int

    def in_words(self) -> str:
        """The range as part of a sentence."""
        return f"{self.least:,}" if self.least == self.most else f"{self.least:,} to {self.most:,}"


def range_of_count(told: object, k: int) -> CountRange | None:
    """What a public count leaves open; None where it is no such count."""
    if told == public_count(1, k):
        return CountRange(1, minimum_people(k) - 1)
    if type(told) is not int or told < 0:
        return None
    unit = 10 ** max(0, len(str(told)) - 2)
    return CountRange(max(0, told - unit + 1), told)


def public_share(part: int, whole: int, n_people: int, k: int) -> float | str:
    """A share of samples or intervals, rounded up to three decimals; in words where few people stand behind the part.

    ``n_people`` is how many people the part belongs to. Part and whole themselves are not published: together with the
    number of boxes, each of which holds a sample of its owner, they would tell how many samples boxes hold.
    """
    if part == 0:
        return 0.0
    few = minimum_people(k)
    if n_people < few:
        return f"some, of fewer than {few} users"
    return round_up(part, whole, digits=3)


class PublicShare(NamedTuple):
    """A share in whole per cent; where ``side`` is "under" or "over", a bound of it."""

    value: float
    side: str = ""


def public_share_of_people(share: float, n_people: int, k: int) -> PublicShare | None:
    """For which share of so many people something holds, in whole per cent; None where they are too few.

    That it holds for nobody looks like any number of people below the minimum, and so do the people for whom it does
    not hold. Of fewer than twice the minimum of people, that leaves nothing to tell.
    """
    few = minimum_people(k)
    if n_people < 2 * few:
        return None
    yes, no = (round(part * n_people, 6) for part in (share, 1 - share))
    if yes < few or share < 0.005:
        return PublicShare(round_up(few / n_people), "under")
    if no < few or share >= 0.995:
        return PublicShare(round_down((n_people - few) / n_people), "over")
    return PublicShare(round(share, 2))


def round_up(part: float, whole: float = 1, *, digits: int = 2) -> float:
    """A share rounded so that an upper bound stays one; divided last, for exact shares of whole numbers."""
    scale: int = 10**digits
    return math.ceil(scale * part / whole) / scale


def round_down(share: float, *, digits: int = 2) -> float:
    """A share rounded so that a lower bound stays one."""
    scale: int = 10**digits
    return math.floor(scale * share) / scale
