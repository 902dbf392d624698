"""The fold over epochs: one epoch comes in, its window is decided, and an epoch is published tau later.

docs/how-it-works.md, "The fold". Only live epochs, which no decided window has closed yet, are in memory with all that
their records hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Int32s, Int64s
from shoal.core.boxes import Boxes, concatenate
from shoal.core.options import HARDEN_MOST_REACH
from shoal.hiding.epochs import EpochSlice, LiveEpoch, Timeline
from shoal.hiding.hardening import PRICES, Hardening, Witnesses, all_witnesses, no_witnesses
from shoal.hiding.leakage.published_epochs import PublishedEpochsBuilder
from shoal.hiding.leakage.surcharge import MEMORY, LeakageContext
from shoal.hiding.merging import publish, with_members
from shoal.hiding.reuse import History
from shoal.hiding.selector import HidingSetup, OpenWindow, Selector
from shoal.hiding.window import HidingSets, no_hiding_sets

_LEAKING_K = 2  # with more records left, they hardly ever all agree by accident


class DecidedWindow(NamedTuple):
    """The hiding sets of the window of epochs first_epoch .. last_epoch."""

    first_epoch: int
    last_epoch: int
    hiding_sets: HidingSets


class Step(NamedTuple):
    """What one epoch brought: the windows that became final, the boxes published, and witnesses.

    Witnesses hold a member in one epoch only. tentative: the windows that will be looked at again, as they stand, the
    oldest first.
    """

    windows: tuple[DecidedWindow, ...]
    boxes: Boxes
    witnesses: Witnesses
    tentative: tuple[DecidedWindow, ...] = ()


class Fold:
    """State between two epochs: the live epochs, who has hidden whom before, and what is published already."""

    def __init__(self, setup: HidingSetup, timeline: Timeline, selector: Selector) -> None:
        options, k = setup.options, setup.promise.k
        self._setup = setup
        self._selector = selector
        self._n_users, self._workers = setup.n_users, setup.workers
        self._weight = options.space_weight
        self._first_epoch, self._reach = int(timeline.epochs[0]), timeline.reach
        self._effort = options.effort
        self._live: list[LiveEpoch] = []  # with the members of final windows
        self._tentative: list[DecidedWindow] = []
        self._timeline, self._period = timeline, 0
        self._history = History(setup.n_users, options.reuse, timeline.reach)
        leaks = k == _LEAKING_K and selector.weighs_leakage and not setup.promise.whole
        self._leak_price = options.leak_price if leaks else 0.0
        self._published_epochs = PublishedEpochsBuilder(setup.n_users, MEMORY) if self._leak_price else None
        self._hardening = None
        if options.harden and selector.takes_witnesses and 0 < self._reach <= HARDEN_MOST_REACH:
            price = PRICES[options.harden]
            self._hardening = Hardening(setup.n_users, k, self._reach, self._weight, price, setup.workers)

    def advance(self, newest: EpochSlice, *, ends_stretch: bool) -> Step:
        """Take in the next epoch: decide the window it completes, publish what is final."""
        self._live.append(LiveEpoch(newest, newest.raw))
        windows, boxes, witnesses = [], [], [no_witnesses()]
        if self._window_complete(ends_stretch):
            self._forget_earlier_periods()
            self._open_window()
            self._look_at_all()
            while len(self._tentative) == self._effort or (ends_stretch and self._tentative):
                self._count_reuse()
                windows.append(self._tentative[0])
                for live, later in self._close_oldest(ends_stretch):
                    hardened, more = self._harden(live, later, windows[-1])
                    witnesses.append(more)
                    boxes.append(publish(hardened, self._weight, self._workers, self._setup.min_spread_cells))
                    self._remember(live.slice, boxes[-1])
                if ends_stretch:
                    self._look_at_all()
        return Step(tuple(windows), concatenate(boxes), all_witnesses(witnesses), tuple(self._tentative))

    def replay(self, newest: EpochSlice, done: Step, *, ends_stretch: bool) -> None:
        """Take in an epoch whose windows were decided, and whose boxes were published, in an earlier run."""
        self._live.append(LiveEpoch(newest, newest.raw))
        if self._window_complete(ends_stretch):
            self._forget_earlier_periods()
            self._open_window()
        for window in done.windows:
            if len(window.hiding_sets.owners):
                self._selector.check_earlier(window.first_epoch, window.hiding_sets)
            self._tentative[0] = window
            for live, _ in self._close_oldest(ends_stretch):
                there = done.witnesses.epochs == live.slice.epoch
                self._history.append_each(
                    self._number(window), done.witnesses.owners[there], done.witnesses.members[there]
                )
                inside = (done.boxes.t0 >= live.slice.origin) & (
                    done.boxes.t0 < self._timeline.end(live.slice.epoch)
                )
                self._remember(live.slice, Boxes._make(column[inside] for column in done.boxes))
        self._tentative = list(done.tentative)

    def reserve_history(self, entries: Int64s) -> None:
        """Make room for as many past members of every user as will be assumed, before the first is."""
        self._history.reserve(entries)

    def assume_served(self, first_epoch: int, owners: Int32s, members: Int32s) -> None:
        """Assume who served whom in the window that begins with an epoch and is not folded."""
        self._history.append(first_epoch - self._first_epoch, owners, members)

    def skip_epochs(self) -> None:
        """Forget the live epochs: the epoch folded next does not follow them."""
        self._live, self._tentative = [], []
        if self._hardening is not None:
            self._hardening.forget()

    def _window_complete(self, ends_stretch: bool) -> bool:
        """Whether the newest epochs make up a window; a stretch shorter than one is a window of its own."""
        return ends_stretch or len(self._live) - len(self._tentative) == self._reach + 1

    def _number(self, window: DecidedWindow) -> int:
        """Number of a window, counted from the first epoch of the data."""
        return window.first_epoch - self._first_epoch

    def _forget_earlier_periods(self) -> None:
        """Forget who served in windows without an epoch of the period in which this one begins: other names.

        It is the oldest window that is not final: what it may not forget, the others may not yet.
        """
        period = self._timeline.period_of(self._live[0].slice.epoch)
        if period != self._period:
            self._period = period
            self._history.forget(self._timeline.first_epoch_of(period) - self._reach - self._first_epoch)

    def _open_window(self) -> None:
        """The window that the newest epochs make up, not decided yet, joins those that are not final."""
        first, last = self._live[len(self._tentative)].slice.epoch, self._live[-1].slice.epoch
        self._tentative.append(DecidedWindow(first, last, no_hiding_sets(self._setup.promise.k)))

    def _look_at_all(self) -> None:
        """Decide every window that is not final, the newest first, given the members of all others."""
        for place in reversed(range(len(self._tentative))):
            window = self._tentative[place]
            others = [other for other in self._tentative if other is not window]
            epochs = [
                live for live in self._live if window.first_epoch <= live.slice.epoch <= window.last_epoch
            ]
            self._tentative[place] = window._replace(hiding_sets=self._decide(window, epochs, others))

    def _decide(
        self, window: DecidedWindow, epochs: list[LiveEpoch], others: list[DecidedWindow]
    ) -> HidingSets:
        """The hiding sets of a window, on top of the members of final windows and of some others."""
        if not any(len(live.slice.users) for live in epochs):
            return no_hiding_sets(self._setup.promise.k)
        number, epochs = self._number(window), [self._with_all(live, others) for live in epochs]
        with self._assuming(others):
            rule = self._history.rule(number)
        return self._selector.choose(OpenWindow(number, epochs, rule, self._leakage_context(window)))

    def _assuming(self, windows: list[DecidedWindow]) -> AbstractContextManager[None]:
        """Count members of some windows among the past ones for a while."""
        return self._history.assuming(
            (self._number(window), window.hiding_sets.owners, window.hiding_sets.members)
            for window in windows
        )

    def _leakage_context(self, window: DecidedWindow) -> LeakageContext | None:
        """What the surcharge on leaking members goes by."""
        if self._published_epochs is None:
            return None
        promise = self._setup.promise
        return LeakageContext(
            published_epochs=self._published_epochs.published_epochs,
            window=self._number(window),
            epoch=window.first_epoch,
            reach=self._reach,
            k=promise.k,
            tau=promise.tau or 1,
            epsilon=promise.epsilon or 1,
            price=self._leak_price,
        )

    def _count_reuse(self) -> None:
        """Count the members of the oldest window who serve again, now that all earlier windows are final."""
        if self._effort > 1:
            window = self._tentative[0]
            owners, members = window.hiding_sets.owners, window.hiding_sets.members
            relaxed = self._history.count_again(self._number(window), owners, members)
            self._tentative[0] = window._replace(hiding_sets=window.hiding_sets._replace(relaxed=relaxed))

    def _close_oldest(self, ends_stretch: bool) -> Iterator[tuple[LiveEpoch, list[LiveEpoch]]]:
        """Make the oldest window final: its members join the live epochs.

        Gives the epochs that no later window will change, each with those that follow it.
        """
        window = self._tentative.pop(0)
        owners, members = window.hiding_sets.owners, window.hiding_sets.members
        if not self._setup.promise.whole:  # with every other window names are others, too
            self._history.append(self._number(window), owners, members, window.hiding_sets.exposure)
        if self._hardening is not None:
            self._hardening.note_window(window.first_epoch, window.last_epoch + 1, owners, members)
        self._live = [self._with_all(live, [window]) for live in self._live]
        for _ in range(1 if self._tentative or not ends_stretch else len(self._live)):
            live = self._live.pop(0)
            yield live, self._live[: self._reach]

    def _harden(
        self, live: LiveEpoch, later: list[LiveEpoch], window: DecidedWindow
    ) -> tuple[LiveEpoch, Witnesses]:
        """A final epoch with witnesses where an attacker would link windows; and who became one."""
        if self._hardening is None:
            return live, no_witnesses()
        later = [self._with_all(each, self._tentative) for each in later]
        with self._assuming(self._tentative):
            rule = self._history.rule(self._number(window))
        live, witnesses = self._hardening.harden(live, later, rule)
        self._history.append_each(self._number(window), witnesses.owners, witnesses.members)
        return live, witnesses

    def _remember(self, part: EpochSlice, boxes: Boxes) -> None:
        """Remember a published epoch, where that matters for later ones."""
        if self._published_epochs is not None:
            self._published_epochs.append(part, boxes)
        if self._hardening is not None:
            self._hardening.note_published(part, boxes)

    def _with_all(self, live: LiveEpoch, windows: list[DecidedWindow]) -> LiveEpoch:
        """A live epoch after every record has taken in the samples of its members in those windows that hold it."""
        for window in windows:
            if len(window.hiding_sets.owners) and window.first_epoch <= live.slice.epoch <= window.last_epoch:
                line = np.full(self._n_users, -1, np.int64)
                line[window.hiding_sets.owners] = np.arange(len(window.hiding_sets.owners))
                live = self._joined(live, window.hiding_sets.members[line[live.slice.users]])
        return live

    def _joined(self, live: LiveEpoch, members: Int32s) -> LiveEpoch:
        """A live epoch after every record has taken in the samples of its new members."""
        pools = live.pools
        for column in range(members.shape[1]):
            pools = with_members(pools, live.slice.raw, live.rows(members[:, column]), self._workers)
        return live._replace(pools=pools)
