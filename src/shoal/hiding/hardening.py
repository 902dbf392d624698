"""Hardening: before an epoch is published, some records take in one more person's samples in it, as witnesses.

Then an attacker who knows the method and links windows seldom rules out all records but one (docs/hardening.md). What a
witness is, and the search for the cheapest, is in kernels/witnesses.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Floats, Int32s, Int64s
from shoal.core.boxes import Boxes
from shoal.core.options import HidingOptions
from shoal.core.promise import Promise
from shoal.core.workers import Workers
from shoal.hiding.epochs import EpochSlice, LiveEpoch
from shoal.hiding.kernels.cost_bounds import OWN
from shoal.hiding.kernels.linking import RehearsedAttacks, count_left, weigh_needs
from shoal.hiding.kernels.merge import merge_boxes
from shoal.hiding.kernels.pools import Pools, concatenate_pools
from shoal.hiding.kernels.reuse import ReuseRule
from shoal.hiding.kernels.witnesses import (
    CoveredWindows,
    NeighbouringEpochs,
    RecordState,
    WitnessCandidates,
    WitnessChoice,
    cheapest_candidates,
    find_candidates,
    recompute,
    seek_witnesses,
)
from shoal.hiding.merging import with_members
from shoal.hiding.steering import AIMS, Steering

_MOST_ATTACKS = 512  # rehearsed on an epoch; on fewer than half as many users, half as many as these
_NEAR = 128  # users near its covers whose records are asked for a victim
_MOST_NEEDS = 24  # of a victim: with more covers in a window, witnesses are sought for some of them
_MOST_CANDIDATES = 256  # remembered for a victim: more than all but a few have
_VICTIMS_TOGETHER = 500  # whose candidates are found in one piece of memory before they are put together
_ROUNDS = 8  # of choosing: a record that several victims want takes in one of them in each


class Witnesses(NamedTuple):
    """Records, by their owners, that took in somebody's samples, the members', in one epoch each."""

    owners: Int32s
    members: Int32s
    epochs: Int64s


def no_witnesses() -> Witnesses:
    """Nobody became a witness."""
    return Witnesses(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.int64))


def all_witnesses(parts: list[Witnesses]) -> Witnesses:
    """The witnesses of several epochs or rounds together."""
    return Witnesses(*(np.concatenate(column) for column in zip(*parts, strict=True)))


class _Window(NamedTuple):
    """A decided window, epochs begin .. end - 1, as in kernels.witnesses.CoveredWindows."""

    begin: int
    end: int
    user: Int32s
    place: Int32s
    member: Int32s
    cover: Int32s


class _EpochBoxes(NamedTuple):
    """The boxes that an epoch shows and the users' own samples, a row per user; boxes as in NeighbouringEpochs."""

    epoch: int
    users: Int32s
    raw: Pools
    first: Int64s
    n_boxes: Int64s
    box: Int32s


class Hardening:
    """Finds witnesses; remembers the windows and published epochs to which a live epoch can be linked."""

    def __init__(
        self, n_users: int, promise: Promise, reach: int, options: HidingOptions, workers: Workers
    ) -> None:
        self._n_users, self._wanted, self._reach = n_users, promise.k - 1, reach
        self._promise, self._seed = promise, options.seed
        self._weight, self._workers = options.space_weight, workers
        self.steering = Steering(AIMS[options.harden or 0])
        self._windows: list[_Window] = []
        self._published: list[_EpochBoxes] = []
        self._prices: list[float] = []  # with which these were published

    def note_window(self, begin: int, end: int, owners: Int32s, members: Int32s) -> None:
        """Remember the hiding sets of the window of epochs begin .. end - 1; near owners stand together."""
        member = np.full((self._n_users, self._wanted), -1, np.int32)
        cover, place = member.copy(), np.full(self._n_users, -1, np.int32)
        member[owners] = members
        for column in range(self._wanted):
            cover[members[:, column], column] = owners
        place[owners] = np.arange(len(owners), dtype=np.int32)
        self._windows.append(_Window(begin, end, owners, place, member, cover))

    def note_published(self, part: EpochSlice, boxes: Boxes, *, ends_stretch: bool) -> None:
        """Remember a published epoch and its boxes, which go by user; attack what is known on either side by now."""
        n_boxes = np.bincount(np.searchsorted(part.users, boxes.owner), minlength=len(part.users))
        columns = (boxes.t0 - part.origin, boxes.t1 - part.origin, boxes.x0, boxes.x1, boxes.y0, boxes.y1)
        box = np.stack(columns, axis=1).astype(np.int32)
        shown = _EpochBoxes(part.epoch, part.users, part.raw, np.cumsum(n_boxes) - n_boxes, n_boxes, box)
        kept = 4 * self._reach + 1  # an attack on the middle one reaches as far as these
        self._published = [*self._published, shown][-kept:]
        self._prices = [*self._prices, self.steering.price][-kept:]
        oldest = self._published[0].epoch
        self._windows = [known for known in self._windows if known.begin >= oldest]
        last_seen = part.epoch if ends_stretch else part.epoch - 2 * self._reach
        for seen in range(part.epoch - 2 * self._reach, last_seen + 1):
            self._rehearse(seen)

    def forget(self) -> None:
        """Forget everything: nothing remembered can be linked to the epochs that follow."""
        self._windows, self._published, self._prices = [], [], []

    def harden(self, live: LiveEpoch, later: list[LiveEpoch], rule: ReuseRule) -> tuple[LiveEpoch, Witnesses]:
        """An epoch that is about to be published, with witnesses as far as they are cheap; and who became one.

        later: the live epochs after it. rule: whom records may not hold.
        """
        everybody = np.arange(len(live.slice.users))
        if not len(everybody):
            return live, no_witnesses()
        later_shown = [self._boxes_shown(epoch) for epoch in later]
        epoch = live.slice.epoch
        before = [shown for shown in self._published if shown.epoch >= epoch - 2 * self._reach]
        while before and before[0].epoch != epoch - len(before):
            before = before[1:]
        shown = [*before, self._boxes_shown(live), *later_shown]
        nearby = _neighbouring_epochs(shown, len(before), self._n_users)
        state = RecordState(live.pools, np.empty(len(everybody)), np.empty((len(everybody), OWN)))
        self._update(state, everybody, nearby)
        # With a larger k there are k - 1 times as many needs, and each matters less: more records are left anyway.
        most = self.steering.price / self._wanted * float(state.cost.mean())
        known = [window for window in self._windows if window.begin >= epoch - len(before)]
        n_closed = sum(window.end <= epoch for window in known)
        around = _covered_windows(known, epoch - len(before))
        windows = CoveredWindows(*(column[n_closed:] for column in around))
        lines, joined = everybody, [no_witnesses()]
        n_covers, n_needs = self._needs(windows)
        near = _NEAR // max(1, n_needs)
        candidates = gather_candidates(nearby, windows, live.slice.users, n_covers, near, self._workers)
        worth = np.ones((len(everybody), n_needs))
        import os
        if os.environ.get("WORTH", "1") != "0":
            epsilon, tau = int(self._promise.epsilon or 1), int(self._promise.tau or 1)
            att = RehearsedAttacks(live.slice.users, np.zeros(0, np.int64), tau, epsilon, self._promise.k, int(os.environ.get("WNEAR","32")))
            noff = int(os.environ.get("OFF","4"))
            self._workers.for_blocks(len(everybody), lambda a, b: weigh_needs(nearby, around, att, n_closed, n_covers, noff, a, b, worth))
        for _ in range(_ROUNDS):
            choice = self._seek(nearby, candidates, state, rule, most, n_needs, worth, lines)
            wanting = choice.witness >= 0
            lines, choice = lines[wanting], WitnessChoice(choice.witness[wanting], choice.price[wanting])
            if not len(lines):
                break
            chosen = self._choose(choice)
            epochs = np.full(len(chosen), live.slice.epoch, np.int64)
            joined.append(Witnesses(choice.witness[chosen], candidates.victim[lines[chosen]], epochs))
            owners, members = (live.rows(users) for users in joined[-1][:2])
            rows = np.full(len(everybody), -1, np.int64)
            rows[owners] = members
            state = state._replace(pools=with_members(state.pools, live.slice.raw, rows, self._workers))
            self._update(state, owners, nearby)
        return live._replace(pools=state.pools), all_witnesses(joined)

    def _update(self, state: RecordState, rows: Int64s, nearby: NeighbouringEpochs) -> None:
        self._workers.for_blocks(
            len(rows), lambda begin, end: recompute(state, self._weight, rows, begin, end, nearby)
        )

    def _rehearse(self, epoch: int) -> None:
        """Attack what was published in an epoch and around it, as somebody would who links windows."""
        reach, promise = self._reach, self._promise
        number = [shown.epoch for shown in self._published]
        if epoch not in number:
            return
        at = number.index(epoch)
        around = [i for i in range(len(number)) if number[i] - epoch == i - at and abs(i - at) <= 2 * reach]
        shown, first = [self._published[i] for i in around], number[around[0]]
        last = number[around[-1]]
        windows = [known for known in self._windows if known.begin >= first and known.end <= last + 1]
        seen = self._published[at]
        if not windows or not len(seen.users):
            return
        epsilon, tau = int(promise.epsilon or 1), int(promise.tau or 1)
        rng = np.random.default_rng([self._seed, epoch + 2**40])
        n = min(_MOST_ATTACKS, (len(seen.users) + 1) // 2)
        row = rng.integers(0, len(seen.users), n)
        sizes = np.diff(seen.raw.ptr)[row]
        slot = seen.raw.slot["t"][seen.raw.ptr[row] + rng.integers(0, sizes)].astype(np.int64)
        begin = slot + (epoch - first) * epsilon - rng.integers(0, tau, n)
        attacks = RehearsedAttacks(seen.users[row], begin, tau, epsilon, promise.k, _NEAR)
        epochs = _neighbouring_epochs(shown, 0, self._n_users)
        covered, left = _covered_windows(windows, first), np.empty(n, np.int32)
        self._workers.for_blocks(n, lambda a, b: count_left(epochs, covered, attacks, a, b, left))
        prices = [self._prices[i] for i in around if abs(i - at) <= reach]
        self.steering.observe(n, int((left < promise.k).sum()), float(np.mean(prices)), float(len(seen.users)))

    def _boxes_shown(self, live: LiveEpoch) -> _EpochBoxes:
        """The boxes of an epoch if it were published as it is."""
        pools, n = live.pools, len(live.slice.users)
        n_boxes, box = np.empty(n, np.int64), np.empty((len(pools.slot), 6), np.int32)
        self._workers.for_blocks(
            n, lambda begin, end: merge_boxes(pools, self._weight, begin, end, n_boxes, box)
        )
        return _EpochBoxes(live.slice.epoch, live.slice.users, live.slice.raw, pools.ptr[:-1], n_boxes, box)

    def _needs(self, windows: CoveredWindows) -> tuple[int, int]:
        """For how many covers of each window witnesses are sought, and how many needs a victim has then."""
        pairs = len(windows.begin) * (len(windows.begin) - 1)
        n_covers = max(1, min(self._wanted, _MOST_NEEDS // max(1, pairs)))
        return n_covers, pairs * n_covers

    def _seek(
        self,
        nearby: NeighbouringEpochs,
        candidates: WitnessCandidates,
        state: RecordState,
        rule: ReuseRule,
        most: float,
        n_needs: int,
        worth: Floats,
        lines: Int64s,
    ) -> WitnessChoice:
        choice = WitnessChoice(np.empty(len(lines), np.int32), np.empty(len(lines)))
        wanted = self._wanted
        self._workers.for_blocks(
            len(lines),
            lambda begin, end: seek_witnesses(
                nearby,
                candidates,
                state,
                rule,
                self._weight,
                most,
                n_needs,
                wanted,
                worth,
                lines,
                begin,
                end,
                choice,
            ),
        )
        return choice

    def _choose(self, choice: WitnessChoice) -> Int64s:
        """For every record that victims want, the victim to whom it is cheapest."""
        chosen = np.empty(len(choice.price), np.int64)
        order = np.argsort(choice.price, kind="stable")
        n = cheapest_candidates(choice, order, np.full(self._n_users, -1, np.int32), chosen)
        return chosen[:n]


def _covered_windows(windows: list[_Window], first_epoch: int) -> CoveredWindows:
    """Windows as kernels read them; column 0 of NeighbouringEpochs is ``first_epoch``."""
    longest = max((len(window.user) for window in windows), default=0)
    user = np.full((len(windows), longest), -1, np.int32)
    for line, window in enumerate(windows):
        user[line, : len(window.user)] = window.user
    return CoveredWindows(
        np.array([window.begin - first_epoch for window in windows], np.int64),
        np.array([window.end - first_epoch for window in windows], np.int64),
        user,
        *(np.stack(column) for column in zip(*(window[3:] for window in windows), strict=True)),
    )


def _neighbouring_epochs(epochs: list[_EpochBoxes], here: int, n_users: int) -> NeighbouringEpochs:
    """Epochs that follow each other, as kernels read them."""
    row = np.full((n_users, len(epochs)), -1, np.int64)
    offsets = np.cumsum([0, *(len(shown.users) for shown in epochs)])
    for column, shown in enumerate(epochs):
        row[shown.users, column] = offsets[column] + np.arange(len(shown.users))
    lines = np.cumsum([0, *(len(shown.box) for shown in epochs)])
    return NeighbouringEpochs(
        row,
        here,
        int(offsets[here]),
        concatenate_pools([shown.raw for shown in epochs]),
        np.concatenate([shown.first + line for shown, line in zip(epochs, lines, strict=False)]),
        np.concatenate([shown.n_boxes for shown in epochs]),
        np.concatenate([shown.box for shown in epochs]),
    )


def gather_candidates(
    nearby: NeighbouringEpochs,
    windows: CoveredWindows,
    victims: Int32s,
    n_covers: int,
    near: int,
    workers: Workers,
) -> WitnessCandidates:
    """Candidates for the witnesses of some victims, for so many covers in each window.

    Candidates stay the same while records take in others here, since the epochs before and after decide who is one.
    near: how many users near a cover are asked for each need.
    """
    groups = [
        victims[first : first + _VICTIMS_TOGETHER] for first in range(0, len(victims), _VICTIMS_TOGETHER)
    ]
    parts = [_room_for(victims[:0])] * max(1, len(groups))

    def find(number: int) -> None:
        found = _room_for(groups[number])
        find_candidates(nearby, windows, n_covers, near, _MOST_CANDIDATES, found)
        n = found.ptr[-1]
        parts[number] = found._replace(record=found.record[:n].copy(), needs=found.needs[:n].copy())

    workers.for_each(len(groups), find)
    lengths = np.concatenate([np.zeros(1, np.int64), *(np.diff(part.ptr) for part in parts)])
    record, needs = (np.concatenate(column) for column in list(zip(*parts, strict=True))[2:])
    return WitnessCandidates(victims, np.cumsum(lengths), record, needs)


def _room_for(victims: Int32s) -> WitnessCandidates:
    """Empty arrays for as many candidates as are remembered of each victim."""
    record, needs = (np.empty(len(victims) * _MOST_CANDIDATES, np.int32) for _ in range(2))
    return WitnessCandidates(victims, np.zeros(len(victims) + 1, np.int64), record, needs)
