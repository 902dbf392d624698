"""Samples cut into epochs, and the stretches of time that have any."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from shoal.kernels.pools import Pools, collapsed
from shoal.kernels.timeline import order_by_epoch
from shoal.promise import Promise
from shoal.samples import Bools, Int32s, Int64s, Samples


class EpochSlice(NamedTuple):
    """The samples of one epoch: users present in increasing order, how many samples each has, their pools.

    Times in the pools count from ``origin``, the first slot of the epoch.
    """

    epoch: int
    origin: int
    users: Int32s
    counts: Int32s
    raw: Pools

    def restricted(self, keep: Bools) -> EpochSlice:
        """The slice without the users that are not kept."""
        if keep.all():
            return self
        sizes = np.diff(self.raw.ptr)
        slots = np.repeat(keep, sizes)
        ptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes[keep])])
        columns = (getattr(self.raw, name)[slots] for name in Pools._fields[1:-1])
        raw = Pools._make([ptr, *columns, self.raw.touch[keep]])
        return EpochSlice(self.epoch, self.origin, self.users[keep], self.counts[keep], raw)


class Turn(NamedTuple):
    """One epoch of a fold: its number and whether a stretch ends with it."""

    epoch: int
    ends_stretch: bool


class Timeline:
    """Random access to the epochs of a dataset.

    A *stretch* is a run of epochs with at least r empty ones on either side: no window reaches from one to the next,
    so each is folded on its own and a few stray times cost nothing.
    """

    def __init__(self, samples: Samples, promise: Promise) -> None:
        self._samples = samples
        self._length = promise.epsilon
        length = 1 if self._length is None else self._length
        epoch = np.zeros(len(samples), np.int64) if promise.whole else samples.t // length
        self.epochs, number = _number_epochs(epoch)
        # No window is longer than the data: r beyond that changes nothing.
        self.reach = min(promise.reach, int(self.epochs[-1] - self.epochs[0]))
        sizes = np.bincount(number, minlength=len(self.epochs))
        self._ptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        self._order = np.empty(len(samples), np.int64)
        order_by_epoch(number, self._ptr, self._order)

    def turns(self) -> Iterator[Turn]:
        """Every epoch to fold, empty ones within a stretch included, in order of time."""
        for place, epoch in enumerate(self.epochs.tolist()):
            following = int(self.epochs[place + 1]) if place + 1 < len(self.epochs) else None
            ends = following is None or following - epoch > self.reach
            yield Turn(epoch, ends)
            if not ends and following is not None:
                yield from (Turn(empty, False) for empty in range(epoch + 1, following))

    @property
    def n_samples(self) -> int:
        """How many samples all epochs hold."""
        return len(self._order)

    def epochs_present(self, n_users: int) -> Int64s:
        """In how many epochs each user has a sample."""
        total = np.zeros(n_users, np.int64)
        for epoch in self.epochs.tolist():
            total[self.slice(epoch).users] += 1
        return total

    def origin(self, epoch: int) -> int:
        """First slot of an epoch; over whole trajectories, the slot of the first sample."""
        return int(self._samples.t.min()) if self._length is None else epoch * self._length

    def slice(self, epoch: int) -> EpochSlice:
        """The samples of one epoch, which may be empty."""
        place = int(np.searchsorted(self.epochs, epoch))
        if place < len(self.epochs) and self.epochs[place] == epoch:
            rows = self._order[self._ptr[place] : self._ptr[place + 1]]
        else:
            rows = self._order[:0]
        samples, origin = self._samples, self.origin(epoch)
        users, counts, raw = collapsed(
            samples.user[rows], samples.t[rows], samples.x[rows], samples.y[rows], origin
        )
        return EpochSlice(epoch, origin, users, counts, raw)


def _number_epochs(epoch: Int64s) -> tuple[Int64s, Int32s]:
    """The epochs that occur, in order, and the place of every sample's epoch among them."""
    first, last = int(epoch.min()), int(epoch.max())
    if last - first > 4 * len(epoch) + 1_000_000:  # stray times: a table of every epoch would be mostly empty
        occurring, number = np.unique(epoch, return_inverse=True)
        return occurring, number.astype(np.int32)
    occurs = np.zeros(last - first + 1, np.bool_)
    occurs[epoch - first] = True
    rank = (np.cumsum(occurs) - 1).astype(np.int32)
    return np.flatnonzero(occurs) + first, rank[epoch - first]
