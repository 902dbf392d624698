"""Foursquare TSMC2014: check-ins in UTC; the offset beside them is for the reader, and must not be added."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow.compute as pc

from shoal.core.schema import LAT, LON, TIME, USER
from shoal.reading.formats.format import Format, mostly
from shoal.reading.formats.text_rows import Columns, RowFiles, RowLayout

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_TIME = rf"[A-Z][a-z]{{2}} ({'|'.join(_MONTHS)}) (\d\d) (\d\d:\d\d:\d\d) ([+-]\d{{4}}) (\d{{4}})"
_ROW = rf"\d+\t[^\t]*\t[^\t]*\t[^\t]*\t-?[\d.]+\t-?[\d.]+\t-?\d+\t{_TIME}"
_UNUSED = ("venue", "category", "category name", "timezone offset")


def _to_roles(columns: Columns, path: Path) -> Iterator[Columns]:  # noqa: ARG001
    """Times such as ``Tue Apr 03 18:00:09 +0000 2012`` as ISO 8601; whatever else stands there stays as it is."""
    written = pc.replace_substring_regex(
        columns[TIME], pattern=rf"^\s*{_TIME}\s*$", replacement=r"\5-\1-\2T\3\4"
    )
    for number, month in enumerate(_MONTHS, 1):
        written = pc.replace_substring_regex(
            written, pattern=rf"^(\d{{4}})-{month}-", replacement=rf"\1-{number:02d}-"
        )
    yield {**columns, TIME: written}


_LAYOUT = RowLayout(
    "Foursquare check-ins",
    (USER, "venue", "category", "category name", LAT, LON, "timezone offset", TIME),
    separator="\t",
    unused=_UNUSED,
    to_roles=_to_roles,
)

FOURSQUARE = Format(
    name="foursquare",
    what="Foursquare check-ins TSMC2014",
    files=r"dataset_TSMC2014.*\.txt(\.gz|\.zst)?",
    example="dataset_TSMC2014_NYC.txt",
    recognises=lambda _, lines: mostly(_ROW, lines),
    open=lambda files: RowFiles(files, _LAYOUT),
)
