"""Samples cut into epochs, and the stretches of time that have samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Bools, Int32s, Int64s
from shoal.core.periods import ONE_PERIOD, Periods
from shoal.core.promise import Promise
from shoal.core.samples import Samples
from shoal.core.sorting import order_by_user
from shoal.hiding.kernels.pools import Pools, collapsed
from shoal.storage.sample_store import SampleStore, store_of


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
        raw = Pools(ptr, self.raw.slot[slots], self.raw.touch[keep])
        return EpochSlice(self.epoch, self.origin, self.users[keep], self.counts[keep], raw)


class Turn(NamedTuple):
    """One epoch of a fold: its number and whether a stretch ends with it."""

    epoch: int
    ends_stretch: bool


class Timeline:
    """Random access to the epochs of a dataset.

    A *stretch* is a run of epochs with at least r empty ones on either side: no window reaches from one to the next,
    so each is folded on its own and a few stray times cost nothing. Borders of ``periods`` are borders of epochs; over
    whole trajectories every period is one epoch.
    """

    def __init__(
        self, samples: Samples | SampleStore, promise: Promise, periods: Periods = ONE_PERIOD
    ) -> None:
        self._store = store_of(samples) if isinstance(samples, Samples) else samples
        self._length = promise.epsilon
        self.periods = periods
        slots = self._store.slots
        self.epochs: Int64s = np.unique(self.epochs_of(slots))
        # No window is longer than the data: r beyond that changes nothing.
        self.reach = min(promise.reach, int(self.epochs[-1] - self.epochs[0]))

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
        return len(self._store)

    def users_in(self, period: int, n_users: int) -> Bools:
        """Which users have a sample in a period."""
        if self.periods.n_periods == 1:
            return np.ones(n_users, np.bool_)
        there = np.zeros(n_users, np.bool_)
        for epoch in self.epochs[self.periods_of(self.epochs) == period].tolist():
            there[self._store.between(self.origin(epoch), self.end(epoch)).user] = True
        return there

    def epochs_present(self, n_users: int) -> Int64s:
        """In how many epochs each user has a sample."""
        total = np.zeros(n_users, np.int64)
        for epoch in self.epochs.tolist():
            total[self.slice(epoch).users] += 1
        return total

    def periods_of(self, epochs: Int64s) -> Int64s:
        """The period in which each epoch lies."""
        return epochs if self._length is None else self.periods.of(epochs * self._length)

    def epochs_of(self, slots: Int64s) -> Int64s:
        """The epoch in which each slot lies."""
        return self.periods.of(slots) if self._length is None else slots // self._length

    def period_of(self, epoch: int) -> int:
        """The period in which an epoch lies."""
        return int(self.periods_of(np.array([epoch]))[0])

    def first_epoch_of(self, period: int) -> int:
        """The epoch with which a period begins; that of the first sample for the first one."""
        if period == 0 or self._length is None:
            return int(self.epochs[0]) if period == 0 else period
        return int(self.periods.borders[period - 1]) // self._length

    def origin(self, epoch: int) -> int:
        """First slot of an epoch; over whole trajectories that of its period, or the slot of the first sample."""
        if self._length is not None:
            return epoch * self._length
        return int(self._store.slots[0] if epoch == 0 else self.periods.borders[epoch - 1])

    def end(self, epoch: int) -> int:
        """The slot after the last of an epoch; over whole trajectories of its period, or after the last sample."""
        if self._length is not None:
            return (epoch + 1) * self._length
        last = epoch + 1 == self.periods.n_periods
        return int(self._store.slots[-1]) + 1 if last else int(self.periods.borders[epoch])

    def slice(self, epoch: int) -> EpochSlice:
        """The samples of one epoch, which may be empty."""
        origin = self.origin(epoch)
        rows = self._store.between(origin, self.end(epoch))
        ptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(rows.user, minlength=1))])
        order = np.empty(len(rows.user), np.int64)
        order_by_user(rows.user, ptr, order)
        users, counts, raw = collapsed(rows.user[order], rows.t[order], rows.x[order], rows.y[order], origin)
        return EpochSlice(epoch, origin, users, counts, raw)


class LiveEpoch(NamedTuple):
    """An epoch that is not published yet: its users' own samples, and the pools that their records hold so far."""

    slice: EpochSlice
    pools: Pools

    def rows(self, users: Int32s) -> Int64s:
        """The rows of some users; -1 for users who are suppressed here."""
        row = np.searchsorted(self.slice.users, users)
        there = self.slice.users[np.minimum(row, len(self.slice.users) - 1)] == users
        return np.where(there, row, -1)
