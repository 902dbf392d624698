"""An audit in words, line by line in 80 columns, for whoever reads it in a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.auditing.attack_names import LONGEST_NAME, named_figures
from shoal.auditing.faults import basis_in_words, belonging_faults
from shoal.auditing.guarantees.judgement import Basis
from shoal.cli.text.layout import WIDTH, labelled, wrapped
from shoal.core.formatting import counted, percent, promise_parameters

if TYPE_CHECKING:
    from shoal.auditing.belonging import Belonging
    from shoal.auditing.events_check import EventsCheck
    from shoal.auditing.measures import Measure
    from shoal.auditing.result import Audit
    from shoal.auditing.truthfulness import Truthfulness
    from shoal.auditing.verdict import Risk

_LABEL = 14
_COUNTEREXAMPLES = 3
_BORDERS = {True: "checked, and counted above", False: "not checked: no key"}
_NAMES = ("(at least k records fit)", "(one window only)", "(k matchings)")


def audit_lines(audit: Audit, published: Path, *, show_users: bool) -> list[str]:
    """What was checked, the verdict, the three risks, the attacks, and what is not protected."""
    verdict = audit.verdict
    counts = audit.counts
    checked = {
        "Verdict": [verdict.headline],
        "Weak claim": [] if verdict.warning is None else [verdict.warning],
        "Risk": [f"{verdict.rating.upper()} ({audit.thresholds.in_words()})"],
        "": [f"{exposure.rating.upper()}: {exposure.sentence}" for exposure in verdict.exposures],
        "What to do": verdict.next_steps,
        "Promise": [_promises(audit)],
        "Guarantees": list(_guarantees(audit)),
        "Audited": [
            *_file(audit, published),
            f"{counts.records:,} records{'' if audit.renaming is None else ' (parts)'} with {counts.boxes:,} boxes"
            f" against {counts.users:,} users with {counts.samples:,} samples",
        ],
        "Belongs": _belongs(audit.belonging),
        "Events": _events(audit.events_checked),
        "Coverage": list(_coverage(audit, show_users)),
        "Truthful": _truthful(audit.truthfulness),
        "Suppressed": _suppressed(audit.truthfulness),
    }
    risks = {risk.name: [_risk(risk), risk.meaning] for risk in verdict.risks}
    limits = [
        line
        for limit in verdict.limits
        for line in wrapped(f"- {limit.what}: {limit.measured}.", WIDTH, indent="  ")
    ]
    return [
        *labelled(checked, _LABEL), "", *labelled(risks, _LABEL), "", *_table(audit), "",
        "Not protected, with what was measured:", *limits,
    ]  # fmt: skip


def _file(audit: Audit, published: Path) -> list[str]:
    """Which file that is, so that nobody takes it for another."""
    if audit.file is None:
        return [published.name]
    checksum = [] if audit.file.sha256 is None else [f"SHA-256 {audit.file.sha256}"]
    return [audit.file.in_words(), *checksum]


def report_lines(audit: Audit, output: Path, *, public: bool) -> list[str]:
    """What to say once a page about an audit is written, or was not; a doubt about the events comes with its hint."""
    from shoal.reporting.facts.datasheet import may_be_public

    if public and not may_be_public(audit):
        outcome = f"No datasheet was written: {_why_no_datasheet(audit)}"
        if output.exists():
            outcome += f" {output.name} is still there from an earlier run, and says nothing of this file: remove it."
    else:
        outcome = f"Look at {output}" + ("." if public else ": internal, it shows raw data.")
    doubt = audit.verdict.next_steps[:1] if audit.events_checked.doubtful else []
    return [line for text in (f"{audit.verdict.headline}.", *doubt, outcome) for line in wrapped(text, WIDTH)]


def _why_no_datasheet(audit: Audit) -> str:
    if audit.events_checked.is_other:
        return "give the events from which the file was made."
    if audit.events_checked.doubtful:
        return "read the events as for the release."
    if audit.only_fails_other:
        return "for one about the file's own promise leave --k, --tau, --epsilon and --whole out."
    return "a file that breaks its promise must not be published."


def _promises(audit: Audit) -> str:
    """What the file is held to or claims, and what it was made for where that is something else."""
    renamed = audit.renaming is not None
    held_to = ", ".join(
        filter(None, (promise_parameters(audit.promise, audit.grid, renamed=renamed), audit.renamed))
    )
    if not audit.required:
        return f"the file's own claim: {held_to}"
    if not audit.other or audit.noted is None:
        return f"required: {held_to}"
    return f"required: {held_to}; made for {promise_parameters(audit.noted, audit.grid, renamed=renamed)}"


def _guarantees(audit: Audit) -> Iterable[str]:
    """A line for each guarantee: its state, how much or why, and on what that rests."""
    for name, judgement in zip(_NAMES, audit.guarantees, strict=True):
        detail = f": {judgement.detail}" if judgement.detail else ""
        resting = "" if judgement.basis is Basis.NOTHING else f" ({basis_in_words(audit, judgement)})"
        yield f"{judgement.number} {name} {judgement.state}{detail}{resting}"
    if audit.held_apart is not None:
        found, accident, again = audit.held_apart
        yield (
            f"(2 from file and key alone: at least {again.in_words()} of members serve again; another record holds"
            f" {found.in_words()} of users at times that no window joins; by accident alone it would be at least"
            f" {accident.in_words()})"
        )


def _belongs(found: Belonging) -> list[str]:
    if found.kept:
        return ["nothing in the file or its manifest, if any, contradicts the rest"]
    return [
        *(fault.clause for fault in belonging_faults(found)),
        *([] if found.hint is None else [found.hint]),
    ]


def _events(check: EventsCheck) -> list[str]:
    return [check.in_words] if check.hint is None else [check.in_words, check.hint]


def _coverage(audit: Audit, show_users: bool) -> Iterable[str]:
    found, k = audit.coverage, audit.promise.k
    intervals = (
        "" if audit.promise.tau is None else f" and every interval, {found.n_intervals:,} different ones"
    )
    yield f"checked for each of {counted(found.n_users, 'user')}{intervals}"
    strict = "an attacker who takes the file at its word, wherever the user's own record fits at all (strict)"
    tolerant = "one who takes gaps in a record for suppressed samples (gap-tolerant)"
    if found.worst:
        yield (
            f"fewer than {k:,} records fit in {found.n_strict:,} of them for {strict},"
            f" in {found.n_tolerant:,} for {tolerant}"
        )
    else:
        yield f"at least {k:,} records fit in each, for {strict}, and for {tolerant}"
    yield from dict.fromkeys(
        _counterexample(audit.counterexample(violation, show_users=show_users))
        for violation in found.worst[:_COUNTEREXAMPLES]
    )
    if found.worst and not show_users:
        yield "(--show-users tells who they are)"
    if found.n_unchecked:
        yield (
            f"{counted(found.n_unchecked, 'user')} of whom nothing in the file could be the record, and who"
            " may have none: not checked: no key"
        )
    if found.n_untrue:
        yield (
            f"{counted(found.n_untrue, 'user')} more than could be without a record have none in the file that"
            " could be theirs"
        )
    if audit.borders_checked is not None:
        yield f"across borders, where names change: {_BORDERS[audit.borders_checked]}"
    if found.worst and not audit.has_key:
        yield "(without the key this can be a false alarm where samples were suppressed: give --key)"


def _counterexample(example: dict[str, Any]) -> str:
    who = f"user {example['user']}" if "user" in example else "somebody"
    when = ""
    if example["begin_s"] is not None:
        when = f" from {_moment(example['begin_s'])} to {_moment(example['end_s'])}"
    return f"{_fitting(example['records'])} what {who} did{when} ({example['attacker']})"


def _fitting(n: int) -> str:
    if n == 0:
        return "no record fits"
    return "1 record fits" if n == 1 else f"{n:,} records fit"


def _moment(second: int) -> str:
    try:
        return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return f"Unix second {second}"


def _truthful(found: Truthfulness | None) -> list[str]:
    if found is None:
        return ["not checked: no key"]
    if found.kept:
        return [f"all of {found.n_boxes:,} boxes hold a sample of their own user; none overlap in a record"]
    return [
        f"boxes without a sample of their own user: {found.n_empty_boxes:,} of {found.n_boxes:,}",
        f"boxes that overlap in time with another of the same record: {found.n_overlapping_boxes:,}",
    ]


def _suppressed(found: Truthfulness | None) -> list[str]:
    if found is None:
        return ["not checked: no key"]
    whole, n_without = found.suppressed, found.n_users_without_record
    if not whole.n_suppressed:
        return ["nothing"]
    recordless = f"users without a record: {n_without:,}" if n_without else "every user has a record"
    quarters = ", ".join(percent(part.share) for part in found.by_activity)
    worst = max(range(len(found.by_hour)), key=lambda hour: found.by_hour[hour].share)
    return [
        f"{whole.n_suppressed:,} of {whole.n_samples:,} samples ({percent(whole.share)}); {recordless}",
        f"from the quarter of the users with the fewest samples to that with the most: {quarters}",
        f"worst hour of the day, {worst}:00 to {worst + 1}:00: {percent(found.by_hour[worst].share)}"
        " of its samples",
    ]


def _risk(risk: Risk) -> str:
    if risk.share is None:
        return f"not checked: nobody to attack. The attacker {risk.attacker}."
    share = risk.share
    return f"{share.in_words()} (95 % interval {_interval(share.low, share.high)}). The attacker {risk.attacker}."


def _interval(low: float, high: float) -> str:
    return f"{100 * low:.1f} to {100 * high:.1f} %"


def _table(audit: Audit) -> list[str]:
    """The attacks side by side with raw data and guessing."""
    found = [(name.words, figure) for name, figure in named_figures(audit)]
    n = max((share.n for _, figure in found if not isinstance(share := figure.published, str)), default=0)
    note = (
        f"Shares of up to {n:,} attacks each. raw: the same samples under pseudonyms; guess: what guessing"
        " achieves."
    )
    return [
        f"{'An attacker who ...':<{LONGEST_NAME}}{'published':>9} {'95 % interval':>16} {'raw':>7} {'guess':>7}",
        *(_row(title, figure) for title, figure in found),
        *wrapped(note, WIDTH),
    ]


def _row(title: str, figure: Measure) -> str:
    if isinstance(figure.published, str):
        room, why = WIDTH - LONGEST_NAME - 1, figure.published
        return f"{title:<{LONGEST_NAME}} {why if len(why) <= room else why.partition(':')[0]}"
    raw = "" if isinstance(figure.raw, str) else _cell(figure.raw.value)
    guess = "" if figure.guessing is None else _cell(figure.guessing)
    share = figure.published
    interval = _interval(share.low, share.high)
    return f"{title:<{LONGEST_NAME}}{_cell(share.value):>9} {interval:>16} {raw:>7} {guess:>7}".rstrip()


def _cell(share: float) -> str:
    """A share in a narrow column; only none at all is 0 and only all is 100."""
    if 0 < share < 0.0005:
        return "<0.1 %"
    return ">99.9 %" if 0.9995 <= share < 1 else f"{100 * share:.1f} %"
