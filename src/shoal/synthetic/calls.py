"""When people use their phones: sessions of several events, by the time of day."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.synthetic.days import DAY_S, N_STAYS, Days, People
from shoal.synthetic.runs import ragged
from shoal.synthetic.streams import Ints, Streams, below, chance, child, heavy, pick, uniform

# Sessions that begin in a half-hour from midnight, relative: few at night, most at midday and in the evening.
_WEEKDAY = """
    10  7  5  4  3  3  2  2  2  3  5  8 14 22 30 37 42 45 47 49 51 54 57 60
    64 65 61 57 54 53 53 54 56 59 63 67 71 74 75 73 69 63 55 46 37 29 21 15"""
_WEEKEND = """
    19 15 12  9  7  5  4  3  3  3  3  4  6  9 13 18 24 31 38 44 50 54 57 59
    61 61 59 56 53 51 51 52 54 56 59 62 65 67 68 67 64 60 54 47 40 34 28 23"""
SESSION_STARTS = np.cumsum(np.array([_WEEKDAY.split(), _WEEKEND.split()]).astype(np.int64), axis=1)
_HALF_HOUR_S = 1_800

# Events per session: n with weight 1 / (n + 1)^2, so most are short and a few long.
_LONGEST_SESSION = 14
_LENGTHS = np.cumsum(1_000_000 // (np.arange(_LONGEST_SESSION, dtype=np.int64) + 2) ** 2)[None, :]

_SESSIONS_PER_ACTIVITY = 3.92  # gives 0.87 samples per user and hour on a weekday
_WEEKEND_SHARE = 0.85
ACTIVITY_CAP = 20.0
_GAP_LEAST_S, _GAP_SCALE_S, _GAP_CAP = 20, 130, 11.0  # seconds between events: median 150, at most 1450
_ON_TRIP_PERCENT = 12


class Events(NamedTuple):
    """Phone events: user-day, second from that day's midnight (a session may run past the next), stream."""

    day: Ints
    second: Ints
    stream: Streams


def draw_events(people: People, days: Days, stream: Streams, *, weekend: bool, at_least: int) -> Events:
    """All events of one day of every user; everybody has ``at_least`` so many sessions."""
    share = _WEEKEND_SHARE if weekend else 1.0
    busy = 0.3 + 1.4 * uniform(child(stream, 20))
    sessions = _SESSIONS_PER_ACTIVITY * share * people.activity * busy + uniform(child(stream, 21))
    counts = np.maximum(sessions.astype(np.int64), at_least)
    day, number = ragged(counts)
    session = child(stream[day], 1_000 + number)
    start = _session_starts(people, days, day, session, weekend=weekend)
    lengths = 1 + pick(child(session, 5), _LENGTHS)
    owner, position = ragged(lengths)
    event = child(session[owner], 1_000 + position)
    gaps = (_GAP_LEAST_S + _GAP_SCALE_S * heavy(child(event, 10), _GAP_CAP)).astype(np.int64)
    gaps[position == 0] = 0
    elapsed = np.cumsum(gaps)
    first = np.cumsum(lengths) - lengths
    return Events(day[owner], start[owner] + elapsed - elapsed[first][owner], event)


def _session_starts(people: People, days: Days, day: Ints, session: Streams, *, weekend: bool) -> Ints:
    """By the clock, shifted for those who live late; some on the way to work or back."""
    half_hour = pick(child(session, 0), SESSION_STARTS[[int(weekend)]])
    by_clock = half_hour * _HALF_HOUR_S + below(child(session, 1), _HALF_HOUR_S) + people.late_s[day]
    trip = np.where(chance(child(session, 3), 50), 1, N_STAYS - 1)
    left = days.departure[day, trip - 1]
    long_s = days.arrival[day, trip] - left
    on_trip = chance(child(session, 2), _ON_TRIP_PERCENT) & (long_s > 0) & (left + long_s < DAY_S)
    return np.where(on_trip, left + below(child(session, 4), np.maximum(long_s, 1)), by_clock % DAY_S)
