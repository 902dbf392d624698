"""GLOVE word for word, in exact fractions: slow, and written without looking at the compiled one.

A fingerprint is (boxes, members): a list of boxes (t0, t1, x0, x1, y0, y1), ends included, in increasing order, and the
users inside.
"""

from fractions import Fraction
from functools import cache
from itertools import combinations

from oracles.merge import Box


def stretch(a: Box, b: Box, axes) -> int:
    """By how much a grows on some axes (0: time, 1: x, 2: y) so that it holds b as well."""
    total = 0
    for axis in axes:
        low_a, high_a, low_b, high_b = a[2 * axis], a[2 * axis + 1], b[2 * axis], b[2 * axis + 1]
        total += (low_a - min(low_a, low_b)) + (max(high_a, high_b) - high_a)
    return total


@cache
def sample_effort(a: Box, n_a: int, b: Box, n_b: int, full_space, full_time) -> Fraction:
    def part(axes, full):
        phi = Fraction(n_a * stretch(a, b, axes) + n_b * stretch(b, a, axes), n_a + n_b)
        return min(phi / full, Fraction(1)) / 2

    return part((1, 2), full_space) + part((0,), full_time)


def united(a: Box, b: Box) -> Box:
    return tuple((min, max)[side % 2](a[side], b[side]) for side in range(6))


def longer_first(a, b):
    """Of equally long fingerprints the given order stays."""
    return (b, a) if len(b[0]) > len(a[0]) else (a, b)


def fingerprint_effort(a, b, full) -> Fraction:
    longer, shorter = longer_first(a, b)
    cheapest = [
        min(sample_effort(s, len(longer[1]), other, len(shorter[1]), *full) for other in shorter[0])
        for s in longer[0]
    ]
    return sum(cheapest) / len(cheapest)


def merged(a, b, full) -> list[Box]:
    """The boxes of two fingerprints joined."""
    longer, shorter = longer_first(a, b)
    n_long, n_short = len(longer[1]), len(shorter[1])
    joined = {}
    for s in longer[0]:
        place = min(
            range(len(shorter[0])),
            key=lambda j: (sample_effort(s, n_long, shorter[0][j], n_short, *full), j),
        )
        joined[place] = united(joined.get(place, shorter[0][place]), s)
    grown = dict(joined)
    for j, s in enumerate(shorter[0]):
        if j not in joined:
            place = min(
                joined, key=lambda q: (sample_effort(s, n_short, joined[q], n_long + n_short, *full), q)
            )
            grown[place] = united(grown[place], s)
    return sorted(grown.values())


def reshaped(boxes: list[Box]) -> list[Box]:
    """Take two boxes that overlap in time, replace them by head, overlap and tail; until there are no such two."""
    boxes = sorted(boxes)
    while True:
        pair = next(((a, b) for a, b in combinations(boxes, 2) if a[0] <= b[1] and b[0] <= a[1]), None)
        if pair is None:
            return boxes
        first, second = pair
        boxes.remove(first)
        boxes.remove(second)
        last = first if first[1] > second[1] else second
        begin, end = second[0], min(first[1], second[1])
        if first[0] < begin:
            boxes.append((first[0], begin - 1, *first[2:]))
        boxes.append((begin, end, *united(first, second)[2:]))
        if last[1] > end:
            boxes.append((end + 1, last[1], *last[2:]))
        boxes.sort()


def glove(trajectories, k: int, full, limits=None, reshape=True) -> dict[int, list[Box]]:
    """Every user's record; users without one are missing. limits: most cells in x and in y, most slots."""

    def finished(boxes):
        if limits is not None:
            boxes = [
                b
                for b in boxes
                if max(b[3] - b[2], b[5] - b[4]) + 1 <= limits[0] and b[1] - b[0] + 1 <= limits[1]
            ]
        return reshaped(boxes) if reshape else sorted(boxes)

    waiting = {
        user: (sorted((t, t, x, x, y, y) for t, x, y in own), [user]) for user, own in enumerate(trajectories)
    }
    done = {}
    while len(waiting) > 1:
        g, h = min(
            combinations(sorted(waiting), 2),
            key=lambda p: (fingerprint_effort(waiting[p[0]], waiting[p[1]], full), p),
        )
        a, b = waiting.pop(g), waiting.pop(h)
        group = (finished(merged(a, b, full)), a[1] + b[1])
        (waiting if len(group[1]) < k and group[0] else done)[g] = group
    for leftover, own in waiting.items():
        with_record = [g for g in sorted(done) if done[g][0]]
        if with_record:

            def in_order(g, leftover=leftover, own=own):
                return (done[g], own) if g < leftover else (own, done[g])

            g = min(with_record, key=lambda g: (fingerprint_effort(*in_order(g), full), g))
            done[g] = (finished(merged(*in_order(g), full)), done[g][1] + own[1])
    return {user: boxes for boxes, members in done.values() if boxes for user in members}
