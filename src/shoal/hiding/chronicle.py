"""What was published so far, and whose samples are in it: the memory in which accidental agreement is looked up."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.boxes import Boxes
from shoal.epochs import EpochSlice
from shoal.kernels.company import Chained, Ledger
from shoal.kernels.pools import Pools
from shoal.kernels.tree import order_near
from shoal.samples import Int32s, Int64s


class Chronicle:
    """The last published epochs, at least ``memory`` of them: each user's own samples and the boxes of its record."""

    def __init__(self, n_users: int, memory: int) -> None:
        self._memory = memory
        self._latest = np.full(n_users, -1, np.int64)
        self._user, self._epoch, self._earlier = (
            _Growing((), kind) for kind in (np.int32, np.int64, np.int64)
        )
        self._own_first, self._box_first = _Growing((), np.int64), _Growing((), np.int64)
        self._own, self._box, self._hull = (_Growing((width,), np.int32) for width in (5, 6, 4))
        self._near, self._spot = _Growing((), np.int64), _Growing((), np.int64)
        self._epochs = _Growing((), np.int64)
        self._first_row = _Growing((), np.int64)
        for start in (self._own_first, self._box_first, self._first_row):
            start.extend(np.zeros(1, np.int64))

    def append(self, part: EpochSlice, boxes: Boxes) -> None:
        """Note the next epoch: its users' samples and the boxes published, which go by user."""
        users, n_rows = part.users, len(self._user.values)
        sizes = np.bincount(np.searchsorted(users, boxes.owner), minlength=len(users))
        self._own_first.extend(part.raw.ptr[1:] + len(self._own.values))
        self._box_first.extend(np.cumsum(sizes) + len(self._box.values))
        self._own.extend(own_slots(part.raw))
        box = np.stack(
            [boxes.t0 - part.origin, boxes.t1 - part.origin, boxes.x0, boxes.x1, boxes.y0, boxes.y1], axis=1
        ).astype(np.int32)
        self._box.extend(box)
        self._hull.extend(hulls(box, sizes))
        for column, order in zip(
            (self._near, self._spot), near_order(part.raw, [0, len(users)]), strict=True
        ):
            column.extend(order + n_rows)
        self._earlier.extend(self._latest[users])
        self._latest[users] = n_rows + np.arange(len(users))
        self._user.extend(users)
        self._epoch.extend(np.full(len(users), part.epoch))
        self._epochs.extend(np.array([part.epoch]))
        self._first_row.extend(np.array([n_rows + len(users)]))
        if len(self) >= 2 * self._memory:
            self._forget(len(self) - self._memory)

    def _forget(self, n_epochs: int) -> None:
        """Let go of the oldest epochs."""
        n_rows = int(self._first_row.values[n_epochs])
        n_slots, n_boxes = int(self._own_first.values[n_rows]), int(self._box_first.values[n_rows])
        self._epochs.drop(n_epochs)
        self._first_row.drop(n_epochs, n_rows)
        for column in (self._user, self._epoch, self._hull):
            column.drop(n_rows)
        for numbers in (self._earlier, self._near, self._spot):
            numbers.drop(n_rows, n_rows)
        self._own_first.drop(n_rows, n_slots)
        self._box_first.drop(n_rows, n_boxes)
        self._own.drop(n_slots)
        self._box.drop(n_boxes)
        self._latest -= n_rows
        for link in (self._earlier.values, self._latest):  # where a chain led further back, it ends
            np.maximum(link, -1, out=link)

    @property
    def chained(self) -> Chained:
        """All of it, as kernels read it."""
        columns = (
            self._user, self._own_first, self._own, self._box_first, self._box, self._hull, self._near, self._spot,
        )  # fmt: skip
        ledger = Ledger._make(column.values for column in columns)
        return Chained(ledger, self._epoch.values, self._earlier.values, self._latest)

    def rows(self, epochs: Int64s) -> tuple[Int64s, Int64s]:
        """Where the rows of some epochs begin and end; nowhere for epochs in which nothing was published."""
        known, first_row = self._epochs.values, self._first_row.values
        place = np.searchsorted(known, epochs)
        there = known[np.minimum(place, len(known) - 1)] == epochs
        return np.where(there, first_row[place], 0), np.where(
            there, first_row[np.minimum(place + 1, len(known))], 0
        )

    def __len__(self) -> int:
        return len(self._epochs.values)


def own_slots(raw: Pools) -> Int32s:
    """Users' own samples slot by slot: t, x0, x1, y0, y1."""
    return np.stack([raw.t, raw.x0, raw.x1, raw.y0, raw.y1], axis=1)


def near_order(raw: Pools, bounds: Sequence[int]) -> tuple[Int64s, Int64s]:
    """The rows of each epoch, which begin at ``bounds``, with near ones together, and the place of each row in that."""
    row = np.arange(len(raw.ptr) - 1).reshape(-1, 1)
    near, spot = row[:, 0].copy(), row[:, 0].copy()
    for begin, end in pairwise(bounds):
        order_near(row, raw, begin, end, near)
    spot[near] = row[:, 0]
    return near, spot


def hulls(box: Int32s, sizes: Int64s) -> Int32s:
    """What the boxes of each row reach over, x0, x1, y0, y1; sizes: how many boxes each row has, at least one."""
    if not len(box):
        return np.empty((0, 4), np.int32)
    starts = np.cumsum(sizes) - sizes
    sides = ((np.minimum, 2), (np.maximum, 3), (np.minimum, 4), (np.maximum, 5))
    return np.stack([side.reduceat(box[:, column], starts) for side, column in sides], axis=1)


class _Growing:
    """An array to which more can be added; now and then it moves to twice the room."""

    def __init__(self, line: tuple[int, ...], dtype: npt.DTypeLike) -> None:
        self._room: npt.NDArray[Any] = np.empty((1024, *line), dtype)
        self._length = 0

    @property
    def values(self) -> npt.NDArray[Any]:
        return self._room[: self._length]

    def extend(self, more: npt.NDArray[Any]) -> None:
        needed = self._length + len(more)
        if needed > len(self._room):
            room = np.empty((max(needed, 2 * len(self._room)), *self._room.shape[1:]), self._room.dtype)
            room[: self._length] = self.values
            self._room = room
        self._room[self._length : needed] = more
        self._length = needed

    def drop(self, n: int, less: int = 0) -> None:
        """Drop the first n lines and count the others lower."""
        self._room = self.values[n:] - self._room.dtype.type(less)
        self._length -= n
