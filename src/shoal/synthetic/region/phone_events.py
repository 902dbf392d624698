"""When people of a region use their phones, how many bursts give so many samples, and which antenna serves an event."""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.core.arrays import Floats
from shoal.errors import ParameterError
from shoal.synthetic.city import session_starts
from shoal.synthetic.random_streams import (
    Ints,
    Streams,
    child,
    elapsed,
    pick,
    ragged,
    uniform,
    uniform_below,
)
from shoal.synthetic.region.antennas import N_NEIGHBOURS, Network
from shoal.synthetic.region.attraction import draw, power_law
from shoal.synthetic.region.days import N_STAYS, RegionDays
from shoal.synthetic.region.people import RegionPeople, relative_activity

# ---- bursts of events ---------------------------------------------------------------------------------------------

_LONGEST_BURST = 24  # events; n of them with weight 1 / n^2
_WEIGHTS = 1_000_000 // (np.arange(_LONGEST_BURST, dtype=np.int64) + 1) ** 2
_LENGTHS = np.cumsum(_WEIGHTS)[None, :]
_GAPS_S = power_law(60, 5_400, "1.3")  # between the events of a burst
_ON_TRIP_PERCENT = 40  # of bursts are meant to begin on one of the day's trips, most of which are too short
WEEKEND_SHARE = 0.85
ACTIVE_DAYS = 7  # on all but one of so many days everybody has a burst


class PhoneEvents(NamedTuple):
    """Phone events: row of the person, second from the day's midnight (a burst may run past the next), stream."""

    person: Ints
    second: Ints
    stream: Streams


def draw_events(
    people: RegionPeople,
    days: RegionDays,
    stream: Streams,
    *,
    bursts: float,
    weekend: bool,
    silent: npt.NDArray[np.bool_],
) -> PhoneEvents:
    """All events of one day; ``bursts`` is how many a person of activity 1 begins on a weekday."""
    share = WEEKEND_SHARE if weekend else 1.0
    meant = bursts * share * people.activity * relative_busyness(child(stream, 40)) + uniform(
        child(stream, 41)
    )
    counts = np.maximum(meant.astype(np.int64), ~silent)
    person, number = ragged(counts)
    burst = child(stream[person], 1_000 + number)
    trip = 1 + uniform_below(child(burst, 3), N_STAYS - 1)
    left, arrived = days.departure[person, trip - 1], days.arrival[person, trip]
    start = session_starts(
        burst, people.late_s[person], left, arrived, weekend=weekend, on_trip_percent=_ON_TRIP_PERCENT
    )
    owner, position = ragged(1 + pick(child(burst, 5), _LENGTHS))
    event = child(burst[owner], 1_000 + position)
    gaps = draw(child(event, 10), _GAPS_S)
    return PhoneEvents(person[owner], start[owner] + elapsed(gaps, owner, position), event)


def may_be_silent(people: RegionPeople, number: int, *, every_day: bool) -> npt.NDArray[np.bool_]:
    """Who may go without an event on this day: nobody, or each on one day in ACTIVE_DAYS."""
    if every_day:
        return np.zeros(len(people.home), dtype=np.bool_)
    return np.equal(uniform_below(child(people.stream, 7), ACTIVE_DAYS), number % ACTIVE_DAYS)


def relative_busyness(stream: Streams) -> Floats:
    """How busy a day is, relative: 0.3 to 1.7."""
    return 0.3 + 1.4 * uniform(stream)


def events_per_burst() -> float:
    """The mean length of a burst."""
    return int((_WEIGHTS * (np.arange(_LONGEST_BURST) + 1)).sum()) / int(_WEIGHTS.sum())


# ---- how many bursts give a wanted number of samples --------------------------------------------------------------

_UNIT = 1_000_000  # everything is counted in millionths: sums of whole numbers are the same everywhere
_MOST_BURSTS = 1_000


def bursts_for(samples_per_hour: float, kept: float, *, days: int, every_day: bool) -> float:
    """Bursts on a weekday of a person of activity 1, such that people have so many samples over ``days`` on average.

    ``kept`` is the share of events that become samples: others fall into the minute of another event or after the end.
    """
    relative = _relative_rates()
    wanted = int(_UNIT * 24 * samples_per_hour / (kept * events_per_burst()))
    fewest = _bursts_a_day(0, relative, days, every_day=every_day)
    if fewest > wanted:
        least = ceil(100 * kept * events_per_burst() * fewest / _UNIT / 24) / 100
        raise ParameterError(
            f"samples per hour must be at least {least:g}, got {samples_per_hour:g}:"
            " everybody has some events on most days."
        )
    low, high = 0, _MOST_BURSTS * _UNIT
    while high - low > 1:
        middle = (low + high) // 2
        if _bursts_a_day(middle, relative, days, every_day=every_day) <= wanted:
            low = middle
        else:
            high = middle
    if high == _MOST_BURSTS * _UNIT:
        raise ParameterError(f"samples per hour must be less, got {samples_per_hour:g}.")
    return low / _UNIT


def _bursts_a_day(bursts: int, relative: Ints, days: int, *, every_day: bool) -> int:
    """How many a person begins on an average day: as many as drawn, but at least one unless the day may be silent."""
    total = 0
    for number in range(days):
        share = int(_UNIT * WEEKEND_SHARE) if number % 7 >= 5 else _UNIT
        drawn = bursts * relative // _UNIT * share // _UNIT
        at_least_one = int(np.maximum(drawn, _UNIT).sum()) // len(relative)
        if every_day:
            total += at_least_one
        else:
            total += ((ACTIVE_DAYS - 1) * at_least_one + int(drawn.sum()) // len(relative)) // ACTIVE_DAYS
    return total // days


def _relative_rates() -> Ints:
    """Activity times busyness of people on days, at evenly spread quantiles of both."""
    activity = (_UNIT * relative_activity(_evenly(4_096))).astype(np.int64)
    busyness = (1_000 * relative_busyness(_evenly(32))).astype(np.int64)
    return (activity[:, None] * busyness // 1_000).ravel()


def _evenly(parts: int) -> Streams:
    """Streams whose uniform numbers are the middles of as many equal parts."""
    return (np.arange(parts, dtype=np.uint64) * np.uint64(2) + np.uint64(1)) << np.uint64(
        63 - (parts - 1).bit_length()
    )


# ---- the antenna that serves an event -----------------------------------------------------------------------------

# Percent of hours at a place in which its own antenna serves, or the person's second, third, fourth there.
_OWN_OR_OTHER = np.cumsum([73, 15, 8, 4])[None, :]
_HOUR_S = 3_600
_SHADOW_M = 400  # on a trip the serving antenna is the nearest to a position off by at most so much each way


def antenna_of(
    events: PhoneEvents, people: RegionPeople, days: RegionDays, stream: Streams, network: Network
) -> Ints:
    """On a trip the antenna nearest to a straight way; at a place mostly its own, for some hours another.

    Which is the second, third and fourth depends on the person and the place: it is the same every day.
    """
    person, second = events.person, events.second
    stay = (days.departure[person, :-1] <= second[:, None]).sum(axis=1)
    here = days.place[person, stay]
    before = np.maximum(stay - 1, 0)
    origin = days.place[person, before]
    left, reached = days.departure[person, before], days.arrival[person, stay]
    moving = second < reached
    gone, whole = np.where(moving, second - left, 0), np.where(moving, reached - left, 1)
    x = network.x[origin] + (network.x[here] - network.x[origin]) * gone // whole
    y = network.y[origin] + (network.y[here] - network.y[origin]) * gone // whole
    x += uniform_below(child(events.stream, 0), 2 * _SHADOW_M) - _SHADOW_M
    y += uniform_below(child(events.stream, 1), 2 * _SHADOW_M) - _SHADOW_M
    hour = child(stream[person], 100 + second // _HOUR_S)
    which = pick(child(hour, here), _OWN_OR_OTHER)
    turn = uniform_below(child(people.stream[person], 10_000_000 + here), N_NEIGHBOURS)
    other = network.in_range[here, (which + turn) % N_NEIGHBOURS]
    at_place = np.where(which == 0, here, other)
    return np.where(moving, network.nearest(x, y), at_place)
