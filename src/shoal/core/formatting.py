"""Numbers and durations as people write them."""

from __future__ import annotations


def duration(seconds: int) -> str:
    """A duration as people write it."""
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds % size == 0:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def unnumbered(time: str) -> str:
    """A duration as it follows *any* or *some*: any hour, not any 1 hour."""
    number, _, unit = time.partition(" ")
    if number != "1" or " " in unit:
        return time
    return {"h": "hour", "min": "minute", "s": "second"}.get(unit, unit)


def short(number: float) -> str:
    """A number with as many digits as a reader wants."""
    if number >= 100:
        return f"{number:,.0f}"
    return f"{number:.1f}".removesuffix(".0") if number >= 1 else f"{number:.2g}"


def percent(share: float) -> str:
    """A share as people write it; only none at all is 0 %, and only all is 100 %."""
    hundredths = 100 * share
    if 0 < hundredths < 0.05:
        return "under 0.1 %"
    if 99.95 <= hundredths < 100:
        return "over 99.9 %"
    return f"{hundredths:.1f}".removesuffix(".0") + " %"


def counted(n: int, noun: str) -> str:
    """So many of something."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
