"""Which records were made to hold whose samples, and when: guarantee 2 as it was built, replayed from the journal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Bools, Int32s
from shoal.core.periods import Periods
from shoal.hiding.epochs import Timeline
from shoal.hiding.fold import DecidedWindow, Step
from shoal.hiding.journal import Journal
from shoal.hiding.kernels.reuse import count_beyond_window
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
    for step in journal:
        for window in step.windows:
            if len(window.hiding_sets.owners):
                yield from _members(window, timeline, presence)
        yield from _witnesses(step, timeline)


def _members(window: DecidedWindow, timeline: Timeline, presence: Presence) -> Iterator[HiddenMembers]:
    owners, members = window.hiding_sets.pairs()
    begin, end = timeline.origin(window.first_epoch), timeline.end(window.last_epoch)
    first, last = timeline.period_of(window.first_epoch), timeline.period_of(window.last_epoch)
    for period in range(first, last + 1):
        there: Bools | slice = slice(None)
        if first != last:  # an owner and its members come and go alike, so that one of them is enough to ask
            there = _published(window.first_epoch, window.last_epoch, period, timeline, presence)[owners]
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


def count_services(
    hidden: Iterable[HiddenMembers], periods: Periods, n_users: int, window: int
) -> tuple[int, int]:
    """How many members served in the windows of all parts, and how many lines serve again: beyond one window of their
    part and record, witnesses included. ``window``: its slots.

    Who serves across a border serves in two parts, and may serve again in one of them, in both or in neither. Lines are
    in memory until a window begins behind their period.
    """
    n_members, n_again = 0, 0
    waiting: dict[int, list[HiddenMembers]] = {}
    for held in hidden:
        if not held.in_epoch:
            n_members += len(held.members)
            over = [period for period in waiting if period < periods.of(np.array([held.begin]))[0]]
            n_again += sum(_served_again(waiting.pop(period), n_users, window) for period in over)
        waiting.setdefault(held.period, []).append(held)
    return n_members, n_again + sum(_served_again(lines, n_users, window) for lines in waiting.values())


def _served_again(lines: list[HiddenMembers], n_users: int, window: int) -> int:
    sizes = [len(held.owners) for held in lines]
    begin, end = (np.repeat([getattr(held, of) for held in lines], sizes) for of in ("begin", "end"))
    in_epoch = np.repeat([held.in_epoch for held in lines], sizes)
    pair = np.concatenate([held.owners.astype(np.int64) * n_users + held.members for held in lines])
    order = np.lexsort((in_epoch, begin, pair))
    return int(count_beyond_window(pair[order], begin[order], end[order], window))
