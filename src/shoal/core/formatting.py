"""Numbers, durations and promises as people write them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from shoal.core.promise import Grid, Promise


def duration(seconds: int) -> str:
    """A duration as people write it."""
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds % size == 0:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def duration_of_minutes(minutes: float) -> str:
    """A duration that a table holds in minutes."""
    return duration(round(60 * minutes))


def duration_in_words(seconds: int) -> str:
    """A duration such as ``30 minutes`` or ``1 hour 30 minutes``."""
    words = []
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")):
        number, seconds = divmod(seconds, size)
        if number:
            words.append(f"{number} {unit}" + ("s" if number > 1 else ""))
    return " ".join(words)


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


def counted(n: int, noun: str, several: str | None = None) -> str:
    """So many of something; ``several`` where its plural takes more than an s."""
    return f"{n:,} {noun if n == 1 else several or noun + 's'}"


def joined(words: Sequence[str]) -> str:
    """Words in a row, such as ``a, b and c``."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def promise_in_short(
    promise: Promise, grid: Grid, written: Callable[[int], str] = duration, *, renamed: bool = False
) -> str:
    """A promise in as few words as tell it from another; ``written``: how to write so many seconds; ``renamed``:
    whether records get new names."""
    seconds = promise.in_seconds(grid)
    if seconds is None:
        return f"k {promise.k:,} {_over_what(renamed)}"
    beyond = "" if seconds.epsilon == seconds.tau else f", epsilon {written(seconds.epsilon)}"
    return f"k {promise.k:,} and {written(seconds.tau)}{beyond}"


def renaming_in_words(every_s: int | None) -> str:
    """How often records get new names, as a part of a sentence; empty for never."""
    return "" if every_s is None else f"new names every {unnumbered(duration_in_words(every_s))}"


def _over_what(renamed: bool) -> str:
    """What is hidden without a tau: where records get new names, nothing is promised beyond a part."""
    return "over whole parts" if renamed else "over whole trajectories"


def promise_parameters(promise: Promise, grid: Grid, *, renamed: bool = False) -> str:
    """A promise by its parameters, such as ``k = 2, tau = 30 min, epsilon = 30 min``."""
    seconds = promise.in_seconds(grid)
    if seconds is None:
        return f"k = {promise.k} {_over_what(renamed)}"
    parameters = f"k = {promise.k}, tau = {duration(seconds.tau)}, epsilon = {duration(seconds.epsilon)}"
    if promise.epsilon_divides_tau:
        return parameters
    return f"{parameters} (does not divide tau: a window holds {duration(seconds.beyond_tau)} beyond it)"


def no_option(path: str) -> str:
    """A path that no command takes for an option."""
    return f"./{path}" if path.startswith("-") and path != "-" else path
