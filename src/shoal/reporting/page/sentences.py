"""What the report says of the promise, as sentences for somebody who is no expert."""

from __future__ import annotations

from typing import Any

from shoal.auditing.result import Audit
from shoal.core.formatting import duration_in_words, joined, promise_in_short, unnumbered
from shoal.core.promise import Grid, Promise

_WEAKENED = (
    "there were too few people, so that some had to hide the same person again. Whoever finds these can follow the"
    " person for longer"
)
_STAY = "How long the other records stay with the person beyond that time"


def headline(promise: Promise, grid: Grid) -> str:
    """The promise as a title."""
    seconds = promise.in_seconds(grid)
    if seconds is None:
        return f"Know anyone's whole trajectory: at least {promise.k} records fit"
    return f"Watch anyone for {duration_in_words(seconds.tau)}: at least {promise.k} records fit"


def title(audit: Audit) -> str:
    """The title of the page: the promise if it is kept, with what is weakened or was not checked though required; else
    that it is broken, or that it is not the file's own."""
    if keeps_k(audit):
        return f"{headline(audit.promise, audit.grid)}{_except(audit)}."
    if audit.events_checked.is_other:
        return "These are not the events of this release."
    if audit.only_fails_other and audit.noted is not None:
        held, made = (
            promise_in_short(promise, audit.grid, duration_in_words)
            for promise in (audit.promise, audit.noted)
        )
        return f"Held to {held}, this file fails; it was made for {made}."
    fault = "The promise is broken" if audit.coverage.worst else _capital(fault_in_words(audit))
    return f"{fault}: do not publish this file."


def _capital(words: str) -> str:
    return words[0].upper() + words[1:]


def _except(audit: Audit) -> str:
    """What a title about k has to add, so that nobody takes the first guarantee for all of them."""
    if audit.only_weakened:
        first = audit.guarantees.failing(audit.tolerance)[0]
        return f", but guarantee {first.number} is weakened: {first.detail}"
    unknown = [str(judgement.number) for judgement in audit.guarantees if judgement.is_open]
    if unknown:
        return f", but guarantee {joined(unknown)} could not be checked"
    return ""


def promise_in_words(promise: Promise, grid: Grid) -> str:
    """The promise as a sentence for somebody who is no expert."""
    seconds = promise.in_seconds(grid)
    if seconds is None:
        knows = "knows every sample of a person in this data"
    else:
        tau = unnumbered(duration_in_words(seconds.tau))
        knows = f"watched a person for any {tau}, and knows every sample of that time,"
    fits = f"at least {promise.k} published records that fit"
    return f"Somebody who {knows} still finds {fits}, and the person's own is only one of them."


def made_for_in_words(audit: Audit) -> str | None:
    """The promise that a file was made for, where it is held to another."""
    if not audit.other or audit.noted is None:
        return None
    return f"That is not what it was made for, which is {promise_in_short(audit.noted, audit.grid, duration_in_words)}."


def tells_of(manifest: dict[str, Any] | None, promise: Promise, grid: Grid) -> bool:
    """Whether a manifest is that of a file made for this promise."""
    return manifest is not None and manifest.get("promise") == promise.to_dict(grid)


def beyond_in_words(promise: Promise, grid: Grid, manifest: dict[str, Any] | None) -> str | None:
    """What is given away outside the interval, by construction; None for whole trajectories.

    A file does not show how it was made: only its manifest says so, and only of the promise it was made for.
    """
    seconds = promise.in_seconds(grid)
    if seconds is None:
        return None
    made = manifest or {}
    told = made.get("guarantees")
    one_window = str(told.get("one_window")) if isinstance(told, dict) else ""
    if not tells_of(manifest, promise, grid):
        why = "its manifest tells of another promise" if manifest else "it has no manifest"
        return f"{_STAY} is not known, nor how this file was made: {why}."
    if one_window.startswith("not given"):
        return f"{_STAY} is not limited: {one_window.removeprefix('not given: ')}."
    if not one_window.startswith(("given", "weakened")):
        return f"{_STAY} is not known: the manifest does not say."
    window = duration_in_words(seconds.window)
    if one_window.startswith("weakened"):
        told = one_window.removeprefix("weakened: ")
        return (
            f"Each of the other records was meant to stay with the person for one stretch of at most {window}. That"
            f" does not hold: {_WEAKENED} ({told})."
        )
    return (
        f"Each of the other records is made to stay with the person for one stretch of at most {window}, and"
        " then goes its own way, so finding them does not mean following the person any further. (Records may"
        " still agree by accident, as when two people are at home in the same cell.)"
    )


def broken_in_words(audit: Audit) -> str:
    """What a broken promise means, as a sentence."""
    if audit.events_checked.is_other:
        return "This file was made from other events, so nothing below tells how well it protects anybody."
    worst, k = audit.coverage.worst, audit.promise.k
    if worst:
        fewest = worst[0].n_records
        left = {0: "none at all", 1: "a single one"}.get(fewest, f"{fewest:,} instead of {k:,}")
        return (
            "This file does not do so for everybody: somebody who watched one of these people is left with fewer"
            f" records, in the worst case with {left}."
        )
    if is_untrue(audit):
        return "This file cannot be relied on: it says of somebody what is not so."
    if audit.belonging.n_overlapping_boxes:
        return "Of some records of this file, boxes overlap in time, as if somebody had been in two places at once."
    if audit.belonging.disagreements:
        return f"This file and its manifest do not agree: {audit.belonging.disagreements[0]}."
    failing = audit.guarantees.failing(audit.tolerance)
    if any(judgement.number == 3 for judgement in failing):
        return "Somebody who watched all people at once could tell that some records are not some people's."
    return f"k records fit, but they stay with a person for longer: {audit.guarantees.one_window.detail}."


def fault_in_words(audit: Audit) -> str:
    """What is wrong with a file of which k records fit in every interval, as part of a sentence."""
    if is_untrue(audit):
        return "what the file says is not true"
    if audit.belonging.n_overlapping_boxes:
        return "boxes of a record overlap in time"
    if audit.belonging.disagreements:
        return "the manifest does not agree with the file"
    numbers = " and ".join(str(judgement.number) for judgement in audit.guarantees.failing(audit.tolerance))
    return f"guarantee {numbers} is not kept"


def keeps_k(audit: Audit) -> bool:
    """Whether the file is true and k records fit; guarantee 2 may be weakened, which the page says beside it."""
    return not audit.failed or audit.only_weakened


def is_untrue(audit: Audit) -> bool:
    """Whether some of what a file says is untrue; boxes that overlap may be true one by one."""
    truth, found = audit.truthfulness, audit.belonging
    nobodys = audit.coverage.n_untrue or found.n_surplus_records or found.n_boxes_outside
    return bool(nobodys or (truth is not None and truth.n_empty_boxes))
