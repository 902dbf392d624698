"""What can go wrong, as a tree.

    ShoalError
    ├── InputError      exit 2: bad input or usage; the message is one line for the user
    │   ├── ParameterError   a parameter that makes no promise (k = 1, tau = 0, ...)
    │   └── NothingLeftError  everything would have to be suppressed
    └── UnfinishedError exit 3: could not finish (disk full, self-check failed); nothing was published

A message says what was expected, what was found and what to do. It never holds a coordinate, an identifier of a
person or a row of data. It is written with the options of the command (``--tau``); ``in_python`` has it with the
arguments of the functions (``tau``), which is what an exception says. The command prints it as it was written.
Warnings and advice in results are for who called: ``for_caller`` leaves them as they are where the command did.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_BY_COMMAND = ContextVar("_BY_COMMAND", default=False)
_RENAMED = {"from": "start", "to": "end"}
_FLAGS = frozenset({"all-rows", "force", "public", "repair", "resume", "show-users", "strict", "whole"})
_NEGATIONS = {"no-evidence": "evidence", "no-repair": "repair", "no-verify": "verify", "no-whole": "whole"}
_FUNCTIONS = {"credibility": "assess", "report": "write_report"}  # commands with another name in Python
_COMMAND = re.compile(r"\bshoal (anonymize|audit|check|compare|credibility|plan|report|sweep)\b")
_COLUMNS = re.compile(r"--([a-z]+)-column(?: and --([a-z]+)-column)?")
_QUOTE = "'"
_VALUE = r"\d+(?:min|km|[dhms])\b|\d{4}-\d\d-\d\d\b|'[^']*'"
_TWO_COLUMNS = re.compile(r"--([a-z]+)-column (\S+) --([a-z]+)-column (\S+?)(?=[\s.]|$)")
_OPTION = re.compile(rf"--([a-z]+(?:-[a-z]+)*)(?: ({_VALUE}))?")


def in_python(text: str) -> str:
    """A text that names options of the command, in the words of Python's arguments.

    ``--tau`` is ``tau``, ``--whole`` is ``whole=True``, ``--rename-every 1d`` is ``rename_every='1d'``, ``--from`` is
    ``start``, ``--user-column`` is ``columns={'user': ...}``, and ``shoal audit`` is ``shoal.audit()``.
    """
    text = _COMMAND.sub(lambda found: f"shoal.{_FUNCTIONS.get(found[1], found[1])}()", text)
    text = _TWO_COLUMNS.sub(r"columns={'\1': '\2', '\3': '\4'}", text)
    text = _COLUMNS.sub(_as_columns, text)
    return _OPTION.sub(_as_argument, text)


@contextmanager
def called_by_command() -> Iterator[None]:
    """Inside a ``with`` block the command is what calls: texts name its options."""
    before = _BY_COMMAND.set(True)
    try:
        yield
    finally:
        _BY_COMMAND.reset(before)


def for_caller(text: str) -> str:
    """A text that names options of the command in the words of who calls: the command, or a program in Python."""
    return text if _BY_COMMAND.get() else in_python(text)


def is_called_by_command() -> bool:
    """Whether the command calls, which has its own ways of saying things."""
    return _BY_COMMAND.get()


def _as_columns(found: re.Match[str]) -> str:
    roles = ", ".join(f"'{role}': ..." for role in found.groups() if role is not None)
    return f"columns={{{roles}}}"


def _as_argument(found: re.Match[str]) -> str:
    option, value = found.groups()
    if option in _NEGATIONS:
        return f"{_NEGATIONS[option]}=False"
    name = _RENAMED.get(option, option.replace("-", "_"))
    if option in _FLAGS:
        return f"{name}=True"
    return name if value is None else f"{name}={value.strip(_QUOTE)!r}"


class ShoalError(Exception):
    """Any failure that shoal explains in one line.

    ``for_command`` is the same line with the options of the command.

    Examples
    --------
    >>> import shoal
    >>> try:
    ...     shoal.anonymize("nowhere.csv", k=2, whole=True)
    ... except shoal.ShoalError as error:
    ...     print(type(error).__name__)
    InputError
    """

    exit_code = 3

    def __init__(self, message: str = "") -> None:
        super().__init__(in_python(message))
        self.for_command = message


class InputError(ShoalError):
    """The input or the way shoal was called cannot be used as it is.

    Examples
    --------
    >>> import shoal
    >>> try:
    ...     shoal.anonymize(shoal.make_city(50), k=2, whole=True, columns={"user": "who"})
    ... except shoal.InputError as error:
    ...     print(error)
    No column 'who' among user, time, lat, lon: check columns={'user': ...} (closest: user).
    """

    exit_code = 2


class ParameterError(InputError, ValueError):
    """A parameter has a value with which no promise can be given; also a ValueError.

    Examples
    --------
    >>> import shoal
    >>> shoal.anonymize(shoal.make_city(50), k=2, tau="30min")
    Traceback (most recent call last):
        ...
    shoal.errors.ParameterError: epsilon missing: give tau and epsilon, or whole=True.
    """


class NothingLeftError(InputError):
    """Everything would have to be suppressed to keep the promise."""


class UnfinishedError(ShoalError):
    """The work could not be finished; nothing was published.

    Examples
    --------
    A disk that is full, a cluster that is lost, a self-check that fails: what was begun can mostly be resumed.

    >>> import shoal
    >>> issubclass(shoal.UnfinishedError, shoal.ShoalError), shoal.UnfinishedError.exit_code
    (True, 3)
    """

    exit_code = 3
