"""The preset ``city``: phone subscribers of a made-up city on the open ocean.

Frozen: published figures refer to this city, so a seed gives the same samples for ever, on every platform
(:mod:`shoal.synthetic.streams` says how; the tests hold hashes). A change here makes a different preset with a
different name. Cities of one seed are nested: a smaller number of users or days is a part of the larger city
(events that run past the last midnight are cut).
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from shoal.core.checks import check_count, check_seed
from shoal.core.schema import LAT, LON, TIME, USER
from shoal.synthetic.calls import ACTIVITY_CAP, draw_events
from shoal.synthetic.city_places import Places, build_places
from shoal.synthetic.days import DAY_S, antenna_at, draw_days, draw_people
from shoal.synthetic.streams import Ints, Streams, child, root

START_S = 1_704_067_200  # 2024-01-01T00:00Z, a Monday
_USERS_AT_ONCE = 8_192  # bounds memory; the result does not depend on it


def make_city(users: int = 2000, days: int = 1, seed: int = 0) -> pa.Table:
    """Samples of a made-up city: columns user, time, lat, lon, by time.

    Every user has at least one sample; on average there are 0.87 per user and hour on a weekday.
    """
    check_count(users, "users", least=1)
    check_count(days, "days", least=1)
    check_seed(seed)
    stream = root(seed)
    places = build_places(child(stream, 0))
    parts = [
        _samples_of(np.arange(first, min(first + _USERS_AT_ONCE, users)), days, child(stream, 1), places)
        for first in range(0, users, _USERS_AT_ONCE)
    ]
    user, second, antenna = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    order = np.argsort(second * users + user, kind="stable")
    user, second, antenna = user[order], second[order], antenna[order]
    lat, lon = places.degrees()
    names = pa.array([f"u{index:06d}" for index in range(users)], pa.string())
    return pa.table(
        {
            USER: names.take(pa.array(user)),
            TIME: pa.array(START_S + second).cast(pa.timestamp("s", tz="UTC")),
            LAT: lat[antenna],
            LON: lon[antenna],
        }
    )


def _samples_of(index: Ints, days: int, stream: Streams, places: Places) -> tuple[Ints, Ints, Ints]:
    """User, second since the start and antenna of all samples of some users, by user and time."""
    people = draw_people(child(stream, index), places, ACTIVITY_CAP)
    parts = []
    for number in range(days):
        weekend = number % 7 >= 5
        day_stream = child(people.stream, 1_000 + number)
        itinerary = draw_days(people, day_stream, places, weekend=weekend)
        events = draw_events(people, itinerary, day_stream, weekend=weekend, at_least=int(number == 0))
        antenna = antenna_at(itinerary, places, events.day, events.second, events.stream)
        parts.append((index[events.day], events.second + number * DAY_S, antenna))
    user, second, antenna = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    # One sample per user and second, the first drawn; none after the last day.
    _, kept = np.unique(user * (days + 1) * DAY_S + second, return_index=True)
    kept = kept[second[kept] < days * DAY_S]
    return user[kept], second[kept], antenna[kept]
