"""Favour members with whom the owner's record does not agree outside their window (guarantee 2 as an attacker sees it).

By construction a record holds a member's samples in one window only. By accident it may agree with them in other epochs
as well, and where it is the only record left to an attacker, these leak. So an edge owner <- member is made dearer

- for every published epoch in which the owner's record agrees with the member, and
- for every live epoch in which, with the member joined, it would agree with a former member,

each as far as the one who would be hidden is alone in that window, that is, left with no more than k records.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.blocks import Workers, with_members
from shoal.boxes import Boxes
from shoal.epochs import EpochSlice
from shoal.hiding.chronicle import Chronicle, hulls, near_order, own_slots
from shoal.hiding.pick import Edges
from shoal.hiding.window import member_rows
from shoal.kernels.company import Ledger, alone_shares, live_agreements, published_agreements
from shoal.kernels.merge import merge_boxes
from shoal.kernels.search import Barred, WindowArrays
from shoal.promise import Promise
from shoal.samples import Floats, Int32s, Int64s

_MOST = 3  # epochs that are counted for an edge: an owner who agrees with everybody must still choose
_MEMORY = 96  # epochs looked back, two days of half hours: time and memory must not grow with the length of the data


class _Window(NamedTuple):
    """Whom to look at in which rows of a ledger: a line per victim, a column per epoch."""

    victim: Int32s
    first: Int64s
    last: Int64s


class Company:
    """What was published so far, and what it says about the company that records and users keep.

    ``price`` is that of an epoch that would leak, in cheapest edges of the window (docs/decisions/0006-leakage.md).
    """

    def __init__(self, n_users: int, first_epoch: int, reach: int, promise: Promise, price: float) -> None:
        self._first_epoch = first_epoch
        self._reach = reach
        self._promise = promise
        self._price = price
        self._chronicle = Chronicle(n_users, _MEMORY)
        # Laid out like a history of reuse: how alone each former member was, once that was asked.
        self._alone = np.full((n_users, 0), np.nan)

    def note(self, settled: list[EpochSlice], boxes: Boxes) -> None:
        """Remember epochs and the boxes published in them."""
        for part, following in zip(settled, [*settled[1:], None], strict=True):
            inside = boxes.t0 >= part.origin
            if following is not None:
                inside &= boxes.t0 < following.origin
            self._chronicle.append(part, Boxes._make(column[inside] for column in boxes))

    def surcharge(
        self, window: int, arrays: WindowArrays, barred: Barred, edges: Edges, workers: Workers
    ) -> Floats:
        """How much dearer each edge should be; edges go by owner."""
        if not len(self._chronicle) or not len(edges.owner):
            return np.zeros(len(edges.owner))
        starts = np.flatnonzero(np.diff(edges.owner, prepend=-1))
        cheapest = np.minimum.reduceat(edges.cost, starts)
        price = self._price * float(cheapest.mean())
        reach = np.repeat(cheapest + price, np.diff(starts, append=len(edges.owner)))
        near = edges.cost <= reach  # what costs more than the cheapest and its price is no way out
        inquired = Edges(edges.owner[near], edges.member[near], edges.cost[near])
        leaking = self._published(window, arrays, inquired, workers)
        leaking += self._live(window, arrays, barred, inquired, workers)
        surcharge = np.zeros(len(edges.owner))
        # Whole numbers, like the costs: the solver is faster with these.
        surcharge[near] = np.rint(price * np.minimum(leaking, _MOST))
        return surcharge

    def _published(self, window: int, arrays: WindowArrays, edges: Edges, workers: Workers) -> Floats:
        """Epochs that are out already and would leak if an edge were picked."""
        chained = self._chronicle.chained
        owners, members = arrays.user[edges.owner], arrays.user[edges.member]
        count = np.empty(len(owners), np.int32)
        oldest = self._first_epoch + window - _MEMORY
        workers.over(
            len(owners),
            lambda begin, end: published_agreements(chained, oldest, owners, members, begin, end, count),
        )
        concerned = np.unique(edges.member[count > 0])
        alone = np.zeros(len(arrays.user))
        if len(concerned):
            alone[concerned] = self._alone_now(arrays, edges, arrays.user[concerned], workers)
        return np.minimum(count, _MOST) * alone[edges.member]

    def _live(
        self, window: int, arrays: WindowArrays, barred: Barred, edges: Edges, workers: Workers
    ) -> Floats:
        """Epochs of this window that would leak former members if an edge were picked."""
        own = own_slots(arrays.raw)
        former = np.empty((len(edges.owner), _MOST), np.int32)
        settled = window - self._reach
        workers.over(
            len(former),
            lambda begin, end: live_agreements(
                arrays, own, barred, window - _MEMORY, settled, edges.owner, edges.member, begin, end, former
            ),
        )
        missing = barred.past.shape[1] - self._alone.shape[1]
        if missing:
            self._alone = np.pad(self._alone, ((0, 0), (0, missing)), constant_values=np.nan)
        line, place = np.nonzero(former >= 0)
        owner, entry = arrays.user[edges.owner[line]], former[line, place]
        unknown = np.unique(np.stack([owner, entry])[:, np.isnan(self._alone[owner, entry])], axis=1)
        self._alone[unknown[0], unknown[1]] = self._alone_then(
            barred.past[unknown[0], unknown[1]], barred.when[unknown[0], unknown[1]], workers
        )
        total: Floats = np.bincount(line, self._alone[owner, entry], minlength=len(former)).astype(np.float64)
        return total

    def _alone_then(self, victim: Int32s, window: Int32s, workers: Workers) -> Floats:
        """How alone users were in windows that are published."""
        epochs = self._first_epoch + window[:, None].astype(np.int64) + np.arange(self._reach + 1)
        return self._shares(
            self._chronicle.chained.ledger, _Window(victim, *self._chronicle.rows(epochs)), workers
        )

    def _alone_now(self, arrays: WindowArrays, edges: Edges, victim: Int32s, workers: Workers) -> Floats:
        """How alone users would be in this window if everybody picked the cheapest member."""
        first_choice = np.lexsort((edges.cost, edges.owner))[np.flatnonzero(np.diff(edges.owner, prepend=-1))]
        member = np.full(len(arrays.user), -1, np.int32)
        member[edges.owner[first_choice]] = edges.member[first_choice]
        pools = with_members(arrays.pools, arrays.raw, member_rows(arrays, member), workers)
        count, box = np.empty(len(pools.ptr) - 1, np.int64), np.empty((len(pools.t), 6), np.int32)
        workers.over(len(count), lambda begin, end: merge_boxes(pools, arrays.weight, begin, end, count, box))
        within = np.arange(len(box)) - np.repeat(pools.ptr[:-1], np.diff(pools.ptr))
        present = arrays.row >= 0
        user = np.empty(len(count), np.int32)
        user[arrays.row[present]] = np.repeat(arrays.user, present.sum(axis=1))
        box = box[within < np.repeat(count, np.diff(pools.ptr))]
        bounds = np.concatenate([[0], np.cumsum(present.sum(axis=0))])
        near, spot = near_order(arrays.raw, bounds.tolist())
        ledger = Ledger(
            user=user,
            own_first=arrays.raw.ptr,
            own=own_slots(arrays.raw),
            box_first=np.concatenate([[0], np.cumsum(count)]),
            box=box,
            hull=hulls(box, count),
            near=near,
            spot=spot,
        )
        shape = (len(victim), present.shape[1])
        rows = (np.ascontiguousarray(np.broadcast_to(part, shape)) for part in (bounds[:-1], bounds[1:]))
        return self._shares(ledger, _Window(victim, *rows), workers)

    def _shares(self, ledger: Ledger, window: _Window, workers: Workers) -> Floats:
        share = np.empty(len(window.victim))
        epsilon, tau = self._promise.epsilon or 1, self._promise.tau or 1
        workers.over(
            len(share),
            lambda begin, end: alone_shares(
                ledger, *window, epsilon, tau, self._promise.k, begin, end, share
            ),
        )
        return share
