"""Whole numbers that people ask for."""

from __future__ import annotations

from shoal.errors import ParameterError


def check_count(name: str, value: object, least: int = 1) -> None:
    """Refuse what is no whole number, or too small."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ParameterError(f"{name} must be a whole number of at least {least}, got {value!r}.")


def check_seed(seed: object) -> None:
    """Refuse what is no seed."""
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**63:
        raise ParameterError(f"seed must be a whole number from 0 to 2^63 - 1, got {seed!r}.")
