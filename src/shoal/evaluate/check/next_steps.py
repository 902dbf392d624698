"""What to run next, commands or calls: with the options that were given, and those that mend what was found."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from shoal.core.evaluation_options import GRID
from shoal.core.formatting import no_option
from shoal.core.option_fields import choices_of
from shoal.core.options import PromiseOptions, ReadingOptions
from shoal.core.period_text import spell_period
from shoal.core.promise import DAY_S, parse_duration
from shoal.errors import is_called_by_command
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

    A column that was named and is not there gives way to what mends it. No command can name some events.
    """
    columns = {**(given.get("columns") or {}), **(mending.get("columns") or {})}
    if list(_chosen({**given, "columns": columns}, mending)) == list(_chosen(given, {})):
        return []
    if not is_called_by_command():
        return [_call("check", events, {}, given, mending)]
    return _in_shell(_command("check", events, [], _options(given, mending)))


def go_on(
    events: object, given: Mapping[str, Any], mending: Mapping[str, Any], *, n_users: int, days: float
) -> list[str]:
    """``shoal plan``, then ``shoal anonymize``, in the words of who calls."""
    tried: dict[str, Any] = {"ks": [2]} if n_users < _FEWEST_FOR_PLAN else {}
    step = parse_duration(dict(_chosen(given, mending)).get("step", PromiseOptions.step))
    tau_s = step * -(-_TAU_S // step)
    if tau_s != _TAU_S:
        tried |= {"taus": [_spelled(tau_s), _spelled(2 * tau_s)], "epsilons": [_spelled(tau_s)]}
    promise = {"k": 2, "tau": _spelled(tau_s), "epsilon": _spelled(tau_s)}
    period_s = DAY_S * -(-tau_s // DAY_S)
    if days > period_s / DAY_S:
        promise["rename_every"] = spell_period(int(period_s))
    if not is_called_by_command():
        return [
            _call("plan", events, tried, given, mending),
            _call("anonymize", events, promise, given, mending),
        ]
    options = _options(given, mending)
    return [
        *_in_shell(_command("plan", events, _words(tried), options)),
        *_in_shell(_command("anonymize", events, ["-o", _PUBLISHED, *_words(promise)], options)),
    ]


def _spelled(seconds: Fraction) -> str:
    """A duration as an option takes it."""
    return spell_period(int(seconds)) if seconds.denominator == 1 else f"{float(seconds)}s"


def _words(options: Mapping[str, Any]) -> list[str]:
    """Options with their values as words of a command."""
    words: list[str] = []
    for name, value in options.items():
        text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
        words += [f"--{name.replace('_', '-')}", text]
    return words


def _command(name: str, events: object, first: Sequence[str], options: Sequence[str]) -> list[str]:
    path = typed(events)
    return [] if path is None else ["shoal", name, no_option(path), *first, *options]


def _chosen(given: Mapping[str, Any], mending: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """All options that are not as they are unless given, by name, the columns first."""
    columns = {**(given.get("columns") or {}), **(mending.get("columns") or {})}
    usual = [None, *(getattr(PromiseOptions, name) for name in GRID)]
    chosen = {**given, **{name: value for name, value in mending.items() if given.get(name) in usual}}
    if columns:
        yield "columns", columns
    for name in GRID:
        if chosen.get(name) not in (None, getattr(PromiseOptions, name)):
            yield name, chosen[name]
    for each, _ in choices_of(ReadingOptions):
        if each.name != "columns" and chosen.get(each.name) is not None:
            yield each.name, chosen[each.name]


def _options(given: Mapping[str, Any], mending: Mapping[str, Any]) -> list[str]:
    """Options as words; what may hold people or places is not repeated."""
    words: list[str] = []
    for name, value in _chosen(given, mending):
        if name == "columns":
            words += [word for role, column in value.items() for word in (f"--{role}-column", str(column))]
        elif name in GRID:
            words += [PromiseOptions.spelled(name), str(value)]
        else:
            words += [ReadingOptions.spelled(name), _word(name, value)]
    return words


def _call(
    name: str, events: object, first: Mapping[str, Any], given: Mapping[str, Any], mending: Mapping[str, Any]
) -> str:
    """A call in Python; a table is ``events`` there."""
    path = typed(events)
    arguments = ["events" if path is None else repr(path)]
    arguments += [f"{option}={value!r}" for option, value in first.items()]
    arguments += [f"{option}={_argument(option, value)}" for option, value in _chosen(given, mending)]
    return f"shoal.{name}({', '.join(arguments)})"


def _argument(name: str, value: object) -> str:
    """The value of an option in Python."""
    if name == "columns" and isinstance(value, Mapping):
        return repr({role: str(column) for role, column in value.items()})
    word = _word(name, value)
    return word if word == _AS_GIVEN or isinstance(value, int) else repr(word)


def _word(name: str, value: object) -> str:
    """The value of an option; a path that was typed may stand there."""
    if name in ("bbox", "query"):
        return _AS_GIVEN
    if isinstance(value, str | os.PathLike | int):
        return str(value)
    if name == "missing_user" and isinstance(value, Sequence):
        return ",".join(value)
    return _AS_GIVEN


def _in_shell(words: Sequence[str]) -> list[str]:
    """A command as a shell takes it; none of no words."""
    return (
        [" ".join(_AS_GIVEN if word == _AS_GIVEN else shlex.quote(word) for word in words)] if words else []
    )
