"""GeoLife: a folder per person, a .plt file per trip with six lines of header, times in UTC."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.schema import LAT, LON, TIME, USER
from shoal.reading.formats.format import Format, mostly
from shoal.reading.formats.text_rows import Columns, RowFiles, RowLayout, same

_HEADER_LINES = 6
_ROW = r"-?[\d.]+,-?[\d.]+,0,-?[\d.]+,[\d.]+,\d{4}-\d\d-\d\d,\d\d:\d\d:\d\d"
_UNUSED = ("zero", "altitude", "days")


def _person(path: Path) -> str:
    """The folder of a person: ``Data/010/Trajectory/20080101000000.plt`` is of 010."""
    folder = path.absolute().parent
    return folder.parent.name if folder.name.lower() == "trajectory" else folder.name


def _to_roles(columns: Columns, path: Path) -> Iterator[Columns]:
    date, clock = columns["date"], columns["clock"]
    empty = pc.and_(pc.equal(date, ""), pc.equal(clock, ""))
    joined = pc.binary_join_element_wise(date, clock, "T")
    written = pc.binary_join_element_wise(joined, "Z", "")  # UTC, whatever --timezone says
    time = pc.if_else(empty, pa.scalar("", pa.string()), written)
    yield {**columns, TIME: time, USER: same(_person(path), columns)}


_LAYOUT = RowLayout(
    "GeoLife",
    (LAT, LON, *_UNUSED, "date", "clock"),
    lines_skipped=_HEADER_LINES,
    unused=_UNUSED,
    to_roles=_to_roles,
)

GEOLIFE = Format(
    name="geolife",
    what="GeoLife folders of .plt files",
    files=r".*\.plt",
    example="Data/000/Trajectory/20081023025304.plt and the like",
    recognises=lambda path, lines: path.suffix.lower() == ".plt" and mostly(_ROW, lines[_HEADER_LINES:]),
    open=lambda files: RowFiles(files, _LAYOUT),
    beside=r"labels\.txt",
)
