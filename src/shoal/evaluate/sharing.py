"""On how many stretches each point is tried: all cost about the same, and see the same hours as far as they go."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.evaluate.points import Point
from shoal.evaluate.stretches import COUNTED, Census, Stretch, choose_stretches, halved

MOST_STRETCHES = 16  # with 8, the median of abi in full is foretold from 0.2 to 0.8 km: docs/plan.md
_PER_S = 26_000  # samples that take in a member in a processor second, in windows of two epochs: docs/plan.md
_LEAST_TURNS = 1.4  # k 2 takes more than half the time of k 3, as its members' company is looked at


def share_out(
    points: Sequence[Point], census: Census, budget_s: float, epochs_a_day: float, seed: int
) -> dict[Point, list[Stretch]]:
    """Stretches for every point, by time; none where the data are too short.

    Median precision goes by the hour, so a cheap point had better see many; a costly one cannot. Of the points of a
    tau, a costly one sees some of the stretches of a cheap one. Those of another tau are the same where none overlap.
    """
    wanted = _numbers({point: _seconds(point, census) for point in points}, budget_s)
    most = max(wanted.values())
    shared = {}
    for reach in {point.promise.reach for point in points}:
        finest = _finest(most, census, reach, epochs_a_day, seed)
        for point in (point for point in points if point.promise.reach == reach):
            stretches = finest
            while len(stretches) > wanted[point]:
                stretches = halved(stretches, epochs_a_day)
            shared[point] = stretches
    return shared


def _finest(most: int, census: Census, reach: int, epochs_a_day: float, seed: int) -> list[Stretch]:
    """So many stretches, a power of two, or half as many until they fit into the data."""
    stretches: list[Stretch] = []
    while most and not stretches:
        stretches = choose_stretches(census, most, reach, epochs_a_day, seed)
        most //= 2
    return stretches


def _numbers(seconds: dict[Point, float], budget_s: float) -> dict[Point, int]:
    """How many stretches each point should have, given what one takes: whichever took least so far gets twice as many.

    At least one, and a power of two, so that a half of them can be taken. Time for a tau of r epsilon counts r times:
    most will choose a short one, so it had better be told well.
    """
    numbers = dict.fromkeys(seconds, 1)
    left = budget_s - sum(seconds.values())
    growing = list(seconds)
    while growing:
        point = min(growing, key=lambda point: numbers[point] * seconds[point] * point.promise.reach)
        more_s = numbers[point] * seconds[point]
        if more_s > left or numbers[point] == MOST_STRETCHES:
            growing.remove(point)
            continue
        numbers[point], left = 2 * numbers[point], left - more_s
    return numbers


def _seconds(point: Point, census: Census) -> float:
    """What one stretch takes, about; mornings and nights even out. The longer a window, the dearer its merges."""
    per_epoch = int(census.samples.sum()) / max(1, int(np.count_nonzero(census.samples)))
    reach, turns = point.promise.reach, max(point.k - 1, _LEAST_TURNS)
    return (COUNTED + reach) * per_epoch * turns * (2 + reach) / 3 / _PER_S
