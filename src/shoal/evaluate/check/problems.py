"""What is wrong with events, how many rows it concerns, and what to do about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from shoal.core.formatting import counted, percent
from shoal.core.options import MISSING_USERS, ReadingOptions
from shoal.core.promise import DAY_S
from shoal.core.schema import LAT, LON, TIME, X, Y
from shoal.core.zones import Zone
from shoal.evaluate.check.time_formats import fitting_patterns, other_order
from shoal.reading import summary
from shoal.reading.inspection import Inspection, day_of
from shoal.reading.masking import masked
from shoal.reading.summary import CHOSEN, ReadSummary

FEW_USERS = 100  # among whom many have nobody who comes and goes alike
SHORT_DAYS = 1.0
_YEAR_S = 365 * DAY_S
# What tools and people write for nobody, beside what shoal knows; compared in lower case.
NOBODY = (
    "unknown",
    "anonymous",
    "undefined",
    "missing",
    "n/a",
    "#n/a",
    "nil",
    "(null)",
    "\\n",
    "?",
    "--",
    "<na>",
    "nat",
    "-1",
    "nobody",
)
_LEFT_OUT = "They are left out"
_MEND = f"{_LEFT_OUT}; mend them in the file if they matter."
_REASONS: dict[str, tuple[str, str]] = {
    summary.MALFORMED: (
        "have more or fewer values than there are columns",
        f"{_LEFT_OUT}: mend separators and quotation marks.",
    ),
    summary.ENDS_BEFORE_START: ("are of sessions that end before they start", f"{_LEFT_OUT}: mend them."),
    summary.MISSING_USER: (
        "have no user",
        f"{_LEFT_OUT}; if another column has it, name that with --user-column.",
    ),
    summary.MISSING_TIME: (
        "have no time",
        f"{_LEFT_OUT}; if another column has it, name that with --time-column.",
    ),
    summary.UNPARSABLE_TIME: (
        "have times that cannot be read",
        f"{_LEFT_OUT}; say how times are written with --time-format, e.g. '%d.%m.%y %H:%M'.",
    ),
    summary.TIME_OUT_OF_RANGE: (
        "have times beyond the calendar",
        f"{_LEFT_OUT}: check the time column.",
    ),
    summary.MISSING_POSITION: (
        "have no position",
        f"{_LEFT_OUT}; if they have a site, give a table of sites with --sites.",
    ),
    summary.UNPARSABLE_POSITION: (
        "have positions that are no numbers",
        f"{_LEFT_OUT}; write 48.85 or 48,85, without separators of thousands.",
    ),
    summary.POSITION_OUT_OF_RANGE: (
        "have positions beyond the globe, or the grid",
        f"{_LEFT_OUT}: check the columns of the position.",
    ),
    summary.POSITION_ZERO: (
        "are at 0/0, which is how missing positions are often written",
        f"{_LEFT_OUT}; there is nothing to do if that is right.",
    ),
    summary.UNKNOWN_SITE: (
        "are at sites that the table of sites does not have",
        f"{_LEFT_OUT}: add these to --sites.",
    ),
}


class Problem(NamedTuple):
    """What is wrong, what to do about it, and how many of the rows looked at it concerns, where that can be told.

    ``options`` are the options of reading that would mend it, by their names in Python; ``instead``: others, where
    somebody must choose.
    """

    what: str
    remedy: str
    rows: int | None = None
    options: Mapping[str, object] = {}
    instead: Mapping[str, object] = {}


def problems_of_rows(
    dropped: Mapping[str, int], rows_read: int, inspection: Inspection, options: ReadingOptions
) -> Iterator[Problem]:
    """Why rows cannot be used, most first; what was left out by choice is no problem."""
    for reason, rows in sorted(dropped.items(), key=lambda each: -each[1]):
        if reason in CHOSEN:
            continue
        what, remedy = _REASONS[reason]
        given: dict[str, object] = {}
        instead: dict[str, object] = {}
        if reason == summary.UNPARSABLE_TIME:
            what, remedy, patterns = _unread_times(what, remedy, inspection, options)
            given = {"time_format": patterns[0]} if patterns else {}
            instead = {"time_format": patterns[1]} if patterns[1:] else {}
        elif (
            reason == summary.POSITION_OUT_OF_RANGE and inspection.swapped() and inspection.roles is not None
        ):
            lat, lon = (inspection.roles.used[role] for role in (LAT, LON))
            remedy = f"lat and lon seem to be swapped: --lat-column {lon} --lon-column {lat}."
            given = {"columns": {LAT: lon, LON: lat}}
        elif inspection.format is not None:
            remedy = f"{_LEFT_OUT}; if there are many, check --format."
        share = percent(rows / rows_read)
        yield Problem(f"{counted(rows, 'row')} ({share}) {_agree(what, rows)}.", remedy, rows, given, instead)


def _agree(what: str, rows: int) -> str:
    """The verb as one row needs it."""
    verb, _, rest = what.partition(" ")
    return f"{ {'have': 'has', 'are': 'is'}[verb] if rows == 1 else verb } {rest}"


def _unread_times(
    what: str, remedy: str, inspection: Inspection, options: ReadingOptions
) -> tuple[str, str, list[str]]:
    """How times that cannot be read are written, and which patterns would read them, if all times are alike."""
    unread, everything = inspection.times(unread=True, pattern=options.time_pattern), inspection.times()
    if 2 * len(unread) < len(everything):
        remedy = _MEND
    if not unread:
        return what, remedy, []
    (commonest, _), *_ = Counter(masked(time, TIME) for time in unread).most_common(1)
    what = f"{what}, written like {commonest}"
    patterns = fitting_patterns(unread)[:2] if options.time_format is None else []
    if not patterns:
        return what, remedy, []
    if not fitting_patterns(everything):
        return what, "Times are written in several ways: write all of them in one.", []
    if len(patterns) == 1:
        return what, f"--time-format '{patterns[0]}' reads them.", patterns
    return what, f"--time-format {_either(patterns)} reads them: choose the right one.", patterns


def problem_of_pattern(inspection: Inspection, options: ReadingOptions) -> Iterator[Problem]:
    """A pattern was given, and one with day and month exchanged would fit as well."""
    other = None if options.time_format is None else other_order(options.time_format, inspection.times())
    if other is not None:
        yield Problem(
            f"Times fit '{other}' as well as '{options.time_format}'.",
            "Nothing in them tells day and month: make sure that the right one was given.",
        )


def _either(patterns: list[str]) -> str:
    return " or ".join(f"'{pattern}'" for pattern in patterns[:2])


def problem_of_dates(message: str, inspection: Inspection) -> tuple[Problem, list[str]]:
    """What to say of dates of which nobody can tell day and month, and the patterns that would tell."""
    patterns = fitting_patterns(inspection.times())[:2]
    what, _, remedy = message.partition(": ")
    if len(patterns) == 2:
        remedy = f"--time-format {_either(patterns)}: choose the right one."
    return Problem(f"{what}.", _sentence(remedy)), patterns


def problems_of_users(users: Mapping[str, int], options: ReadingOptions) -> Iterator[Problem]:
    """Users who may be nobody: the names are among those that stand for no user elsewhere, so they may be told."""
    if not users:
        return
    rows, names = sum(users.values()), sorted(users)
    before = MISSING_USERS if options.missing_user is None else sorted(options.missing_users)
    listed = ",".join([*before, *names])
    yield Problem(
        f"{counted(rows, 'row')} of {counted(len(names), 'user')} named {' and '.join(map(repr, names))}: nobody?",
        f"If so: --missing-user '{listed}'.",
        rows,
        {"missing_user": listed},
    )


def problems_of_warnings(read: ReadSummary) -> Iterator[Problem]:
    """What reading warns of; times years away are told by ``problems_of_outliers``."""
    for warning in read.warnings:
        what, colon, remedy = warning.partition(": ")
        if "years away from the others" in what:
            continue
        if read.zone_from == summary.ZONE_ASSUMED and what.startswith("Times come without a zone"):
            yield Problem(
                f"{what}.",
                "If clocks were local, name their zone with --timezone instead of UTC.",
                None,
                {"timezone": "UTC"},
            )
            continue
        mending: dict[str, object] = {}
        if "look like degrees" in what:
            mending = {"columns": {LON: read.columns_used[X], LAT: read.columns_used[Y]}}
        elif "are at midnight" in what:
            mending = {"step": "1d"}
        yield Problem(f"{what}." if colon else what, _sentence(remedy), None, mending)


def problems_of_outliers(inspection: Inspection, zone: Zone, options: ReadingOptions) -> Iterator[Problem]:
    """Rows far from all others in time or space, and users with far too many rows."""
    period = inspection.period()
    if period.rows_away:
        first, beyond = (day_of(second) for second in _local_days(period.first, period.last, zone))
        yield Problem(
            f"{counted(period.rows_away, 'row')} years away from the others.",
            f"If these dates are wrong: --from {first} --to {beyond}.",
            period.rows_away,
            {"start": options.start or first, "end": options.end or beyond},
        )
    if inspection.n_far:
        yield Problem(
            f"{counted(inspection.n_far, 'row')} more than {inspection.far_away} away from all others.",
            "If these positions are wrong, leave them out with --bbox W,S,E,N around the right ones.",
            inspection.n_far,
        )
    machines, rows = inspection.machines()
    if machines:
        verb = "has" if machines == 1 else "have"
        yield Problem(
            f"{counted(machines, 'user')} {verb} over 50 times the rows of the median user, {rows:,} in all: machines?",
            "If so, list them in a file, one on each line, and add --exclude-users FILE.",
            rows,
        )


def _local_days(first: int, last: int, zone: Zone) -> tuple[int, int]:
    """The first day of a period, and the one after its last, in seconds on the clock of a zone."""
    begin, end = zone.from_utc(np.array([first, last], np.int64)).tolist()
    return begin, end + DAY_S


def problem_of_small_numbers(inspection: Inspection) -> Iterator[Problem]:
    """Times that count something else than seconds: days as spreadsheets do, minutes, or steps."""
    if inspection.format is None and 0 <= inspection.period().first <= inspection.period().last < _YEAR_S:
        yield Problem(
            "All times lie in 1970, as small numbers do that are read as Unix seconds.",
            "If they count days, as spreadsheets do, or minutes or steps: write them as ISO 8601 or Unix seconds.",
        )


def problems_of_size(n_users: int, days: float, *, everything: bool) -> Iterator[Problem]:
    """Too few people to hide among, or too short a time."""
    if n_users < 2 and everything:
        yield Problem("There is one user only.", "Nobody can be hidden: give events of more people.")
    elif n_users < FEW_USERS and everything:
        yield Problem(
            f"There are {n_users:,} users only.",
            "Few come and go alike: expect much to be suppressed, or large boxes.",
        )
    if days < SHORT_DAYS:
        yield Problem(
            f"The data span {counted(max(1, round(24 * days)), 'hour')} only.",
            "Nothing is wrong with that if it is all; else check the time column, --from and --to.",
        )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
