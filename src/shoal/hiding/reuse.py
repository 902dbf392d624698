"""Which partners a user has had, and which of them may serve again (design 3.3)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.core.arrays import Bytes, Int32s, Int64s
from shoal.core.sorting import move_entries
from shoal.hiding.kernels.nearest import Barred, Past
from shoal.hiding.settings import Reuse

_EVER = -(2**31)  # before any window
_FIRST_ROOM = 4
_MOST_LEFT = 0.1  # share of the room that may be left behind
_NOBODY = np.empty((0, 0), np.int32)


class History:
    """Every owner's past members with the windows in which they served, and how alone they were in these.

    The entries of a user lie together, in a piece of room that is an eighth larger each time it gets full. What is left
    behind serves the next user who needs that much, and where much is left, everybody moves together. So memory is for
    what happened, however uneven.
    """

    def __init__(self, n_users: int, reuse: Reuse, reach: int) -> None:
        self.reuse = reuse
        self._spacing = 2 * reach + 1
        self._entries = _Entries(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.uint8))
        self._taken = 0
        self._left: dict[int, list[Int64s]] = {}
        self._n_left = 0
        self._first = np.zeros(n_users, np.int64)
        self._room = np.zeros(n_users, np.int64)
        self._length = np.zeros(n_users, np.int32)

    def reserve(self, entries: Int64s) -> None:
        """Give every user room for so many entries at once, before the first: quicker where many are known ahead."""
        self._taken = int(entries.sum())
        self._first, self._room = np.cumsum(entries) - entries, entries.astype(np.int64)
        self._entries = _Entries(*(_enlarged(column, self._taken) for column in self._entries))

    def append(self, window: int, owners: Int32s, members: Int32s, alone: Bytes | int = 0) -> None:
        """Note that each owner had each of its members (a line per owner) in a window, and how alone its first was."""
        for column in range(members.shape[1]):
            self._append_pairs(window, owners, members[:, column], alone)
            if self.reuse is Reuse.PAIR:
                self._append_pairs(window, members[:, column], owners, alone)

    def append_each(self, window: int, owners: Int32s, members: Int32s) -> None:
        """Note pairs of an owner and a member; either may be in several."""
        directions = [(owners, members)]
        if self.reuse is Reuse.PAIR:
            directions.append((members, owners))
        for one, other in directions:
            order = np.argsort(one, kind="stable")
            turn = np.arange(len(one)) - np.searchsorted(one[order], one[order])
            for number in range(int(turn.max(initial=-1)) + 1):
                now = order[turn == number]
                self._append_pairs(window, one[now], other[now], 0)

    def _append_pairs(self, window: int, owners: Int32s, members: Int32s, alone: Bytes | int) -> None:
        # Owners are all different here, since the members of one column are a permutation of the owners.
        full = owners[self._length[owners] == self._room[owners]]
        for room in np.unique(self._room[full]).tolist():
            self._move(full[self._room[full] == room], room, room + max(_FIRST_ROOM, room // 8))
        if self._n_left > _MOST_LEFT * self._taken:
            self._move_together()
        entry = self._first[owners] + self._length[owners]
        self._entries.member[entry] = members
        self._entries.when[entry] = window
        self._entries.alone[entry] = alone
        self._length[owners] += 1

    def _move(self, users: Int32s, room: int, larger: int) -> None:
        """Give users who have some room a larger one."""
        old, new = self._first[users], self._find_room(len(users), larger)
        lines = np.arange(room)
        for column in self._entries:
            column[new[:, None] + lines] = column[old[:, None] + lines]
        if room:
            self._left.setdefault(room, []).append(old)
            self._n_left += room * len(old)
        self._first[users], self._room[users] = new, larger

    def _find_room(self, n: int, room: int) -> Int64s:
        """Where n pieces of room are: such as were left behind, then fresh ones."""
        left = np.concatenate([*self._left.pop(room, []), np.empty(0, np.int64)])
        if len(left) > n:
            self._left[room] = [left[n:]]
        self._n_left -= room * min(n, len(left))
        fresh = self._taken + room * np.arange(max(n - len(left), 0))
        self._taken += room * len(fresh)
        if self._taken > len(self._entries.member):
            self._entries = _Entries(*(_enlarged(column, self._taken) for column in self._entries))
        return np.concatenate([left[:n], fresh])

    def _move_together(self) -> None:
        """Leave no room behind; column by column, so that it takes little more memory for a while."""
        first = np.cumsum(self._room) - self._room
        self._taken = int(self._room.sum())
        columns = []
        for column in self._entries:
            moved = np.empty(self._taken + self._taken // 16, column.dtype)
            move_entries(column, self._first, self._length, moved, first)
            columns.append(moved)
        self._entries = _Entries(*columns)
        self._first, self._left, self._n_left = first, {}, 0

    def barred(self, window: int, picked: Int32s = _NOBODY) -> Barred:
        """Who may not be picked in a window, given what has been picked in it already."""
        since = window - self._spacing + 1 if self.reuse is Reuse.SPACED else _EVER
        return Barred(Past(*self._entries, self._first, self._length), since, picked)


class _Entries(NamedTuple):
    member: Int32s
    when: Int32s
    alone: Bytes


def _enlarged(column: npt.NDArray[Any], needed: int) -> npt.NDArray[Any]:
    room = np.empty(max(needed, len(column) + len(column) // 8), column.dtype)
    room[: len(column)] = column
    return room
