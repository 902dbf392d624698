"""A few people followed through a day: their samples, their boxes, and the records that fit them at each time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.auditing.box_index import boxes_of
from shoal.auditing.context import AuditContext
from shoal.auditing.kernels.consistency import StructuredRows
from shoal.auditing.victims import knowledge_of
from shoal.core.arrays import Int64s
from shoal.core.boxes import Boxes
from shoal.core.promise import DAY_S
from shoal.core.reprs import sizes_only

_PEOPLE, _DRAWN = 4, 40
_LIVELY_PLACES = 4
_LIVELY = (10, 80)  # samples that make a readable picture
_STEPS = 96  # positions of the slider, at most
_OTHERS = 5  # records drawn beside the person's own
_PLACES = 1_500
_ALWAYS = (-(2**62), 2**62)  # slots
_QUARTER_S = 900  # clocks differ from UTC by whole quarters of an hour


class ShownDay(NamedTuple):
    """The time that is shown, in slots, the length of an interval in it, and the local day on which it begins."""

    begin: int
    end: int
    length: int
    first_day: int

    def __repr__(self) -> str:
        return sizes_only(self)


class Moment(NamedTuple):
    """An interval that an attacker may have watched: how many records fit, and which are drawn beside the person's own.

    from_s, to_s: on the clock of the report, in seconds from the beginning of its first day. own_fits: whether the
    person's own record is among those that fit, as it is unless samples were suppressed; True where it is not known.
    """

    begin: int
    from_s: int
    to_s: int
    n_fit: int
    shown: list[int]
    own_fits: bool

    def __repr__(self) -> str:
        return sizes_only(self)


class Person(NamedTuple):
    """A person who is shown. own: the number of the person's record, or -1 where it is not known; boxes: those of all
    records drawn, by the number of the record."""

    own: int
    samples: list[tuple[int, int, int]]
    boxes: dict[int, list[tuple[int, ...]]]
    moments: list[Moment]

    def __repr__(self) -> str:
        return sizes_only(self)


class FollowedPeople(NamedTuple):
    """The people shown in slots begin .. end - 1, the length of an interval in slots, and cells of everybody's samples.

    zone: the clock of the report.
    """

    begin: int
    end: int
    length: int
    people: list[Person]
    places: list[tuple[int, int]]
    zone: str

    def __repr__(self) -> str:
        return sizes_only(self)


def follow_people(context: AuditContext) -> FollowedPeople | None:
    """Draw some users with samples on the busiest day at random, and follow them; None where there is nobody to show.

    How many records fit plays no part in the choice, so that they are examples and not the best cases. Where records
    get new names, the busiest period is shown.
    """
    context, within = _busiest_period(context)
    shown = _shown_day(context, *within)
    t = context.trajectories.sample["t"]
    busy = np.bincount(
        context.samples.user[(t >= shown.begin) & (t < shown.end)], minlength=context.samples.n_users
    )[context.victims]
    lively = context.victims[(busy >= _LIVELY[0]) & (busy <= _LIVELY[1])]
    pool = lively if len(lively) else context.victims[busy > 0]
    if not len(pool):
        return None
    rng = context.randomness(99)
    drawn = rng.choice(pool, min(_DRAWN, len(pool)), replace=False).tolist()
    drawn.sort(key=lambda user: -min(_n_places(_samples_of(context, user, shown)), _LIVELY_PLACES))
    empty = _moments(context, shown)
    people = [_follow(context, user, shown, empty) for user in drawn[:_PEOPLE]]
    return FollowedPeople(
        shown.begin, shown.end, shown.length, people, _places(context, rng), context.zone.name
    )


def _busiest_period(context: AuditContext) -> tuple[AuditContext, tuple[int, int]]:
    """The period with most samples, as if there were no other, and its first slot and the one behind its last."""
    if context.parts is None:
        return context, _ALWAYS
    of_periods = context.by_period()
    busiest = int(np.argmax([len(each.store) for each in of_periods]))
    first, end = context.span
    edges = np.concatenate([[first], context.periods.borders, [end]])
    period = context.parts.attackable[busiest]
    return of_periods[busiest], (int(edges[period]), int(edges[period + 1]))


def _shown_day(context: AuditContext, first_slot: int, end_slot: int) -> ShownDay:
    """The busiest day on the clock of the report; as many days as tau takes; all of time for whole trajectories.

    Nothing before ``first_slot`` is shown, and nothing from ``end_slot`` on.
    """
    step, tau = context.grid.step_s, context.promise.tau
    if tau is None:
        begin, end = context.span
        return ShownDay(begin, end, end - begin, int(_local_days(context, np.array([begin * step]))[0]))
    quarters, n_samples = np.unique(context.samples.t * step // _QUARTER_S, return_counts=True)
    days = _local_days(context, quarters * _QUARTER_S)
    first, last, n_days = int(days[0]), int(days[-1]), -(-tau * step // DAY_S)
    busiest = first + int(np.argmax(np.bincount(days - first, n_samples)))
    day = max(min(busiest, last + 1 - n_days), first)
    midnights = context.zone.to_utc(np.array([day, day + n_days]) * DAY_S)
    begin, end = (-(-midnights // step)).tolist()
    begin, end = max(begin, first_slot), min(max(end, begin + tau), end_slot)
    return ShownDay(begin, max(end, begin + tau), tau, day)


def _local_days(context: AuditContext, seconds: Int64s) -> Int64s:
    return context.zone.from_utc(seconds) // DAY_S


def _moments(context: AuditContext, shown: ShownDay) -> list[Moment]:
    """Intervals all over the time shown, for an attacker who saw nothing in them: a record fits if no box of it lies
    wholly inside."""
    step = max(shown.length // 2, -(-(shown.end - shown.begin) // _STEPS), 1)
    starts = np.arange(shown.begin, shown.end - shown.length + 1, step)
    clock = [
        (context.zone.from_utc(slots * context.grid.step_s) - shown.first_day * DAY_S).tolist()
        for slots in (starts, starts + shown.length)
    ]
    boxes = context.published.records.boxes
    inside = (boxes.t0 >= shown.begin) & (boxes.t1 < shown.end)
    owner, t0, t1 = (column[inside] for column in (boxes.owner, boxes.t0, boxes.t1))
    moments = []
    for start, from_s, to_s in zip(starts.tolist(), *clock, strict=True):
        about = owner[(t0 >= start) & (t1 < start + shown.length)]
        n_fit = context.published.records.n_records - len(np.unique(about))
        moments.append(Moment(start, from_s, to_s, n_fit, [], own_fits=True))
    return moments


def _samples_of(context: AuditContext, user: int, shown: ShownDay) -> StructuredRows:
    sample = context.trajectories.sample[context.trajectories.ptr[user] : context.trajectories.ptr[user + 1]]
    return sample[(sample["t"] >= shown.begin) & (sample["t"] < shown.end)]


def _n_places(samples: StructuredRows) -> int:
    return len(np.unique(np.stack([samples["x"], samples["y"]]), axis=1).T)


def _follow(context: AuditContext, user: int, shown: ShownDay, empty: list[Moment]) -> Person:
    samples = _samples_of(context, user, shown)
    starts = np.array([moment.begin for moment in empty])
    seen = np.searchsorted(samples["t"], starts) < np.searchsorted(samples["t"], starts + shown.length)
    known = knowledge_of(context, np.full(int(seen.sum()), user), starts[seen][:, None], shown.length)
    fits = context.fits(context.published, known)
    own = max(int(context.published.own[user]), -1)
    own_boxes = None if own < 0 else _boxes_of(context, own, shown.begin, shown.end)
    moments = [
        moment._replace(own_fits=not _any_inside(own_boxes, moment.begin, moment.begin + shown.length))
        for moment in empty
    ]
    drawn = {own} - {-1}
    for i, place in enumerate(np.flatnonzero(seen).tolist()):
        found = fits.record[fits.at[i] : fits.at[i] + fits.n[i]]
        start = moments[place].begin
        others = _smallest(context, found[found != own], start, start + shown.length)[:_OTHERS]
        drawn.update(others)
        fits_too = own < 0 or bool((found == own).any())
        moments[place] = moments[place]._replace(n_fit=len(found), shown=others, own_fits=fits_too)
    boxes = {
        record: _as_tuples(_boxes_of(context, record, shown.begin, shown.end)) for record in sorted(drawn)
    }
    return Person(own, [(int(s["t"]), int(s["x"]), int(s["y"])) for s in samples], boxes, moments)


def _any_inside(boxes: Boxes | None, begin: int, end: int) -> bool:
    return boxes is not None and bool(((boxes.t0 >= begin) & (boxes.t1 < end)).any())


def _smallest(context: AuditContext, records: Int64s, begin: int, end: int) -> list[int]:
    """Records sorted by the cost of their boxes in an interval: small ones are easiest to see."""
    sizes = [int(_boxes_of(context, record, begin, end).cost().sum()) for record in records[:50].tolist()]
    return [int(records[i]) for i in np.argsort(sizes, kind="stable").tolist()]


def _boxes_of(context: AuditContext, record: int, begin: int, end: int) -> Boxes:
    """The boxes of a record that meet slots begin .. end - 1."""
    index = context.published.index
    box = index.box[index.ptr[record] : index.ptr[record + 1]]
    return boxes_of(box[(box["t1"] >= begin) & (box["t0"] < end)])


def _as_tuples(boxes: Boxes) -> list[tuple[int, ...]]:
    """Times and cells of each box."""
    return list(zip(*(column.tolist() for column in boxes[1:]), strict=True))


def _places(context: AuditContext, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Cells of some samples at random, as the background of the map."""
    rows = rng.integers(0, len(context.samples), 4 * _PLACES)
    places = np.unique(np.stack([context.samples.x[rows], context.samples.y[rows]], axis=1), axis=0)[:_PLACES]
    return [(x, y) for x, y in places.tolist()]


def as_json(people: FollowedPeople, corner: tuple[float, float]) -> dict[str, Any]:
    """For the page's script: plain lists; slots from the first that is shown, places from the lowest.

    ``corner`` is that of the page's other maps, in cells, so that all of them have the same coordinates.
    """
    xs = [s[1] for p in people.people for s in p.samples] + [x for x, _ in people.places]
    ys = [s[2] for p in people.people for s in p.samples] + [y for _, y in people.places]
    t, x, y = people.begin, min(xs), min(ys)
    return {
        "length": people.length,
        "zone": people.zone,
        "corner": [round(corner[0] - x, 6), round(corner[1] - y, 6)],
        "places": [[px - x, py - y] for px, py in people.places],
        "people": [
            {
                "own": person.own,
                "samples": [[s[0] - t, s[1] - x, s[2] - y] for s in person.samples],
                "boxes": {
                    str(record): [
                        [b[0] - t, b[1] - t + 1, b[2] - x, b[3] - x + 1, b[4] - y, b[5] - y + 1]
                        for b in boxes
                    ]
                    for record, boxes in person.boxes.items()
                },
                "moments": [
                    [m.begin - t, m.n_fit, m.shown, m.from_s, m.to_s, m.own_fits] for m in person.moments
                ],
            }
            for person in people.people
        ],
    }
