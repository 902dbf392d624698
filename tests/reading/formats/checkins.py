"""Writers of check-ins: Gowalla and Brightkite from SNAP, Foursquare from TSMC2014."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from pathlib import Path

from reading.formats.canonical import Event, Written, put, stamp, with_traps

_GHOST = "999"
_WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def _iso(second: int) -> str:
    return stamp(second).replace(" ", "T") + "Z"


def write_snap_gowalla(folder: Path, events: list[Event]) -> Written:
    """loc-gowalla_totalCheckins.txt.gz: tab, no header; user, ISO 8601 with Z, lat, lon, location id. No traps.

    The notes mark nothing M. Ours: the order of rows (newest first) and whole numbers as location ids.
    """
    return _write_snap(folder, events, "gowalla", traps=[], dropped={})


def write_snap_brightkite(folder: Path, events: list[Event]) -> Written:
    """loc-brightkite_totalCheckins.txt.gz: as Gowalla's, with check-ins at 0,0 and blank rows.

    The notes say "0,0 / blank rows" without showing one, so here are three kinds of blank: a user and a time without
    a place, a user alone, and an empty line (counted apart, since most parsers never see those).
    The notes mark nothing M. Ours: the order of rows (newest first), location ids, and those spellings.
    """
    first = events[0]
    traps = [
        f"{first.user}\t{_iso(first.second + 60)}\t0.0\t0.0\t00000000000000000000000000000000",
        f"{_GHOST}\t{_iso(first.second)}\t0\t0\t00000000000000000000000000000000",
        f"{first.user}\t{_iso(first.second + 120)}\t\t\t",
        f"{_GHOST}\t\t\t\t",
        "",
    ]
    return _write_snap(folder, events, "brightkite", traps, {"0/0": 2, "blank": 2, "empty line": 1})


def _write_snap(
    folder: Path, events: list[Event], service: str, traps: list[str], dropped: dict[str, int]
) -> Written:
    places = {place: i for i, place in enumerate(dict.fromkeys((e.lat, e.lon) for e in events), start=22847)}
    rows = [
        f"{e.user}\t{_iso(e.second)}\t{e.lat!r}\t{e.lon!r}\t{places[e.lat, e.lon]}"
        for e in sorted(events, key=lambda e: (int(e.user), -e.second))
    ]
    path = folder / f"loc-{service}_totalCheckins.txt.gz"
    text = "".join(row + "\n" for row in with_traps(rows, traps))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode("ascii"), mtime=0))
    return Written(
        path=path,
        sites=None,
        expected=list(events),
        dropped=dropped,
        note="Users come one after the other, each newest first. 0,0 means that nobody knows, not the Gulf of Guinea.",
    )


def write_foursquare_tsmc2014(folder: Path, events: list[Event]) -> Written:
    """dataset_TSMC2014_NYC.txt: tab, no header, eight columns, English dates in UTC, a category beyond ASCII.

    Columns: user, venue, category id, category, lat, lon, offset of local time in minutes, time. The time is UTC
    already (+0000): adding the offset again is the trap.
    M: latin-1. Ours: the file's name and the offset of New York in summer.
    """
    rows = []
    for number, e in enumerate(events):
        category = ("Café", "Arts & Crafts Store", "Bridge")[number % 3]
        ids = f"{e.user}\t49bbd6c0f964a520f4531{number:03x}\t4bf58dd8d48988d127951{number % 3:03x}"
        rows.append(f"{ids}\t{category}\t{e.lat!r}\t{e.lon!r}\t-240\t{_english(e.second)}")
    return Written(
        path=put(folder / "dataset_TSMC2014_NYC.txt", rows, encoding="latin-1"),
        sites=None,
        expected=list(events),
        dropped={},
        note="Not UTF-8: é is the single byte E9. The offset column must not move the times.",
        interpreted={"byte beyond ASCII": (len(events) + 2) // 3},
    )


def _english(second: int) -> str:
    """`Tue Apr 03 18:00:09 +0000 2012`, in English whatever the locale."""
    time = datetime.fromtimestamp(second, UTC)
    weekday, month = _WEEKDAYS[time.weekday()], _MONTHS[time.month - 1]
    return f"{weekday} {month} {time:%d %H:%M:%S} +0000 {time.year}"
