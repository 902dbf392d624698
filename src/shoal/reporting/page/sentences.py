"""What the report says of the promise, as sentences for somebody who is no expert."""

from __future__ import annotations

from typing import Any, NamedTuple

from shoal.auditing.faults import basis_in_words, faults_of, tolerance_in_words
from shoal.auditing.guarantees.judgement import Asked, Basis, Judgement, State
from shoal.auditing.result import Audit
from shoal.core.formatting import duration_in_words, promise_in_short, renaming_in_words, unnumbered
from shoal.core.period_text import NEVER, parse_period
from shoal.core.promise import Grid, Promise
from shoal.utility.read_share import PeriodOutlook, recommend_period

_WEAKENED = (
    "there were too few people, so that some had to hide the same person again. Whoever finds these can follow the"
    " person for longer"
)
_OR_READ_OTHERWISE = ", or these events were read otherwise than for the release"
_STAYS = (
    "stays with the person for one stretch of at most {}, and then goes its own way, so finding them does not mean"
    " following the person any further"
)
_ACCIDENT = "(Records may still agree by accident, as when two people are at home in the same cell.)"
_STAY = "How long the other records stay with the person beyond that time"


def headline(promise: Promise, grid: Grid, *, renamed: bool = False) -> str:
    """The promise as a title."""
    seconds = promise.in_seconds(grid)
    if seconds is None:
        known = "all that anyone did in a period" if renamed else "anyone's whole trajectory"
        return f"Know {known}: at least {promise.k} records fit"
    return f"Watch anyone for {duration_in_words(seconds.tau)}: at least {promise.k} records fit"


def page_title(audit: Audit, *, public: bool) -> str:
    """What kind of page it is, about which file and of which days; a file name says no more than its owner chose."""
    kind = "Datasheet" if public else "Report"
    if audit.file is None:
        return f"{kind}: a release"
    return f"{kind}: {audit.file.name_and_period}"


def title(audit: Audit) -> str:
    """The claim in large letters: the promise if it is kept, with what is weakened or was not checked; else that it is
    broken, that it is not the file's own, or that the events may not be those of the release."""
    doubtful = audit.events_checked.doubtful
    if not keeps_k(audit):
        return f"{_failure(audit)}{_OR_READ_OTHERWISE if doubtful else ''}{_do_not_publish(audit)}."
    if doubtful:
        return "Perhaps these events were read otherwise than for this release: audit it again with the same options."
    if audit.weak_claim:
        tau = unnumbered(duration_in_words((audit.promise.tau or 0) * audit.grid.step_s))
        fits = f"at least {audit.promise.k} records fit what anybody did in any {tau}"
        return f"A weak claim, which says nearly nothing: {fits}{_except(audit)}."
    names = f", {audit.renamed}" if audit.renaming is not None else ""
    promised = headline(audit.promise, audit.grid, renamed=audit.renaming is not None)
    return f"{promised}{names}{_except(audit)}."


def _failure(audit: Audit) -> str:
    """What is wrong first, or that it is not the file's own promise which fails."""
    if audit.only_fails_other and audit.noted is not None:
        held, made = (
            promise_in_short(promise, audit.grid, duration_in_words, renamed=audit.renaming is not None)
            for promise in (audit.promise, audit.noted)
        )
        return f"Held to {held}, this file fails; it was made for {made}"
    words = faults_of(audit)[0].title
    return words[0].upper() + words[1:]


def _do_not_publish(audit: Audit) -> str:
    return "" if audit.only_fails_other or audit.events_checked.is_other else ": do not publish this file"


def _except(audit: Audit) -> str:
    """What a title about k has to add, so that nobody takes the first guarantee for all of them."""
    limits = [words for judgement in audit.guarantees if (words := _limit(audit, judgement)) is not None]
    return f", but {'; '.join(limits)}" if limits else ""


def _limit(audit: Audit, judgement: Judgement) -> str | None:
    """What is less than kept of a guarantee, as part of a sentence; None where nothing is."""
    name = f"guarantee {judgement.number}"
    if judgement.state is State.WEAKENED:
        return f"{name} is weakened: {judgement.detail} ({tolerance_in_words(audit)})"
    if judgement.asked is Asked.DISCLAIMED and judgement.state is not State.KEPT:
        return f"{name} is not given"
    if judgement.state is State.NOT_CHECKED:
        return f"{name} could not be checked{', and the file admits that it is weakened' if judgement.part else ''}"
    return None if judgement.complete else f"{name} could not be checked for everybody"


def renamed_in_words(audit: Audit) -> str | None:
    """What it means that records get new names; None where they never do."""
    if audit.renaming is None:
        return None
    across = {
        True: "as many people fit both parts beside a border, if a published sample there is known",
        False: "whether as many people fit both parts beside a border was not checked, since that takes the key",
        None: "nothing is promised to whoever knows something of two periods",
    }[audit.borders_checked]
    return (
        f"Records get {audit.renamed} ({audit.renaming.timezone}), and this holds in every such period on its own: what"
        f" somebody finds is one part of a person's data; {across}. Nothing in the file ties the parts of a person"
        " together, but habits may: that is not promised, and measured below."
    )


class NamesTable(NamedTuple):
    """What new names leave to be read: sentences, and lines of how often names change and which share that leaves."""

    words: str
    lines: list[tuple[str, str]]


def names_table(audit: Audit) -> NamesTable | None:
    """What is left to be read with new names and without; None where names never change and no period can be chosen,
    or nothing may be told."""
    if not audit.outlooks or (audit.renaming is None and len(audit.outlooks) == 1):
        return None
    now, chosen = audit.outlooks[0], recommend_period(audit.outlooks)
    measured = (
        "only an audit of a release with new names measures how many"
        if audit.renaming is None
        else "how many is measured under Privacy for this file, and for shorter periods by an audit of such a release"
    )
    words = (
        "Whoever knows four moments of a person, at any times, and finds every record of these reads so much of the"
        " person's samples, on average over people: at the most, as long as nobody ties parts together. Habits tie some"
        " together:"
        f" {measured}."
    )
    if audit.promise.whole:
        words += " Over whole trajectories nothing is promised across the borders at which names change."
    never = [] if now.rename_every == NEVER else [("never", "everything")]
    return NamesTable(words, [*never, *(_names_line(each, now, chosen) for each in audit.outlooks)])


def _names_line(outlook: PeriodOutlook, now: PeriodOutlook, chosen: PeriodOutlook | None) -> tuple[str, str]:
    every = renaming_in_words(parse_period(outlook.rename_every)).removeprefix("new names ") or "never"
    note = " (as it is)" if outlook is now else " (recommended)" if outlook is chosen else ""
    return f"{every}{note}", "everything" if outlook.read_share == 1 else outlook.in_words()


def promise_in_words(promise: Promise, grid: Grid, *, renamed: bool = False) -> str:
    """The promise as a sentence for somebody who is no expert."""
    seconds = promise.in_seconds(grid)
    if seconds is None:
        knows = f"knows every sample of a person in {'a period' if renamed else 'this data'}"
    else:
        tau = unnumbered(duration_in_words(seconds.tau))
        knows = f"watched a person for any {tau}, and knows every sample of that time,"
    fits = f"at least {promise.k} published records that fit"
    return f"Somebody who {knows} still finds {fits}, and the person's own is only one of them."


def made_for_in_words(audit: Audit) -> str | None:
    """The promise that a file was made for, where it is held to another."""
    if not audit.other or audit.noted is None:
        return None
    made = promise_in_short(audit.noted, audit.grid, duration_in_words, renamed=audit.renaming is not None)
    return f"That is not what it was made for, which is {made}."


def tells_of(manifest: dict[str, Any] | None, promise: Promise, grid: Grid) -> bool:
    """Whether a manifest is that of a file made for this promise."""
    return manifest is not None and manifest.get("promise") == promise.to_dict(grid)


def beyond_in_words(audit: Audit) -> str | None:
    """What is given away outside the interval, as far as guarantee 2 was judged; None for whole trajectories."""
    seconds, two = audit.promise.in_seconds(audit.grid), audit.guarantees.one_window
    if seconds is None:
        return None
    window, known = duration_in_words(seconds.window), basis_in_words(audit, two)
    if two.state is State.KEPT:
        return f"Each of the other records {_STAYS.format(window)}. That is known {two.basis}. {_ACCIDENT}"
    if two.state is State.WEAKENED:
        return (
            f"Each of the other records was meant to stay with the person for one stretch of at most {window}. That"
            f" does not hold: {_WEAKENED} ({two.detail}, {known})."
        )
    if two.asked is Asked.DISCLAIMED:
        return f"{_STAY} is not limited: {two.detail.removeprefix('not given: ')}."
    if two.state is State.BROKEN:
        return f"The other records stay with the person for longer than {window}: {two.detail} ({known})."
    if two.basis is Basis.MANIFEST and not two.part:
        return (
            "By the file's own account, which was not checked, each of the other records"
            f" {_STAYS.format(window)}. {_ACCIDENT}"
        )
    return f"{_STAY} was not checked: {two.detail}."


def keeps_k(audit: Audit) -> bool:
    """Whether the file is true and k records fit; guarantee 2 may be weakened, which the page says beside it."""
    return not audit.failed or audit.only_weakened


def is_clear(audit: Audit) -> bool:
    """Whether the verdict needs no warning colour: all that was asked for is kept, and not weakened."""
    return audit.kept and all(judgement.state is not State.WEAKENED for judgement in audit.guarantees)
