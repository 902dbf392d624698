"""A window as kernels read it, cut into shards, and the hiding sets chosen in it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.core.arrays import Bytes, Int32s, Int64s
from shoal.core.workers import Workers
from shoal.errors import UnfinishedError
from shoal.hiding.epochs import LiveEpoch
from shoal.hiding.kernels.merge import CostRule
from shoal.hiding.kernels.pools import concatenate_pools
from shoal.hiding.kernels.window import WindowArrays, order_near
from shoal.hiding.merging import costs_of
from shoal.hiding.patterns import group_equal


class HidingSets(NamedTuple):
    """The hiding sets of one window: a line of k - 1 members per owner, numbered in the whole dataset.

    Over whole trajectories an owner may have more; -1 stands where it has fewer than the one that has most.
    relaxed: per owner, members that serve it again although the reuse rule forbids it. exposure: how exposed the first
    member of each owner is in the window, in sixtieths; 0 where leakage is not weighed.
    """

    owners: Int32s
    members: Int32s
    relaxed: Int32s
    exposure: Bytes

    @property
    def n_members(self) -> int:
        """Members in all sets."""
        return int((self.members >= 0).sum())

    def pairs(self) -> tuple[Int32s, Int32s]:
        """Owners and members, one by one."""
        there = self.members >= 0
        return np.repeat(self.owners, there.sum(axis=1)), self.members[there]


def no_hiding_sets(k: int) -> HidingSets:
    """The hiding sets of a window in which nobody is present."""
    nobody = np.empty(0, np.int32)
    return HidingSets(nobody, np.empty((0, k - 1), np.int32), nobody, np.empty(0, np.uint8))


def build_window(
    epochs: list[LiveEpoch], n_users: int, rank: Int32s, weight: CostRule, workers: Workers
) -> WindowArrays:
    """A window of these epochs: its users are numbered by presence pattern and, inside a pattern, near ones together.

    rank: an order of all users, which decides between users who are at the same place.
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
    workers.for_each(
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


def check_groups(arrays: WindowArrays, k: int) -> None:
    """Refuse groups of fewer than k users, which suppression should have left nowhere."""
    if len(arrays.user) and int((arrays.last - arrays.first).min()) < k:
        raise UnfinishedError("Self-check failed: a presence pattern is shared by fewer than k users.")


def first_users(arrays: WindowArrays) -> Int32s:
    """The first user of every group."""
    return np.flatnonzero(arrays.first == np.arange(len(arrays.first))).astype(np.int32)


def _pack(presence: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint64]:
    """Lines of bits as lines of words."""
    padding = -presence.shape[1] % 64
    padded = np.pad(presence, ((0, 0), (0, padding)))
    return np.packbits(padded, axis=1).view(np.uint64)


def cut_into_shards(arrays: WindowArrays, most: int, k: int) -> WindowArrays:
    """The window with large groups cut into shards of at most ``most`` users, about equally many in each.

    From here on a shard is a group: its users, who are near each other, hide among themselves. So a shard has at least
    k users, whatever ``most`` is.
    """
    first = np.unique(arrays.first).astype(np.int64)
    n = arrays.last[first] - first
    shards = np.maximum(np.minimum(-(-n // most), n // k), 1)
    number = np.arange(shards.sum()) - np.repeat(np.cumsum(shards) - shards, shards)
    starts = np.repeat(first, shards) + number * np.repeat(n, shards) // np.repeat(shards, shards)
    ends = np.append(starts[1:], len(arrays.user))
    return arrays._replace(
        first=np.repeat(starts, ends - starts).astype(np.int32),
        last=np.repeat(ends, ends - starts).astype(np.int32),
    )
