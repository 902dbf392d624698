"""Reuse: which members a user has had, which of them may serve again, and what it costs where partners run out.

Whether one user may serve another in a window is asked of a ``ReuseRule`` (kernels/reuse.py: ``may_serve``), which
``History.rule`` makes for the window. Where a group has too few partners left, the rule is relaxed for that group:
``reuse_weight`` says how much each reuse then counts, matching/candidates.py (``with_reused``) and mutual/candidates.py
(``edge_penalties``) make it dearer than anything else, and every reuse is counted in ``HidingSets.relaxed``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.core.arrays import Bytes, Int32s, Int64s
from shoal.core.options import Reuse
from shoal.core.sorting import move_entries
from shoal.hiding.kernels.reuse import NEVER, PastMembers, ReuseRule, count_forbidden

_FIRST_ROOM = 4
_MOST_LEFT = 0.1  # share of the room that may be left behind
_NOBODY = np.empty((0, 0), np.int32)


class History:
    """Every owner's past members, the windows in which they served, and how exposed they were in these windows.

    The entries of a user lie together, in a piece of memory that grows by an eighth each time it gets full. A piece
    left behind is given to the next user who needs one of its size; once a tenth of the memory is left behind, all
    pieces are moved together. So memory stays near what is remembered, however unevenly users come.
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

    def append(self, window: int, owners: Int32s, members: Int32s, exposure: Bytes | int = 0) -> None:
        """Note each owner's members in a window (a line of k - 1 per owner), and how exposed the first of them was."""
        for column in range(members.shape[1]):
            self._append_pairs(window, owners, members[:, column], exposure)
            if self.reuse is Reuse.PAIR:
                self._append_pairs(window, members[:, column], owners, exposure)

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

    @contextmanager
    def assuming(self, windows: Iterable[tuple[int, Int32s, Int32s]]) -> Iterator[None]:
        """Count the members of some windows (their numbers, owners and members) as long as the context lasts."""
        length = self._length.copy()
        for window, owners, members in windows:
            self.append(window, owners, members)
        try:
            yield
        finally:
            self._length = length

    def _append_pairs(self, window: int, owners: Int32s, members: Int32s, exposure: Bytes | int) -> None:
        # Owners are all different here, since the members of one column are a permutation of the owners.
        full = owners[self._length[owners] == self._room[owners]]
        for room in np.unique(self._room[full]).tolist():
            self._move(full[self._room[full] == room], room, room + max(_FIRST_ROOM, room // 8))
        if self._n_left > _MOST_LEFT * self._taken:
            self._move_together()
        entry = self._first[owners] + self._length[owners]
        self._entries.member[entry] = members
        self._entries.when[entry] = window
        self._entries.exposure[entry] = exposure
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

    def forget(self, before: int) -> None:
        """Forget who served in windows before this one: these count no longer."""
        n_old = np.concatenate([np.zeros(1, np.int64), np.cumsum(self._entries.when < before)])
        n_old = n_old[self._first + self._length] - n_old[self._first]  # a user's entries go by time
        self._first = self._first + n_old
        self._length = (self._length - n_old).astype(np.int32)
        self._room = self._room - n_old
        self._move_together()

    def _find_room(self, n: int, room: int) -> Int64s:
        """Where n pieces of room are: pieces that other users have left come first, then fresh ones."""
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

    def rule(self, window: int, picked: Int32s = _NOBODY) -> ReuseRule:
        """Who may not serve whom in a window, given the members picked in it already."""
        since = window - self._spacing + 1 if self.reuse is Reuse.SPACED else NEVER
        return ReuseRule(PastMembers(*self._entries, self._first, self._length), since, picked)

    def count_again(self, window: int, owners: Int32s, members: Int32s) -> Int32s:
        """How many members of each owner serve in a window although the rule forbids it."""
        count = np.empty(len(owners), np.int32)
        count_forbidden(self.rule(window), owners, members, count)
        return count


class _Entries(NamedTuple):
    member: Int32s
    when: Int32s
    exposure: Bytes


def _enlarged(column: npt.NDArray[Any], needed: int) -> npt.NDArray[Any]:
    room = np.empty(max(needed, len(column) + len(column) // 8), column.dtype)
    room[: len(column)] = column
    return room


def reuse_weight(age: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """How much each reuse counts; age: windows since the member last served, 1 or more.

    A recent reuse counts more than an old one, and the oldest counts 2: two reuses after a long time are better than
    one after a short time.
    """
    weight: npt.NDArray[Any] = age.max(initial=0) + 2 - age
    return weight
