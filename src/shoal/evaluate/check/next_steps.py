"""The commands to run next: with the options that were given, and those that mend what was found."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from shoal.core.evaluation_options import GRID
from shoal.core.option_fields import choices_of
from shoal.core.options import PromiseOptions, ReadingOptions
from shoal.core.period_text import spell_period
from shoal.core.promise import DAY_S, parse_duration
from shoal.reading import is_stream

_FEWEST_FOR_PLAN = 5  # users: as many as the largest k that plan tries
_TAU_S = 30 * 60  # unless steps are longer, or do not divide it
_AS_GIVEN = "..."  # in place of what is a place or may name people: to be typed again
_PUBLISHED = "published.parquet"


def typed(events: object) -> str | None:
    """The events as somebody typed them; None for tables and files that have no name on a command line."""
    if isinstance(events, str | os.PathLike):
        return os.fspath(events) if isinstance(os.fspath(events), str) else None
    return "-" if is_stream(events) and getattr(events, "name", None) == "<stdin>" else None


def check_again(events: object, given: Mapping[str, Any], mending: Mapping[str, Any]) -> list[str]:
    """``shoal check`` once more, with what mends it; nothing where that is what was run.

    A column that was named and is not there gives way to what mends it.
    """
    columns = {**(given.get("columns") or {}), **(mending.get("columns") or {})}
    options = _options({**given, "columns": columns}, mending)
    return [] if options == _options(given, {}) else _command("check", events, [], options)


def go_on(
    events: object, given: Mapping[str, Any], mending: Mapping[str, Any], *, n_users: int, days: float
) -> list[list[str]]:
    """``shoal plan``, then ``shoal anonymize``, as lists of words."""
    options = _options(given, mending)
    tried = ["--ks", "2"] if n_users < _FEWEST_FOR_PLAN else []
    step = parse_duration(_chosen(given, mending).get("step") or PromiseOptions.step)
    tau_s = step * -(-_TAU_S // step)
    tau = _spelled(tau_s)
    if tau_s != _TAU_S:
        tried += ["--taus", ",".join([tau, _spelled(2 * tau_s)]), "--epsilons", tau]
    promise = ["--k", "2", "--tau", tau, "--epsilon", tau]
    period_s = DAY_S * -(-tau_s // DAY_S)
    renamed = ["--rename-every", spell_period(int(period_s))] if days > period_s / DAY_S else []
    commands = [
        _command("plan", events, tried, options),
        _command("anonymize", events, ["-o", _PUBLISHED, *promise, *renamed], options),
    ]
    return [command for command in commands if command]


def _spelled(seconds: Fraction) -> str:
    """A duration as an option takes it."""
    return spell_period(int(seconds)) if seconds.denominator == 1 else f"{float(seconds)}s"


def _command(name: str, events: object, first: Sequence[str], options: Sequence[str]) -> list[str]:
    path = typed(events)
    return [] if path is None else ["shoal", name, no_option(path), *first, *options]


def no_option(path: str) -> str:
    """A path that no command takes for an option."""
    return f"./{path}" if path.startswith("-") and path != "-" else path


def _chosen(given: Mapping[str, Any], mending: Mapping[str, Any]) -> dict[str, Any]:
    """What was given, and what mends where nothing else was."""
    usual = [None, *(getattr(PromiseOptions, name) for name in GRID)]
    return {**given, **{name: value for name, value in mending.items() if given.get(name) in usual}}


def _options(given: Mapping[str, Any], mending: Mapping[str, Any]) -> list[str]:
    """Options as words; what may hold people or places is not repeated."""
    columns = {**(given.get("columns") or {}), **(mending.get("columns") or {})}
    chosen = _chosen(given, mending)
    words = [word for role, name in columns.items() for word in (f"--{role}-column", str(name))]
    for name in GRID:
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
