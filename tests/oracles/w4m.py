"""W4M-L word for word, point by point. A trajectory is a list of samples (t, x, y) in increasing order."""

import math
from itertools import pairwise

import numpy as np


def common_speed(trajectories) -> float:
    speeds = []
    for own in trajectories:
        if own[-1][0] > own[0][0]:
            length = sum(math.dist(a[1:], b[1:]) for a, b in pairwise(own))
            speeds.append(length / (own[-1][0] - own[0][0]))
    return sum(speeds) / len(speeds) if speeds else 0.0


def units(p, q, speed: float, unit: float) -> int:
    way = (p[0] - q[0]) * speed
    squares = (p[1] - q[1]) ** 2 + (p[2] - q[2]) ** 2 + way * way
    return min(math.floor(math.sqrt(squares) / unit), 10)


def walk(pivot, other, speed: float, unit: float) -> list[tuple[int, int]]:
    """The pairs (i, j) that the alignment visits."""
    steps = [(0, 0)]
    while steps[-1] != (len(pivot) - 1, len(other) - 1):
        i, j = steps[-1]
        if i == len(pivot) - 1:
            steps.append((i, j + 1))
            continue
        if j == len(other) - 1:
            steps.append((i + 1, j))
            continue
        c1, c2, c3 = (
            units(pivot[a], other[b], speed, unit) for a, b in ((i + 1, j + 1), (i, j + 1), (i + 1, j))
        )
        step, least = ((i + 1, j + 1), c1) if c1 <= c2 else ((i, j + 1), c2)
        steps.append((i + 1, j) if c3 < least else step)
    return steps


def distance(pivot, other, speed, unit) -> int:
    return sum(units(pivot[i], other[j], speed, unit) for i, j in walk(pivot, other, speed, unit))


def farthest(pivot, other, speed, unit) -> float:
    return max(math.dist(pivot[i][1:], other[j][1:]) for i, j in walk(pivot, other, speed, unit))


def matches(pivot, other, speed, unit) -> list[int]:
    """The first j that the walk visits together with each i: where it is when the pivot advances."""
    found = {}
    for i, j in walk(pivot, other, speed, unit):
        found.setdefault(i, j)
    return [found[i] for i in range(len(pivot))]


def w4m(trajectories, k: int, delta: float, trash_share: float, seed: int):
    """Clusters as {pivot: members}, and the trash."""
    n, speed = len(trajectories), common_speed(trajectories)
    points = [point for own in trajectories for point in own]
    low = [min(p[axis] for p in points) for axis in (1, 2)]
    high = [max(p[axis] for p in points) for axis in (1, 2)]
    radius = 0.005 * math.dist(low, high) / 2
    rng = np.random.default_rng(seed)
    while True:
        free, clusters, trash = set(range(n)), {}, []
        for pivot in rng.permutation(n).tolist():
            if pivot not in free or len(free) < k:
                continue
            own = trajectories[pivot]
            nearest = sorted(
                free - {pivot}, key=lambda other: (distance(own, trajectories[other], speed, delta), other)
            )[: k - 1]
            if all(farthest(own, trajectories[other], speed, delta) <= radius for other in nearest):
                clusters[pivot] = {pivot, *nearest}
                free -= clusters[pivot]
        for track in sorted(free):
            by_distance = [distance(trajectories[p], trajectories[track], speed, delta) for p in clusters]
            if by_distance:
                pivot = list(clusters)[by_distance.index(min(by_distance))]
                if farthest(trajectories[pivot], trajectories[track], speed, delta) <= radius:
                    clusters[pivot].add(track)
                    continue
            trash.append(track)
        if len(trash) <= trash_share * n:
            return clusters, trash
        radius *= 1.5


def record(trajectories, pivot: int, member: int, delta: float) -> list[tuple[int, float, float]]:
    """The points published for a member."""
    own, other = trajectories[pivot], trajectories[member]
    published = []
    for (t, x, y), j in zip(own, matches(own, other, common_speed(trajectories), delta / 2), strict=True):
        _, to_x, to_y = other[j]
        apart = math.dist((x, y), (to_x, to_y))
        if apart > delta / 2:
            to_x, to_y = (
                x + (to_x - x) * (delta / 2) / apart,
                y + (to_y - y) * (delta / 2) / apart,
            )
        published.append((t, to_x, to_y))
    return published
