"""T-Drive: one text file per taxi of Beijing, in local time, longitude first. Some files are empty."""

from __future__ import annotations

from pathlib import Path

from shoal.core.schema import LAT, LON, TIME, USER
from shoal.reading.formats.format import Format, mostly, stem
from shoal.reading.formats.text_rows import RowFiles, RowLayout

ROW = r"\d+,\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,-?\d+(\.\d+)?,-?\d+(\.\d+)?"


def _recognises(path: Path, lines: list[str]) -> bool:
    """Rows of the taxi that the file is named after: nothing else tells them from anybody's four columns."""
    return path.suffix == ".txt" and mostly(ROW, lines) and mostly(rf"{stem(path)},.*", lines)


T_DRIVE = Format(
    name="t-drive",
    what="T-Drive taxis of Beijing",
    files=r"\d+\.txt",
    example="1.txt, 2.txt and so on",
    recognises=_recognises,
    open=lambda files: RowFiles(files, RowLayout("T-Drive", (USER, TIME, LON, LAT))),
    timezone="Asia/Shanghai",
)
