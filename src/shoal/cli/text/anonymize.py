"""What ``shoal anonymize`` says at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.cli.terminal import show
from shoal.cli.text.layout import labelled
from shoal.core.formatting import counted, duration, percent, renaming_in_words, short
from shoal.core.period_text import NEVER, parse_period

if TYPE_CHECKING:
    from shoal.core.promise import Grid, Promise
    from shoal.publishing.outputs import Outputs


def show_summary(summary: dict[str, Any], promise: Promise, grid: Grid, outputs: Outputs) -> None:
    """A closing summary that a non-expert understands, in 80 columns."""
    show("\n".join(summary_lines(summary, promise, grid, outputs)))


def summary_lines(summary: dict[str, Any], promise: Promise, grid: Grid, outputs: Outputs) -> list[str]:
    """The summary line by line: labels on the left, parts without content left out."""
    parts = {
        "Promise": _promise(summary, promise, grid),
        "In": _intake(summary),
        "Published": [_published(summary)],
        "Names": _names(summary),
        "Suppressed": _suppression(summary),
        "Precision": _precision(summary),
        "Weakened": _weakening(summary),
        "Verified": [_verification(summary, promise)],
        "Time": [_time(summary)],
        "Files": _files(outputs),
    }
    return labelled(parts)


def _files(outputs: Outputs) -> list[str]:
    """What was written, and what may be handed on."""
    lines = [
        f"{outputs.published.name}: the release, to be handed on once the report is read",
        f"{outputs.manifest.name}: its manifest, to go with it",
    ]
    if outputs.key is not None:
        lines.append(f"{outputs.key.name}: SECRET, it says which record is whose")
    beside = [path.name for path in (outputs.private, outputs.evidence) if path is not None]
    if beside:
        lines.append(f"{' and '.join(beside)}: SECRET, for audits")
    if outputs.summary is not None:
        lines.append(f"{outputs.summary.name}: these figures; keep them, they are exact")
    if outputs.settings is not None:
        lines.append(f"{outputs.settings.name}: settings, to repeat the run with --config")
    return lines


def _time(summary: dict[str, Any]) -> str:
    compiling = summary["compile_seconds"]
    before = f", and {compiling:.0f} s before to compile the engine" if compiling else ""
    return f"{summary['seconds']:.1f} s{before}"


def _promise(summary: dict[str, Any], promise: Promise, grid: Grid) -> list[str]:
    words = promise_in_words(promise, grid, once=summary["reuse"] != "spaced" and not summary["relaxations"])
    if _has_parts(summary) and promise.whole:
        words = (
            f"whoever knows all places and times of a person in a period finds at least {promise.k} records that fit;"
            " nothing is promised to whoever knows something of two periods"
        )
    elif _has_parts(summary):
        words = f"in every period on its own, {words}; across every border at least {promise.k} people fit"
    if summary["coverage_given"]:
        return [words]
    return [
        f"guarantee 1 not given (selector {summary['selector']}): not everybody is hidden",
        f"meant: {words}",
    ]


def _published(summary: dict[str, Any]) -> str:
    records, boxes = (
        counted(summary["records"], "record"),
        f"with {counted(summary['boxes'], 'box', 'boxes')}",
    )
    if not _has_parts(summary):
        return f"{records} {boxes}"
    people = summary["users"] - summary["suppressed_users"]
    renamed = renaming_in_words(parse_period(summary["rename_every"]))
    return f"{records} {boxes}: parts of {people:,} people, {renamed}"


def _has_parts(summary: dict[str, Any]) -> bool:
    """Whether anybody's record is cut: names may change less often than the events last."""
    return bool(summary["rename_every"] != NEVER and summary["read_share"] < 1)


def _names(summary: dict[str, Any]) -> list[str]:
    """What new names leave to be read."""
    if not _has_parts(summary):
        return []
    return [
        "four known moments of a person, at any times, lead to parts with at most"
        f" {percent(summary['read_share'])} of the person's samples on average, instead of all of them, as long as"
        " nobody ties parts together (shoal audit measures both)"
    ]


def _intake(summary: dict[str, Any]) -> list[str]:
    users, samples, rows = (counted(summary[f"{each}s"], each) for each in ("user", "sample", "row"))
    lines = [f"{users}, {samples} from {rows}"]
    if summary["format"]:
        lines.append(f"read as {summary['format']}")
    if summary["duplicates"]:
        repeat = "row repeats" if summary["duplicates"] == 1 else "rows repeat"
        lines.append(f"{summary['duplicates']:,} {repeat} another within one cell and time step")
    lines += [
        f"{counted(rows, 'row')} not used: {reason}" for reason, rows in summary["rows_dropped"].items()
    ]
    if summary["users_seldom_seen"]:
        lines.append(f"{counted(summary['users_seldom_seen'], 'user')} left out by --min-days-active")
    if summary["blank_lines"]:
        lines.append(f"{counted(summary['blank_lines'], 'blank line')} passed over")
    lines.append(zone_in_words(summary["timezone"], summary["timezone_from"]))
    for name, words in (("times_skipped", "clocks skipped"), ("times_repeated", "clocks showed twice")):
        if summary[name]:
            lines.append(f"{counted(summary[name], 'row')} at times that {words}")
    if summary["columns_dropped"]:
        lines.append(f"columns not used: {', '.join(summary['columns_dropped'])}")
    return lines


def zone_in_words(zone: str, zone_from: str) -> str:
    """On which clock times are, and who said so."""
    return {
        "given": f"times without a zone on the clock of {zone} (--timezone)",
        "format": f"times without a zone on the clock of {zone} (as in all such files)",
        "assumed": f"times without a zone read as {zone} (no --timezone)",
        "written": f"times with a zone of their own; days and hours of {zone}",
    }[zone_from]


def _precision(summary: dict[str, Any]) -> list[str]:
    return [
        f"{axis}: median {short(spread['median'])} {unit}, half of the boxes {short(spread['q25'])}"
        f" to {short(spread['q75'])} {unit}"
        for axis, unit, spread in (
            ("space (longer side)", "km", summary["longer_side_km"]),
            ("time", "min", summary["precision_minutes"]),
        )
    ]


def promise_in_words(promise: Promise, grid: Grid, *, once: bool = True) -> str:
    """The promise for somebody who is no expert; ``once``: nobody hides with the same people again."""
    seconds = promise.in_seconds(grid)
    if seconds is None:
        return f"whoever knows all places and times of a person finds at least {promise.k} records that fit"
    return (
        f"whoever followed a person for {duration(seconds.tau)} finds at least"
        f" {promise.k} records that fit; each of the others is made to go along with the person"
        f" for at most {duration(seconds.window)}{'' if once else ' at a time, but may do so again later'}"
    )


def _suppression(summary: dict[str, Any]) -> list[str]:
    n = summary["suppressed_samples"]
    if not n:
        return ["nothing"]
    lines = [f"{counted(n, 'sample')} ({short(100 * summary['suppressed_share'])} %)"]
    for_limits, for_budget = (summary["suppressed_by_reason"][name] for name in ("limits", "budget"))
    if for_limits:
        lines.append(f"{for_limits:,} to keep the limits (--max-space, --max-time)")
    if for_budget:
        lines.append(f"{for_budget:,} that were costliest to hide (--suppress-at-most)")
    if for_limits or for_budget:
        lines.append(f"{summary['suppressed_by_reason']['promise']:,} that the promise needs")
    elif summary["suppressed_rare_presence"]:
        who = "who came and went unlike anybody else"
        if summary["selector"] == "spectral":
            who = "for a while, in groups too small or with too few new partners"
        lines.append(f"{summary['suppressed_rare_presence']:,} of users {who}")
    if summary["suppressed_users"]:
        lines.append(f"all samples of {counted(summary['suppressed_users'], 'user')}, who get no record")
    return lines


def _weakening(summary: dict[str, Any]) -> list[str]:
    n, members = summary["relaxations"], summary["hiding_members"]
    if not n:
        return []
    return [
        f"k kept; epsilon not: {percent(n / members)} of members had to serve again ({n:,} of {members:,}), since"
        " too few others came and went alike. The k records are there; what follows from them may exceed the"
        " promised extra"
    ]


def _verification(summary: dict[str, Any], promise: Promise) -> str:
    missing = summary["unprotected"]
    if missing is not None:
        strict, tolerant = (
            percent(missing[attacker] / missing["intervals"]) for attacker in ("strict", "gap_tolerant")
        )
        return (
            f"no: guarantee 1 not given. Read back and measured: fewer than {promise.k} records fit in {strict} of"
            f" all intervals (strict attacker), in {tolerant} (gap-tolerant); users concerned:"
            f" {missing['users']:,}. --repair suppresses more, until nobody is"
        )
    if not summary["verified"]:
        return "no, as asked (--no-verify)"
    return f"yes: read back, every user and every interval checked; at least {promise.k} records fit"
