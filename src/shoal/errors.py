"""What can go wrong, as a tree.

    ShoalError
    ├── InputError      exit 2: bad input or usage; the message is one line for the user
    │   ├── ParameterError   a parameter that makes no promise (k = 1, tau = 0, ...)
    │   └── NothingLeftError  everything would have to be suppressed
    └── UnfinishedError exit 3: could not finish (disk full, self-check failed); nothing was published

A message says what was expected, what was found and what to do. It never holds a coordinate, an identifier of a
person or a row of data.
"""

from __future__ import annotations


class ShoalError(Exception):
    """Any failure that shoal explains in one line."""

    exit_code = 3


class InputError(ShoalError):
    """The input or the way shoal was called cannot be used as it is."""

    exit_code = 2


class ParameterError(InputError, ValueError):
    """A parameter has a value with which no promise can be given."""


class NothingLeftError(InputError):
    """Everything would have to be suppressed to keep the promise."""


class UnfinishedError(ShoalError):
    """The work could not be finished; nothing was published."""

    exit_code = 3
