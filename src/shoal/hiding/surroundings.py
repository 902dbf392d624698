"""What hardening remembers: decided windows, and published epochs, to which an epoch can be linked."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Int32s, Int64s
from shoal.core.boxes import Boxes
from shoal.core.workers import Workers
from shoal.hiding.epochs import EpochSlice, LiveEpoch
from shoal.hiding.kernels.merge import merge_boxes
from shoal.hiding.kernels.pools import Pools, concatenate_pools
from shoal.hiding.kernels.witnesses import CoveredWindows, NeighbouringEpochs


class DecidedWindow(NamedTuple):
    """A decided window, epochs begin .. end - 1; the columns are as in kernels.witnesses.CoveredWindows."""

    begin: int
    end: int
    user: Int32s
    place: Int32s
    member: Int32s
    cover: Int32s


class ShownEpoch(NamedTuple):
    """The boxes that an epoch shows and the users' own samples, a row per user; boxes as in NeighbouringEpochs."""

    epoch: int
    users: Int32s
    raw: Pools
    first: Int64s
    n_boxes: Int64s
    box: Int32s


class Surroundings:
    """Decided windows and published epochs, as far back as an attack on somebody in the middle of them reaches."""

    def __init__(self, n_users: int, k: int, reach: int) -> None:
        self._n_users, self._wanted, self._reach = n_users, k - 1, reach
        self._windows: list[DecidedWindow] = []
        self._published: list[ShownEpoch] = []

    def note_window(self, begin: int, end: int, owners: Int32s, members: Int32s) -> None:
        """Remember the hiding sets of the window of epochs begin .. end - 1; near owners stand together."""
        member = np.full((self._n_users, self._wanted), -1, np.int32)
        cover, place = member.copy(), np.full(self._n_users, -1, np.int32)
        member[owners] = members
        for column in range(self._wanted):
            cover[members[:, column], column] = owners
        place[owners] = np.arange(len(owners), dtype=np.int32)
        self._windows.append(DecidedWindow(begin, end, owners, place, member, cover))

    def note_published(self, part: EpochSlice, boxes: Boxes) -> None:
        """Remember a published epoch and its boxes, which go by user."""
        self._published = [*self._published, shown_as_published(part, boxes)][-4 * self._reach - 1 :]
        oldest = self._published[0].epoch
        self._windows = [known for known in self._windows if known.begin >= oldest]

    def forget(self) -> None:
        """Forget everything: nothing remembered can be linked to the epochs that follow."""
        self._windows, self._published = [], []

    def before(self, epoch: int) -> list[ShownEpoch]:
        """The published epochs right before an epoch, as many as windows reach that overlap a window with it."""
        return self._run(epoch - 2 * self._reach, epoch)

    def around(self, epoch: int) -> list[ShownEpoch]:
        """A published epoch and those right before and after it; none if it is not remembered."""
        here = self._run(epoch, epoch + 2 * self._reach + 1)
        return [*self.before(epoch), *here] if here and here[0].epoch == epoch else []

    def windows_between(self, begin: int, end: int) -> list[DecidedWindow]:
        """The windows that lie in epochs begin .. end - 1, by time."""
        return [known for known in self._windows if begin <= known.begin and known.end <= end]

    def _run(self, begin: int, end: int) -> list[ShownEpoch]:
        """The published ones of some epochs, after the last gap between them."""
        run: list[ShownEpoch] = []
        for shown in self._published:
            if begin <= shown.epoch < end:
                follows = bool(run) and shown.epoch == run[-1].epoch + 1
                run = [*run, shown] if follows else [shown]
        return run if run and run[-1].epoch == min(end - 1, self._published[-1].epoch) else []


def shown_as_published(part: EpochSlice, boxes: Boxes) -> ShownEpoch:
    """A published epoch and its boxes, which go by user."""
    n_boxes = np.bincount(np.searchsorted(part.users, boxes.owner), minlength=len(part.users))
    columns = (boxes.t0 - part.origin, boxes.t1 - part.origin, boxes.x0, boxes.x1, boxes.y0, boxes.y1)
    box = np.stack(columns, axis=1).astype(np.int32)
    return ShownEpoch(part.epoch, part.users, part.raw, np.cumsum(n_boxes) - n_boxes, n_boxes, box)


def shown_as_it_is(live: LiveEpoch, weight: float, workers: Workers) -> ShownEpoch:
    """The boxes of a live epoch if it were published as it is."""
    pools, n = live.pools, len(live.slice.users)
    n_boxes, box = np.empty(n, np.int64), np.empty((len(pools.slot), 6), np.int32)
    workers.for_blocks(n, lambda begin, end: merge_boxes(pools, weight, begin, end, n_boxes, box))
    return ShownEpoch(live.slice.epoch, live.slice.users, live.slice.raw, pools.ptr[:-1], n_boxes, box)


def neighbouring_epochs(epochs: list[ShownEpoch], here: int, n_users: int) -> NeighbouringEpochs:
    """Epochs that follow each other, as kernels read them; ``here`` is the number of the one in question."""
    row = np.full((n_users, len(epochs)), -1, np.int64)
    offsets = np.cumsum([0, *(len(shown.users) for shown in epochs)])
    for column, shown in enumerate(epochs):
        row[shown.users, column] = offsets[column] + np.arange(len(shown.users))
    lines = np.cumsum([0, *(len(shown.box) for shown in epochs)])
    return NeighbouringEpochs(
        row,
        here,
        int(offsets[here]),
        concatenate_pools([shown.raw for shown in epochs]),
        np.concatenate([shown.first + line for shown, line in zip(epochs, lines, strict=False)]),
        np.concatenate([shown.n_boxes for shown in epochs]),
        np.concatenate([shown.box for shown in epochs]),
    )


def covered_windows(windows: list[DecidedWindow], first_epoch: int) -> CoveredWindows:
    """Windows as kernels read them; column 0 of NeighbouringEpochs is ``first_epoch``."""
    longest = max((len(window.user) for window in windows), default=0)
    user = np.full((len(windows), longest), -1, np.int32)
    for line, window in enumerate(windows):
        user[line, : len(window.user)] = window.user
    return CoveredWindows(
        np.array([window.begin - first_epoch for window in windows], np.int64),
        np.array([window.end - first_epoch for window in windows], np.int64),
        user,
        *(np.stack(column) for column in zip(*(window[3:] for window in windows), strict=True)),
    )
