"""The people of a region: homes, work places, households and firms; the places they return to; their journeys.

``Habits`` is exploration and preferential return (Song, Koren, Wang and Barabási, Nature Physics 2010). A person who
knows S places goes to a new one with chance rho S^-gamma, else back to a known place, each with a chance in proportion
to its visits: a visit of the past, drawn at random.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.core.arrays import Floats
from shoal.synthetic.random_streams import (
    Ints,
    Streams,
    bernoulli_percent,
    child,
    log_logistic,
    pick,
    uniform_below,
)
from shoal.synthetic.region.attraction import ONE, Attraction, falling_chances

# ---- who they are -------------------------------------------------------------------------------------------------

HOUSEHOLD = 4  # people in a row among whom households are formed
# Whose household each of the four belongs to, and how often that is so (percent, running total).
_HEADS = np.array([[0, 1, 2, 3], [0, 0, 2, 3], [0, 0, 2, 2], [0, 0, 0, 3], [0, 0, 0, 0]])
_HOW_OFTEN = np.cumsum([45, 28, 12, 10, 5])[None, :]
_WORKERS_PERCENT = 62
_FIRMS = 40  # at an antenna
ACTIVITY_CAP = 20.0


class RegionPeople(NamedTuple):
    """What stays the same about people from day to day; rows are people."""

    stream: Streams
    head: Ints  # the row of the first of the household; often the person's own
    household: Streams
    home: Ints
    worker: npt.NDArray[np.bool_]
    work: Ints
    firm: Streams
    late_s: Ints  # how much later than others the person lives, -1.5 to 1.5 hours
    activity: Floats  # relative, heavy-tailed
    travel_propensity: Floats  # how readily the person goes on journeys, relative, heavy-tailed


def draw_people(index: Ints, attraction: Attraction, stream: Streams) -> RegionPeople:
    """People with consecutive numbers from a multiple of HOUSEHOLD on."""
    own = child(child(stream, 0), index)
    row = np.arange(len(index))
    four, position = row // HOUSEHOLD, row % HOUSEHOLD
    pattern = pick(child(child(stream, 1), index // HOUSEHOLD), _HOW_OFTEN)
    head = HOUSEHOLD * four + _HEADS[pattern, position]
    household = child(child(stream, 2), index - row + head)
    home = attraction.homes.pick(child(household, 0), np.zeros(len(index), dtype=np.int64))
    worker = bernoulli_percent(child(own, 0), _WORKERS_PERCENT)
    work = np.where(worker, attraction.work.pick(child(own, 1), home), home)
    firm = child(child(child(stream, 3), work), uniform_below(child(own, 2), _FIRMS))
    return RegionPeople(
        stream=own,
        head=head,
        household=household,
        home=home,
        worker=worker,
        work=work,
        firm=firm,
        late_s=uniform_below(child(own, 3), 5_400) + uniform_below(child(own, 4), 5_400) - 5_400,
        activity=relative_activity(child(own, 5)),
        travel_propensity=log_logistic(child(own, 6), 4.0),
    )


def relative_activity(stream: Streams) -> Floats:
    """How much people use their phones."""
    return 0.15 + log_logistic(stream, ACTIVITY_CAP)


# ---- exploration and preferential return --------------------------------------------------------------------------

_RHO, _GAMMA = "0.6", "0.21"
_MOST_PLACES = 1_024
_FAR_PERCENT = 10  # of explorations lead as far as journeys do, for people of travel propensity 1
_EXPLORES = falling_chances(_RHO, _GAMMA, _MOST_PLACES)

# What people know before the first day: places near home, near work and elsewhere, and how often they were there.
_VISITS = (3, 2, 2, 1, 1, 1, 1, 1)
_NEAR_WORK = (False, True, False, False, True, False, True, False)


class Habits:
    """The visits that people remember; rows are people."""

    def __init__(self, people: RegionPeople, attraction: Attraction, most_visits: int) -> None:
        self._attraction = attraction
        self._far_percent = (_FAR_PERCENT * people.travel_propensity * people.travel_propensity).astype(
            np.int64
        )
        known = [
            attraction.errands.pick(
                child(people.stream, 100 + number), people.work if near_work else people.home
            )
            for number, near_work in enumerate(_NEAR_WORK)
        ]
        n_known = sum(_VISITS)
        self._visits = np.zeros((len(people.home), n_known + most_visits), dtype=np.int64)
        self._visits[:, :n_known] = np.repeat(np.stack(known, axis=1), _VISITS, axis=1)
        self._length = np.full(len(people.home), n_known, dtype=np.int64)
        self._places = np.full(len(people.home), len(_VISITS), dtype=np.int64)

    def go_out(
        self, stream: Streams, origin: Ints, strange: npt.NDArray[np.bool_]
    ) -> tuple[Ints, npt.NDArray[np.bool_]]:
        """Where everybody would go now, and whether the place is new to them; in strange parts it always is."""
        explores = strange | (uniform_below(child(stream, 0), ONE) < _EXPLORES[self._places])
        far = bernoulli_percent(child(stream, 3), self._far_percent)
        new = np.where(
            far,
            self._attraction.journeys.pick(child(stream, 4), origin),
            self._attraction.errands.pick(child(stream, 1), origin),
        )
        rows = np.arange(len(origin))
        known = self._visits[rows, uniform_below(child(stream, 2), self._length)]
        return np.where(explores, new, known), explores

    def remember(self, place: Ints, went: npt.NDArray[np.bool_], explored: npt.NDArray[np.bool_]) -> None:
        """Add a visit for the people who went."""
        rows = np.flatnonzero(went)
        self._visits[rows, self._length[rows]] = place[rows]
        self._length[rows] += 1
        self._places += went & explored
        np.minimum(self._places, _MOST_PLACES - 1, out=self._places)


# ---- nights elsewhere ---------------------------------------------------------------------------------------------

_LONGEST = 7  # nights; n of them with weight 1 / n
_NIGHTS = np.cumsum(420 // np.arange(1, _LONGEST + 1))[None, :]


class Journeys:
    """Where people sleep, from night to night."""

    def __init__(self, people: RegionPeople, attraction: Attraction, per_thousand: int) -> None:
        self._people, self._attraction = people, attraction
        self._chance = (per_thousand * 1_000 * people.travel_propensity).astype(np.int64)  # in a million
        self._bed = people.home
        self._nights_left = np.zeros(len(people.home), dtype=np.int64)

    def next_day(self, stream: Streams) -> tuple[Ints, Ints]:
        """Where everybody wakes up, and where they go to bed."""
        woke = self._bed
        home = self._people.home
        at_home = self._nights_left == 0
        leaves = at_home & (uniform_below(child(stream, 0), 1_000_000) < self._chance)
        nights = 1 + pick(child(stream, 1), _NIGHTS)
        self._nights_left = np.where(leaves, nights, np.maximum(self._nights_left - 1, 0))
        goal = self._attraction.journeys.pick(child(stream, 2), home)
        self._bed = np.where(self._nights_left == 0, home, np.where(leaves, goal, woke))
        return woke, self._bed
