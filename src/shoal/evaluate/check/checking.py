"""``shoal.check``: what events are, read as a release would read them, before anything else is done with them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Unpack

import numpy as np

from shoal.core.checks import check_workers
from shoal.core.evaluation_options import GridKeywords, grid_among
from shoal.core.formatting import counted
from shoal.core.options import ReadingKeywords, ReadingOptions
from shoal.core.progress import Progress, listening
from shoal.core.schema import LAT, LON
from shoal.core.settings import take_options
from shoal.core.showing import html_of
from shoal.core.zones import Zone
from shoal.errors import InputError, for_caller
from shoal.evaluate.check import problems as found_wrong
from shoal.evaluate.check.next_steps import check_again, go_on
from shoal.evaluate.check.problems import Problem
from shoal.reading import Events, is_stream, read_events
from shoal.reading.columns import POSITION, AmbiguousColumnsError, MissingColumnsError
from shoal.reading.inspection import FirstRow, Inspection, ObservedPeriod, day_of
from shoal.reading.summary import NoUsableRowError


class Outliers(NamedTuple):
    """Rows years away from the others, rows far from all others, and users with far too many rows."""

    times: int
    positions: int
    users: int


class CheckedEvents(NamedTuple):
    """What a first look at events found; nothing in it names a person or a place. What is not known is None.

    Attributes
    ----------
    usable : bool
        Whether a release could be made of them.
    rows, parts, rows_in_all : int
        How many rows were looked at, in how many parts of the events (0: all of them, 1: the first rows), and about how
        many there are. All figures are of the rows looked at, unless they say otherwise.
    format : str or None
        The format that was recognised or named.
    columns : dict of str to str, columns_not_used : list of str
        Which column has which role, and the others.
    first_rows : list of FirstRow
        As they are written, masked, and as they are read.
    timezone, timezone_from : str
        On which clock times are, and who said so.
    first_day, last_day : str, days : float
        The time that they span.
    users, users_in_all : int
        How many people; in all an estimate, where only a part was looked at.
    samples : int, samples_a_day : float
        How many can be used, and of the median user on a day.
    dropped : dict of str to int
        Rows that cannot be used, by reason.
    duplicates, repeated, blank_lines : int
        Rows that repeat another within a cell and time step, or exactly; and lines without anything.
    outliers : Outliers
        How many rows are far from all others in time or space, and how many users have far too many.
    problems : list of Problem
        What is wrong, and what to do.
    next : list of str
        What to run next: calls such as ``shoal.anonymize(events, k=2, ...)``. (The command gives commands, ready for a
        shell.)

    Examples
    --------
    >>> import shoal
    >>> found = shoal.check(shoal.make_city(100, seed=1))
    >>> found.usable, found.users
    (True, 100)
    """

    usable: bool
    rows: int
    parts: int
    rows_in_all: int | None
    format: str | None
    columns: dict[str, str]
    columns_not_used: list[str]
    first_rows: list[FirstRow]
    timezone: str
    timezone_from: str | None
    first_day: str | None
    last_day: str | None
    days: float | None
    users: int
    users_in_all: int | None
    samples: int
    samples_a_day: float | None
    dropped: dict[str, int]
    duplicates: int
    repeated: int
    blank_lines: int
    outliers: Outliers
    problems: list[Problem]
    next: list[str]

    def __repr__(self) -> str:
        usable = "usable" if self.usable else "not usable"
        told = f"{counted(self.rows, 'row')} of {counted(self.users, 'user')}, {counted(len(self.problems), 'problem')}"
        return f"<CheckedEvents: {usable}, {told}; .to_dict() has the figures>"

    def _repr_html_(self) -> str:
        return html_of(self)

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return {
            **self._asdict(),
            "first_rows": [row._asdict() for row in self.first_rows],
            "outliers": self.outliers._asdict(),
            "problems": [
                {"what": each.what, "remedy": each.remedy, "rows": each.rows} for each in self.problems
            ],
        }


class _CheckArguments(GridKeywords, ReadingKeywords, total=False):
    """Options of check(): the grid, and ReadingOptions."""


def check(
    events: Any,
    *,
    all_rows: bool = False,
    workers: int | None = None,
    config: str | Path | None = None,
    progress: Progress | bool | None = None,
    **options: Unpack[_CheckArguments],
) -> CheckedEvents:
    """Say what events are before anything else is done with them: columns, times, users, and what is wrong with them.

    They are read as anonymize() reads them. What was opened and cannot be used is told in the result, with ``usable``
    False. Nothing in the result names a person or a place (docs/check.md).

    Parameters
    ----------
    events : path or table
        As in anonymize().
    all_rows : bool
        Read all rows of large events, too, not only a sample.
    workers : int, optional
        How many threads read; all cores unless given.
    config : path, optional
        A file of settings for all options that are not given.
    progress : bool or Progress, optional
        True for a bar, in notebooks and in terminals; or an object that is told of stages and steps.
    **options
        ``cell``, ``step`` and how events are read, as in anonymize().

    Returns
    -------
    CheckedEvents
        What was found.

    Raises
    ------
    InputError
        The events cannot be opened.

    Examples
    --------
    >>> import shoal
    >>> shoal.check(shoal.make_city(100, seed=1))
    <CheckedEvents: usable, 1,913 rows of 100 users, 0 problems; .to_dict() has the figures>
    """
    given = take_options("check", options, config)
    reading, grid = ReadingOptions.from_keywords(given), grid_among(given)
    n_workers = check_workers(workers)
    inspection = Inspection(all_rows=all_rows, suspects=found_wrong.NOBODY)
    with listening(progress) as told, tempfile.TemporaryDirectory(prefix="shoal-check-") as aside:
        told.stage("reading")
        spill = Path(aside) if isinstance(events, str | os.PathLike) or is_stream(events) else None
        try:
            found = read_events(
                events, grid=grid, options=reading, threads=n_workers, spill=spill, inspection=inspection
            )
        except InputError as error:
            if not inspection.title:
                raise
            return _not_usable(events, error, inspection, given, reading)
        told.stage("looking")
        return _usable(events, found, inspection, given, reading)


def _usable(
    events: object, found: Events, inspection: Inspection, given: Mapping[str, Any], options: ReadingOptions
) -> CheckedEvents:
    """What was found in events of which samples were made."""
    read, zone, extent, period = (
        found.read_summary,
        Zone(found.timezone),
        inspection.extent,
        inspection.period(),
    )
    share = _share(read.rows_read, extent.parts, extent.rows_in_all)
    n_users = found.store.n_users
    everything = extent.parts == 0
    problems = [
        *found_wrong.problems_of_size(n_users, period.days, everything=everything),
        *found_wrong.problems_of_rows(read.dropped, read.rows_read, inspection, options),
        *found_wrong.problems_of_users(inspection.rows_of_suspects, options),
        *found_wrong.problem_of_pattern(inspection, options),
        *found_wrong.problem_of_small_numbers(inspection),
        *found_wrong.problems_of_warnings(read),
        *found_wrong.problems_of_outliers(inspection, zone, options),
    ]
    usable = n_users > 1 or not everything
    mending, *others = _mending(problems)
    steps: list[str] = []
    if others:  # somebody must choose first
        steps = [step for each in (mending, *others) for step in check_again(events, given, each)]
    elif usable:
        steps = go_on(events, given, mending, n_users=n_users, days=period.days)
    first, last = _days_on_clock(period, zone)
    return CheckedEvents(
        usable=usable,
        rows=read.rows_read,
        parts=extent.parts,
        rows_in_all=read.rows_read if everything else extent.rows_in_all,
        format=read.format,
        columns=read.columns_used,
        columns_not_used=read.columns_dropped,
        first_rows=inspection.first_rows,
        timezone=found.timezone,
        timezone_from=read.zone_from,
        first_day=first,
        last_day=last,
        days=round(period.days, 2),
        users=n_users,
        users_in_all=_users_in_all(n_users, share, by_user=inspection.by_user),
        samples=len(found.store),
        samples_a_day=_samples_a_day(found, period, 1.0 if inspection.by_user else share or 1.0),
        dropped=read.dropped,
        duplicates=read.duplicates,
        repeated=inspection.n_repeated,
        blank_lines=read.blank_lines,
        outliers=Outliers(period.rows_away, inspection.n_far, inspection.machines()[0]),
        problems=_for_caller(problems),
        next=steps,
    )


def _not_usable(
    events: object,
    error: InputError,
    inspection: Inspection,
    given: Mapping[str, Any],
    options: ReadingOptions,
) -> CheckedEvents:
    """What was found in events up to the error that ended it."""
    problems, mending = _fatal(error, inspection, options)
    roles = inspection.roles
    return CheckedEvents(
        usable=False,
        rows=error.rows_read if isinstance(error, NoUsableRowError) else 0,
        parts=inspection.extent.parts,
        rows_in_all=inspection.extent.rows_in_all,
        format=inspection.format,
        columns={} if roles is None else roles.used,
        columns_not_used=inspection.columns_there if roles is None else roles.dropped,
        first_rows=inspection.first_rows,
        timezone=inspection.zone.name,
        timezone_from=None,
        first_day=None,
        last_day=None,
        days=None,
        users=0,
        users_in_all=None,
        samples=0,
        samples_a_day=None,
        dropped=error.dropped if isinstance(error, NoUsableRowError) else {},
        duplicates=0,
        repeated=0,
        blank_lines=0,
        outliers=Outliers(0, 0, 0),
        problems=_for_caller(problems),
        next=[step for each in mending if each for step in check_again(events, given, each)],
    )


def _fatal(
    error: InputError, inspection: Inspection, options: ReadingOptions
) -> tuple[list[Problem], Sequence[Mapping[str, Any]]]:
    """What an error says as problems, and options that may mend it; of several ones, a choice."""
    if isinstance(error, NoUsableRowError):
        told = list(found_wrong.problems_of_rows(error.dropped, error.rows_read, inspection, options))
        if told:
            return told, _mending(told)
    if isinstance(error, MissingColumnsError):
        roles = [each for role in error.missing for each in ((LAT, LON) if role == POSITION else (role,))]
        columns = {role: error.closest.get(role, "NAME") for role in roles}
        return [Problem(*_what_and_remedy(error.for_command))], [{"columns": columns}]
    if isinstance(error, AmbiguousColumnsError):
        choices = [{"columns": {error.role: name}} for name in error.candidates[:2]]
        return [Problem(*_what_and_remedy(error.for_command))], choices
    if "mm/dd/yyyy" in str(error):
        problem, patterns = found_wrong.problem_of_dates(error.for_command, inspection)
        return [problem], [{"time_format": pattern} for pattern in patterns]
    return [Problem(*_what_and_remedy(error.for_command))], []


def _for_caller(problems: Sequence[Problem]) -> list[Problem]:
    """Problems in the words of who calls."""
    return [each._replace(what=for_caller(each.what), remedy=for_caller(each.remedy)) for each in problems]


def _what_and_remedy(message: str) -> tuple[str, str]:
    """A message in two sentences."""
    what, colon, remedy = message.partition(": ")
    return (f"{what}.", remedy[:1].upper() + remedy[1:]) if colon else (message, "")


def _mending(problems: Sequence[Problem]) -> list[dict[str, Any]]:
    """All options that would mend problems; twice where one of them leaves a choice."""
    mending = {name: value for problem in problems for name, value in problem.options.items()}
    others = {name: value for problem in problems for name, value in problem.instead.items()}
    return [mending, {**mending, **others}] if others else [mending]


def _share(rows: int, parts: int, in_all: int | None) -> float | None:
    """The share of all rows that was looked at; None where nobody knows, or where the first rows need not be like the
    others."""
    if parts == 0:
        return 1.0
    return None if not in_all or parts == 1 else min(1.0, rows / in_all)


def _users_in_all(n_users: int, share: float | None, *, by_user: bool) -> int | None:
    """How many users all rows may have: of rows by user a part has as large a part of the users."""
    if share is None:
        return None
    if share == 1:
        return n_users
    return round(n_users / share) if by_user else None


def _samples_a_day(found: Events, period: ObservedPeriod, share: float) -> float:
    """Samples of the median user in all of the period, by its days; each has but a ``share`` of them here."""
    rows = np.bincount(found.store.user.part(0, len(found.store)), minlength=found.store.n_users)
    return round(float(np.median(rows)) / share / max(1.0, period.days), 2)


def _days_on_clock(period: ObservedPeriod, zone: Zone) -> tuple[str, str]:
    local = zone.from_utc(np.array([period.first, period.last], np.int64)).tolist()
    return day_of(local[0]), day_of(local[1])
