"""Who people are and how they spend a day: stays at places and the trips between them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.synthetic.city_places import Places
from shoal.synthetic.streams import Floats, Ints, Streams, below, chance, child, heavy, pick

DAY_S = 86_400
N_STAYS = 6  # home, morning, midday, afternoon, evening, home
N_FAVOURITES = 4


class People(NamedTuple):
    """What stays the same about users from day to day."""

    stream: Streams
    home: Ints
    work: Ints
    favourites: Ints  # (users, N_FAVOURITES): two near home, one near work, one anywhere
    worker: npt.NDArray[np.bool_]
    late_s: Ints  # how much later than others the user lives, -1.5 to 1.5 hours
    activity: Floats  # relative, heavy-tailed, median 1.25


class Days(NamedTuple):
    """Stays of user-days: where, from when, till when (seconds of the day); each of shape (days, N_STAYS)."""

    place: Ints
    arrival: Ints
    departure: Ints


def draw_people(stream: Streams, places: Places, activity_cap: float) -> People:
    """Homes by population, work places by attraction and distance, a few favourite places each."""
    home = pick(child(stream, 0), places.homes)
    worker = chance(child(stream, 1), 72)
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
    late_s = below(child(stream, 7), 5_400) + below(child(stream, 8), 5_400) - 5_400
    activity = 0.25 + heavy(child(stream, 9), activity_cap)
    return People(stream, home, work, favourites, worker, late_s, activity)


def draw_days(people: People, stream: Streams, places: Places, *, weekend: bool) -> Days:
    """One day of every user, from the day's streams."""
    to_work = people.worker & chance(child(stream, 0), 10 if weekend else 93)
    place = _draw_places(people, stream, to_work, weekend=weekend)
    late_s = people.late_s

    def at(draw: int, minute: int, spread_minutes: int) -> Ints:
        return 60 * minute + below(child(stream, draw), 60 * spread_minutes)

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
    return Days(place, arrival, departure)


def _draw_places(people: People, stream: Streams, to_work: npt.NDArray[np.bool_], *, weekend: bool) -> Ints:
    """Where the stays of a day are: a stay that does not happen is spent at the place before, or at home."""

    def favourite(draw: int) -> Ints:
        # 4 : 3 : 2 : 1 for the first to the fourth; at weekends as often far away as near.
        shares = np.cumsum([2, 2, 1, 3] if weekend else [4, 3, 2, 1])[None, :]
        return people.favourites[np.arange(len(stream)), pick(child(stream, draw), shares)]

    home = people.home
    out_early = chance(child(stream, 1), 60 if weekend else 45)
    out_midday = np.where(to_work, chance(child(stream, 2), 35), False)
    out_late = chance(child(stream, 3), 60 if weekend else 45)
    out_evening = chance(child(stream, 4), 40 if weekend else np.where(to_work, 42, 25))
    morning = np.where(to_work, people.work, np.where(out_early, favourite(5), home))
    midday = np.where(to_work, np.where(out_midday, people.favourites[:, 2], people.work), home)
    afternoon = np.where(to_work, people.work, np.where(out_late, favourite(6), home))
    evening = np.where(out_evening, favourite(7), home)
    return np.stack([home, morning, midday, afternoon, evening, home], axis=1)


def antenna_at(days: Days, places: Places, day: Ints, second: Ints, stream: Streams) -> Ints:
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
    x += below(child(stream, 0), 800) - 400
    y += below(child(stream, 1), 800) - 400
    flicker = chance(child(stream, 2), 20)
    neighbour = places.neighbours[here, below(child(stream, 3), places.neighbours.shape[1])]
    return np.where(moving, places.nearest(x, y), np.where(flicker, neighbour, here))
