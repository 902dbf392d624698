"""Which hours a plan tries: stretches of epochs that stand for all of the time, as many as the budget allows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Bools, Floats, Int64s
from shoal.core.box_sizes import BoxSizes
from shoal.evaluate.sweep_points import Point
from shoal.storage.sample_store import SampleStore

# ---- stretches ----------------------------------------------------------------------------------------------------

COUNTED = 1  # epochs of a stretch that count, after the epochs that only lead up to them


class TrialStretch(NamedTuple):
    """Epochs to be tried: ``n_counted`` of them count, from ``first`` on, and stand for so many samples.

    The fold begins r epochs earlier, so that every record that counts is joined r + 1 times, and ends r epochs later.
    """

    first: int
    n_counted: int
    samples: int

    def epochs(self, reach: int) -> range:
        """All epochs that have to be folded."""
        return range(self.first - reach, self.end + reach)

    @property
    def end(self) -> int:
        """The first epoch after those that count."""
        return self.first + self.n_counted

    @property
    def counted(self) -> range:
        """The epochs that count."""
        return range(self.first, self.end)


class Census(NamedTuple):
    """How many samples every epoch has, empty ones included, from the first of the data to the last."""

    first_epoch: int
    samples: Int64s

    def of(self, epochs: range) -> int:
        """Samples in a run of epochs."""
        begin, end = (max(epoch - self.first_epoch, 0) for epoch in (epochs.start, epochs.stop))
        return int(self.samples[begin:end].sum())


def take_census(store: SampleStore, epsilon: int) -> Census:
    """Count the samples of every epoch, from the index of the store alone."""
    epoch = store.slots // epsilon
    samples = np.bincount(epoch - epoch[0], np.diff(store.first)).astype(np.int64)
    return Census(int(epoch[0]), samples)


def choose_stretches(
    census: Census, n_stretches: int, reach: int, epochs_a_day: float, seed: int
) -> list[TrialStretch]:
    """Stretches that each stand for equally many samples of neighbouring hours of the day; by time.

    Precision depends on the hour: on how many people are there, and whether they travel. So epochs are ordered by their
    time of day and cut into parts, and an epoch is taken from the middle of each part: early in the data for
    some parts, late for others, since partners are used up as days pass. Empty where the data are too short for this.
    """
    n_epochs = len(census.samples)
    places = np.arange(reach, n_epochs - reach - COUNTED + 1)
    places = places[census.samples[places] > 0]
    if n_stretches * (COUNTED + 2 * reach) > n_epochs // 2 or len(places) < n_stretches:
        return []
    hour = (places + census.first_epoch) % epochs_a_day
    order = places[np.lexsort((places, hour))]
    behind = np.cumsum(census.samples[order]) / census.samples[order].sum()
    total = int(census.samples.sum())
    shares = np.diff(np.linspace(0, total, n_stretches + 1).astype(np.int64)).tolist()
    wanted = np.random.default_rng(seed).permutation((np.arange(n_stretches) + 0.5) / n_stretches) * n_epochs
    chosen: list[TrialStretch] = []
    for number, share in enumerate(shares):
        low, high = np.searchsorted(behind, [(number + part) / n_stretches for part in (0.35, 0.65)])
        middle = order[low : max(high, low + 1)]
        apart = [place for place in middle.tolist() if _apart(place, chosen, census, reach)]
        if not apart:
            return []
        first = min(apart, key=lambda place: abs(place - wanted[number])) + census.first_epoch
        chosen.append(TrialStretch(first, COUNTED, share))
    return sorted(chosen)


def _apart(place: int, chosen: list[TrialStretch], census: Census, reach: int) -> bool:
    """Whether a stretch here would share no epoch with one already chosen."""
    least = COUNTED + 2 * reach
    return all(abs(place + census.first_epoch - stretch.first) >= least for stretch in chosen)


# ---- how many stretches each point is tried on --------------------------------------------------------------------

MOST_STRETCHES = 16  # with 8, more is off by over 15 %; with 32, hardly less than with 16: docs/plan.md
ENOUGH_STRETCHES = 4  # where they are chosen because they look like all
_PER_S = 26_000  # samples that take in a member in a processor second, in windows of two epochs: docs/plan.md
_LEAST_TURNS = 1.4  # k 2 takes more than half the time of k 3, since leakage is priced


class StretchBudget(NamedTuple):
    """The stretches, by time, and on how many of them each point is tried."""

    stretches: list[TrialStretch]
    number: dict[Point, int]


def share_budget(
    points: Sequence[Point], census: Census, budget_s: float, epochs_a_day: float, seed: int, effort: int = 1
) -> StretchBudget:
    """Stretches, none where the data are too short, and a number of them for every point, a power of two.

    Median precision depends on the hour, so a cheap point is tried on many stretches; its results show which few a
    costly point should be tried on. Stretches are so far apart that they do not overlap under the longest tau, if the
    data are long enough. effort: how often each window is decided, which takes as many epochs more, less one.
    """
    number = _numbers({point: effort * _seconds(point, census) for point in points}, budget_s)
    reaches = sorted({point.promise.reach + effort - 1 for point in points}, reverse=True)
    most = max(number.values())
    while most:
        for reach in reaches:
            stretches = choose_stretches(census, most, reach, epochs_a_day, seed)
            if stretches:
                return StretchBudget(stretches, number)
        most //= 2
    return StretchBudget([], number)


def _numbers(seconds: dict[Point, float], budget_s: float) -> dict[Point, int]:
    """How many stretches each point should have, given what one takes: at least one, and a power of two.

    The points of the shortest tau come first: most users will choose one of them, and they show which few stretches
    are ordinary, so that these suffice for the other points.
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
    """About how many processor seconds one stretch takes. The longer a window, the more its merges cost."""
    per_epoch = int(census.samples.sum()) / max(1, int(np.count_nonzero(census.samples)))
    reach, turns = point.promise.reach, max(point.k - 1, _LEAST_TURNS)
    return (COUNTED + reach) * per_epoch * turns * (2 + reach) / 3 / _PER_S


# ---- which few stretches look most like all -----------------------------------------------------------------------

_LEVELS = (0.25, 0.5, 0.75)


def most_representative(
    stretches: Sequence[TrialStretch], views: Sequence[Sequence[BoxSizes]], census: Census, n: int, reach: int
) -> list[TrialStretch]:
    """The n stretches that look most like all, by time, each for an equal part of the samples; fewer if they overlap.

    views: what other points showed on each of the stretches. The choice is taken in which the shares of boxes below the
    quartiles of all boxes are nearest to a quarter, a half and three quarters.
    """
    n = min(n, len(stretches))
    while n:
        choices = np.array(list(combinations(range(len(stretches)), n)))
        choices = choices[_fits(choices, stretches, census, reach)]
        if len(choices):
            off = sum((_off(choices, view, stretches, census) for view in views), np.zeros(len(choices)))
            chosen = [stretches[number] for number in choices[int(np.argmin(off))]]
            parts = np.diff(np.linspace(0, int(census.samples.sum()), n + 1).astype(np.int64)).tolist()
            return [one._replace(samples=part) for one, part in zip(chosen, parts, strict=True)]
        n //= 2
    return []


def _fits(choices: Int64s, stretches: Sequence[TrialStretch], census: Census, reach: int) -> Bools:
    """Which choices of stretches, by time, share no epoch and lie inside the data, with r epochs on each side."""
    place = np.array([stretch.first for stretch in stretches])[choices] - census.first_epoch
    apart = (np.diff(place, axis=1) >= COUNTED + 2 * reach).all(axis=1)
    inside = (place[:, 0] >= reach) & (place[:, -1] + COUNTED + reach <= len(census.samples))
    return np.asarray(apart & inside)


def _off(
    choices: Int64s, view: Sequence[BoxSizes], stretches: Sequence[TrialStretch], census: Census
) -> Floats:
    """For each choice, how far the shares of its boxes below the quartiles of all boxes are from those of all boxes."""
    samples = [max(1, census.of(stretch.counted)) for stretch in stretches]
    n_boxes = np.array([box_sizes.n_boxes / n for box_sizes, n in zip(view, samples, strict=True)])
    values = np.unique(np.concatenate([box_sizes.longer_side.value for box_sizes in view]))
    below = np.array(
        [_below(box_sizes, values) / n for box_sizes, n in zip(view, samples, strict=True)]
    )  # boxes up to each value, for each sample
    if not n_boxes.sum():
        return np.zeros(len(choices))
    all_below = below.sum(axis=0) / n_boxes.sum()
    quartile = np.minimum(np.searchsorted(all_below, _LEVELS), len(values) - 1)
    found = (
        below[:, quartile][choices].sum(axis=1) / np.maximum(n_boxes[choices].sum(axis=1), 1e-300)[:, None]
    )
    return np.asarray(np.abs(found - all_below[quartile]).sum(axis=1))


def _below(box_sizes: BoxSizes, values: Int64s) -> Int64s:
    """How many boxes have a longer side of at most each of some values."""
    behind = np.concatenate([[0], np.cumsum(box_sizes.longer_side.frequency)])
    return np.asarray(behind[np.searchsorted(box_sizes.longer_side.value, values, side="right")])
