"""mPat Shenzhen: calls with the position of the antenna, longitude first although its labels say otherwise."""

from __future__ import annotations

import re
from pathlib import Path

from shoal.core.schema import LAT, LON, TIME, USER
from shoal.reading.formats.format import Format, mostly
from shoal.reading.formats.text_rows import RowFiles, RowLayout

# Ten digits of a SIM card and a place in Shenzhen tell these rows from anybody's four columns.
_ROW = r"\d{10},\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,11[345]\.\d+,2[23]\.\d+"
_LABELS = r"[^,]*,[^,]*time[^,]*,\s*latitude\s*,\s*longitude\s*"


def _recognises(path: Path, lines: list[str]) -> bool:  # noqa: ARG001
    """Rows, also below the labels of the page: no latitude is beyond 90, so labels that say so are wrong."""
    lines = [line for line in lines if line.strip()]
    if lines and re.fullmatch(_LABELS, lines[0], re.IGNORECASE):
        lines = lines[1:]
    return mostly(_ROW, lines)


MPAT = Format(
    name="mpat",
    what="mPat calls of Shenzhen",
    files=r".*\.(txt|csv)(\.gz|\.zst)?",
    example="a .txt or .csv file of rows such as SIM,time,longitude,latitude",
    recognises=_recognises,
    open=lambda files: RowFiles(files, RowLayout("mPat", (USER, TIME, LON, LAT), header=_LABELS)),
    timezone="Asia/Shanghai",
)
