"""On how many stretches each point is tried: many for the points of a short tau, few for the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from shoal.evaluate.plan.stretches import COUNTED, Census, Stretch, choose_stretches
from shoal.evaluate.sweep_points import Point

MOST_STRETCHES = 16  # with 8, more is off by over 15 %; with 32, hardly less than with 16: docs/plan.md
ENOUGH_STRETCHES = 4  # where they are chosen because they look like all
_PER_S = 26_000  # samples that take in a member in a processor second, in windows of two epochs: docs/plan.md
_LEAST_TURNS = 1.4  # k 2 takes more than half the time of k 3, as its members' company is looked at


class Shares(NamedTuple):
    """The stretches, by time, and on how many of them each point is tried."""

    stretches: list[Stretch]
    number: dict[Point, int]


def share_out(
    points: Sequence[Point], census: Census, budget_s: float, epochs_a_day: float, seed: int
) -> Shares:
    """Stretches, none where the data are too short, and a number of them for every point, a power of two.

    Median precision goes by the hour, so a cheap point sees many, and tells which few a costly one had better see.
    They are so far apart that those of the longest tau do not overlap, as far as the data are long enough.
    """
    number = _numbers({point: _seconds(point, census) for point in points}, budget_s)
    reaches = sorted({point.promise.reach for point in points}, reverse=True)
    most = max(number.values())
    while most:
        for reach in reaches:
            stretches = choose_stretches(census, most, reach, epochs_a_day, seed)
            if stretches:
                return Shares(stretches, number)
        most //= 2
    return Shares([], number)


def _numbers(seconds: dict[Point, float], budget_s: float) -> dict[Point, int]:
    """How many stretches each point should have, given what one takes: at least one, and a power of two.

    The points of the shortest tau come first: most will choose one of them, and they tell which few stretches are
    ordinary, so that the others can do with these.
    """
    numbers = dict.fromkeys(seconds, 1)
    left = budget_s - sum(seconds.values())
    shortest = min(point.promise.reach for point in seconds)
    for most, first in ((MOST_STRETCHES, True), (ENOUGH_STRETCHES, False)):
        growing = [point for point in seconds if (point.promise.reach == shortest) == first]
        while growing:
            point = min(growing, key=lambda point: numbers[point] * seconds[point] * (point.k - 1))
            more_s = numbers[point] * seconds[point]
            if more_s > left or numbers[point] == most:
                growing.remove(point)
                continue
            numbers[point], left = 2 * numbers[point], left - more_s
    return numbers


def _seconds(point: Point, census: Census) -> float:
    """What one stretch takes, about; mornings and nights even out. The longer a window, the dearer its merges."""
    per_epoch = int(census.samples.sum()) / max(1, int(np.count_nonzero(census.samples)))
    reach, turns = point.promise.reach, max(point.k - 1, _LEAST_TURNS)
    return (COUNTED + reach) * per_epoch * turns * (2 + reach) / 3 / _PER_S
