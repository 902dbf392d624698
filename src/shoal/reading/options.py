"""How events are read, in the words of users: the options of every function that reads events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from inspect import Parameter
from pathlib import Path
from typing import Any, TypedDict, get_type_hints

from shoal.reading.filters import Filters


class ReadingOptions(TypedDict, total=False):
    """Each may be left out, or be None."""

    columns: Mapping[str, str] | None  # from roles (user, time, lat, lon, x, y, site) to names of columns
    sites: Any  # a path or a table, for events with a site instead of a position
    format: str | None  # one of docs/formats.md; recognised where there is no doubt
    timezone: (
        str | None
    )  # of times that come without one, and of hours of the day; that of the format, or UTC
    start: str | None  # leaves out what is before this time, ISO 8601
    end: str | None  # leaves out what is at this time or after
    exclude_users: (
        str | Path | Iterable[str] | None
    )  # leaves out these users: names, or a file with one per line
    bbox: str | Sequence[float] | None  # leaves out what lies outside W,S,E,N: degrees, or metres for x and y
    min_days_active: int | None  # leaves out users with events on fewer days
    resample: str | None  # leaves out all but the first sample of each user in each period, such as 5min


READING = [
    Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=kind)
    for name, kind in get_type_hints(ReadingOptions).items()
]
_FILTERS = ("bbox", "min_days_active", "resample")


def check_reading(options: ReadingOptions) -> dict[str, Any]:
    """Options for read_events() from those of users; what can be refused before anything is read is refused."""
    given: dict[str, Any] = dict(options)
    filters = Filters.parse(*(given.pop(name, None) for name in _FILTERS))
    return {**given, "filters": filters}
