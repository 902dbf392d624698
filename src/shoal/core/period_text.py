"""After which time records get new names, as users write it."""

from __future__ import annotations

import contextlib

from shoal.core.checks import told
from shoal.core.promise import DAY_S, Duration, parse_duration
from shoal.errors import ParameterError

NEVER = "never"


def parse_period(period: Duration) -> int | None:
    """The seconds of a period after which records get new names; None for never."""
    if isinstance(period, str) and period == NEVER:
        return None
    with contextlib.suppress(ParameterError):
        seconds = parse_duration(period, "--rename-every")
        if seconds.denominator == 1 and (DAY_S % seconds == 0 or seconds % DAY_S == 0):
            return int(seconds)
    raise ParameterError(
        "--rename-every must be never, or a part of a day or whole days, such as 6h, 12h, 1d or 7d,"
        f" got {told(period)}."
    )


def spell_period(seconds: int) -> str:
    """A period as ``parse_period`` reads it, in the largest unit that it is whole numbers of."""
    for unit, size in (("d", DAY_S), ("h", 3_600), ("min", 60)):
        if seconds % size == 0:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"
