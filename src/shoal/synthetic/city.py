"""The synthetic city of the demo: its people, their days, and when they use their phones.

An event is served by an antenna of ``city_places.py``. Everything is drawn from ``random_streams.py``, so that a seed
gives the same events on every platform.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.core.arrays import Floats
from shoal.core.checks import check_count, check_seed
from shoal.core.schema import LAT, LON, TIME, USER
from shoal.synthetic.city_places import CityPlaces, build_places
from shoal.synthetic.random_streams import (
    Ints,
    Streams,
    bernoulli_percent,
    child,
    elapsed,
    log_logistic,
    pick,
    ragged,
    root,
    uniform,
    uniform_below,
)

DAY_S = 86_400
N_STAYS = 6  # home, morning, midday, afternoon, evening, home
N_FAVOURITES = 4

START_S = 1_704_067_200  # 2024-01-01T00:00Z, a Monday
_USERS_AT_ONCE = 8_192  # bounds memory; the result does not depend on it


# ---- people and their days ----------------------------------------------------------------------------------------


class CityPeople(NamedTuple):
    """What stays the same about users from day to day."""

    stream: Streams
    home: Ints
    work: Ints
    favourites: Ints  # (users, N_FAVOURITES): two near home, one near work, one anywhere
    worker: npt.NDArray[np.bool_]
    late_s: Ints  # how much later than others the user lives, -1.5 to 1.5 hours
    activity: Floats  # relative, heavy-tailed, median 1.25


class CityDays(NamedTuple):
    """Stays of user-days: where, from when, till when (seconds of the day); each of shape (days, N_STAYS)."""

    place: Ints
    arrival: Ints
    departure: Ints


def draw_people(stream: Streams, places: CityPlaces, activity_cap: float) -> CityPeople:
    """Homes by population, work places by attraction and distance, a few favourite places each."""
    home = pick(child(stream, 0), places.homes)
    worker = bernoulli_percent(child(stream, 1), 72)
    work = np.where(worker, pick(child(stream, 2), places.work, home), home)
    favourites = np.stack(
        [
            pick(child(stream, 3), places.errands, home),
            pick(child(stream, 4), places.errands, home),
            pick(child(stream, 5), places.errands, work),
            pick(child(stream, 6), places.outings),
        ],
        axis=1,
    )
    late_s = uniform_below(child(stream, 7), 5_400) + uniform_below(child(stream, 8), 5_400) - 5_400
    activity = 0.25 + log_logistic(child(stream, 9), activity_cap)
    return CityPeople(stream, home, work, favourites, worker, late_s, activity)


def draw_days(people: CityPeople, stream: Streams, places: CityPlaces, *, weekend: bool) -> CityDays:
    """One day of every user, from the day's streams."""
    to_work = people.worker & bernoulli_percent(child(stream, 0), 10 if weekend else 93)
    place = _draw_places(people, stream, to_work, weekend=weekend)
    late_s = people.late_s

    def at(draw: int, minute: int, spread_minutes: int) -> Ints:
        return 60 * minute + uniform_below(child(stream, draw), 60 * spread_minutes)

    # When each stay should end: on the clock, or some time after it began.
    leave_home = np.where(to_work, at(10, 432, 48), at(10, 570, 180)) + late_s
    end_morning = np.where(to_work, at(11, 708, 48) + late_s // 2, leave_home + at(12, 42, 150))
    midday_stay = np.where(to_work, at(13, 30, 36), at(13, 30, 180))
    end_afternoon = np.where(to_work, at(14, 984, 132) + late_s, at(15, 900, 210) + late_s)
    evening_stay = at(16, 30, 132)

    arrival = np.zeros((len(stream), N_STAYS), dtype=np.int64)
    departure = np.zeros_like(arrival)
    departure[:, 0] = leave_home
    for stay in range(1, N_STAYS):
        begins = departure[:, stay - 1] + places.travel_s[place[:, stay - 1], place[:, stay]]
        ends = (end_morning, begins + midday_stay, end_afternoon, begins + evening_stay, begins)[stay - 1]
        arrival[:, stay] = begins
        departure[:, stay] = np.maximum(ends, begins)
    return CityDays(place, arrival, departure)


def _draw_places(
    people: CityPeople, stream: Streams, to_work: npt.NDArray[np.bool_], *, weekend: bool
) -> Ints:
    """Where the stays of a day are: a stay that does not happen is spent at the place before, or at home."""

    def favourite(draw: int) -> Ints:
        # 4 : 3 : 2 : 1 for the first to the fourth; at weekends as often far away as near.
        shares = np.cumsum([2, 2, 1, 3] if weekend else [4, 3, 2, 1])[None, :]
        return people.favourites[np.arange(len(stream)), pick(child(stream, draw), shares)]

    home = people.home
    out_early = bernoulli_percent(child(stream, 1), 60 if weekend else 45)
    out_midday = np.where(to_work, bernoulli_percent(child(stream, 2), 35), False)
    out_late = bernoulli_percent(child(stream, 3), 60 if weekend else 45)
    out_evening = bernoulli_percent(child(stream, 4), 40 if weekend else np.where(to_work, 42, 25))
    morning = np.where(to_work, people.work, np.where(out_early, favourite(5), home))
    midday = np.where(to_work, np.where(out_midday, people.favourites[:, 2], people.work), home)
    afternoon = np.where(to_work, people.work, np.where(out_late, favourite(6), home))
    evening = np.where(out_evening, favourite(7), home)
    return np.stack([home, morning, midday, afternoon, evening, home], axis=1)


def antenna_at(days: CityDays, places: CityPlaces, day: Ints, second: Ints, stream: Streams) -> Ints:
    """The antenna that serves each event: user-day ``day`` at ``second`` of that day (or soon after it).

    On a trip it is the antenna nearest to a straight way; at a place now and then a neighbouring one.
    """
    stay = (days.departure[day, : N_STAYS - 1] <= second[:, None]).sum(axis=1)
    here = days.place[day, stay]
    before = np.maximum(stay - 1, 0)
    left, reached = days.departure[day, before], days.arrival[day, stay]
    moving = second < reached
    origin = days.place[day, before]
    gone, whole = np.where(moving, second - left, 0), np.where(moving, reached - left, 1)
    x = places.x[origin] + (places.x[here] - places.x[origin]) * gone // whole
    y = places.y[origin] + (places.y[here] - places.y[origin]) * gone // whole
    x += uniform_below(child(stream, 0), 800) - 400
    y += uniform_below(child(stream, 1), 800) - 400
    flicker = bernoulli_percent(child(stream, 2), 20)
    neighbour = places.neighbours[here, uniform_below(child(stream, 3), places.neighbours.shape[1])]
    return np.where(moving, places.nearest(x, y), np.where(flicker, neighbour, here))


# ---- phone events -------------------------------------------------------------------------------------------------

# Sessions that begin in a half-hour from midnight, relative: few at night, most at midday and in the evening.
_WEEKDAY = """
    10  7  5  4  3  3  2  2  2  3  5  8 14 22 30 37 42 45 47 49 51 54 57 60
    64 65 61 57 54 53 53 54 56 59 63 67 71 74 75 73 69 63 55 46 37 29 21 15"""
_WEEKEND = """
    19 15 12  9  7  5  4  3  3  3  3  4  6  9 13 18 24 31 38 44 50 54 57 59
    61 61 59 56 53 51 51 52 54 56 59 62 65 67 68 67 64 60 54 47 40 34 28 23"""
_SESSION_STARTS = np.cumsum(np.array([_WEEKDAY.split(), _WEEKEND.split()]).astype(np.int64), axis=1)
_HALF_HOUR_S = 1_800

# Events per session: n with weight 1 / (n + 1)^2, so most are short and a few long.
_LONGEST_SESSION = 14
_LENGTHS = np.cumsum(1_000_000 // (np.arange(_LONGEST_SESSION, dtype=np.int64) + 2) ** 2)[None, :]

_SESSIONS_PER_ACTIVITY = 3.92  # gives 0.87 samples per user and hour on a weekday
_WEEKEND_SHARE = 0.85
ACTIVITY_CAP = 20.0
_GAP_LEAST_S, _GAP_SCALE_S, _GAP_CAP = 20, 130, 11.0  # seconds between events: median 150, at most 1450
_ON_TRIP_PERCENT = 12


class CityEvents(NamedTuple):
    """Phone events: user-day, second from that day's midnight (a session may run past the next), stream."""

    day: Ints
    second: Ints
    stream: Streams


def draw_events(
    people: CityPeople, days: CityDays, stream: Streams, *, weekend: bool, at_least: int
) -> CityEvents:
    """All events of one day of every user, who has at least ``at_least`` sessions."""
    share = _WEEKEND_SHARE if weekend else 1.0
    busy = 0.3 + 1.4 * uniform(child(stream, 20))
    sessions = _SESSIONS_PER_ACTIVITY * share * people.activity * busy + uniform(child(stream, 21))
    counts = np.maximum(sessions.astype(np.int64), at_least)
    day, number = ragged(counts)
    session = child(stream[day], 1_000 + number)
    trip = np.where(bernoulli_percent(child(session, 3), 50), 1, N_STAYS - 1)  # to work, or back
    left, arrived = days.departure[day, trip - 1], days.arrival[day, trip]
    start = session_starts(
        session, people.late_s[day], left, arrived, weekend=weekend, on_trip_percent=_ON_TRIP_PERCENT
    )
    owner, position = ragged(1 + pick(child(session, 5), _LENGTHS))
    event = child(session[owner], 1_000 + position)
    gaps = (_GAP_LEAST_S + _GAP_SCALE_S * log_logistic(child(event, 10), _GAP_CAP)).astype(np.int64)
    return CityEvents(day[owner], start[owner] + elapsed(gaps, owner, position), event)


def session_starts(
    session: Streams, late_s: Ints, left: Ints, arrived: Ints, *, weekend: bool, on_trip_percent: int
) -> Ints:
    """When sessions begin: by the clock, shifted for people who live late; some on a trip.

    A trip lasts from ``left`` to ``arrived``. on_trip_percent of the sessions are meant to begin on it, and do unless
    it takes no time or ends the next day.
    """
    half_hour = pick(child(session, 0), _SESSION_STARTS[[int(weekend)]])
    by_clock = half_hour * _HALF_HOUR_S + uniform_below(child(session, 1), _HALF_HOUR_S) + late_s
    long_s = arrived - left
    on_trip = bernoulli_percent(child(session, 2), on_trip_percent) & (long_s > 0) & (arrived < DAY_S)
    return np.where(on_trip, left + uniform_below(child(session, 4), np.maximum(long_s, 1)), by_clock % DAY_S)


# ---- the city -----------------------------------------------------------------------------------------------------


def make_city(users: int = 2000, days: int = 1, seed: int = 0) -> pa.Table:
    """Make samples of a synthetic city, to try things on: data that concern nobody.

    Every user has at least one sample; on average there are 0.87 per user and hour on a weekday.

    Parameters
    ----------
    users, days : int
        How many people, for how long.
    seed : int
        Another seed makes another city.

    Returns
    -------
    pyarrow.Table
        Columns user, time, lat, lon, by time.

    Raises
    ------
    ParameterError
        A number is none, or too small.

    Examples
    --------
    >>> import shoal
    >>> shoal.make_city(50, seed=1).column_names
    ['user', 'time', 'lat', 'lon']
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


def _samples_of(index: Ints, days: int, stream: Streams, places: CityPlaces) -> tuple[Ints, Ints, Ints]:
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
