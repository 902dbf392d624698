"""How times that shoal does not recognise may be written: patterns for --time-format, tried on some of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product

import numpy as np
import pyarrow as pa

from shoal.core.time_format import TimeFormat
from shoal.reading.clock_text import parse_pattern

_DATES = (
    "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%d/%m/%y", "%m/%d/%y", "%d.%m.%y", "%d-%m-%y",
    "%y-%m-%d", "%y/%m/%d", "%d-%b-%Y", "%d-%b-%y", "%d/%b/%Y", "%d %b %Y", "%d %B %Y", "%b %d %Y", "%b %d, %Y",
    "%B %d, %Y", "%d%b%Y", "%Y%m%d", "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d",
)  # fmt: skip
_CLOCKS = (
    "", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p", "T%H:%M", "T%H:%M:%S", " %H.%M",
    " %H.%M.%S", " %Hh%M", ":%H:%M:%S", ":%H:%M:%S %z", " %H:%M:%S %z", " %H%M", " %H%M%S", "%H%M%S", "T%H%M%S",
    ", %H:%M", ", %H:%M:%S",
)  # fmt: skip
_MOST_TRIED = 200
_FITS = 0.95  # of the times, so that a few odd ones do not matter


def fitting_patterns(times: Sequence[str]) -> list[str]:
    """Patterns that fit nearly all of some times, in which the day comes first before those in which the month does."""
    tried = list(times)[:: max(1, len(times) // _MOST_TRIED)][:_MOST_TRIED]
    if not tried:
        return []
    text = pa.array([time.encode("utf-8", "replace") for time in tried], pa.large_binary())
    return [
        pattern
        for pattern in map("".join, product(_DATES, _CLOCKS))
        if np.count_nonzero(parse_pattern(text, TimeFormat.parse(pattern)).valid) >= _FITS * len(tried)
    ]


def other_order(pattern: str, times: Sequence[str]) -> str | None:
    """The pattern with day and month exchanged, if it fits these times, too: then nobody can tell which is which."""
    fitting = fitting_patterns(times)
    exchanged = re.sub("%[dm]", lambda part: {"%d": "%m", "%m": "%d"}[part.group()], pattern)
    return exchanged if exchanged != pattern and {pattern, exchanged} <= set(fitting) else None
