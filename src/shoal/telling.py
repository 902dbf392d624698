"""An audit in words, line by line in 80 columns, for whoever reads it in a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.wording import percent

if TYPE_CHECKING:
    from shoal.auditing.result import Audit
    from shoal.auditing.shares import Share
    from shoal.auditing.truthfulness import Truthfulness
    from shoal.auditing.verdict import Verdict

WIDTH = 80
_LABEL = 14
_COUNTEREXAMPLES = 3


def _s(n: int) -> str:
    return "" if n == 1 else "s"


# Attack, variant, measure and how the table of attacks calls it.
_ROWS = (
    ("linkage", "", "success", "picks the right record"),
    ("rankings", "", "smallest", "... the one with the smallest boxes"),
    ("rankings", "", "faces", "... with most faces touched"),
    ("rankings", "", "central", "... with the most central samples"),
    ("chain", "", "single", "knows the method: one record left"),
    ("leakage", "", "above_epsilon", "learns more than epsilon"),
    *(("longer", f"{n}_tau", "single", f"knows {n} tau: one record left") for n in (2, 4, 8)),
    *(("intervals", str(n), "single", f"knows {n} intervals: one record left") for n in (2, 3, 4)),
    *(("points", str(n), "single", f"knows {n} point{_s(n)}: one record left") for n in (1, 2, 4, 8)),
    *(("top_locations", str(n), "single", f"top {n} location{_s(n)}: one record left") for n in (1, 2, 3)),
    *(
        ("home_and_work", place, f"within_{radius}", f"finds {place} within {radius}")
        for place in ("home", "work")
        for radius in ("500m", "1km", "2km")
    ),
    ("homogeneity", "", "one_cell", "all that fit are in one cell"),
    ("homogeneity", "", "within_1km", "all that fit are within 1 km"),
)


def labelled(parts: dict[str, list[str]], label_width: int = 12) -> list[str]:
    """Texts with labels on the left; parts without content are left out."""
    lines = []
    for label, texts in parts.items():
        wrapped = [line for text in texts for line in _wrapped(text, WIDTH - label_width)]
        lines += [f"{'' if number else label:<{label_width}}{line}" for number, line in enumerate(wrapped)]
    return lines


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Lines of a text; a number stays together with its per cent."""
    together = textwrap.wrap(text.replace(" %", "\0%"), width, subsequent_indent=indent)
    return [line.replace("\0%", " %") for line in together]


def audit_lines(audit: Audit, verdict: Verdict, published: Path, *, show_users: bool) -> list[str]:
    """What was checked, the verdict, the three risks, the attacks, and what is not protected."""
    checked = {
        "Verdict": [verdict.headline],
        "Audited": [
            f"{published.name}: {audit.counts.records:,} records with {audit.counts.boxes:,} boxes",
            f"against {audit.counts.users:,} users with {audit.counts.samples:,} samples",
        ],
        "Coverage": list(_coverage(audit, show_users)),
        "Truthful": _truthful(audit.truthfulness),
        "Suppressed": _suppressed(audit.truthfulness),
    }
    risks = {
        risk.name: [f"{_interval(risk.share)}. The attacker {risk.attacker}.", risk.meaning]
        for risk in verdict.risks
    }
    limits = [
        line
        for limit in verdict.limits
        for line in _wrapped(f"- {limit.what}: {limit.measured}.", WIDTH - 1, indent="  ")
    ]
    return [
        *labelled(checked, _LABEL), "", *labelled(risks, _LABEL), "", *_table(audit), "",
        "Not protected, with what was measured:", *limits,
    ]  # fmt: skip


def _coverage(audit: Audit, show_users: bool) -> Iterable[str]:
    found, k = audit.coverage, audit.promise.k
    yield f"every user and every interval: {found.n_users:,} users, {found.n_intervals:,} different intervals"
    if found.kept:
        yield f"at least {k} records fit in each, for the strict and for the gap-tolerant attacker"
    else:
        yield f"fewer than {k} fit in {found.n_strict:,} (strict) and {found.n_tolerant:,} (gap-tolerant) of them"
    for violation in found.worst[:_COUNTEREXAMPLES]:
        example = audit.counterexample(violation, show_users=show_users)
        who = f"user {example['user']}" if show_users else "somebody (--show-users tells who)"
        when = "at all times" if example["begin_s"] is None else (
            f"from {_moment(example['begin_s'])} to {_moment(example['end_s'])}"
        )  # fmt: skip
        yield f"{example['records']} records fit what {who} did {when} ({violation.attacker})"
    if found.n_unchecked:
        yield (
            f"{found.n_unchecked:,} users who may have no record, and would not be hidden if they had:"
            " not checked: no key"
        )


def _moment(second: int) -> str:
    try:
        return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return f"Unix second {second}"


def _truthful(found: Truthfulness | None) -> list[str]:
    if found is None:
        return ["not checked: no key"]
    if found.kept:
        return [f"each of {found.n_boxes:,} boxes holds a sample of its own user; none overlap"]
    return [
        f"{found.n_empty_boxes:,} of {found.n_boxes:,} boxes hold no sample of their own user;"
        f" {found.n_overlapping_boxes:,} overlap with another of the same record"
    ]


def _suppressed(found: Truthfulness | None) -> list[str]:
    if found is None:
        return ["not checked: no key"]
    whole = found.suppressed
    if not whole.n_suppressed:
        return ["nothing"]
    quarters = ", ".join(percent(part.share) for part in found.by_activity)
    worst = max(range(len(found.by_hour)), key=lambda hour: found.by_hour[hour].share)
    return [
        f"{whole.n_suppressed:,} of {whole.n_samples:,} samples ({percent(whole.share)}),"
        f" {found.n_users_without_record:,} users have no record",
        f"by activity, from the quarter with fewest samples to that with most: {quarters}",
        f"most of it at {worst}:00 to {worst + 1}:00, {percent(found.by_hour[worst].share)} of that hour's samples",
    ]


def _interval(share: Share | None) -> str:
    if share is None:
        return "Not checked"
    return f"{percent(share.value)} (95 % interval {percent(share.low)} to {percent(share.high)})"


def _table(audit: Audit) -> list[str]:
    """The attacks side by side with raw data and guessing."""
    lines = [f"{'An attacker ...':<38}{'published':>9} {'95 % interval':>16} {'raw':>7} {'guess':>7}"]
    for attack, variant, measure, title in _ROWS:
        figure = audit.figure(attack, measure, variant)
        if figure is None:
            continue
        if isinstance(figure.published, str):
            lines.append(f"{title:<38}{figure.published}")
            continue
        raw = figure.raw if isinstance(figure.raw, str) else _cell(figure.raw.value)
        guess = "" if figure.guessing is None else _cell(figure.guessing)
        value, low, high, _ = figure.published
        lines.append(
            f"{title:<38}{_cell(value):>9} {_cell(low) + ' to ' + _cell(high):>16} {raw:>7} {guess:>7}"
        )
    n = max(
        (share.n for figure in audit.figures if not isinstance(share := figure.published, str)), default=0
    )
    return [*lines, f"(share of up to {n:,} attacks each; raw: the same samples under pseudonyms)"]


def _cell(share: float) -> str:
    return f"{100 * share:.1f} %"
