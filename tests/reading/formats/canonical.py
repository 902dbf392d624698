"""The small set of events that every format is asked to carry, and what its writer says about it."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from pathlib import Path
from typing import Literal, NamedTuple

BEIJING = timezone(timedelta(hours=8))  # all of China since 1991

_HALF_HOUR = (
    1800  # YJMob's grid; a multiple of Senegal's ten minutes, of Shanghai's minutes and of Porto's 15 s
)
_DAYS = 14  # one window of D4D; YJMob holds 75 days
_PLACES = 8


class Event(NamedTuple):
    """Someone (`user`, decimal digits) at a place in degrees at a Unix second, UTC."""

    user: str
    second: int
    lat: float
    lon: float


class PlanarEvent(NamedTuple):
    """The same where a format has no degrees: metres east (`x_m`) and north (`y_m`) of nowhere in particular."""

    user: str
    second: int
    x_m: float
    y_m: float


@dataclass(frozen=True)
class Written:
    """What a writer put on the disk, and what a perfect reader makes of it.

    `expected` is in no particular order and spells users as the format does (`trajectories` forgets both).
    `dropped` counts rows that yield no event, by reason; `interpreted` counts rows that look wrong, yet do.
    """

    path: Path
    sites: Path | None
    expected: list[Event] | list[PlanarEvent]
    dropped: dict[str, int]
    note: str
    interpreted: dict[str, int] = field(default_factory=dict)
    variant: Literal["degrees", "metres"] = "degrees"
    zone: str = "UTC"  # of the clock times in the files
    ends: list[int] | None = None  # Unix seconds, parallel to `expected`, where rows have a start and an end
    not_events: tuple[Path, ...] = ()  # published beside the events, but a reader pointed at them must refuse


class Home(NamedTuple):
    """Where and when a data set was collected: a box in degrees and the Unix second of a UTC midnight."""

    south: float
    north: float
    west: float
    east: float
    first_second: int


def _home(south: float, north: float, west: float, east: float, day: str) -> Home:
    return Home(south, north, west, east, int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()))


HOMES = {
    "d4d-ivory-set2": _home(5.20, 5.50, -4.20, -3.80, "2011-12-05"),
    "d4d-ivory-set3": _home(5.20, 6.00, -4.60, -3.80, "2011-12-25"),
    "d4d-senegal-set2": _home(14.60, 14.90, -17.50, -17.10, "2013-01-07"),
    "d4d-senegal-set3": _home(14.00, 14.80, -17.00, -16.20, "2013-01-25"),  # two monthly files
    "yjmob100k": _home(35.10, 35.50, 136.60, 137.10, "1970-01-01"),  # the real city and dates were withheld
    "geolife": _home(39.80, 40.10, 116.20, 116.60, "2008-10-23"),
    "tdrive": _home(39.80, 40.10, 116.20, 116.60, "2008-02-02"),
    "porto": _home(41.10, 41.25, -8.70, -8.50, "2013-07-01"),
    "snap-gowalla": _home(30.20, 30.40, -97.80, -97.60, "2010-10-05"),
    "snap-brightkite": _home(39.60, 39.90, -105.10, -104.80, "2008-10-05"),
    "foursquare-tsmc2014": _home(40.60, 40.90, -74.05, -73.80, "2012-04-03"),
    "cabspotting": _home(37.70, 37.82, -122.50, -122.38, "2008-05-18"),
    "shanghai-telecom": _home(31.10, 31.40, 121.30, 121.70, "2014-06-02"),
    "mpat-shenzhen": _home(22.50, 22.65, 113.90, 114.20, "2013-10-22"),
    "gpx": _home(45.10, 45.25, 5.60, 5.85, "2021-03-20"),  # summer time begins within; GPX must not care
    "sessions": _home(45.10, 45.25, 5.60, 5.85, "2021-03-20"),
}


def canonical_events(seed: int, n_users: int, n: int, like: str = "sessions") -> list[Event]:
    """`n` events of users "1", "2", ..., in order of time, where and when the data set `like` was collected.

    Seconds are multiples of half an hour, no user has two events at once, and degrees have five decimals, so
    that every format can carry them exactly (YJMob and its cells apart). `like` only chooses region and fortnight:
    every writer takes the events of every home.
    """
    slots = _DAYS * 86400 // _HALF_HOUR
    if not 1 <= n_users <= n <= n_users * slots:
        raise ValueError(f"n must lie between n_users and {slots} a user, got {n} events of {n_users} users.")
    draw, home = random.Random(seed), HOMES[like]
    places = [
        (round(draw.uniform(home.south, home.north), 5), round(draw.uniform(home.west, home.east), 5))
        for _ in range(_PLACES)
    ]
    events = []
    for number in range(n_users):
        n_mine = n // n_users + (number < n % n_users)
        for slot in draw.sample(range(slots), n_mine):
            events.append(Event(str(number + 1), home.first_second + slot * _HALF_HOUR, *draw.choice(places)))
    return sorted(events, key=lambda event: (event.second, int(event.user)))


def trajectories(
    events: Sequence[Event] | Sequence[PlanarEvent],
) -> list[tuple[tuple[int, float, float], ...]]:
    """Events without names or order: equal for two readings that differ in how users are called alone."""
    tracks = defaultdict(list)
    for user, *sample in events:
        tracks[user].append(tuple(sample))
    return sorted(tuple(sorted(track)) for track in tracks.values())


def stamp(second: int, zone: tzinfo = UTC) -> str:
    """`YYYY-MM-DD HH:MM:SS` as a clock in `zone` shows it."""
    return datetime.fromtimestamp(second, zone).strftime("%Y-%m-%d %H:%M:%S")


def by_user(events: Sequence[Event]) -> dict[str, list[Event]]:
    """The events of every user, oldest first, users in the order of their numbers."""
    tracks: dict[str, list[Event]] = defaultdict(list)
    for event in sorted(events, key=lambda event: (int(event.user), event.second)):
        tracks[event.user].append(event)
    return dict(tracks)


def sixth_decimal(events: Sequence[Event]) -> list[Event]:
    """The events as files with six decimals hold them."""
    return [e._replace(lat=round(e.lat, 6), lon=round(e.lon, 6)) for e in events]


def with_traps(rows: list[str], traps: list[str]) -> list[str]:
    """Traps strewn among rows: the first after the first row, the rest at the end, never all in one place."""
    return [*rows[:1], *traps[:1], *rows[1:], *traps[1:]]


def put(path: Path, rows: Sequence[str], end: str = "\n", encoding: str = "utf-8") -> Path:
    """Write lines as bytes, so that no platform changes their ends; return the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(row + end for row in rows).encode(encoding))
    return path
