"""Files of settings: the options of a release, an audit, a plan or a sweep in TOML, read and written.

A section holds the fields of a class in options.py. A file holds what decides a result, for all functions that take it:
each looks at its own sections. It never holds what says where something is, who somebody is, or how large a machine is
(``Choice.kept_out``); of those that a saved run was given it notes that they are needed, so that a run with the same
file does not silently do without.
"""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, time
from enum import StrEnum
from importlib.metadata import version
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

from shoal.core.checks import check_path, path_told
from shoal.core.evaluation_options import GRID, NOT_EVALUATED, PlanOptions, SweepOptions
from shoal.core.option_fields import Options, choices_of, refuse_unknown
from shoal.core.options import (
    MACHINE,
    ROLES,
    AuditOptions,
    HidingOptions,
    PromiseOptions,
    ReadingOptions,
)
from shoal.errors import InputError, ParameterError

FORMAT = 1
SECTIONS: dict[str, type[Options]] = {
    "promise": PromiseOptions,
    "hiding": HidingOptions,
    "reading": ReadingOptions,
    "audit": AuditOptions,
    "plan": PlanOptions,
    "sweep": SweepOptions,
}
_NAMES = {section: kind.names() for section, kind in SECTIONS.items()}
_EVALUATED = {
    "promise": GRID,
    "hiding": tuple(name for name in _NAMES["hiding"] if name not in NOT_EVALUATED),
    "reading": _NAMES["reading"],
}
_AUDITED = {name: _NAMES[name] for name in ("audit", "reading")}
TAKEN: dict[str, dict[str, tuple[str, ...]]] = {
    "anonymize": {name: _NAMES[name] for name in ("promise", "hiding", "reading")},
    "audit": _AUDITED,
    "write_report": _AUDITED,
    "check": {name: _EVALUATED[name] for name in ("promise", "reading")},
    "plan": {"plan": _NAMES["plan"], **_EVALUATED},
    "sweep": {"sweep": _NAMES["sweep"], **_EVALUATED},
}  # what functions take from which section
_ABOUT = ("format", "needs")  # entries above the sections
_COLUMNS = "columns"


def take_options(
    function: str, keywords: Mapping[str, Any], config: str | Path | None = None
) -> dict[str, Any]:
    """The options of a call: its keywords, which must be known, and for what they do not say a file of settings."""
    refuse_unknown(function, keywords, {name for names in TAKEN[function].values() for name in names})
    if config is None:
        return dict(keywords)
    settings = read_settings(Path(config))
    settings.check_needs(function, keywords)
    taken = settings.keywords(function) | dict(keywords)
    if keywords.get(_COLUMNS) is not None:
        taken[_COLUMNS] = {**settings.keywords(function).get(_COLUMNS, {}), **keywords[_COLUMNS]}
    return taken


class Settings(NamedTuple):
    """What a file of settings holds; its options are known and of the right types, and not checked any further."""

    title: str
    sections: Mapping[str, Mapping[str, Any]]
    needs: Sequence[tuple[str, str]]

    def keywords(self, function: str) -> dict[str, Any]:
        """The options that are for a function."""
        return {
            name: self.sections[section][name]
            for section, names in TAKEN[function].items()
            for name in names
            if name in self.sections.get(section, {})
        }

    def check_needs(self, function: str, keywords: Mapping[str, Any]) -> None:
        """Refuse a call that lacks what the saved run was given and no file holds.

        An audit with a key finds in the notes beside it how events are read.
        """
        noted = keywords.get("key") is not None
        for section, name in self.needs:
            wanted = name in TAKEN[function].get(section, ()) and not (noted and section == "reading")
            if wanted and keywords.get(name) is None:
                spelled = SECTIONS[section].spelled(name)
                raise InputError(
                    f"{self.title} was saved from a run with {spelled}, which is not kept in files: give it again, or"
                    " remove it from needs in the file."
                )


def read_settings(path: Path) -> Settings:
    """The settings in a file; what is unknown or of another type is refused."""
    check_path(str(path), "config", "a path")
    title = repr(path.name)
    content = _parsed(path, title)
    unknown = [name for name in content if name not in SECTIONS and name not in _ABOUT]
    if unknown:
        raise InputError(
            f"{title} has the sections {', '.join(SECTIONS)}, found {_listed(unknown)}: rename it, remove it, or put it"
            " into a section."
        )
    if content.get("format", FORMAT) != FORMAT:
        raise InputError(
            f"{title} must be of format {FORMAT}, found another: update shoal, or save it again."
        )
    sections = {
        section: _section(content[section], section, title) for section in SECTIONS if section in content
    }
    return Settings(title, sections, _needs(content.get("needs", []), title))


def _parsed(path: Path, title: str) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError:
        raise InputError(
            f"No readable file {path_told(path)} for --config: expected TOML, as --save-config writes it."
        ) from None
    except (ValueError, RecursionError) as error:
        line = re.search(r"line \d+", str(error))
        where = f" in {line.group()}" if line and isinstance(error, tomllib.TOMLDecodeError) else ""
        raise InputError(
            f'{title} is no TOML: there is a mistake{where}; expected lines such as k = 2 or tau = "30min" below'
            " [promise]."
        ) from None


def _section(content: Any, section: str, title: str) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise InputError(f"{title}: {section} must be a section, found {_kind(content)}: write [{section}].")
    kind = SECTIONS[section]
    _refuse_unknown(content, [name for name in kind.names() if not kind.kept_out(name)], section, title, kind)
    types = get_type_hints(kind)
    values = {name: _dates_as_text(value) for name, value in content.items()}
    for name, value in values.items():
        kinds = _alternatives(types[name])
        if not any(_fits(value, each) for each in kinds):
            expected, found = " or ".join(map(_in_words, kinds)), _kind(content[name])
            found += " of something else" if f"{found} of" in expected else ""
            raise InputError(f"{title}: {name} in [{section}] must be {expected}, found {found}: correct it.")
    if _COLUMNS in values:
        _refuse_unknown(values[_COLUMNS], ROLES, f"{section}.{_COLUMNS}", title)
    return values


def _refuse_unknown(
    content: Mapping[str, Any],
    known: Sequence[str],
    section: str,
    title: str,
    kind: type[Options] | None = None,
) -> None:
    unknown = [name for name in content if name not in known]
    for name in unknown:
        if kind is not None and name in kind.names():
            raise InputError(
                f"{title}: {name} in [{section}] is {kind.kept_out(name)}, which no file of settings holds: give"
                f" {kind.spelled(name)} with the command."
            )
    if unknown:
        raise InputError(
            f"{title}: [{section}] knows {', '.join(known)}, found {_listed(unknown)}: rename or remove it."
        )


def _needs(content: Any, title: str) -> list[tuple[str, str]]:
    """What a saved run was given that no file holds, as section and name."""
    known = {
        f"{section}.{name}": (section, name)
        for section, kind in SECTIONS.items()
        for name in kind.names()
        if kind.kept_out(name) not in ("", MACHINE)
    }
    if not isinstance(content, list) or not all(isinstance(name, str) and name in known for name in content):
        raise InputError(f"{title}: needs must be a list of some of {', '.join(known)}: correct it.")
    return [known[name] for name in content]


def _dates_as_text(value: Any) -> Any:
    """TOML has dates and times of its own: ``start = 2024-03-11`` needs no quotation marks."""
    return value.isoformat() if isinstance(value, date) else value


def _alternatives(annotation: Any) -> list[Any]:
    """The types that a field may have."""
    kinds = get_args(annotation) if get_origin(annotation) is UnionType else (annotation,)
    return [kind for kind in kinds if kind is not NoneType]


def _fits(value: Any, kind: Any) -> bool:
    """Whether a value of TOML is one of a type."""
    if get_origin(kind) is Sequence:
        return isinstance(value, list) and all(_fits(part, get_args(kind)[0]) for part in value)
    if get_origin(kind) is Mapping:
        return isinstance(value, dict) and all(isinstance(part, str) for part in value.values())
    if kind is bool or isinstance(value, bool):
        return kind is bool and isinstance(value, bool)
    if issubclass(kind, str):
        return isinstance(value, str)
    return isinstance(value, int) or (kind is float and isinstance(value, float))


def _in_words(kind: Any) -> str:
    if get_origin(kind) is Sequence:
        words = {int: "a list of whole numbers", float: "a list of numbers"}
        return words.get(get_args(kind)[0], "a list of texts")
    if get_origin(kind) is Mapping:
        return "a table of texts"
    return {bool: "true or false", int: "a whole number", float: "a number"}.get(kind, "a text")


def _kind(value: Any) -> str:
    """What a value is, in words; the value itself might be a place or a person."""
    kinds = {bool: "true or false", int: "a whole number", float: "a number", str: "a text", list: "a list"}
    words = {**kinds, dict: "a table"}.get(type(value))
    return words or (
        "a time" if isinstance(value, time) else "a date" if isinstance(value, date) else "something else"
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(name if name.isprintable() and len(name) <= 40 else "another" for name in names[:5])


# ---- writing ------------------------------------------------------------------------------------------------------


def settings_text(function: str, keywords: Mapping[str, Any]) -> str:
    """The options among the keywords of a call as a file of settings, defaults and all, so that it can be repeated.

    ``keywords`` may hold others, which are not of options.
    """
    needs = [
        f"{section}.{name}"
        for section, names in TAKEN[function].items()
        for name in names
        if SECTIONS[section].kept_out(name) not in ("", MACHINE) and keywords.get(name) is not None
    ]
    lines = [
        f"# Written by shoal {version('shoal')}. No path, key, query or name of a person stands here; but what no",
        "# manifest tells: the seed, names of columns, and what was left out by time and place.",
        f"format = {FORMAT}",
    ]
    if needs:
        lines.append(
            f"needs = {_toml(needs)}  # given with the command, and not kept in files: give them again"
        )
    for section in TAKEN[function]:
        lines += ["", f"[{section}]", *_lines(function, section, keywords)]
    return "\n".join(lines) + "\n"


def _lines(function: str, section: str, keywords: Mapping[str, Any]) -> Iterator[str]:
    for each, said in choices_of(SECTIONS[section]):
        if each.name not in TAKEN[function][section] or said.kept_out:
            continue
        default = None if each.default is dataclasses.MISSING else each.default
        value = keywords.get(each.name, default)
        if value is not None and not (
            isinstance(value, Mapping) and not value
        ):  # TOML has no word for nothing
            yield f"{each.name} = {_toml(value)}"


def _toml(value: Any) -> str:
    """A plain value as TOML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, StrEnum | str | Path):
        return _quoted(str(value))
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        return repr(float(value))
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_quoted(name)} = {_toml(part)}' for name, part in value.items())} }}"
    if isinstance(value, Sequence):
        return f"[{', '.join(map(_toml, value))}]"
    raise ParameterError(f"Settings must be plain values to be saved, got {type(value).__name__}.")


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f\ud800-\udfff]", _escape, escaped) + '"'


def _escape(letter: re.Match[str]) -> str:
    if "\ud800" <= letter.group() <= "\udfff":
        raise ParameterError("Settings must be UTF-8 to be saved: a name of a column is not.")
    return f"\\u{ord(letter.group()):04x}"
