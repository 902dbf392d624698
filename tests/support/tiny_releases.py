"""Tiny random worlds with boxes published of them, true and untrue, for comparing audits by the thousand.

The same seed gives the same world. Users and records are places in lists, as in ``oracles.strong_attackers``.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

Sample = tuple[int, int, int]
Box = tuple[int, int, int, int, int, int]
Cells = list[tuple[int, int]]


class TinyRelease(NamedTuple):
    """What people did and what was published of it; record r is that of user ``owners[r]``, who may have none."""

    samples: list[list[Sample]]
    records: list[list[Box]]
    owners: list[int]
    tau: int
    epsilon: int


def tiny_release(rng: Random, *, crowds: bool = True) -> TinyRelease:
    """A release in one of many shapes; ``crowds``: now and then one with over 64 sites in a box, or over 50 records."""
    epsilon = rng.choice([1, 2, 3, 5, 10])
    tau = rng.choice([epsilon, 2 * epsilon, 3 * epsilon, rng.randint(1, 4 * epsilon)])
    crowd = rng.choice(["sites", "records"]) if crowds and rng.random() < 0.05 else None
    n_users = {None: rng.choice([2, 2, 3, 4, 5, 6, 8]), "sites": 12, "records": rng.randint(51, 60)}[crowd]
    first = rng.choice([0, 0, -3, rng.randint(-1000, 1000), 28_000_000 // epsilon])
    epochs = [first + e for e in range({None: rng.randint(1, 6), "sites": 8, "records": 2}[crowd])]
    if len(epochs) > 2 and rng.random() < 0.4:  # one in which nobody is seen
        epochs.remove(rng.choice(epochs[1:-1]))
    cells = draw_cells(rng, wide=crowd == "sites")
    samples = [draw_samples(rng, epochs, epsilon, cells, busy=crowd == "sites") for _ in range(n_users)]
    publish = rng.choice([merged] * 5 + [random_boxes] * 2 + [one_cell_boxes])
    records = [publish(rng, samples, user, epsilon) for user in range(n_users)]
    if rng.random() < 0.4:  # an epoch in which nothing of anybody is published
        silent = rng.choice(epochs)
        records = [
            [box for box in boxes if not box[0] // epsilon <= silent <= box[1] // epsilon]
            for boxes in records
        ]
    if not any(records):
        records[0] = [hull(samples[0])]
    if crowd == "sites":  # a box with everything inside
        records[0].append(hull([s for own in samples for s in own]))
    owners = [user for user in range(n_users) if records[user]]
    rng.shuffle(owners)
    in_order = [sorted(records[user], key=lambda box: (box[1], box[0])) for user in owners]
    return TinyRelease(samples, in_order, owners, tau, epsilon)


def draw_cells(rng: Random, wide: bool) -> Cells:
    """The cells where people may be: one, a few, a line, a square, or places far from each other."""
    if wide:
        return [(x, y) for x in range(14) for y in range(14)]
    reach = rng.choice([0, 1, 2, 3, 3, 5, 30, 10_000])
    off_x, off_y = rng.choice([(0, 0), (-2, -5), (123_456, -98_765)])
    height = rng.choice([0, reach, reach])
    draws = [
        (rng.randint(-reach, reach), rng.randint(-height, height)) for _ in range(rng.choice([1, 4, 8, 20]))
    ]
    return [(x + off_x, y + off_y) for x, y in draws]


def draw_samples(rng: Random, epochs: list[int], epsilon: int, cells: Cells, busy: bool) -> list[Sample]:
    """What one user did: a single sample, or some in some of the epochs, several at one time now and then."""
    most = 1 if not busy and rng.random() < 0.2 else rng.choice([2, 4, 8]) + 8 * busy
    own: set[Sample] = set()
    for _ in range(most):
        t = rng.choice(epochs) * epsilon + rng.choice([0, epsilon - 1, rng.randrange(epsilon)])
        own.add((t, *rng.choice(cells)))
        if rng.random() < 0.2:
            own.add((t, *rng.choice(cells)))
    return sorted(own)


def hull(samples: list[Sample]) -> Box:
    ends = [(min(axis), max(axis)) for axis in zip(*samples, strict=True)]
    return tuple(end for pair in ends for end in pair)  # type: ignore[return-value]


def merged(rng: Random, samples: list[list[Sample]], user: int, epsilon: int) -> list[Box]:
    """True boxes: hulls of the user's samples of an epoch or several, and of some of others there; a few suppressed.

    Nothing is published of who has all of them suppressed.
    """
    length = epsilon * rng.choice([1, 1, 1, 2, 3])  # boxes may span epochs
    suppressed = rng.choice([0.0, 0.0, 0.3, 0.5])
    boxes = []
    for piece in sorted({t // length for t, _, _ in samples[user]}):
        own = [s for s in samples[user] if s[0] // length == piece]
        if rng.random() < suppressed:
            continue
        others = [s for other in samples for s in other if s[0] // length == piece]
        boxes.append(hull(own + rng.sample(others, rng.randint(0, min(5, len(others))))))
    return boxes


def random_boxes(rng: Random, samples: list[list[Sample]], user: int, epsilon: int) -> list[Box]:
    """Boxes from a sample of anybody to another one, true or not: they may overlap, and one may be there twice."""
    everything = [s for own in samples for s in own]
    boxes = [hull([rng.choice(samples[user]), rng.choice(everything)]) for _ in range(rng.randint(1, 4))]
    shifted = [(t0 + epsilon, t1 + epsilon, *place) for t0, t1, *place in boxes if rng.random() < 0.2]
    return boxes + shifted + [box for box in boxes if rng.random() < 0.1]  # type: ignore[return-value]


def one_cell_boxes(rng: Random, samples: list[list[Sample]], user: int, epsilon: int) -> list[Box]:  # noqa: ARG001
    """The samples themselves, of whom some lack a few."""
    kept = [s for s in samples[user] if rng.random() < 0.9] or samples[user][:1]
    return [hull([s]) for s in kept]
