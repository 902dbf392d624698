"""A day of everybody: stays at places and the trips between them, some of them together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.synthetic.random_streams import Ints, Streams, bernoulli_percent, child, uniform_below
from shoal.synthetic.region.antennas import Network
from shoal.synthetic.region.attraction import Attraction
from shoal.synthetic.region.people import Habits, Journeys, RegionPeople

Bools = npt.NDArray[np.bool_]

# The stays of a day; one that does not happen is spent where the person is already.
NIGHT, MORNING, MIDDAY, AFTERNOON, ERRAND, EVENING, BED = range(7)
N_STAYS = 7
OUTINGS = (MORNING, MIDDAY, AFTERNOON, ERRAND, EVENING)

_TRIP_START_S = 240  # walking to the stop or the car, parking
_SLOW_M_PER_S, _FAST_M_PER_S, _FAST_FROM_M = 7, 22, 60_000


class RegionDays(NamedTuple):
    """Stays of everybody: where, from when, till when (seconds of the day); each of shape (people, N_STAYS)."""

    place: Ints
    arrival: Ints
    departure: Ints


class DayPlan(NamedTuple):
    """What people mean to do: where, and when to leave (MORNING: the night's place) or for how long to stay."""

    place: Ints  # (people, N_STAYS)
    leave_s: Ints  # (people, N_STAYS): not before this, by the clock; 0 where only the length counts
    stay_s: Ints  # (people, N_STAYS): at least so long
    outing: Bools  # (people, N_STAYS): a visit to a place of the person's choice
    explored: Bools


def travel_s(network: Network, origin: Ints, goal: Ints) -> Ints:
    """How long a trip takes: longer ones are faster."""
    squared = (network.x[goal] - network.x[origin]) ** 2 + (network.y[goal] - network.y[origin]) ** 2
    apart = np.sqrt(squared.astype(np.float64)).astype(np.int64)
    faster = (_FAST_M_PER_S - _SLOW_M_PER_S) * np.minimum(apart, _FAST_FROM_M)
    speed_mm = 1_000 * _SLOW_M_PER_S + 1_000 * faster // _FAST_FROM_M
    return np.where(apart > 0, _TRIP_START_S + 1_000 * apart // speed_mm, 0)


def draw_day(
    people: RegionPeople,
    habits: Habits,
    journeys: Journeys,
    network: Network,
    attraction: Attraction,
    stream: Streams,
    number: int,
) -> RegionDays:
    """Day ``number`` of everybody, from the day's streams (one per person); weeks begin with a Monday."""
    weekend = number % 7 >= 5
    woke, bed = journeys.next_day(child(stream, 0))
    away = (woke != people.home) | (bed != people.home)
    to_work = people.worker & ~away & bernoulli_percent(child(stream, 1), 12 if weekend else 93)
    plan = _plan(people, habits, woke, bed, to_work, stream, weekend=weekend)
    plan = _with_colleagues(plan, people, attraction, to_work, number)
    plan = _with_household(plan, people, away, to_work, number, weekend=weekend)
    for stay in OUTINGS:
        habits.remember(plan.place[:, stay], plan.outing[:, stay] & ~away, plan.explored[:, stay])
    return _follow(plan, network)


def _plan(
    people: RegionPeople,
    habits: Habits,
    woke: Ints,
    bed: Ints,
    to_work: Bools,
    stream: Streams,
    *,
    weekend: bool,
) -> DayPlan:
    """What everybody would do without household and colleagues."""
    travels = woke != bed
    away = (woke != people.home) | (bed != people.home)

    def out(draw: int, percent: int, idle_percent: int | None = None) -> Bools:
        chances = percent if idle_percent is None else np.where(to_work, percent, idle_percent)
        return bernoulli_percent(child(stream, draw), chances)

    outing = np.zeros((len(stream), N_STAYS), dtype=np.bool_)
    outing[:, MORNING] = out(10, 0, 68 if weekend else 60) & ~travels
    outing[:, MIDDAY] = out(11, 40, 30)
    outing[:, AFTERNOON] = out(12, 12, 68 if weekend else 60)
    outing[:, ERRAND] = out(13, 50, 30)
    outing[:, EVENING] = out(14, 38, 50 if weekend else 35)

    base = np.where(to_work, people.work, bed)
    origin = np.stack([woke, np.where(to_work, people.work, woke), base, base, base, bed, bed], axis=1)
    place = np.stack([woke, np.where(to_work, people.work, bed), base, base, bed, bed, bed], axis=1)
    place[:, MORNING] = np.where(travels, bed, place[:, MORNING])
    explored = np.zeros_like(outing)
    for stay in OUTINGS:
        goal, new = habits.go_out(child(stream, 20 + stay), origin[:, stay], away)
        place[:, stay] = np.where(outing[:, stay], goal, place[:, stay])
        explored[:, stay] = new
    return DayPlan(place, *_timing(people, stream, to_work, outing), outing, explored)


def _timing(people: RegionPeople, stream: Streams, to_work: Bools, outing: Bools) -> tuple[Ints, Ints]:
    late_s = people.late_s

    def minutes(draw: int, least: int, more: int) -> Ints:
        return 60 * least + uniform_below(child(stream, draw), 60 * more)

    leave_s = np.zeros(outing.shape, dtype=np.int64)
    leave_s[:, NIGHT] = np.where(to_work, minutes(30, 415, 75), minutes(30, 540, 220)) + late_s
    leave_s[:, MORNING] = np.where(to_work, minutes(31, 700, 60) + late_s // 2, 0)
    leave_s[:, AFTERNOON] = np.where(to_work, minutes(32, 970, 150), minutes(32, 900, 210)) + late_s
    leave_s[:, ERRAND] = np.where(outing[:, EVENING], minutes(33, 1_100, 120) + late_s // 2, 0)
    stay_s = np.zeros_like(leave_s)
    stay_s[:, MORNING] = np.where(to_work, 0, minutes(34, 40, 150))
    stay_s[:, MIDDAY] = np.where(to_work, minutes(35, 30, 40), minutes(35, 20, 180))
    stay_s[:, AFTERNOON] = np.where(outing[:, AFTERNOON], minutes(36, 30, 120), 0)
    stay_s[:, ERRAND] = np.where(outing[:, ERRAND], minutes(37, 15, 60), 0)
    stay_s[:, EVENING] = minutes(38, 45, 150)
    return leave_s, stay_s


def _with_colleagues(
    plan: DayPlan, people: RegionPeople, attraction: Attraction, to_work: Bools, number: int
) -> DayPlan:
    """On some days the people of a firm who are at work eat out together."""
    firm = child(people.firm, number)
    lunch = (
        to_work
        & bernoulli_percent(child(firm, 0), 30)
        & bernoulli_percent(child(people.stream, 1_000_000 + number), 75)
    )
    where_to = attraction.errands.pick(child(firm, 1), people.work)
    leave = 60 * 705 + uniform_below(child(firm, 2), 3_000)
    stay = 60 * 35 + uniform_below(child(firm, 3), 1_800)
    plan.place[:, MIDDAY] = np.where(lunch, where_to, plan.place[:, MIDDAY])
    plan.leave_s[:, MORNING] = np.where(lunch, leave, plan.leave_s[:, MORNING])
    plan.stay_s[:, MIDDAY] = np.where(lunch, stay, plan.stay_s[:, MIDDAY])
    plan.outing[:, MIDDAY] |= lunch
    plan.explored[:, MIDDAY] &= ~lunch
    return plan


def _with_household(
    plan: DayPlan, people: RegionPeople, away: Bools, to_work: Bools, number: int, *, weekend: bool
) -> DayPlan:
    """Some evenings, and many free days, a household does what its first member does."""
    day = child(people.household, 1_000 + number)
    head = people.head
    follows = (head != np.arange(len(head))) & ~away & ~away[head]
    whole_day = follows & ~to_work & ~to_work[head] & bernoulli_percent(child(day, 0), 60 if weekend else 35)
    evening = whole_day | (follows & bernoulli_percent(child(day, 1), 50))
    for array in plan:
        for stay in (NIGHT, MORNING, MIDDAY, AFTERNOON):
            array[whole_day, stay] = array[head[whole_day], stay]
        for stay in (ERRAND, EVENING):
            array[evening, stay] = array[head[evening], stay]
    return plan


def _follow(plan: DayPlan, network: Network) -> RegionDays:
    """When people arrive and leave if they follow the plan: trips take time."""
    arrival = np.zeros_like(plan.place)
    departure = np.zeros_like(plan.place)
    departure[:, NIGHT] = plan.leave_s[:, NIGHT]
    for stay in range(1, N_STAYS):
        begins = departure[:, stay - 1] + travel_s(network, plan.place[:, stay - 1], plan.place[:, stay])
        arrival[:, stay] = begins
        departure[:, stay] = np.maximum(begins + plan.stay_s[:, stay], plan.leave_s[:, stay])
    return RegionDays(plan.place, arrival, departure)
