"""Which hours stand for all: a few stretches of epochs, each for a part of the day."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Int64s
from shoal.storage.sample_store import Archive

COUNTED = 1  # epochs of a stretch that count, behind those that only lead up to them


class Stretch(NamedTuple):
    """Epochs that are tried out; those from ``first`` on count, and stand for so many samples.

    Whoever folds it begins r epochs earlier, so that every record that counts is joined r + 1 times, and ends r later.
    """

    first: int
    n_counted: int
    samples: int

    def epochs(self, reach: int) -> range:
        """All that have to be folded."""
        return range(self.first - reach, self.end + reach)

    @property
    def end(self) -> int:
        """The first epoch behind those that count."""
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


def take_census(archive: Archive, epsilon: int) -> Census:
    """Count the samples of every epoch; nothing is read for it."""
    epoch = archive.slots // epsilon
    samples = np.bincount(epoch - epoch[0], np.diff(archive.first)).astype(np.int64)
    return Census(int(epoch[0]), samples)


def choose_stretches(
    census: Census, n_stretches: int, reach: int, epochs_a_day: float, seed: int
) -> list[Stretch]:
    """Stretches that each stand for equally many samples of neighbouring hours of the day; by time.

    Precision goes by the hour: how many are there, and whether they are on their way. So epochs are ordered by their
    time of day and cut into parts; from the middle of each, an epoch is taken, one part's early in the data and
    another's late, since partners are used up as days pass. Empty where the data are too short for this.
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
    chosen: list[Stretch] = []
    for number, share in enumerate(shares):
        low, high = np.searchsorted(behind, [(number + part) / n_stretches for part in (0.35, 0.65)])
        middle = order[low : max(high, low + 1)]
        apart = [place for place in middle.tolist() if _apart(place, chosen, census, reach)]
        if not apart:
            return []
        first = min(apart, key=lambda place: abs(place - wanted[number])) + census.first_epoch
        chosen.append(Stretch(first, COUNTED, share))
    return sorted(chosen)


def _apart(place: int, chosen: list[Stretch], census: Census, reach: int) -> bool:
    """Whether a stretch here would share no epoch with another."""
    least = COUNTED + 2 * reach
    return all(abs(place + census.first_epoch - stretch.first) >= least for stretch in chosen)
