"""mPat Shenzhen: calls with the position of the antenna, longitude first although its page says otherwise."""

from __future__ import annotations

from shoal.reading.foreign.format import Format, mostly
from shoal.reading.foreign.rows import Layout, RowFiles
from shoal.schema import LAT, LON, TIME, USER

# Ten digits of a SIM card and a place in Shenzhen tell these rows from anybody's four columns.
_ROW = r"\d{10},\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,11[345]\.\d+,2[23]\.\d+"

MPAT = Format(
    name="mpat",
    what="mPat calls of Shenzhen",
    files=r".*\.(txt|csv)(\.gz)?",
    example="a .txt or .csv file of rows such as SIM,time,longitude,latitude",
    recognises=lambda _, lines: mostly(_ROW, lines),
    open=lambda files: RowFiles(files, Layout("mPat", (USER, TIME, LON, LAT))),
    timezone="Asia/Shanghai",
)
