"""Values that users give, checked once: counts, workers, numbers."""

from __future__ import annotations

import os
import re
from numbers import Integral, Number
from pathlib import Path

from shoal.errors import InputError, ParameterError

_MOST_SHOWN = 80  # characters of a wrong value
_LONGEST_NAME = 255  # of a file, on the usual file systems
_BREAKS = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")
_BETWEEN_VALUES = re.compile(r"[,;|]")
_LONG_NUMBER = re.compile(r"\d{5}")
_SUFFIX = re.compile(r"\.[A-Za-z]\w{0,9}$")
_SELECTS = ("select", "with", "values", "from")  # how SQL that reads rows begins; from: in DuckDB


def told(given: object) -> str:
    """A wrong value in a message; of what may hold data, such as a table or a long text, only the kind."""
    if isinstance(given, str) and (len(given) > _MOST_SHOWN or _BREAKS.search(given) or _is_row(given)):
        return f"a text of {len(given):,} characters"
    plain = given is None or isinstance(given, str | Number)
    return repr(given) if plain else f"a value of type {type(given).__name__}"


def _is_row(text: str) -> bool:
    """Whether a short text looks like a row of data: several values, one of them a long number."""
    return _BETWEEN_VALUES.search(text) is not None and _LONG_NUMBER.search(text) is not None


def is_no_path(given: object) -> bool:
    """Whether a text where a path belongs can be none: most likely it is what a file should hold, rows of CSV."""
    if not isinstance(given, str):
        return False
    name = given.rpartition(os.sep)[2]
    return _BREAKS.search(given) is not None or len(name.encode("utf-8", "replace")) > _LONGEST_NAME


def check_path(given: object, what: str, expected: str) -> None:
    """Refuse a text that can be no path, without repeating it."""
    if is_no_path(given):
        raise InputError(
            f"{what} must be {expected}, got a text of {len(str(given)):,} characters, which is no path:"
            f" give {expected}."
        )


def check_is_path(given: object, name: str) -> None:
    """Refuse what is no path to write to, such as None or a table."""
    if not isinstance(given, str | os.PathLike) or is_no_path(given):
        raise ParameterError(f"{name} must be a path, such as 'published.parquet', got {told(given)}.")


def paths_among(*given: object) -> list[Path]:
    """Those inputs that are files or folders; what is no path is refused once it is read."""
    return [Path(each) for each in given if isinstance(each, str | os.PathLike) and not is_no_path(each)]


def path_told(path: str | os.PathLike[str]) -> str:
    """A path in a message: its name, which is cut if it is long; of what looks like values, only how long it is."""
    text = os.fspath(path)
    name = Path(text).name or text
    if is_no_path(text) or (_BETWEEN_VALUES.search(name) and not _SUFFIX.search(name)):
        return f"a text of {len(text):,} characters"
    return repr(name if len(name) <= _MOST_SHOWN else f"{name[: _MOST_SHOWN - 1]}…")


def names_a_file(given: str) -> bool:
    """Whether a text plainly is a path: where people may be listed, nothing else is repeated."""
    if is_no_path(given):
        return False
    name = Path(given).name
    return Path(given).exists() or ("@" not in name and _SUFFIX.search(name) is not None)


def check_count(number: int, name: str, *, least: int, most: int | None = None) -> int:
    """A whole number that is neither too small nor too large."""
    if isinstance(number, bool) or not isinstance(number, Integral) or number < least:
        raise ParameterError(f"{name} must be a whole number of at least {least}, got {told(number)}.")
    if most is not None and number > most:
        raise ParameterError(f"{name} must be at most {most:,}, got {number:,}: give fewer.")
    return int(number)


def check_flags(**flags: object) -> None:
    """Refuse texts and numbers where True or False belongs: ``"no"`` would count as True."""
    for name, given in flags.items():
        if type(given).__name__ not in ("bool", "bool_"):  # Python's or numpy's
            raise ParameterError(f"{name} must be True or False, got {told(given)}.")


def check_level(level: int | None, name: str, least: int, most: int) -> int | None:
    """One of a few levels, or None for none chosen."""
    if level is not None and check_count(level, name, least=least) > most:
        lower = ", ".join(str(each) for each in range(least, most))
        raise ParameterError(f"{name} must be at most {most}, got {level:,}: give {lower} or {most}.")
    return None if level is None else int(level)


def check_workers(workers: int | None) -> int:
    """How many threads; all cores unless given."""
    if workers is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return check_count(workers, "workers", least=1)


def check_seed(seed: object) -> None:
    """Refuse what is no seed."""
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**63:
        raise ParameterError(f"seed must be a whole number from 0 to 2^63 - 1, got {told(seed)}.")


def is_select(query: object) -> bool:
    """Whether a text begins as SQL that reads rows does, behind comments and brackets."""
    if not isinstance(query, str):
        return False
    begins = re.match(r"(?:\s|--[^\n]*\n|/\*.*?\*/|\()*(\w+)", query, re.DOTALL)
    return begins is not None and begins.group(1).lower() in _SELECTS
