"""A few people followed through a day: what they did, their own boxes, and the records they hide among at each time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.auditing.drawing import knowledge_of
from shoal.auditing.scene import Scene
from shoal.boxes import Boxes
from shoal.kernels.consistency import Rows
from shoal.samples import Int64s

_PEOPLE, _DRAWN = 4, 40
_LIVELY_PLACES = 4
_LIVELY = (10, 80)  # samples of a day that make a readable picture
_STEPS = 96  # positions of the slider, at most
_OTHERS = 5  # records drawn beside the person's own
_PLACES = 1_500
NOTHING_SEEN = -1


class Moment(NamedTuple):
    """An interval that an attacker may have watched: how many records fit (NOTHING_SEEN where the person did nothing),
    and which of them are drawn beside the person's own."""

    begin: int
    n_fit: int
    shown: list[int]


class Person(NamedTuple):
    """One of those shown. own: the number of the record, or -1 where it is not known; boxes: of all records drawn."""

    own: int
    samples: list[tuple[int, int, int]]
    boxes: dict[int, list[tuple[int, ...]]]
    moments: list[Moment]


class People(NamedTuple):
    """Those shown, the day in slots, the length of an interval, and places of everybody, all in cells and slots."""

    begin: int
    end: int
    length: int
    people: list[Person]
    places: list[tuple[int, int]]


def follow_people(scene: Scene) -> People | None:
    """Some users who are about, drawn at random; None where there is nobody to show.

    How many records fit plays no part in the choice, so that they are examples and not the best cases.
    """
    begin, end = _busiest_day(scene)
    length = scene.promise.tau or end - begin
    trails = scene.trails
    t = trails.sample["t"]
    busy = np.bincount(scene.samples.user[(t >= begin) & (t < end)], minlength=scene.samples.n_users)[
        scene.victims
    ]
    lively = scene.victims[(busy >= _LIVELY[0]) & (busy <= _LIVELY[1])]
    pool = lively if len(lively) else scene.victims[busy > 0]
    if not len(pool):
        return None
    rng = scene.randomness(99)
    drawn = rng.choice(pool, min(_DRAWN, len(pool)), replace=False).tolist()
    drawn.sort(key=lambda user: -min(_n_places(_day_of(scene, user, begin, end)), _LIVELY_PLACES))
    people = [_follow(scene, user, begin, end, length) for user in drawn[:_PEOPLE]]
    return People(begin, end, length, people, _places(scene, rng))


def _busiest_day(scene: Scene) -> tuple[int, int]:
    t, day = scene.samples.t, max(86_400 // scene.grid.step_s, 1)
    first = int(t.min()) // day
    busiest = first + int(np.argmax(np.bincount(t // day - first)))
    return busiest * day, (busiest + 1) * day


def _day_of(scene: Scene, user: int, begin: int, end: int) -> Rows:
    sample = scene.trails.sample[scene.trails.ptr[user] : scene.trails.ptr[user + 1]]
    return sample[(sample["t"] >= begin) & (sample["t"] < end)]


def _n_places(day: Rows) -> int:
    return len(np.unique(np.stack([day["x"], day["y"]]), axis=1).T)


def _follow(scene: Scene, user: int, begin: int, end: int, length: int) -> Person:
    mine = _day_of(scene, user, begin, end)
    step = max(length // 2, -(-(end - begin) // _STEPS), 1)
    starts = np.arange(begin, max(end - length, begin) + 1, step)
    seen = np.searchsorted(mine["t"], starts) < np.searchsorted(mine["t"], starts + length)
    known = knowledge_of(scene, np.full(int(seen.sum()), user), starts[seen][:, None], length)
    fits = scene.fits(scene.published, known)
    own = max(int(scene.published.own[user]), -1)
    moments, drawn = [Moment(start, NOTHING_SEEN, []) for start in starts.tolist()], {own} - {-1}
    for i, place in enumerate(np.flatnonzero(seen).tolist()):
        found = fits.record[fits.at[i] : fits.at[i] + fits.n[i]]
        start = moments[place].begin
        shown = _smallest(scene, found[found != own], start, start + length)[:_OTHERS]
        drawn.update(shown)
        moments[place] = Moment(start, len(found), shown)
    boxes = {record: _boxes_of(scene, record, begin, end) for record in sorted(drawn)}
    return Person(own, [(int(s["t"]), int(s["x"]), int(s["y"])) for s in mine], boxes, moments)


def _smallest(scene: Scene, records: Int64s, begin: int, end: int) -> list[int]:
    """Records by the size of their boxes in an interval: what is small is easiest to see."""
    sizes = [
        sum(_size(box) for box in _boxes_of(scene, int(record), begin, end))
        for record in records[:50].tolist()
    ]
    return [int(records[i]) for i in np.argsort(sizes, kind="stable").tolist()]


def _size(box: tuple[int, ...]) -> int:
    return (box[1] - box[0] + 1) * (box[3] - box[2] + box[5] - box[4] + 2)


def _boxes_of(scene: Scene, record: int, begin: int, end: int) -> list[tuple[int, ...]]:
    shelves = scene.published.shelves
    box = shelves.box[shelves.ptr[record] : shelves.ptr[record + 1]]
    near = box[(box["t1"] >= begin) & (box["t0"] < end)]
    return [tuple(int(row[name]) for name in Boxes._fields[1:]) for row in near]


def _places(scene: Scene, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Where samples are, at random, so that the map has a ground."""
    rows = rng.integers(0, len(scene.samples), 4 * _PLACES)
    places = np.unique(np.stack([scene.samples.x[rows], scene.samples.y[rows]], axis=1), axis=0)[:_PLACES]
    return [(x, y) for x, y in places.tolist()]


def as_json(people: People) -> dict[str, Any]:
    """For the page's script: plain lists; times from the beginning of the day, places from the lowest."""
    xs = [s[1] for p in people.people for s in p.samples] + [x for x, _ in people.places]
    ys = [s[2] for p in people.people for s in p.samples] + [y for _, y in people.places]
    t, x, y = people.begin, min(xs), min(ys)
    return {
        "length": people.length,
        "day": people.end - people.begin,
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
                "moments": [[m.begin - t, m.n_fit, m.shown] for m in person.moments],
            }
            for person in people.people
        ],
    }
