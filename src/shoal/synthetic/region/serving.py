"""The antenna that serves each event."""

from __future__ import annotations

import numpy as np

from shoal.synthetic.region.days import Days
from shoal.synthetic.region.network import N_NEIGHBOURS, Network
from shoal.synthetic.region.people import People
from shoal.synthetic.region.phone import Events
from shoal.synthetic.streams import Ints, Streams, below, child, pick

# Percent of hours at a place in which its own antenna serves, or the person's second, third, fourth there.
_OWN_OR_OTHER = np.cumsum([73, 15, 8, 4])[None, :]
_HOUR_S = 3_600
_SHADOW_M = 400  # on a trip the serving antenna is the nearest to a position off by at most so much each way


def antenna_of(events: Events, people: People, days: Days, stream: Streams, network: Network) -> Ints:
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
    x += below(child(events.stream, 0), 2 * _SHADOW_M) - _SHADOW_M
    y += below(child(events.stream, 1), 2 * _SHADOW_M) - _SHADOW_M
    hour = child(stream[person], 100 + second // _HOUR_S)
    which = pick(child(hour, here), _OWN_OR_OTHER)
    turn = below(child(people.stream[person], 10_000_000 + here), N_NEIGHBOURS)
    other = network.heard[here, (which + turn) % N_NEIGHBOURS]
    at_place = np.where(which == 0, here, other)
    return np.where(moving, network.nearest(x, y), at_place)
