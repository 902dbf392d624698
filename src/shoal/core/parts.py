"""Records cut at borders into parts, each published under a name of its own (docs/decisions/0021-new-names.md)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.core.arrays import Int32s, Int64s, Integers
from shoal.core.boxes import Boxes, BoxSource
from shoal.core.formatting import counted
from shoal.core.periods import Periods


@dataclass(frozen=True, repr=False)
class Parts:
    """The parts of everybody: part i is that of user[i] in period[i] and has sizes[i] boxes; by period, then by user.

    Where names never change there is one period, and a part is a whole record.
    """

    periods: Periods
    n_users: int
    user: Int32s
    period: Int32s
    sizes: Int64s

    def __repr__(self) -> str:
        return f"<Parts: {counted(len(self), 'part')}, {counted(self.periods.n_periods, 'period')}>"

    def __len__(self) -> int:
        return len(self.user)

    @cached_property
    def _keys(self) -> Int64s:
        return self.period.astype(np.int64) * self.n_users + self.user

    def find(self, users: Integers, periods: Integers) -> Int32s:
        """The parts of some users in some periods; -1 where somebody has none."""
        wanted = periods.astype(np.int64) * self.n_users + users
        place = np.minimum(np.searchsorted(self._keys, wanted), max(len(self) - 1, 0))
        there = self._keys[place] == wanted if len(self) else np.zeros(len(wanted), np.bool_)
        return np.where(there, place, -1).astype(np.int32)

    def in_parts(self, source: BoxSource) -> BoxSource:
        """Boxes whose owners are users, as boxes whose owners are parts."""
        return BoxSource(lambda: (self._in_parts(boxes) for boxes in source))

    def _in_parts(self, boxes: Boxes) -> Boxes:
        return boxes._replace(owner=self.find(boxes.owner, self.periods.of(boxes.t0)))

    def by_users(self, source: BoxSource) -> BoxSource:
        """Boxes whose owners are parts, as boxes whose owners are users."""
        return BoxSource(lambda: (boxes._replace(owner=self.user[boxes.owner]) for boxes in source))


def find_parts(source: Iterable[Boxes], periods: Periods, n_users: int) -> Parts:
    """The parts that some boxes make up; boxes come in order of time, and their owners are users."""
    keys, sizes = np.empty(0, np.int64), np.empty(0, np.int64)
    found: list[tuple[Int64s, Int64s]] = []
    for boxes in source:
        here, n = np.unique(periods.of(boxes.t0) * n_users + boxes.owner, return_counts=True)
        if len(keys) and len(here) and here[0] // n_users > keys[-1] // n_users:
            found.append((keys, sizes))
            keys, sizes = here, n
        else:
            keys, sizes = _summed(np.concatenate([keys, here]), np.concatenate([sizes, n]))
    found.append((keys, sizes))
    keys, sizes = _summed(*(np.concatenate(column) for column in zip(*found, strict=True)))
    period, user = np.divmod(keys, n_users)
    return Parts(periods, n_users, user.astype(np.int32), period.astype(np.int32), sizes)


def _summed(keys: Int64s, sizes: Int64s) -> tuple[Int64s, Int64s]:
    """Each key once, in order, with the sum of its sizes."""
    different, place = np.unique(keys, return_inverse=True)
    return different, np.bincount(place.reshape(-1), weights=sizes, minlength=len(different)).astype(np.int64)
