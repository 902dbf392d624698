"""Which partners a user has had, and which of them may serve again (design 3.3)."""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from shoal.kernels.search import Barred
from shoal.samples import Int32s

_EVER = -(2**31)  # before any window


class Reuse(StrEnum):
    """When an owner may have the same member again."""

    ONCE = "once"  # the ordered pair (owner, member) serves in one window only
    PAIR = "pair"  # the unordered pair does
    SPACED = "spaced"  # again after 2r + 1 windows; guarantee 2 is not given


class History:
    """Every owner's past members with the windows in which they served."""

    def __init__(self, n_users: int, reuse: Reuse, reach: int) -> None:
        self.reuse = reuse
        self._spacing = 2 * reach + 1
        self._past = np.empty((n_users, 4), np.int32)
        self._when = np.empty((n_users, 4), np.int32)
        self._count = np.zeros(n_users, np.int32)

    def append(self, window: int, owners: Int32s, members: Int32s) -> None:
        """Note that each owner had each of its members (a line per owner) in a window."""
        for column in range(members.shape[1]):
            self._append_pairs(window, owners, members[:, column])
            if self.reuse is Reuse.PAIR:
                self._append_pairs(window, members[:, column], owners)

    def _append_pairs(self, window: int, owners: Int32s, members: Int32s) -> None:
        # Owners are all different here, since the members of one column are a permutation of the owners.
        if len(owners) and self._count[owners].max() == self._past.shape[1]:
            room = np.empty_like(self._past)
            self._past = np.concatenate([self._past, room], axis=1)
            self._when = np.concatenate([self._when, room], axis=1)
        place = self._count[owners]
        self._past[owners, place] = members
        self._when[owners, place] = window
        self._count[owners] += 1

    def barred(self, window: int, picked: Int32s) -> Barred:
        """Who may not be picked in a window, given what has been picked in it already."""
        since = window - self._spacing + 1 if self.reuse is Reuse.SPACED else _EVER
        return Barred(self._past, self._when, self._count, since, picked)
