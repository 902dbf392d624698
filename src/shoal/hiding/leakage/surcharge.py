"""Favour members with whom the owner's record does not agree outside their window (guarantee 2 as an attacker sees it).

By construction a record holds a member's samples in one window only. By accident it may agree with them in other epochs
as well, and where it is the only record left to an attacker, these leak. So an edge owner <- member is made dearer

- for every published epoch in which the owner's record agrees with the member, and
- for every live epoch in which, with the member joined, it would agree with a former member,

each as far as the one who would be hidden is alone in that window, that is, left with no more than k records. All of it
is looked up inside the owner's group of the window, so that groups can be decided apart.
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
    show,
)
from shoal.hiding.kernels.pools import slot_lines
from shoal.hiding.kernels.reuse import ReuseRule
from shoal.hiding.kernels.window import WindowArrays
from shoal.hiding.matching.assignment import Edges, edge_starts
from shoal.hiding.merging import with_members
from shoal.hiding.window import member_rows

MEMORY = 96  # epochs looked back, two days of half hours: time and memory must not grow with the length of the data
_MOST = 3  # epochs that are counted for an edge: an owner who agrees with everybody must still choose
_UNITS = 60  # in which it is told how alone somebody is
_OTHER_GROUPS = (
    100  # records of other groups that may fit as well: in a small group nobody is as alone as it seems
)


class LeakageContext(NamedTuple):
    """What is known of the company that records and users kept when a window is decided.

    ``epoch`` is the window's first one, ``price`` that of an epoch that would leak, in cheapest edges of the group
    (docs/decisions/0006-leakage.md); tau and epsilon are in slots.
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
        """The first epoch that is looked at."""
        return self.epoch - MEMORY


class Surcharge(NamedTuple):
    """How much dearer each edge should be, and how alone each user is in this window, in sixtieths."""

    of_edge: Floats
    exposure: Bytes


def leakage_surcharge(
    leakage: LeakageContext, arrays: WindowArrays, rule: ReuseRule, edges: Edges, workers: Workers
) -> Surcharge:
    """What keeps company from telling more than is promised; edges go by owner."""
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
    told = np.flatnonzero(exposure[member])
    leaking[told] += _published(leakage, arrays, owner[told], member[told], workers) * exposure[member[told]]
    dearer = np.zeros(len(edges.owner))
    # Whole numbers, like the costs: their sums are exact, so equal ones are known to be equal.
    dearer[near] = np.rint(price[owner] * np.minimum(leaking / _UNITS, _MOST))
    return Surcharge(dearer, exposure)


def _mean_of_group(cheapest: Floats, some: Bools, group: Int32s) -> Floats:
    """For every owner, the mean of the cheapest edges in its group; some: who has any."""
    total, n = np.bincount(group, cheapest), np.bincount(group, some)
    mean: Floats = (total / np.maximum(n, 1))[group]
    return mean


def _exposure(leakage: LeakageContext, arrays: WindowArrays, member: Int32s, workers: Workers) -> Bytes:
    """How alone users would be in this window if everybody picked the cheapest member."""
    pools = with_members(arrays.pools, arrays.raw, member_rows(arrays, member), workers)
    n_rows = len(pools.ptr) - 1
    shown = RecordBoxes(
        pools.ptr[:-1],
        np.empty(n_rows, np.int64),
        np.empty((len(pools.slot), 6), np.int32),
        np.empty((n_rows, 4), np.int32),
    )
    workers.for_blocks(n_rows, lambda begin, end: show(pools, arrays.weight, begin, end, shown))
    own, exposure = slot_lines(arrays.raw), np.empty(len(arrays.user), np.uint8)
    workers.for_blocks(
        len(exposure),
        lambda begin, end: exposed_shares(
            arrays, own, shown, leakage.epsilon, leakage.tau, leakage.k, begin, end, exposure
        ),
    )
    group = arrays.last - arrays.first
    seeming: Bytes = np.rint(exposure * (_UNITS / 6) * group / (group + _OTHER_GROUPS)).astype(np.uint8)
    return seeming


def _published(
    leakage: LeakageContext, arrays: WindowArrays, owner: Int32s, member: Int32s, workers: Workers
) -> Int32s:
    """In how many epochs that are out already each edge would leak, up to _MOST."""
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
    """How many epochs of this window would leak former members if an edge were picked, in sixtieths."""
    own, leaking = slot_lines(arrays.raw), np.empty(len(owner), np.int32)
    oldest, settled = leakage.window - MEMORY, leakage.window - leakage.reach
    workers.for_blocks(
        len(leaking),
        lambda begin, end: live_agreements(
            arrays, own, rule, oldest, settled, owner, member, _MOST, begin, end, leaking
        ),
    )
    return leaking
