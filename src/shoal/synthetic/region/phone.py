"""When people use their phones: bursts of events, by the time of day and how busy the person is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.synthetic.calls import SESSION_STARTS
from shoal.synthetic.days import DAY_S
from shoal.synthetic.region.days import N_STAYS, Days
from shoal.synthetic.region.people import People
from shoal.synthetic.region.tables import draw, power_law
from shoal.synthetic.runs import ragged
from shoal.synthetic.streams import Floats, Ints, Streams, below, chance, child, pick, uniform

_HALF_HOUR_S = 1_800
_LONGEST_BURST = 24  # events; n of them with weight 1 / n^2
_WEIGHTS = 1_000_000 // (np.arange(_LONGEST_BURST, dtype=np.int64) + 1) ** 2
_LENGTHS = np.cumsum(_WEIGHTS)[None, :]
_GAPS_S = power_law(60, 5_400, "1.3")  # between the events of a burst
_ON_TRIP_PERCENT = 40  # of bursts are meant to begin on one of the day's trips, most of which are too short
WEEKEND_SHARE = 0.85
ACTIVE_DAYS = 7  # on all but one of so many days everybody has a burst


class Events(NamedTuple):
    """Phone events: row of the person, second from the day's midnight (a burst may run past the next), stream."""

    person: Ints
    second: Ints
    stream: Streams


def may_be_silent(people: People, number: int, *, every_day: bool) -> npt.NDArray[np.bool_]:
    """Who may go without an event on this day: nobody, or each on one day in ACTIVE_DAYS."""
    if every_day:
        return np.zeros(len(people.home), dtype=np.bool_)
    return np.equal(below(child(people.stream, 7), ACTIVE_DAYS), number % ACTIVE_DAYS)


def relative_business(stream: Streams) -> Floats:
    """How busy a day is."""
    return 0.3 + 1.4 * uniform(stream)


def draw_events(
    people: People,
    days: Days,
    stream: Streams,
    *,
    bursts: float,
    weekend: bool,
    silent: npt.NDArray[np.bool_],
) -> Events:
    """All events of one day; ``bursts`` is how many a person of activity 1 begins on a weekday."""
    share = WEEKEND_SHARE if weekend else 1.0
    meant = bursts * share * people.activity * relative_business(child(stream, 40)) + uniform(
        child(stream, 41)
    )
    counts = np.maximum(meant.astype(np.int64), ~silent)
    person, number = ragged(counts)
    burst = child(stream[person], 1_000 + number)
    start = _starts(people, days, person, burst, weekend=weekend)
    lengths = 1 + pick(child(burst, 5), _LENGTHS)
    owner, position = ragged(lengths)
    event = child(burst[owner], 1_000 + position)
    gaps = draw(child(event, 10), _GAPS_S)
    gaps[position == 0] = 0
    elapsed = np.cumsum(gaps)
    first = np.cumsum(lengths) - lengths
    return Events(person[owner], start[owner] + elapsed - elapsed[first][owner], event)


def _starts(people: People, days: Days, person: Ints, burst: Streams, *, weekend: bool) -> Ints:
    """By the clock, shifted for those who live late; some on a trip."""
    half_hour = pick(child(burst, 0), SESSION_STARTS[[int(weekend)]])
    by_clock = half_hour * _HALF_HOUR_S + below(child(burst, 1), _HALF_HOUR_S) + people.late_s[person]
    trip = 1 + below(child(burst, 3), N_STAYS - 1)
    left = days.departure[person, trip - 1]
    long_s = days.arrival[person, trip] - left
    on_trip = chance(child(burst, 2), _ON_TRIP_PERCENT) & (long_s > 0) & (left + long_s < DAY_S)
    return np.where(on_trip, left + below(child(burst, 4), np.maximum(long_s, 1)), by_clock % DAY_S)


def events_per_burst() -> float:
    """The mean length of a burst."""
    return int((_WEIGHTS * (np.arange(_LONGEST_BURST) + 1)).sum()) / int(_WEIGHTS.sum())
