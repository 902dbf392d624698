"""The surcharge on leaking edges: members with whom the owner's record agrees outside their window are made dearer.

By construction a record holds a member's samples in one window only (guarantee 2). By accident it may agree with the
member in other epochs as well, and where it is the only record left to an attacker, these epochs leak. So an edge
owner <- member is made dearer

- for every published epoch in which the owner's record agrees with the member, and
- for every live epoch in which the owner's record, with the member joined, would agree with a former member,

weighted by the exposure of the person who would be hidden: the share of intervals of length tau in the window for which
an attacker is left with no more than k records. Everything is looked up inside the owner's group of the window, so that
groups can be decided apart. docs/decisions/0006-leakage.md has the figures.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Bools, Bytes, Floats, Int32s
from shoal.core.workers import Workers
from shoal.hiding.kernels.leakage import (
    PublishedEpochs,
    RecordBoxes,
    cheapest_edges,
    exposed_shares,
    live_agreements,
    published_agreements,
    write_record_boxes,
)
from shoal.hiding.kernels.reuse import ReuseRule
from shoal.hiding.kernels.window import WindowArrays
from shoal.hiding.matching.assignment import Edges, edge_starts
from shoal.hiding.merging import with_members
from shoal.hiding.window import member_rows

MEMORY = 96  # epochs looked back, two days of half hours: time and memory must not grow with the length of the data
_MOST = 3  # epochs that are counted for an edge: an owner who agrees with everybody must still choose
_UNITS = 60  # of exposure: 60 is left with k records or fewer in every interval
_OTHER_GROUPS = (
    100  # records of other groups that may fit, too: in a small group users seem more exposed than they are
)


class LeakageContext(NamedTuple):
    """What the surcharge goes by when a window is decided.

    epoch: the window's first one. price: of an epoch that would leak, in mean cheapest edges of the group. tau and
    epsilon are in slots.
    """

    published_epochs: PublishedEpochs
    window: int
    epoch: int
    reach: int
    k: int
    tau: int
    epsilon: int
    price: float

    @property
    def oldest_epoch(self) -> int:
        """The first published epoch that is looked at."""
        return self.epoch - MEMORY


class Surcharge(NamedTuple):
    """How much dearer each edge becomes, and how exposed each user is in this window, in sixtieths."""

    of_edge: Floats
    exposure: Bytes


def leakage_surcharge(
    leakage: LeakageContext, arrays: WindowArrays, rule: ReuseRule, edges: Edges, workers: Workers
) -> Surcharge:
    """The surcharge on every edge of a window; edges go by owner."""
    best = np.empty(len(arrays.user), np.int64)
    cheapest_edges(edge_starts(edges.owner, len(best)), edges.cost, best)
    some = best >= 0
    member, cheapest = np.full(len(best), -1, np.int32), np.zeros(len(best))
    member[some], cheapest[some] = edges.member[best[some]], edges.cost[best[some]]
    exposure = _exposure(leakage, arrays, member, workers)
    price = leakage.price * _mean_of_group(cheapest, some, arrays.first)
    # What costs more than the cheapest and its price is no way out.
    near = np.flatnonzero(edges.cost <= (cheapest + price)[edges.owner])
    owner, member = edges.owner[near], edges.member[near]
    leaking = _live(leakage, arrays, rule, owner, member, workers)
    exposed = np.flatnonzero(exposure[member])
    published = _published(leakage, arrays, owner[exposed], member[exposed], workers)
    leaking[exposed] += published * exposure[member[exposed]]
    dearer = np.zeros(len(edges.owner))
    # Whole numbers, like the costs: their sums are exact, so equal ones are known to be equal.
    dearer[near] = np.rint(price[owner] * np.minimum(leaking / _UNITS, _MOST))
    return Surcharge(dearer, exposure)


def _mean_of_group(cheapest: Floats, some: Bools, group: Int32s) -> Floats:
    """For every owner, the mean cost of the cheapest edges in its group; some: the owners who have any edge."""
    total, n = np.bincount(group, cheapest), np.bincount(group, some)
    mean: Floats = (total / np.maximum(n, 1))[group]
    return mean


def _exposure(leakage: LeakageContext, arrays: WindowArrays, member: Int32s, workers: Workers) -> Bytes:
    """How exposed users would be in this window if everybody picked the cheapest member, in sixtieths."""
    pools = with_members(arrays.pools, arrays.raw, member_rows(arrays, member), workers)
    n_rows = len(pools.ptr) - 1
    shown = RecordBoxes(
        pools.ptr[:-1],
        np.empty(n_rows, np.int64),
        np.empty((len(pools.slot), 6), np.int32),
        np.empty((n_rows, 4), np.int32),
    )
    workers.for_blocks(n_rows, lambda begin, end: write_record_boxes(pools, arrays.weight, begin, end, shown))
    exposure = np.empty(len(arrays.user), np.uint8)
    workers.for_blocks(
        len(exposure),
        lambda begin, end: exposed_shares(
            arrays, shown, leakage.epsilon, leakage.tau, leakage.k, begin, end, exposure
        ),
    )
    group = arrays.last - arrays.first
    overall: Bytes = np.rint(exposure * (_UNITS / 6) * group / (group + _OTHER_GROUPS)).astype(np.uint8)
    return overall


def _published(
    leakage: LeakageContext, arrays: WindowArrays, owner: Int32s, member: Int32s, workers: Workers
) -> Int32s:
    """In how many published epochs each edge would leak, up to _MOST."""
    owners, members = arrays.user[owner], arrays.user[member]
    count, oldest = np.empty(len(owners), np.int32), leakage.oldest_epoch
    workers.for_blocks(
        len(owners),
        lambda begin, end: published_agreements(
            leakage.published_epochs, oldest, owners, members, _MOST, begin, end, count
        ),
    )
    return count


def _live(
    leakage: LeakageContext,
    arrays: WindowArrays,
    rule: ReuseRule,
    owner: Int32s,
    member: Int32s,
    workers: Workers,
) -> Int32s:
    """In how many epochs of this window each edge would leak former members, in sixtieths of exposure."""
    leaking = np.empty(len(owner), np.int32)
    oldest, until = leakage.window - MEMORY, leakage.window - leakage.reach
    workers.for_blocks(
        len(leaking),
        lambda begin, end: live_agreements(
            arrays, rule, oldest, until, owner, member, _MOST, begin, end, leaking
        ),
    )
    return leaking
