"""The commands to run next: with the options that were given, and those that mend what was found."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from shoal.core.option_fields import choices_of
from shoal.core.options import PromiseOptions, ReadingOptions
from shoal.reading import is_stream

_FEWEST_FOR_PLAN = 5  # users: as many as the largest k that plan tries
_AS_GIVEN = "..."  # in place of what is a place or may name people: to be typed again
_PUBLISHED = "published.parquet"


def typed(events: object) -> str | None:
    """The events as somebody typed them; None for tables and files that have no name on a command line."""
    if isinstance(events, str | os.PathLike):
        return os.fspath(events) if isinstance(os.fspath(events), str) else None
    return "-" if is_stream(events) and getattr(events, "name", None) == "<stdin>" else None


def check_again(events: object, given: Mapping[str, Any], mending: Mapping[str, Any]) -> list[str]:
    """``shoal check`` once more, with what mends it."""
    return _command("check", events, [], _options(given, mending))


def go_on(
    events: object, given: Mapping[str, Any], mending: Mapping[str, Any], *, n_users: int, days: float
) -> list[list[str]]:
    """``shoal plan``, then ``shoal anonymize``, as lists of words."""
    options = _options(given, mending)
    few = ["--ks", "2"] if n_users < _FEWEST_FOR_PLAN else []
    promise = ["--k", "2", "--tau", "30min", "--epsilon", "30min"]
    renamed = ["--rename-every", "1d"] if days > 1 else []
    commands = [
        _command("plan", events, few, options),
        _command("anonymize", events, ["-o", _PUBLISHED, *promise, *renamed], options),
    ]
    return [command for command in commands if command]


def _command(name: str, events: object, first: Sequence[str], options: Sequence[str]) -> list[str]:
    path = typed(events)
    return [] if path is None else ["shoal", name, path, *first, *options]


def _options(given: Mapping[str, Any], mending: Mapping[str, Any]) -> list[str]:
    """Options as words; what may hold people or places is not repeated."""
    columns = {**(given.get("columns") or {}), **(mending.get("columns") or {})}
    chosen = {**given, **{name: value for name, value in mending.items() if given.get(name) is None}}
    words = [word for role, name in columns.items() for word in (f"--{role}-column", str(name))]
    for name in ("cell", "step"):
        if chosen.get(name) not in (None, getattr(PromiseOptions, name)):
            words += [PromiseOptions.spelled(name), str(chosen[name])]
    for each, _ in choices_of(ReadingOptions):
        value = chosen.get(each.name)
        if each.name == "columns" or value is None:
            continue
        words += [ReadingOptions.spelled(each.name), _word(each.name, value)]
    return words


def _word(name: str, value: object) -> str:
    """The value of an option; a path that was typed may stand there."""
    if name in ("bbox", "query"):
        return _AS_GIVEN
    if isinstance(value, str | os.PathLike | int):
        return str(value)
    if name == "missing_user" and isinstance(value, Sequence):
        return ",".join(value)
    return _AS_GIVEN


def in_shell(words: Sequence[str]) -> str:
    """A command as a shell takes it."""
    return " ".join(_AS_GIVEN if word == _AS_GIVEN else shlex.quote(word) for word in words)
