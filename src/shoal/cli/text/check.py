"""A first look at events as a screen of 80 columns."""

from __future__ import annotations

import shlex
from datetime import date

from shoal.cli.next_command import command_lines
from shoal.cli.text.anonymize import zone_in_words
from shoal.cli.text.layout import WIDTH, labelled, wrapped
from shoal.core.formatting import counted, short
from shoal.evaluate.check.checking import CheckedEvents
from shoal.evaluate.check.problems import Problem
from shoal.reading.inspection import FirstRow
from shoal.reading.summary import CHOSEN

_LABEL = 12
_MOST_COLUMNS_SHOWN = 12
_LEFT_OPEN = "..."  # in a command: what only its reader knows


def check_lines(found: CheckedEvents) -> list[str]:
    """What was found, then what is wrong, then what to run next."""
    above = {"Rows": _rows(found), "Columns": _columns(found)}
    below = {
        "Times": _times(found),
        "Users": _users(found),
        "Samples": _samples(found),
        "Outliers": _outliers(found),
    }
    facts = [*labelled(above, _LABEL), *_first_rows(found.first_rows), *labelled(below, _LABEL)]
    return [*facts, "", *_problems(found.problems), *_next(found)]


def _rows(found: CheckedEvents) -> list[str]:
    as_format = [f"read as {found.format}"] if found.format else []
    if not found.rows:
        return as_format
    if found.parts == 0:
        return [f"{found.rows:,}, all of them read", *as_format]
    where = f"{found.parts} parts spread over the events"
    told = f"Everything below is told from a sample: {counted(found.rows, 'row')} in {where}."
    if found.parts == 1:
        told = f"Everything below is told from a sample: the first {counted(found.rows, 'row')}."
    in_all = f"more than {found.rows:,}" if found.rows_in_all is None else f"about {found.rows_in_all:,}"
    return [f"{in_all}. {told} --all-rows reads all.", *as_format]


def _columns(found: CheckedEvents) -> list[str]:
    used = [f"{role}: {name}" for role, name in found.columns.items()]
    names = found.columns_not_used
    more = f" and {len(names) - _MOST_COLUMNS_SHOWN} more" if len(names) > _MOST_COLUMNS_SHOWN else ""
    others = ", ".join(names[:_MOST_COLUMNS_SHOWN]) + more
    if not used:
        return [f"there are: {others}"]
    return [", ".join(used), *([f"not used: {others}"] if names else [])]


def _first_rows(rows: list[FirstRow]) -> list[str]:
    """A small table; beside a row, how it is read."""
    if not rows:
        return []
    read = any(row.read_as for row in rows)
    table = [[*rows[0].written, *(["read as"] if read else [])]]
    table += [[*row.written.values(), *([row.read_as] if read else [])] for row in rows]
    widths = _widths(table, WIDTH - 2)
    return [
        "First rows  9 stands for a digit, a for a letter; no coordinate is shown",
        *("  " + "  ".join(map(_cut, line, widths)).rstrip() for line in table),
    ]


def _widths(table: list[list[str]], most: int) -> list[int]:
    """How wide the columns of a table are: the widest cell, less of the widest columns where that is too much."""
    widths = [max(len(line[place]) for line in table) for place in range(len(table[0]))]
    while sum(widths) + 2 * (len(widths) - 1) > most:
        widths[widths.index(max(widths))] -= 1
    return widths


def _cut(cell: str, width: int) -> str:
    return f"{cell:<{width}}" if len(cell) <= width else f"{cell[: width - 1]}~"


def _times(found: CheckedEvents) -> list[str]:
    if found.first_day is None or found.last_day is None or found.timezone_from is None:
        return []
    days = 1 + (date.fromisoformat(found.last_day) - date.fromisoformat(found.first_day)).days
    span = f"{found.first_day} to {found.last_day} ({days:,} days)" if days > 1 else found.first_day
    return [span, zone_in_words(found.timezone, found.timezone_from)]


def _users(found: CheckedEvents) -> list[str]:
    if found.samples_a_day is None:
        return []
    number = f"{found.users:,}"
    if found.parts and found.users_in_all is not None:
        number = f"about {found.users_in_all:,} ({found.users:,} in the sample)"
    elif found.parts:
        number = f"at least {found.users:,}, those in the sample"
    about = "about " if found.parts else ""
    rate = "1 sample" if found.samples_a_day == 1 else f"{short(found.samples_a_day)} samples"
    return [f"{number}; the median user has {about}{rate} a day"]


def _samples(found: CheckedEvents) -> list[str]:
    if not found.rows:
        return []
    unused = sum(rows for reason, rows in found.dropped.items() if reason not in CHOSEN)
    told = f"; {counted(unused, 'row')} cannot be used (see the problems)" if unused else ""
    lines = [f"{found.samples:,} of {counted(found.rows, 'row')}{told}"]
    if found.duplicates:
        exactly = f" ({found.repeated:,} exactly)" if found.repeated else ""
        repeat = "repeats" if found.duplicates == 1 else "repeat"
        lines.append(
            f"{counted(found.duplicates, 'row')} {repeat} another within one cell and time step{exactly}"
        )
    lines += [
        f"{counted(rows, 'row')} left out: {reason}"
        for reason, rows in found.dropped.items()
        if reason in CHOSEN
    ]
    if found.blank_lines:
        lines.append(f"{counted(found.blank_lines, 'blank line')} passed over")
    return lines


def _outliers(found: CheckedEvents) -> list[str]:
    if not found.samples:
        return []
    times, positions, users = found.outliers
    told = [
        *([f"{counted(times, 'row')} in time"] if times else []),
        *([f"{counted(positions, 'row')} in space"] if positions else []),
        *([f"{counted(users, 'user')} with far too many rows"] if users else []),
    ]
    return [", ".join(told) or "none found"]


def _problems(problems: list[Problem]) -> list[str]:
    if not problems:
        return ["No problems found."]
    lines = [f"{counted(len(problems), 'problem')}:"]
    for number, problem in enumerate(problems, 1):
        mark = f"{number:>3}. "
        text = f"{problem.what} {problem.remedy}".strip()
        lines += [
            (mark if not place else " " * len(mark)) + line
            for place, line in enumerate(wrapped(text, WIDTH - len(mark)))
        ]
    return lines


def _next(found: CheckedEvents) -> list[str]:
    if not found.next:
        return []
    again = all(command.startswith("shoal check ") for command in found.next)
    names = ["Next:", "Or:" if again else "Then:"]
    lines = [""]
    for name, command in zip(names, found.next, strict=False):
        words = (word if word == _LEFT_OPEN else shlex.quote(word) for word in shlex.split(command))
        lines += [name, *command_lines(words)]
    return lines
