"""Presence patterns: in which epochs of a window each user is published, as exact bit strings."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.core.arrays import Bools, Int32s, Int64s

_FEW = 1 << 16  # words below this are numbered by counting, which is quicker than sorting

Words = npt.NDArray[np.uint64]


class Patterns:
    """The presence of every user in the last r + 1 epochs, as bits of a ring that forgets the oldest."""

    def __init__(self, n_users: int, reach: int) -> None:
        self._width = reach + 1
        self._words: Words = np.zeros((n_users, -(-self._width // 64)), np.uint64)

    def clear(self) -> None:
        """Forget everything: a new stretch begins."""
        self._words[:] = 0

    def open_epoch(self, epoch: int) -> None:
        """Forget the epoch that leaves the window when this one enters."""
        word, bit = divmod(epoch % self._width, 64)
        self._words[:, word] &= ~np.uint64(1 << bit)

    def publish(self, epoch: int, users: Int32s) -> None:
        """Set the bit of the epoch for users who are published in it."""
        word, bit = divmod(epoch % self._width, 64)
        self._words[users, word] |= np.uint64(1 << bit)

    def of(self, users: Int32s | Bools) -> Words:
        """The patterns of some users, a line of 64-bit words each."""
        return self._words[users]

    def seen(self) -> Bools:
        """Whether each user is published in any of these epochs."""
        return np.asarray(self._words.any(axis=1))


def group_equal(words: Words) -> Int64s:
    """Number the lines: equal lines have equal numbers, which count from 0 in the lines' sorting order."""
    if words.shape[1] > 1:
        return np.unique(words, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
    if words.max(initial=0) >= _FEW:
        return np.unique(words[:, 0], return_inverse=True)[1].astype(np.int64)
    word = words[:, 0].astype(np.int64)
    number: Int64s = np.cumsum(np.bincount(word) > 0) - 1
    return number[word]
