"""Statistical disclosure control: which counts and shares may be told to others."""

from __future__ import annotations

import math
from typing import NamedTuple

_FEW = 10  # counts below this are not told apart, for k = 2 would otherwise make "fewer than k" say "one"


def few_people(k: int) -> int:
    """Figures over fewer people than this point at somebody, and are not told in public."""
    return max(k, _FEW)


def public_count(count: int, k: int) -> int | str:
    """A count that may be published: none, a few, or roughly how many (rounded up to two digits).

    Small counts point at somebody, and exact ones give small counts away by subtraction.
    """
    few = few_people(k)
    if count == 0:
        return 0
    if count < few:
        return f"fewer than {few}"
    unit = int("1" + "0" * (len(str(count)) - 2))
    return -(-count // unit) * unit


def at_most(told: int | str) -> str:
    """A public count in words: it was rounded up, unless it is none or tells of a few."""
    return told if isinstance(told, str) else f"up to {told:,}"


def public_share(part: int, whole: int, n_users: int, k: int) -> float | str:
    """A share of samples, rounded up to three decimals, unless it stands for a few samples or users.

    The counts behind it stay back: together with the number of boxes, each of which holds a sample of its owner,
    they would tell how many samples boxes hold.
    """
    few = few_people(k)
    if part == 0:
        return 0.0
    if min(part, n_users) < few:
        return f"some, of fewer than {few} users"
    return math.ceil(1000 * part / whole) / 1000


def unprotected_share(part: int, whole: int, n_users: int, k: int) -> float | str:
    """In which share of the intervals checked too few records fit, rounded up, unless that concerns a few users."""
    few = few_people(k)
    if 0 < n_users < few:
        return f"some, of fewer than {few} users"
    return math.ceil(1000 * part / whole) / 1000


class PublicShare(NamedTuple):
    """A share in whole per cent; where ``side`` is "under" or "over", a bound of it."""

    value: float
    side: str = ""


def round_share(value: float, n_people: int, few: int) -> PublicShare | None:
    """A share of so many people, counted in people; None where they are too few to tell anything.

    Whether it holds for nobody or for any number below ``few`` looks alike, and so does for whom it does not hold. Of
    fewer than two times ``few`` people, that leaves nothing to tell.
    """
    if n_people < 2 * few:
        return None
    yes, no = (round(part * n_people, 6) for part in (value, 1 - value))
    if yes < few or value < 0.005:
        return PublicShare(rounded_up(few / n_people), "under")
    if no < few or value >= 0.995:
        return PublicShare(rounded_down((n_people - few) / n_people), "over")
    return PublicShare(round(value, 2))


def rounded_down(share: float) -> float:
    """In whole per cent; a low bound stays one."""
    return math.floor(100 * share) / 100


def rounded_up(share: float) -> float:
    """In whole per cent; a high bound stays one."""
    return math.ceil(100 * share) / 100
