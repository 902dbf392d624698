"""Writers of data from other telephone networks: YJMob100K, Shanghai Telecom, mPat and plain sessions."""

from __future__ import annotations

import gzip
import hashlib
import math
from collections import defaultdict
from datetime import datetime
from pathlib import Path

from reading.formats.canonical import (
    BEIJING,
    Event,
    PlanarEvent,
    Written,
    put,
    sixth_decimal,
    stamp,
    with_traps,
)

_GHOST = "999"  # appears in traps only: a reader that lists this user has kept a trap


def write_yjmob100k(folder: Path, events: list[Event]) -> Written:
    """yjmob100k-dataset1.csv.gz: header uid,d,t,x,y; days, half hours, cells of 500 m numbered from 1; 999 is masked.

    Day 0 has no date: `expected` takes it for Unix 0, and the first day of the events for day 0. Cells have no
    place on Earth: `expected` is in metres, x_m = 500 x and y_m = 500 y (a corner rather than a centre, and which
    corner the notes leave open). Nothing here is M but the columns of cell_POIcat.csv.gz, which are invented.
    """
    first_day = min(e.second for e in events) // 86400
    south, west = min(e.lat for e in events), min(e.lon for e in events)
    metres_per_degree = 111_320.0
    shrink = math.cos(math.radians(south))
    rows, expected = [], []
    for e in events:
        day, second_of_day = divmod(e.second - first_day * 86400, 86400)
        half_hour = second_of_day // 1800
        x = 1 + int((e.lon - west) * metres_per_degree * shrink // 500)
        y = 1 + int((e.lat - south) * metres_per_degree // 500)
        if day > 74 or x > 200 or y > 200:
            raise ValueError(
                "YJMob100K holds 75 days and 200 cells of 500 m each way: these events exceed it."
            )
        rows.append(f"{e.user},{day},{half_hour},{x},{y}")
        expected.append(PlanarEvent(e.user, day * 86400 + half_hour * 1800, x * 500.0, y * 500.0))
    traps = [f"{events[0].user},74,46,999,999", f"{events[0].user},74,47,999,999", f"{_GHOST},60,0,999,999"]
    path = folder / "yjmob100k-dataset1.csv.gz"
    _put_gz(path, ["uid,d,t,x,y", *with_traps(rows, traps)])
    interest = folder / "cell_POIcat.csv.gz"
    _put_gz(interest, ["x,y,POIcategory,POI_count", "1,13,74,1", "1,13,76,1"])
    return Written(
        path=path,
        sites=None,
        expected=expected,
        dropped={"masked": len(traps)},
        note="Seconds count from day 0 = Unix 0, as x_m = 500 x, y_m = 500 y. 999 is no cell: masked in the challenge.",
        variant="metres",
        not_events=(interest,),
    )


def _put_gz(path: Path, rows: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress("".join(row + "\n" for row in rows).encode(), mtime=0))


def _h_mm(clock: datetime, spreadsheet: bool) -> str:
    """`3.30`, `3.05`, `3.00`; as a number that went through a spreadsheet, `3.3`, `3.05`, `3`."""
    text = f"{clock.hour}.{clock.minute:02d}"
    return text.rstrip("0").removesuffix(".") if spreadsheet and clock.minute % 10 == 0 else text


def write_shanghai_telecom(folder: Path, events: list[Event], *, spreadsheet: bool = False) -> Written:
    """Day files, tab, no header: start H.MM, end H.MM, lat, lon, md5 id; 0 0 is an unknown place.

    H.MM is a clock, not a decimal number of hours: `3.30` is 03:30. Read as the number 3.3 and written again
    (`spreadsheet`) it becomes `3.3`, and `3.00` becomes `3`. That stays unambiguous as long as minutes were padded:
    03:03 is `3.03`, so one digit after the point can only be tens. A file with `3.7` (no minute 70) would be unpadded
    after all and had better be refused; none is written here. Each day file holds a padded minute below ten.
    The notes mark nothing M. Ours: files called YYYY-MM-DD.txt by the local day, clocks in Beijing time, and
    no session past midnight (they end at 23.59 instead).
    """
    days: dict[str, list[str]] = defaultdict(list)
    expected, ends = [], []
    shortened = 0
    for number, e in enumerate(events):
        minute = e.second // 60 * 60
        start = datetime.fromtimestamp(minute, BEIJING)
        last_minute = int(start.replace(hour=23, minute=59).timestamp())
        end = min(minute + (5, 10, 47)[number % 3] * 60, last_minute)
        user = hashlib.md5(e.user.encode(), usedforsecurity=False).hexdigest()
        clocks = [_h_mm(clock, spreadsheet) for clock in (start, datetime.fromtimestamp(end, BEIJING))]
        days[f"{start:%Y-%m-%d}"].append("\t".join([*clocks, f"{e.lat:.6f}", f"{e.lon:.6f}", user]))
        shortened += spreadsheet and start.minute % 10 == 0
        expected.append(Event(user, minute, round(e.lat, 6), round(e.lon, 6)))
        ends.append(end)
    known = expected[0].user
    ghost = hashlib.md5(_GHOST.encode(), usedforsecurity=False).hexdigest()
    traps = [f"0.05\t0.09\t0\t0\t{known}", f"12.01\t12.31\t0\t0\t{ghost}"]
    for day, rows in days.items():
        put(folder / "days" / f"{day}.txt", with_traps(rows, traps))
    return Written(
        path=folder / "days",
        sites=None,
        expected=expected,
        dropped={"0 0": len(traps) * len(days)},
        note="Dates come from the file names. One event a session, at its start; `ends` has the other clock.",
        interpreted={"trailing zero lost": shortened} if spreadsheet else {},
        zone="Asia/Shanghai",
        ends=ends,
    )


def write_mpat_shenzhen(folder: Path, events: list[Event], *, labelled: bool = False) -> Written:
    """SIM id, time, longitude, latitude, comma, although the page calls the last two Latitude, Longitude.

    Ids have ten digits and begin with zeros that belong to them. `labelled` adds the page's names as a header: then
    the header is wrong and the values are right. The notes mark nothing M. Ours: no header, the file's name,
    the spelling of the labels, and clocks in Beijing time.
    """
    named = [e._replace(user=f"00555{int(e.user):05d}") for e in sixth_decimal(events)]
    rows = [f"{e.user},{stamp(e.second, BEIJING)},{e.lon:.6f},{e.lat:.6f}" for e in named]
    header = ["SIM Card ID,Time,Latitude,Longitude"] if labelled else []
    return Written(
        path=put(folder / "CDR.csv", header + rows),
        sites=None,
        expected=named,
        dropped={},
        note="Longitude first, whatever the labels say. 0055500001 is not 55500001.",
        interpreted={"labels swapped": len(rows)} if labelled else {},
        zone="Asia/Shanghai",
    )


def write_sessions(folder: Path, events: list[Event]) -> Written:
    """A CSV of stays, header user,start,end,lat,lon, ISO 8601 UTC; no published data set, so nothing is V or M.

    The first session ends when it starts: a stay without length is still a stay.
    """
    ends = [e.second + (0, 300, 1500)[min(number, 1 + number % 2)] for number, e in enumerate(events)]
    rows = ["user,start,end,lat,lon"]
    for e, end in zip(events, ends, strict=True):
        start_text, end_text = (stamp(second).replace(" ", "T") + "Z" for second in (e.second, end))
        rows.append(f"{e.user},{start_text},{end_text},{e.lat!r},{e.lon!r}")
    return Written(
        path=put(folder / "sessions.csv", rows),
        sites=None,
        expected=list(events),
        dropped={},
        note="One event a session, at its start; `ends` has the seconds where a reader fills sessions.",
        interpreted={"no length": 1},
        ends=ends,
    )
