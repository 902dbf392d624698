"""What the command shows: progress on stderr, results on stdout."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from shoal.core.progress_bars import TerminalProgress, say
from shoal.errors import UnfinishedError

__all__ = ["TerminalProgress", "say", "say_warnings", "show"]


def say_warnings(warnings: Iterable[str]) -> None:
    """A line for each."""
    for warning in warnings:
        say(f"Warning: {warning}")


def show(text: str) -> None:
    """A result to stdout; whoever reads it may stop early."""
    try:
        print(text, flush=True)
    except OSError as error:
        # Python would try once more on its way out, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise UnfinishedError(
                f"The files are in place, but stdout cannot be written to ({error.strerror})."
            ) from error
