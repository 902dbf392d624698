"""A window as the search wants it: users numbered group by group, near ones together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.blocks import Workers, costs_of
from shoal.epochs import EpochSlice
from shoal.hiding.patterns import group_equal
from shoal.kernels.pools import Pools, concatenate_pools
from shoal.kernels.search import WindowArrays
from shoal.kernels.tree import order_near
from shoal.samples import Int32s, Int64s


class LiveEpoch(NamedTuple):
    """An epoch that is not published yet: its users' own samples, and what their records hold so far."""

    slice: EpochSlice
    pools: Pools

    def rows(self, users: Int32s) -> Int64s:
        """Where the samples of some users are; -1 for users suppressed here."""
        row = np.searchsorted(self.slice.users, users)
        there = self.slice.users[np.minimum(row, len(self.slice.users) - 1)] == users
        return np.where(there, row, -1)


def arrange(
    epochs: list[LiveEpoch], n_users: int, rank: Int32s, weight: float, workers: Workers
) -> WindowArrays:
    """The users present in these epochs, grouped by presence pattern and, inside a group, by place.

    ``rank`` orders users who are at the same place (a random order by seed).
    """
    users = np.unique(np.concatenate([live.slice.users for live in epochs]))
    row = np.full((len(users), len(epochs)), -1, np.int64)
    shift = 0
    for w, live in enumerate(epochs):
        present = np.searchsorted(users, live.slice.users)
        row[present, w] = shift + np.arange(len(present))
        shift += len(present)
    raw = concatenate_pools([live.slice.raw for live in epochs])
    pools = concatenate_pools([live.pools for live in epochs])
    group = group_equal(_pack(row >= 0))
    order = np.lexsort((rank[users], group))
    bounds = np.concatenate([[0], np.cumsum(np.bincount(group))]) if len(users) else np.zeros(1, np.int64)
    workers.each(
        len(bounds) - 1, lambda number: order_near(row, raw, bounds[number], bounds[number + 1], order)
    )
    users, row, group = users[order].astype(np.int32), row[order], group[order]
    place = np.full(n_users, -1, np.int32)
    place[users] = np.arange(len(users), dtype=np.int32)
    return WindowArrays(
        pools=pools,
        raw=raw,
        row=row,
        base=costs_of(pools, weight, workers),
        first=bounds[group].astype(np.int32),
        last=bounds[group + 1].astype(np.int32),
        user=users,
        place=place,
        weight=weight,
    )


def member_rows(arrays: WindowArrays, member: Int32s) -> Int64s:
    """For every row of the window's pools, the row of the member that joins it; -1 where nobody does."""
    rows = np.empty(len(arrays.base), np.int64)
    present = arrays.row >= 0
    rows[arrays.row[present]] = np.where((member >= 0)[:, None], arrays.row[member], -1)[present]
    return rows


def first_users(arrays: WindowArrays) -> Int32s:
    """The first user of every group."""
    return np.flatnonzero(arrays.first == np.arange(len(arrays.first))).astype(np.int32)


def _pack(presence: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint64]:
    """Lines of bits as lines of words."""
    padding = -presence.shape[1] % 64
    padded = np.pad(presence, ((0, 0), (0, padding)))
    return np.packbits(padded, axis=1).view(np.uint64)
