"""The command to run next, in lines that can be copied."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from click import Context, Parameter, get_current_context
from click.core import ParameterSource

from shoal.cli.text.layout import WIDTH
from shoal.core.formatting import no_option
from shoal.core.option_fields import Options
from shoal.core.options import ROLES

_INDENT = "  "


def command_lines(words: Iterable[str]) -> list[str]:
    """A command in lines of 80 columns that a shell reads as one; an option stays with its value."""
    parts: list[str] = []
    for word in words:
        if parts and _is_option(parts[-1]) and " " not in parts[-1] and not _is_option(word):
            parts[-1] += f" {word}"
        else:
            parts.append(word)
    lines = [_INDENT + parts[0]]
    for part in parts[1:]:
        if len(lines[-1]) + 1 + len(part) + len(" \\") <= WIDTH:
            lines[-1] += f" {part}"
        else:
            lines[-1] += " \\"
            lines.append(_INDENT * 2 + part)
    return lines


def _is_option(word: str) -> bool:
    return word.startswith("-") and not word[1:2].isdigit()


def file_word(source: object, otherwise: str = "EVENTS") -> str:
    """A file as it was typed, for a shell; what stands for it where it was no file."""
    return shlex.quote(no_option(str(source))) if isinstance(source, Path) else otherwise


def given_again(*kinds: type[Options], without: Iterable[str] = ()) -> list[str]:
    """The options of these kinds that were given to the command that runs, or the file of settings that has them.

    What may hold people or places is named, not repeated: what a terminal shows is easily pasted elsewhere.
    """
    context = get_current_context()
    wanted = {name: kind for kind in kinds for name in kind.names() if name not in without}
    wanted |= {f"{role}_column": wanted["columns"] for role in ROLES if "columns" in wanted}
    words: list[str] = []
    for param in context.command.params:
        name = str(param.name)
        given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if given and (name in wanted or name == "config"):
            hidden = name in wanted and not _is_shown(wanted[name], name)
            words += _words(param, context, hidden=hidden)
    return words


def _is_shown(kind: type[Options], name: str) -> bool:
    field = kind.__dataclass_fields__.get(name)
    return field is None or field.repr or field.metadata["choice"].repeated


def _words(param: Parameter, context: Context, *, hidden: bool) -> list[str]:
    """An option with its value as words of a shell."""
    value = context.params[str(param.name)]
    if isinstance(value, bool):
        return [(param.opts if value else param.secondary_opts)[0]]
    several = isinstance(value, Sequence) and not isinstance(value, str)
    text = ",".join(map(str, value)) if several else str(value)
    unsaid = hidden and not isinstance(value, Path)  # a list may name people, but the path to it does not
    return [param.opts[-1], param.make_metavar(context) if unsaid else shlex.quote(text)]
