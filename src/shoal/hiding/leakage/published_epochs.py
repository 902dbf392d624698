"""The latest published epochs, in which accidental agreement is looked up: users' samples and records' boxes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.core.boxes import Boxes
from shoal.hiding.epochs import EpochSlice
from shoal.hiding.kernels.leakage import PublishedEpochs
from shoal.hiding.kernels.pools import OWN_SLOT, own_lines


class PublishedEpochsBuilder:
    """Keeps the last published epochs, at least ``memory`` of them."""

    def __init__(self, n_users: int, memory: int) -> None:
        self._memory = memory
        self._latest = np.full(n_users, -1, np.int64)
        self._epoch, self._earlier = _Growing((), np.int64), _Growing((), np.int64)
        self._own_first, self._box_first = _Growing((), np.int64), _Growing((), np.int64)
        self._own, self._box = _Growing((5,), np.int32), _Growing((6,), np.int32)
        for start in (self._own_first, self._box_first):
            start.extend(np.zeros(1, np.int64))
        self._sizes: list[int] = []  # rows of each epoch

    def append(self, part: EpochSlice, boxes: Boxes) -> None:
        """Add the next epoch: its users' samples and the boxes published, which go by user."""
        users, n_rows = part.users, len(self._epoch.values)
        sizes = np.bincount(np.searchsorted(users, boxes.owner), minlength=len(users))
        self._own_first.extend(part.raw.ptr[1:] + len(self._own.values))
        self._box_first.extend(np.cumsum(sizes) + len(self._box.values))
        self._own.extend(own_lines(part.raw))
        self._box.extend(
            np.stack(
                [boxes.t0 - part.origin, boxes.t1 - part.origin, boxes.x0, boxes.x1, boxes.y0, boxes.y1],
                axis=1,
            ).astype(np.int32)
        )
        self._earlier.extend(self._latest[users])
        self._latest[users] = n_rows + np.arange(len(users))
        self._epoch.extend(np.full(len(users), part.epoch))
        self._sizes.append(len(users))
        if len(self._sizes) >= self._memory + self._memory // 4:
            self._forget(len(self._sizes) - self._memory)

    def _forget(self, n_epochs: int) -> None:
        """Drop the oldest epochs."""
        n_rows = sum(self._sizes[:n_epochs])
        del self._sizes[:n_epochs]
        n_slots, n_boxes = int(self._own_first.values[n_rows]), int(self._box_first.values[n_rows])
        self._epoch.drop(n_rows)
        self._earlier.drop(n_rows, n_rows)
        self._own_first.drop(n_rows, n_slots)
        self._box_first.drop(n_rows, n_boxes)
        self._own.drop(n_slots)
        self._box.drop(n_boxes)
        self._latest -= n_rows
        for link in (self._earlier.values, self._latest):  # where a chain led further back, it ends
            np.maximum(link, -1, out=link)

    @property
    def published_epochs(self) -> PublishedEpochs:
        """Everything kept, as kernels read it."""
        return PublishedEpochs(
            self._epoch.values,
            self._own_first.values,
            self._own.values.view(OWN_SLOT).reshape(-1),
            self._box_first.values,
            self._box.values,
            self._earlier.values,
            self._latest,
        )


class _Growing:
    """An array that grows at its end; when it is full it moves to one twice as long."""

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
        """Drop the first n lines and take ``less`` off the values of the others."""
        self._length -= n
        self._room[: self._length] = self._room[n : n + self._length]
        self._room[: self._length] -= self._room.dtype.type(less)
