"""What options are held to, one by one, and how they are kept: text, shares, levels, limits on the grid."""

from __future__ import annotations

import math
import re
from datetime import date
from fractions import Fraction
from numbers import Real
from typing import Any, NamedTuple

from shoal.core.checks import check_count, told
from shoal.core.formatting import duration
from shoal.core.option_fields import Options
from shoal.core.promise import MOST_SLOTS, Grid, Promise, duration_text, parse_duration, parse_length
from shoal.errors import ParameterError

_SELECTS = ("select", "with", "values", "from")  # how SQL that reads rows begins; from: in DuckDB


class BoxLimits(NamedTuple):
    """The most cells on the longer side of a box, and the most slots."""

    cells: int
    slots: int


def box_limits(max_space: str | None, max_time: str | None, promise: Promise, grid: Grid) -> BoxLimits | None:
    """The limits on the grid, None without any; refuse limits that make no sense."""
    if promise.epsilon is None or (max_space is None and max_time is None):
        return None
    cells, slots = MOST_SLOTS, promise.epsilon
    if max_space is not None:
        cells = math.floor(parse_length(max_space) / Fraction(repr(grid.cell_m)))
        if cells < 1:
            raise ParameterError(
                f"--max-space must be at least a cell, {grid.cell_m:g} m, got {max_space}: choose a longer"
                " distance or a smaller --cell."
            )
    if max_time is not None:
        slots = math.floor(parse_duration(max_time) / grid.step_s)
        if not 1 <= slots < promise.epsilon:
            raise ParameterError(
                f"--max-time must be at least a step, {duration(grid.step_s)}, and below epsilon,"
                f" {duration(promise.epsilon * grid.step_s)}, got {max_time}."
            )
    return BoxLimits(cells, slots)


def is_select(query: object) -> bool:
    """Whether a text begins as SQL that reads rows does, behind comments and brackets."""
    if not isinstance(query, str):
        return False
    begins = re.match(r"(?:\s|--[^\n]*\n|/\*.*?\*/|\()*(\w+)", query, re.DOTALL)
    return begins is not None and begins.group(1).lower() in _SELECTS


def save_as_text(options: Options, *names: str) -> None:
    """Keep the durations among these options as texts, whatever they were given as: what is saved is text."""
    for name in names:
        spelled = options.spelled(name) if "_" in name else name
        object.__setattr__(options, name, duration_text(getattr(options, name), spelled))


def moment_text(given: Any) -> Any:
    """A date or time of Python or pandas as text; anything else as it is."""
    return given.isoformat() if isinstance(given, date) else given


def check_share(share: Any, name: str) -> float:
    if isinstance(share, bool) or not isinstance(share, Real) or not 0 <= float(share) < 1:
        raise ParameterError(f"{name} must be a share from 0 to less than 1, got {told(share)}: 0.02 is 2 %.")
    return float(share)


def check_harden(harden: int, most: int) -> int:
    level = check_count(harden, "harden", least=0)
    if level > most:
        fewer = ", ".join(str(lower) for lower in range(most))
        raise ParameterError(f"harden must be at most {most}, got {level:,}: give {fewer} or {most}.")
    return level


def refuse_suppression(given: list[str], promise: Promise, *, spectral: bool) -> None:
    """Refuse a budget and limits, by the names of those given, where it is not known how to keep them."""
    if given and promise.whole:
        raise ParameterError(f"{given[0]} goes with tau and epsilon, got whole trajectories: leave it out.")
    if given and spectral:
        raise ParameterError(
            f"{given[0]} goes with selectors matching and mutual, got spectral: leave it out."
        )


def check_epsilon(promise: Promise, grid: Grid) -> None:
    """Refuse to make a release with an epsilon that does not divide tau: it would give away more than epsilon."""
    seconds = promise.in_seconds(grid)
    if seconds is None or promise.epsilon_divides_tau:
        return
    nearest = " or ".join(duration(slots * grid.step_s) for slots in promise.nearest_epsilons())
    raise ParameterError(
        f"epsilon must divide tau, got {duration(seconds.epsilon)} for {duration(seconds.tau)}, with which a window"
        f" holds {duration(seconds.beyond_tau)} beyond tau: use {nearest}, or another tau."
    )
