"""Writers of recorded tracks: GeoLife, T-Drive, Porto, Cabspotting and GPX."""

from __future__ import annotations

import json
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from xml.sax.saxutils import escape

from reading.formats.canonical import BEIJING, Event, Written, by_user, put, stamp

_PLT_HEADER = (
    "Geolife trajectory",
    "WGS 84",
    "Altitude is in Feet",
    "Reserved 3",
    "0,2,255,My Track,0,0,2,8421376",
    "0",
)
_DAYS_TO_1970 = 25569  # from 1899-12-30, as spreadsheets count
_POLYLINE_STEP = 15  # seconds


def write_geolife(folder: Path, events: list[Event]) -> Written:
    """Data/<uuu>/Trajectory/<yyyymmddhhmmss>.plt, six header lines, UTC; labels.txt beside Trajectory.

    A row is lat,lon,0,altitude in feet,days since 1899-12-30,date,time. Every other altitude is -777: unknown, which
    says nothing against the place, so the row stays. One file a UTC day.
    M: that -777 marks an altitude as invalid. Ours: the wording of the six lines, CRLF line ends, the form of times in
    labels.txt, and that the first user alone has labels.
    """
    data = folder / "Data"
    expected: list[Event] = []
    unknown_altitudes = 0
    for user, track in by_user(events).items():
        home = data / f"{int(user):03d}"
        days: dict[str, list[Event]] = defaultdict(list)
        for e in track:
            days[stamp(e.second)[:10]].append(e)
        for day in days.values():
            rows = list(_PLT_HEADER)
            for e in day:
                altitude = "-777" if len(expected) % 2 else "492"
                unknown_altitudes += altitude == "-777"
                spreadsheet_days = e.second / 86400 + _DAYS_TO_1970
                date, time = stamp(e.second).split()
                rows.append(f"{e.lat:.6f},{e.lon:.6f},0,{altitude},{spreadsheet_days:.10f},{date},{time}")
                expected.append(Event(home.name, e.second, round(e.lat, 6), round(e.lon, 6)))
            start = "".join(filter(str.isdigit, stamp(day[0].second)))
            put(home / "Trajectory" / f"{start}.plt", rows, end="\r\n")
    first = min(data.iterdir())
    labels = ["Start Time\tEnd Time\tTransportation Mode", "2008/10/23 02:53:04\t2008/10/23 11:11:12\twalk"]
    return Written(
        path=data,
        sites=None,
        expected=expected,
        dropped={},
        note="The user is the folder's name, zeros and all. labels.txt lies in the tree and holds no places.",
        interpreted={"altitude -777": unknown_altitudes},
        not_events=(put(first / "labels.txt", labels, end="\r\n"),),
    )


def write_tdrive(folder: Path, events: list[Event]) -> Written:
    """<taxi>.txt, one file a taxi: taxi_id,YYYY-MM-DD HH:MM:SS,lon,lat, no header, Beijing local time.

    The notes mark nothing M. Ours: the folder's name, and five decimals as in the notes' example.
    """
    logs = folder / "taxi_log_2008_by_id"
    for user, track in by_user(events).items():
        rows = [f"{user},{stamp(e.second, BEIJING)},{e.lon:.5f},{e.lat:.5f}" for e in track]
        put(logs / f"{user}.txt", rows)
    return Written(
        path=logs,
        sites=None,
        expected=[e._replace(lat=round(e.lat, 5), lon=round(e.lon, 5)) for e in events],
        dropped={},
        note="Clocks show Beijing time, eight hours ahead of `expected`. Longitude comes first.",
        zone="Asia/Shanghai",
    )


def write_porto(folder: Path, events: list[Event]) -> Written:
    """train.csv with header; TIMESTAMP in Unix seconds and POLYLINE [[lon,lat],...] with a point every 15 s.

    Every event begins a trip of one to three points, so `expected` has more events than came in. Two trips have no
    point at all, and one has MISSING_DATA True: some of its points are gone, which ones nobody knows, so the times
    of those that follow are unknown and the whole trip is to be dropped. The user is TAXI_ID, not TRIP_ID.
    The notes mark nothing M. Ours: quotes around every field, CALL_TYPE's letters, and dropping rather than
    keeping trips with missing data.
    """
    trips, expected = [], []
    for number, e in enumerate(events):
        line = [(round(e.lat + 0.001 * i, 6), round(e.lon - 0.002 * i, 6)) for i in range(1 + number % 3)]
        taxi = f"2{int(e.user):07d}"
        expected += [Event(taxi, e.second + _POLYLINE_STEP * i, *place) for i, place in enumerate(line)]
        trips.append(_trip(taxi, number, e.second, line))
    first, ghost = expected[0], "20000999"
    trips.insert(1, _trip(first.user, len(trips), first.second + 600, []))
    trips.append(
        _trip(first.user, len(trips), first.second + 900, [(first.lat, first.lon)] * 3, missing=True)
    )
    trips.append(_trip(ghost, len(trips), first.second, []))
    header = [
        "TRIP_ID",
        "CALL_TYPE",
        "ORIGIN_CALL",
        "ORIGIN_STAND",
        "TAXI_ID",
        "TIMESTAMP",
        "DAY_TYPE",
        "MISSING_DATA",
        "POLYLINE",
    ]
    rows = [",".join(f'"{cell}"' for cell in row) for row in [header, *trips]]
    return Written(
        path=put(folder / "train.csv", rows),
        sites=None,
        expected=expected,
        dropped={"empty polyline": 2, "missing data": 1},
        note="`dropped` counts trips, `expected` points. Longitude comes first in a point; the taxi is the user.",
    )


def _trip(
    taxi: str, number: int, second: int, line: list[tuple[float, float]], *, missing: bool = False
) -> list[str]:
    """One row: central calls (A), stands (B) and the street (C) in turn, each leaving other cells blank."""
    call, stand = [("2002", ""), ("", "7"), ("", "")][number % 3]
    polyline = json.dumps([[lon, lat] for lat, lon in line], separators=(",", ":"))
    trip_id = f"{second}6{taxi}"
    return [trip_id, "ABC"[number % 3], call, stand, taxi, str(second), "A", str(missing), polyline]


def write_cabspotting(folder: Path, events: list[Event]) -> Written:
    """new_<cab>.txt, space: lat lon occupied unix_s; the cab is in the file's name alone.

    Files run newest first and oldest first in turn, for the order varies: readers sort. The notes mark nothing M.
    Ours: the folder's name, cabs called by six letters, and five decimals.
    """
    logs = folder / "cabspottingdata"
    expected: list[Event] = []
    for turn, (user, track) in enumerate(by_user(events).items()):
        cab = "a" + "".join("abcdefghij"[int(digit)] for digit in f"{int(user):05d}")
        rows = [f"{e.lat:.5f} {e.lon:.5f} {i % 2} {e.second}" for i, e in enumerate(track)]
        put(logs / f"new_{cab}.txt", rows if turn % 2 else rows[::-1])
        expected += [Event(cab, e.second, round(e.lat, 5), round(e.lon, 5)) for e in track]
    return Written(
        path=logs,
        sites=None,
        expected=expected,
        dropped={},
        note="No user column: the cab is what follows new_ in the file's name. Times are Unix seconds.",
    )


def write_gpx(folder: Path, events: list[Event]) -> Written:
    """One GPX 1.1 file a user: trk/trkseg/trkpt with time in UTC; the user is the track's name or else the file's.

    From the standard; the data notes say nothing of GPX. Users with odd numbers have a <name> in their track and
    a file called otherwise; the rest have no track name, only a misleading one under <metadata>. Traps: a waypoint
    and a route point with a time (nobody was recorded there), track points without time, fractions of seconds.
    """
    tracks = folder / "tracks"
    expected: list[Event] = []
    fractions = 0
    users = by_user(events)
    for user, track in users.items():
        named = int(user) % 2 == 1
        points = []
        for i, e in enumerate(track):
            fractions += i % 2
            points.append(_point("trkpt", e, ".000Z" if i % 2 else "Z"))
            expected.append(e._replace(user=f"rider {user}" if named else f"track-{user}"))
        half = (len(points) + 1) // 2
        points.insert(half, f'<trkpt lat="{track[0].lat!r}" lon="{track[0].lon!r}"><ele>212.5</ele></trkpt>')
        elsewhere = track[0]._replace(second=track[0].second + 60)
        rows = [
            '<?xml version="1.0" encoding="UTF-8"?>',
            '<gpx version="1.1" creator="shoal tests" xmlns="http://www.topografix.com/GPX/1/1">',
            "<metadata><name>Not a user</name><time>2001-01-01T00:00:00Z</time></metadata>",
            _point("wpt", elsewhere, "Z"),
            f"<rte>{_point('rtept', elsewhere, 'Z')}</rte>",
            "<trk>",
            *([f"<name>{escape(f'rider {user}')}</name>"] if named else []),
            *["<trkseg>", *points[: half + 1], "</trkseg>"],
            *["<trkseg>", *points[half + 1 :], "</trkseg>"],
            "</trk>",
            "</gpx>",
        ]
        put(tracks / f"track-{user}.gpx", rows)
    return Written(
        path=tracks,
        sites=None,
        expected=expected,
        dropped={"no time": len(users), "waypoint": len(users), "route point": len(users)},
        note="One user a file, so readings that name users by file alone agree by `trajectories`.",
        interpreted={"fraction of a second": fractions},
    )


def _point(tag: str, event: Event, suffix: str) -> str:
    time = datetime.fromtimestamp(event.second, UTC).strftime("%Y-%m-%dT%H:%M:%S") + suffix
    return f'<{tag} lat="{event.lat!r}" lon="{event.lon!r}"><ele>212.5</ele><time>{time}</time></{tag}>'
