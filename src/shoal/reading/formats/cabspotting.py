"""Cabspotting: one text file per taxi of San Francisco, Unix seconds, newest or oldest row first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from shoal.core.schema import LAT, LON, TIME, USER
from shoal.reading.formats.format import Format, mostly, stem
from shoal.reading.formats.text_rows import Columns, RowFiles, RowLayout, same

_ROW = r"-?\d{1,2}(\.\d+)? -?\d{1,3}(\.\d+)? [01] \d{9,10}"


def _to_roles(columns: Columns, path: Path) -> Iterator[Columns]:
    yield {**columns, USER: same(stem(path).removeprefix("new_"), columns)}


_LAYOUT = RowLayout(
    "Cabspotting", (LAT, LON, "occupied", TIME), separator=" ", unused=("occupied",), to_roles=_to_roles
)

CABSPOTTING = Format(
    name="cabspotting",
    what="Cabspotting taxis of San Francisco",
    files=r"new_\w+\.txt",
    example="new_abboip.txt and the like",
    recognises=lambda _, lines: mostly(_ROW, lines),
    open=lambda files: RowFiles(files, _LAYOUT),
)
