"""Values that users give, checked once: counts, workers, numbers."""

from __future__ import annotations

import os
from numbers import Integral, Number

from shoal.errors import ParameterError


def told(given: object) -> str:
    """A wrong value in a message; of what may hold data, such as a table given by mistake, only the kind."""
    plain = given is None or isinstance(given, str | Number)
    return repr(given) if plain else f"a value of type {type(given).__name__}"


def check_count(number: int, name: str, *, least: int, most: int | None = None) -> int:
    """A whole number that is neither too small nor too large."""
    if isinstance(number, bool) or not isinstance(number, Integral) or number < least:
        raise ParameterError(f"{name} must be a whole number of at least {least}, got {told(number)}.")
    if most is not None and number > most:
        raise ParameterError(f"{name} must be at most {most:,}, got {number:,}: give fewer.")
    return int(number)


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
