"""Which records were made to hold whose samples, and when: guarantee 2 as it was built, replayed from the journal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Bools, Int32s
from shoal.hiding.epochs import Timeline
from shoal.hiding.fold import Step
from shoal.hiding.journal import Journal
from shoal.hiding.suppression import Presence


class HiddenMembers(NamedTuple):
    """Records, by their owners, that were made to hold the samples of others, their members, in slots begin .. end - 1.

    Those of a window, or those of a single epoch (witnesses). Where names change, the records are those of ``period``;
    a window that crosses a border stands there once for each of its periods, with those who are published in it.
    """

    begin: int
    end: int
    period: int
    owners: Int32s
    members: Int32s
    in_epoch: bool


def hidden_members(journal: Journal, timeline: Timeline, presence: Presence) -> Iterator[HiddenMembers]:
    """Window by window, with the witnesses of the epochs that were published then; one step is in memory at a time."""
    for step, turn in zip(journal, timeline.turns(), strict=True):
        if step.hiding_sets is not None and len(step.hiding_sets.owners):
            yield from _members(step, turn.epoch, timeline, presence)
        yield from _witnesses(step, timeline)


def _members(step: Step, last_epoch: int, timeline: Timeline, presence: Presence) -> Iterator[HiddenMembers]:
    assert step.hiding_sets is not None
    owners, members = step.hiding_sets.owners, step.hiding_sets.members
    owners, members = np.repeat(owners, members.shape[1]), members.reshape(-1)
    begin, end = timeline.origin(step.first_epoch), timeline.end(last_epoch)
    first, last = timeline.period_of(step.first_epoch), timeline.period_of(last_epoch)
    for period in range(first, last + 1):
        there: Bools | slice = slice(None)
        if first != last:  # an owner and its members come and go alike, so that one of them is enough to ask
            there = _published(step.first_epoch, last_epoch, period, timeline, presence)[owners]
        yield HiddenMembers(begin, end, period, owners[there], members[there], in_epoch=False)


def _published(first: int, last: int, period: int, timeline: Timeline, presence: Presence) -> Bools:
    """Who is published in those epochs first .. last that lie in a period."""
    found = np.zeros(len(presence.recordless), np.bool_)
    for epoch in range(first, last + 1):
        if timeline.period_of(epoch) == period:
            found[presence.of(timeline.slice(epoch)).users] = True
    return found


def _witnesses(step: Step, timeline: Timeline) -> Iterator[HiddenMembers]:
    for epoch in np.unique(step.witnesses.epochs).tolist():
        there = step.witnesses.epochs == epoch
        owners, members = step.witnesses.owners[there], step.witnesses.members[there]
        begin, end, period = timeline.origin(epoch), timeline.end(epoch), timeline.period_of(epoch)
        yield HiddenMembers(begin, end, period, owners, members, in_epoch=True)
