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
from shoal.hiding.linking import attack_published, worth_of_needs
from shoal.hiding.merging import with_members
from shoal.hiding.steering import AIMS, Steering
from shoal.hiding.surroundings import Surroundings, covered_windows, neighbouring_epochs, shown_as_it_is

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


class Hardening:
    """Finds witnesses; remembers the windows and published epochs to which a live epoch can be linked."""

    def __init__(
        self, n_users: int, promise: Promise, reach: int, options: HidingOptions, workers: Workers
    ) -> None:
        self._n_users, self._wanted, self._reach = n_users, promise.k - 1, reach
        self._promise, self._seed = promise, options.seed
        self._weight, self._workers = options.space_weight, workers
        self._surroundings = Surroundings(n_users, promise.k, reach)
        self.steering = Steering(AIMS[options.harden or 0])
        self._prices: dict[int, float] = {}  # with which epochs were published

    def note_window(self, begin: int, end: int, owners: Int32s, members: Int32s) -> None:
        """Remember the hiding sets of the window of epochs begin .. end - 1; near owners stand together."""
        self._surroundings.note_window(begin, end, owners, members)

    def note_published(self, part: EpochSlice, boxes: Boxes, *, ends_stretch: bool) -> None:
        """Remember a published epoch and its boxes, which go by user; attack what no later epoch has to do with."""
        epoch, reach = part.epoch, self._reach
        self._surroundings.note_published(part, boxes)
        self._prices[epoch] = self.steering.price
        for seen in range(epoch - 2 * reach, epoch + 1 if ends_stretch else epoch - 2 * reach + 1):
            tried = attack_published(
                self._surroundings, seen, self._n_users, self._promise, self._seed, self._workers
            )
            prices = [self._prices[at] for at in range(seen - reach, seen + reach + 1) if at in self._prices]
            if tried.n_attacks:
                self.steering.observe(tried, sum(prices) / len(prices))
        self._prices = {at: price for at, price in self._prices.items() if at > epoch - 3 * reach}

    def forget(self) -> None:
        """Forget everything: nothing remembered can be linked to the epochs that follow."""
        self._surroundings.forget()

    def harden(self, live: LiveEpoch, later: list[LiveEpoch], rule: ReuseRule) -> tuple[LiveEpoch, Witnesses]:
        """An epoch that is about to be published, with witnesses as far as they are cheap; and who became one.

        later: the live epochs after it. rule: whom records may not hold.
        """
        everybody = np.arange(len(live.slice.users))
        if not len(everybody):
            return live, no_witnesses()
        epoch, before = live.slice.epoch, self._surroundings.before(live.slice.epoch)
        shown = [*before, *(shown_as_it_is(each, self._weight, self._workers) for each in (live, *later))]
        nearby = neighbouring_epochs(shown, len(before), self._n_users)
        around = self._surroundings.windows_between(shown[0].epoch, shown[-1].epoch + 1)
        n_closed = sum(window.end <= epoch for window in around)
        known = covered_windows(around, shown[0].epoch)
        windows = covered_windows(around[n_closed:], shown[0].epoch)
        state = RecordState(live.pools, np.empty(len(everybody)), np.empty((len(everybody), OWN)))
        self._update(state, everybody, nearby)
        # With a larger k there are k - 1 times as many needs, and each matters less: more records are left anyway.
        most = self.steering.price / self._wanted * float(state.cost.mean())
        lines, joined = everybody, [no_witnesses()]
        n_covers, n_needs = self._needs(windows)
        near = _NEAR // max(1, n_needs)
        candidates = gather_candidates(nearby, windows, live.slice.users, n_covers, near, self._workers)
        needs = (n_covers, n_needs)
        worth = worth_of_needs(nearby, known, n_closed, candidates, needs, self._promise, self._workers)
        for _ in range(_ROUNDS):
            choice = self._seek(nearby, candidates, state, rule, most, worth, lines)
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
