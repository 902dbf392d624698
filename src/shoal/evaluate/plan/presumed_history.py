"""Who presumably served whom before a stretch: neighbours who come and go alike, drawn without computing costs.

A member serves an owner once, so after days the best are used up, and boxes grow (docs/plan.md). A stretch in the
middle of the data needs such a history, but only roughly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.core.arrays import Int32s
from shoal.hiding.epochs import EpochSlice

_MOST_BITS = 63
_CELLS = 16  # bits of each coordinate that order users by place


PresumedHistory = dict[
    int, tuple[Int32s, Int32s]
]  # owners and their members, by the first epoch of the window


class EpochPlaces(NamedTuple):
    """Who is present in an epoch, and the place as a number: users who are near each other have similar ones."""

    users: Int32s
    place: npt.NDArray[np.uint32]


def places_of_epoch(part: EpochSlice) -> EpochPlaces:
    """Who is where in an epoch; of several samples the first counts."""
    slots = part.raw.slot.view(np.int32).reshape(-1, 6)[part.raw.ptr[:-1]]
    x, y = (_spread(slots[:, column]) for column in (1, 3))
    return EpochPlaces(part.users, x | (y << np.uint32(1)))


def _spread(cells: Int32s) -> npt.NDArray[np.uint32]:
    """The last bits of each number with a zero between any two: two such numbers make a position on a Z-order curve."""
    bits = (cells & ((1 << _CELLS) - 1)).astype(np.uint32)
    for shift, mask in ((8, 0x00FF00FF), (4, 0x0F0F0F0F), (2, 0x33333333), (1, 0x55555555)):
        bits = (bits | (bits << np.uint32(shift))) & np.uint32(mask)
    return bits


class HistoryGuesser:
    """Takes one epoch after the other, and presumes the hiding sets of the window that ends with the last."""

    def __init__(self, n_users: int, reach: int, k: int, seed: int) -> None:
        self._mask = np.uint64((1 << min(reach + 1, _MOST_BITS)) - 1)
        self._pattern = np.zeros(n_users, np.uint64)
        self._place = np.zeros(n_users, np.uint32)
        self._k = k
        self._draw = np.random.default_rng(seed)

    def see(self, epoch: EpochPlaces) -> None:
        """Take the next epoch."""
        self._pattern <<= np.uint64(1)
        self._pattern &= self._mask
        self._pattern[epoch.users] |= np.uint64(1)
        self._place[epoch.users] = epoch.place

    def guess(self) -> tuple[Int32s, Int32s]:
        """Owners, and the k - 1 users next to each in its group; users of one place are in random order.

        The nearest users are taken, so the nearest are used up first, as in a full run. Users from further away would
        leave the nearest free, and forecasts would be too cheap (docs/plan.md).
        """
        users = np.flatnonzero(self._pattern).astype(np.int32)
        if not len(users):
            return users, np.empty((0, self._k - 1), np.int32)
        pattern, place = self._pattern[users], self._place[users]
        order = np.lexsort((self._draw.random(len(users), np.float32), place, pattern))
        users, pattern = users[order], pattern[order]
        first = np.flatnonzero(np.append(True, pattern[1:] != pattern[:-1]))
        size = np.diff(np.append(first, len(users)))
        shift = np.where(self._draw.random(len(size)) < 0.5, 1, size - self._k + 1)
        begin, shift, size = (np.repeat(column, size) for column in (first, shift, size))
        within = np.arange(len(users)) - begin
        enough = size >= self._k
        members = [users[begin + (within + shift + column) % size] for column in range(self._k - 1)]
        return users[enough], np.stack(members, axis=1)[enough]


def presume_history(
    places: dict[int, EpochPlaces], n_users: int, reach: int, k: int, seed: int
) -> PresumedHistory:
    """Presumed hiding sets of every window, by its first epoch."""
    guesser, past = HistoryGuesser(n_users, reach, k, seed), {}
    for number, epoch in places.items():
        guesser.see(epoch)
        past[number - reach] = guesser.guess()
    return past
