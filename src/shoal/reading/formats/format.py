"""What a format of other people's data is: one value of ``Format``, in a file of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from shoal.reading.formats.files import Files
from shoal.reading.source import Source


class Format(NamedTuple):
    """How to know files of a format, and how to read them.

    ``files`` matches the names of those files in a folder that hold rows, whatever their case; ``beside`` those that
    belong to the format but hold none. ``recognises`` sees a file's path and its first lines. ``sites`` finds the
    table of sites, given what --sites says. ``timezone`` is that of times without a zone. ``wraps`` reads tables in
    memory, for formats that are tables.
    """

    name: str
    what: str
    files: str
    example: str
    recognises: Callable[[Path, list[str]], bool]
    open: Callable[[Files], Source]
    beside: str = ""
    timezone: str = "UTC"
    sites: Callable[[Files, object], object] | None = None
    wraps: Callable[[Source], Source] | None = None


def mostly(pattern: str, lines: Iterable[str]) -> bool:
    """Whether the first line that is not blank is written like that, and at least half of all.

    A file with a header line is thus never taken for one without.
    """
    written = [bool(re.fullmatch(pattern, line)) for line in lines if line.strip()]
    return bool(written) and written[0] and 2 * sum(written) >= len(written)
