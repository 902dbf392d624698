"""One user, one interval an attacker may have watched, and the records that fit what was seen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.boxes import Boxes
from shoal.promise import Grid, Promise
from shoal.samples import Bools, Int64s, Samples

_USERS_TRIED = 300
_LIVELY = (12, 60)  # samples in view that make a readable picture
_INTERVALS_PER_TAU = 6


class Story(NamedTuple):
    """What the figures of one user show; times are slots, ranges half open."""

    user: int
    view: tuple[int, int]
    interval: tuple[int, int]
    seen: Int64s  # rows of Samples that the attacker saw
    fitting: Int64s  # owners of the records that fit: the user's own, then the others, most precise first


def fitting_records(samples: Samples, seen: Int64s, interval: tuple[int, int], boxes: Boxes) -> Int64s:
    """Owners of the records consistent with all samples of a user in an interval (section 1 of the design).

    Forward: every sample seen lies in a box of the record. Backward: every box of the record that lies wholly
    inside the interval holds a sample that was seen.
    """
    begin, end = interval
    near = np.flatnonzero((boxes.t1 >= begin) & (boxes.t0 < end))
    part = Boxes(*(column[near] for column in boxes))  # type: ignore[arg-type]
    n_owners = int(boxes.owner.max(initial=-1)) + 1
    held = np.zeros(n_owners, dtype=np.int64)
    met = np.zeros(len(near), dtype=np.bool_)
    for row in seen:
        holds = _holds(part, int(samples.t[row]), int(samples.x[row]), int(samples.y[row]))
        held += np.bincount(part.owner[holds], minlength=n_owners) > 0
        met |= holds
    wholly_inside = (part.t0 >= begin) & (part.t1 < end)
    contradicted = np.bincount(part.owner[wholly_inside & ~met], minlength=n_owners) > 0
    has_record = np.bincount(boxes.owner, minlength=n_owners) > 0
    return np.flatnonzero(has_record & (held == len(seen)) & ~contradicted).astype(np.int64)


def choose_story(
    samples: Samples, boxes: Boxes, promise: Promise, grid: Grid, *, seed: int = 0
) -> Story | None:
    """A lively user and an interval in which the user's own record fits; None where no record fits its owner.

    How many others fit plays no part in the choice, so that the figure is an example and not the best case.
    """
    if boxes.n_boxes == 0:
        return None
    ordered = boxes.by_owner()
    view = _busiest_day(samples, promise, grid)
    best: tuple[tuple[int, int], Story] | None = None
    for user in _users_to_try(samples, ordered, view, seed):
        for interval in _intervals(view, promise):
            rows = _rows_of(samples, user, interval)
            liveliness = (min(len(np.unique(_places(samples, rows))), 3), min(len(rows), 5))
            if len(rows) == 0 or (best is not None and liveliness <= best[0]):
                continue
            if user in fitting_records(samples, rows, interval, _record_of(ordered, user)):
                best = liveliness, Story(user, view, interval, rows, np.empty(0, dtype=np.int64))
        if best is not None and best[0] == (3, 5):
            break
    if best is None:
        return None
    story = best[1]
    fitting = fitting_records(samples, story.seen, story.interval, ordered)
    return story._replace(fitting=_own_first(story, fitting, ordered))


def _own_first(story: Story, fitting: Int64s, boxes: Boxes) -> Int64s:
    """The user's own record, then the others by the size of their boxes near the interval, smallest first."""
    near = (boxes.t1 >= story.interval[0]) & (boxes.t0 < story.interval[1])
    sizes = np.bincount(boxes.owner[near], weights=boxes.cost()[near], minlength=int(fitting.max()) + 1)
    ranked = fitting[np.argsort(sizes[fitting], kind="stable")]
    return np.concatenate([[story.user], ranked[ranked != story.user]]).astype(np.int64)


def _holds(boxes: Boxes, t: int, x: int, y: int) -> Bools:
    in_time = (boxes.t0 <= t) & (boxes.t1 >= t)
    inside: Bools = in_time & (boxes.x0 <= x) & (boxes.x1 >= x) & (boxes.y0 <= y) & (boxes.y1 >= y)
    return inside


def _busiest_day(samples: Samples, promise: Promise, grid: Grid) -> tuple[int, int]:
    first, last = int(samples.t.min()), int(samples.t.max())
    if promise.whole:
        return first, last + 1
    day_slots = max(86_400 // grid.step_s, 1)
    day = first // day_slots + int(np.argmax(np.bincount(samples.t // day_slots - first // day_slots)))
    return day * day_slots, (day + 1) * day_slots


def _users_to_try(samples: Samples, boxes: Boxes, view: tuple[int, int], seed: int) -> list[int]:
    """Users with a record in random order, those with a readable number of samples in view first."""
    in_view = (samples.t >= view[0]) & (samples.t < view[1])
    counts = np.bincount(samples.user[in_view], minlength=samples.n_users)
    users = np.random.default_rng(seed).permutation(np.unique(boxes.owner))
    lively = (counts[users] >= _LIVELY[0]) & (counts[users] <= _LIVELY[1])
    ranked = users[np.argsort(~lively, kind="stable")]
    return [int(user) for user in ranked[:_USERS_TRIED] if counts[user] > 0]


def _intervals(view: tuple[int, int], promise: Promise) -> list[tuple[int, int]]:
    if promise.tau is None:
        return [view]
    step = max(promise.tau // _INTERVALS_PER_TAU, 1)
    step = max(step, (view[1] - view[0]) // 288)
    starts = range(view[0], max(view[1] - promise.tau, view[0]) + 1, step)
    return [(start, start + promise.tau) for start in starts]


def _rows_of(samples: Samples, user: int, interval: tuple[int, int]) -> Int64s:
    first, last = np.searchsorted(samples.user, [user, user + 1])
    begin, end = np.searchsorted(samples.t[first:last], interval)
    return np.arange(first + begin, first + end, dtype=np.int64)


def _places(samples: Samples, rows: Int64s) -> Int64s:
    return samples.x[rows].astype(np.int64) * 2**32 + samples.y[rows]


def _record_of(ordered: Boxes, user: int) -> Boxes:
    first, last = np.searchsorted(ordered.owner, [user, user + 1])
    return Boxes(*(column[first:last] for column in ordered))  # type: ignore[arg-type]
