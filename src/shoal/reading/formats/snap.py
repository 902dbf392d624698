"""SNAP check-ins (Gowalla, Brightkite): tabs, UTC; Brightkite has blank rows and 0/0 for unknown places."""

from __future__ import annotations

from shoal.core.schema import LAT, LON, TIME, USER
from shoal.reading.formats.format import Format, mostly
from shoal.reading.formats.text_rows import RowFiles, RowLayout

_ROW = r"\d+\t\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\t-?\d+(\.\d+)?\t-?\d+(\.\d+)?\t\S+"

SNAP = Format(
    name="snap",
    what="SNAP check-ins: Gowalla, Brightkite",
    files=r".*totalCheckins\.txt(\.gz|\.zst)?",
    example="loc-gowalla_totalCheckins.txt.gz",
    recognises=lambda _, lines: mostly(_ROW, lines),
    open=lambda files: RowFiles(
        files,
        RowLayout("SNAP check-ins", (USER, TIME, LAT, LON, "location"), separator="\t", unused=("location",)),
    ),
)
