"""A synthetic region and its people: samples of any of them, for any number of days.

Regions of one seed are nested: fewer users or days are a part of the larger region (events that run past the last
midnight are cut). What a seed gives is the same on every platform (:mod:`shoal.synthetic.random_streams` says how).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.synthetic.city import DAY_S
from shoal.synthetic.random_streams import Ints, Streams, child
from shoal.synthetic.region.antennas import Antennas, Network, build_network
from shoal.synthetic.region.attraction import Attraction, build_attraction
from shoal.synthetic.region.days import OUTINGS, draw_day
from shoal.synthetic.region.people import HOUSEHOLD, Habits, Journeys, draw_people
from shoal.synthetic.region.phone_events import antenna_of, bursts_for, draw_events, may_be_silent
from shoal.synthetic.region.presets import Preset

MINUTE_S = 60
_PILOTS = 256 * HOUSEHOLD
_PILOT_DAYS = 7
_CLOSE_ENOUGH = 0.99


class Region(NamedTuple):
    """Antennas, what draws people to them, and how often people use their phones."""

    antennas: Antennas
    network: Network
    attraction: Attraction
    preset: Preset
    bursts: float
    stream: Streams


class RegionSamples(NamedTuple):
    """Samples: number of the user, minute since the start, antenna; by user and minute."""

    user: Ints
    minute: Ints
    antenna: Ints


def build_region(preset: Preset, antennas: Antennas, stream: Streams) -> Region:
    """A region whose people have as many samples as the preset says.

    Events of one minute become one sample, so the share of events that become samples falls as there are more. A small
    population (the pilots) is drawn with ever more events, until this share no longer changes.
    """
    network = build_network(antennas.x, antennas.y)
    attraction = build_attraction(network, preset.commute_m, preset.journey_m, child(stream, 0))
    people = child(stream, 1)

    def with_kept(kept: float) -> Region:
        bursts = bursts_for(preset.samples_per_hour, kept, days=preset.days, every_day=preset.every_day)
        return Region(antennas, network, attraction, preset, bursts, people)

    def share_kept(region: Region) -> float:
        drawn, seen = _draw(region, np.arange(_PILOTS, dtype=np.int64), min(preset.days, _PILOT_DAYS))
        return len(seen.user) / drawn

    kept = share_kept(with_kept(1.0))
    while (found := share_kept(with_kept(kept))) < _CLOSE_ENOUGH * kept:
        kept = found
    return with_kept(kept)


def samples_of(region: Region, first: int, end: int, days: int) -> RegionSamples:
    """All samples of the users from ``first`` (a multiple of HOUSEHOLD) up to ``end``."""
    whole = end + -end % HOUSEHOLD
    _, seen = _draw(region, np.arange(first, whole, dtype=np.int64), days)
    kept = seen.user < end
    return RegionSamples(*(column[kept] for column in seen))


def _draw(region: Region, index: Ints, days: int) -> tuple[int, RegionSamples]:
    """How many events were drawn, and the samples they make: one per user and minute, none after the last day."""
    people = draw_people(index, region.attraction, region.stream)
    habits = Habits(people, region.attraction, most_visits=len(OUTINGS) * days)
    journeys = Journeys(people, region.attraction, region.preset.journeys)
    parts = []
    for number in range(days):
        stream = child(people.stream, 1_000 + number)
        itinerary = draw_day(people, habits, journeys, region.network, region.attraction, stream, number)
        events = draw_events(
            people,
            itinerary,
            stream,
            bursts=region.bursts,
            weekend=number % 7 >= 5,
            silent=may_be_silent(people, number, every_day=region.preset.every_day),
        )
        antenna = antenna_of(events, people, itinerary, stream, region.network)
        parts.append((events.person, (events.second + number * DAY_S) // MINUTE_S, antenna))
    person, minute, antenna = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    minutes = days * DAY_S // MINUTE_S
    in_time = np.flatnonzero(minute < minutes)
    _, first = np.unique(person[in_time] * minutes + minute[in_time], return_index=True)
    kept = in_time[first]
    return len(person), RegionSamples(index[person[kept]], minute[kept], antenna[kept])
