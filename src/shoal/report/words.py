"""The promise in words for somebody who is no expert."""

from __future__ import annotations

from shoal.promise import Grid, Promise


def headline(promise: Promise, grid: Grid) -> str:
    """The promise as a title."""
    if promise.tau is None:
        return f"Know anyone's whole trajectory: at least {promise.k} records fit"
    return (
        f"Watch anyone for {duration_in_words(promise.tau * grid.step_s)}: at least {promise.k} records fit"
    )


def promise_in_words(promise: Promise, grid: Grid) -> str:
    """The promise as a sentence for somebody who is no expert."""
    if promise.tau is None:
        knows = "knows every sample of a person in this data"
    else:
        tau = duration_in_words(promise.tau * grid.step_s)
        knows = f"watched a person for any {tau}, and knows every sample of that time,"
    fits = f"at least {promise.k} published records that fit"
    return f"Somebody who {knows} still finds {fits}, and the person's own is only one of them."


def beyond_in_words(promise: Promise, grid: Grid) -> str | None:
    """What is given away outside the interval, by construction; None for whole trajectories."""
    if promise.tau is None or promise.epsilon is None:
        return None
    window = duration_in_words((promise.reach + 1) * promise.epsilon * grid.step_s)
    return (
        f"Each of the other records is made to stay with the person for one stretch of at most {window}, and"
        " then goes its own way, so finding them does not mean following the person any further. (Records may"
        " still agree by accident, as when two people are at home in the same cell.)"
    )


def duration_in_words(seconds: int) -> str:
    """A duration such as ``30 minutes`` or ``1 hour 30 minutes``."""
    words = []
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")):
        number, seconds = divmod(seconds, size)
        if number:
            words.append(f"{number} {unit}" + ("s" if number > 1 else ""))
    return " ".join(words)
