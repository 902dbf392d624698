"""Limits on boxes: who is to blame for boxes above them is marked, and the release is made again, until there are none.

Hiding sets are chosen so that boxes above the limits are avoided (``LimitedCost``). Where one is left, its record holds
samples that no boxes within the limits could hold together. The fewest user-epochs whose samples make it fit, in all
such records of an epoch, are marked greedily (docs/decisions/0023-suppression-budget.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Bools, Int32s, Int64s
from shoal.core.boxes import Boxes
from shoal.core.option_checks import BoxLimits
from shoal.hiding.epochs import EpochSlice, LiveEpoch, Timeline
from shoal.hiding.fold import Step
from shoal.hiding.journal import Journal
from shoal.hiding.kernels.merge import strictly
from shoal.hiding.kernels.pools import Pools, taken
from shoal.hiding.matching.candidates import nearest_members
from shoal.hiding.merging import costs_of, with_members
from shoal.hiding.selector import HidingSetup
from shoal.hiding.suppression import Marked, Presence
from shoal.hiding.window import HidingSets, build_window

_NOBODY = -1
_MOST_COUNTED = 32  # others near somebody: with more, partners hardly run out


def above_limits(boxes: Boxes, limits: BoxLimits) -> Bools:
    """Which boxes are longer, or last longer, than they may."""
    cells = np.maximum(boxes.x1.astype(np.int64) - boxes.x0, boxes.y1.astype(np.int64) - boxes.y0) + 1
    above: Bools = (cells > limits.cells) | (boxes.t1 - boxes.t0 + 1 > limits.slots)
    return above


class Surroundings(NamedTuple):
    """The users of an epoch, and how many others each could be in boxes with within the limits, up to _MOST_COUNTED."""

    users: Int32s
    n_near: Int64s

    def of(self, users: Int32s) -> Int64s:
        """Of some users; more than are ever counted for those who are not here."""
        place = np.minimum(np.searchsorted(self.users, users), len(self.users) - 1)
        return np.where(self.users[place] == users, self.n_near[place], _MOST_COUNTED + 1)


def look_around(timeline: Timeline, setup: HidingSetup) -> dict[int, Surroundings]:
    """The surroundings of everybody in every epoch."""
    found, in_order = {}, np.arange(setup.n_users, dtype=np.int32)
    rule, most = strictly(setup.cost_rule), max(_MOST_COUNTED, setup.promise.k - 1)
    for epoch in timeline.epochs.tolist():
        part = timeline.slice(epoch)
        arrays = build_window([LiveEpoch(part, part.raw)], setup.n_users, in_order, rule, setup.workers)
        everybody = np.arange(len(arrays.user), dtype=np.int32)
        width = max(1, min(most, len(part.users) - 1))
        _, cost = nearest_members(arrays, everybody, width, setup.workers)
        n_near = np.isfinite(cost).sum(axis=1)
        found[epoch] = Surroundings(part.users, n_near[np.argsort(arrays.user)])
    return found


def out_of_reach(surroundings: dict[int, Surroundings], k: int) -> Marked:
    """Users in epochs in which no k - 1 others could be in boxes with them within the limits, whoever is chosen."""
    lonely = {epoch: here.users[here.n_near < k - 1] for epoch, here in surroundings.items()}
    return {epoch: users for epoch, users in lonely.items() if len(users)}


def and_after(blamed: Marked, surroundings: dict[int, Surroundings]) -> Marked:
    """The blamed, and the same users in the epochs that follow while they have no more others near than there.

    Partners do not come back, so who has run out of them here is short of them there as well. Otherwise each time that
    everything begins anew would find a user an epoch later.
    """
    found = blamed
    for epoch, users in blamed.items():
        staying, later = users, epoch + 1
        while later in surroundings and len(staying):
            before, now = surroundings[later - 1].of(staying), surroundings[later].of(staying)
            staying = staying[now <= np.minimum(before, _MOST_COUNTED - 1)]
            if len(staying):
                found = together(found, {later: staying})
            later += 1
    return found


def to_blame(journal: Journal, timeline: Timeline, presence: Presence, setup: HidingSetup) -> Marked:
    """Users to be marked by epoch, so that all boxes of the journal that are above the limits would not be."""
    assert setup.limits is not None
    found: dict[int, Int32s] = {}
    for epoch, owners, pairs in _records_above(journal, timeline, setup.limits):
        part = presence.of(timeline.slice(epoch))
        found[epoch] = _fewest_to_remove(part, _held(part, owners, pairs, setup.n_users), setup)
    return found


def together(one: Marked, other: Marked) -> Marked:
    """Whoever is marked in either."""
    nobody = np.empty(0, np.int32)
    return {
        epoch: np.union1d(one.get(epoch, nobody), other.get(epoch, nobody))
        for epoch in sorted({*one, *other})
    }


class _Pairs(NamedTuple):
    """Owners, and members whose samples their records hold in an epoch, one by one."""

    owner: Int32s
    member: Int32s


def _records_above(
    journal: Journal, timeline: Timeline, limits: BoxLimits
) -> Iterator[tuple[int, Int32s, _Pairs]]:
    """Epochs with boxes above the limits: the owners of these, and whom records were made to hold there."""
    decided: list[
        tuple[int, HidingSets]
    ] = []  # the windows that may hold an epoch to come, with their last epochs
    for step, turn in zip(journal, timeline.turns(), strict=True):
        decided = [each for each in decided if each[0] >= step.first_epoch]
        if step.hiding_sets is not None:
            decided.append((turn.epoch, step.hiding_sets))
        wrong = above_limits(step.boxes, limits)
        epochs = timeline.epochs_of(step.boxes.t0[wrong])
        for epoch in np.unique(epochs).tolist():
            owners = np.unique(step.boxes.owner[wrong][epochs == epoch])
            yield epoch, owners, _holding(epoch, [sets for last, sets in decided if last >= epoch], step)


def _holding(epoch: int, decided: list[HidingSets], step: Step) -> _Pairs:
    here = step.witnesses.epochs == epoch
    pairs = [sets.pairs() for sets in decided]
    pairs.append((step.witnesses.owners[here], step.witnesses.members[here]))
    return _Pairs(*(np.concatenate(column) for column in zip(*pairs, strict=True)))


def _held(part: EpochSlice, owners: Int32s, pairs: _Pairs, n_users: int) -> Int64s:
    """The rows of users whose samples some records hold, a line per record: its owner first; -1 behind the last."""
    row = np.full(n_users, _NOBODY, np.int64)
    row[part.users] = np.arange(len(part.users))
    line = np.full(n_users, -1, np.int64)
    line[owners] = np.arange(len(owners))
    there = (line[pairs.owner] >= 0) & (row[pairs.member] >= 0)
    # a member may serve twice where partners run out; once is enough here
    of, member = np.unique(np.stack([line[pairs.owner[there]], row[pairs.member[there]]]), axis=1)
    column = np.arange(len(of)) - np.searchsorted(of, of) + 1
    held = np.full((len(owners), int(column.max(initial=0)) + 1), _NOBODY, np.int64)
    held[:, 0] = row[owners]
    held[of, column] = member
    return held


def _fewest_to_remove(part: EpochSlice, held: Int64s, setup: HidingSetup) -> Int32s:
    """Greedily, users without whom all of these records have boxes within the limits, with few samples.

    A record without its owner is none, so every record can be helped.
    """
    record, user = [np.arange(len(held))], [held[:, 0]]
    for column in range(1, held.shape[1]):
        others = [each for each in range(1, held.shape[1]) if each != column]
        pools = taken(part.raw, held[:, 0])
        for other in others:
            pools = with_members(pools, part.raw, held[:, other], setup.workers)
        helped = (held[:, column] >= 0) & _within(pools, setup)
        record.append(np.flatnonzero(helped))
        user.append(held[helped, column])
    records, users = np.concatenate(record), np.concatenate(user)
    removed: list[int] = []
    while len(records):
        rows, number = np.unique(users, return_inverse=True)
        helps = np.bincount(number) / part.counts[rows]
        removed.append(int(rows[np.argmax(helps)]))
        left = ~np.isin(records, records[users == removed[-1]])
        records, users = records[left], users[left]
    return np.sort(part.users[removed])


def _within(pools: Pools, setup: HidingSetup) -> Bools:
    """Which pools have boxes within the limits."""
    within: Bools = np.isfinite(costs_of(pools, strictly(setup.cost_rule), setup.workers))
    return within
