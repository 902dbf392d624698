"""The fold over epochs: one epoch comes in, its window is decided, and an epoch is published tau later.

docs/how-it-works.md, "The fold". Only live epochs, which no decided window has closed yet, are in memory with all that
their records hold.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Int32s, Int64s
from shoal.core.boxes import Boxes, concatenate
from shoal.core.options import HARDEN_MOST_REACH
from shoal.hiding.epochs import EpochSlice, LiveEpoch, Timeline
from shoal.hiding.hardening import Hardening, Witnesses, all_witnesses, no_witnesses
from shoal.hiding.leakage.published_epochs import PublishedEpochsBuilder
from shoal.hiding.leakage.surcharge import MEMORY, LeakageContext
from shoal.hiding.merging import publish, with_members
from shoal.hiding.reuse import History
from shoal.hiding.selector import HidingSetup, OpenWindow, Selector
from shoal.hiding.window import HidingSets, no_hiding_sets

_LEAKING_K = 2  # with more records left, they hardly ever all agree by accident


class Step(NamedTuple):
    """What one epoch brought: the hiding sets of the window it completed, if any, the boxes published, and witnesses.

    first_epoch: of the live epochs, hence of that window. Witnesses hold a member in one epoch only.
    """

    first_epoch: int
    hiding_sets: HidingSets | None
    boxes: Boxes
    witnesses: Witnesses


class Fold:
    """State between two epochs: the live epochs, who has hidden whom before, and what is published already."""

    def __init__(self, setup: HidingSetup, timeline: Timeline, selector: Selector) -> None:
        options, k = setup.options, setup.promise.k
        self._setup = setup
        self._selector = selector
        self._n_users, self._workers = setup.n_users, setup.workers
        self._weight = options.space_weight
        self._first_epoch, self._reach = int(timeline.epochs[0]), timeline.reach
        self._live: list[LiveEpoch] = []
        self._timeline, self._period = timeline, 0
        self._history = History(setup.n_users, options.reuse, timeline.reach)
        leaks = k == _LEAKING_K and selector.weighs_leakage and not setup.promise.whole
        self._leak_price = options.leak_price if leaks else 0.0
        self._published_epochs = PublishedEpochsBuilder(setup.n_users, MEMORY) if self._leak_price else None
        self._hardening = None
        if options.harden and selector.takes_witnesses and 0 < self._reach <= HARDEN_MOST_REACH:
            self._hardening = Hardening(setup.n_users, setup.promise, self._reach, options, setup.workers)

    def advance(self, newest: EpochSlice, *, ends_stretch: bool) -> Step:
        """Take in the next epoch: decide the window it completes, and publish the epochs that are final then."""
        self._live.append(LiveEpoch(newest, newest.raw))
        if not self._window_complete(ends_stretch):
            return Step(self._live[0].slice.epoch, None, concatenate([]), no_witnesses())
        self._forget_earlier_periods()
        epoch, window, hiding_sets = self._live[0].slice.epoch, self._window, self._decide()
        final = self._apply(hiding_sets, ends_stretch)
        boxes, witnesses = [], [no_witnesses()]
        for place, live in enumerate(final):
            later = final[place + 1 :]
            hardened, more = self._harden(live, [*later, *self._live], window)
            witnesses.append(more)
            boxes.append(publish(hardened, self._weight, self._workers, self._setup.min_spread_cells))
            self._remember(live.slice, boxes[-1], ends_stretch=ends_stretch and not later)
        return Step(epoch, hiding_sets, concatenate(boxes), all_witnesses(witnesses))

    def replay(self, newest: EpochSlice, done: Step, *, ends_stretch: bool) -> None:
        """Take in an epoch whose window was decided, and whose boxes were published, in an earlier run."""
        self._live.append(LiveEpoch(newest, newest.raw))
        if done.hiding_sets is not None:
            if len(done.hiding_sets.owners):
                self._selector.check_earlier(done.first_epoch, done.hiding_sets)
            self._forget_earlier_periods()
            window = self._window
            final = self._apply(done.hiding_sets, ends_stretch)
            self._history.append_each(window, done.witnesses.owners, done.witnesses.members)
            for live, following in zip(final, [*final[1:], None], strict=True):
                inside = done.boxes.t0 >= live.slice.origin
                if following is not None:
                    inside &= done.boxes.t0 < following.slice.origin
                boxes = Boxes._make(column[inside] for column in done.boxes)
                self._remember(live.slice, boxes, ends_stretch=ends_stretch and following is None)

    @property
    def estimated_below_k(self) -> float | None:
        """The estimated share of attacks that link windows and leave fewer than k records; None without hardening."""
        return None if self._hardening is None else self._hardening.steering.share_left

    def reserve_history(self, entries: Int64s) -> None:
        """Make room for as many past members of every user as will be assumed, before the first is."""
        self._history.reserve(entries)

    def assume_served(self, first_epoch: int, owners: Int32s, members: Int32s) -> None:
        """Assume who served whom in the window that begins with an epoch and is not folded."""
        self._history.append(first_epoch - self._first_epoch, owners, members)

    def skip_epochs(self) -> None:
        """Forget the live epochs: the epoch folded next does not follow them."""
        self._live = []
        if self._hardening is not None:
            self._hardening.forget()

    def _window_complete(self, ends_stretch: bool) -> bool:
        """Whether the live epochs make up a window; a stretch shorter than one is a window of its own."""
        return ends_stretch or len(self._live) == self._reach + 1

    @property
    def _window(self) -> int:
        """Number of the window that the live epochs make up, counted from the first epoch of the data."""
        return self._live[0].slice.epoch - self._first_epoch

    def _forget_earlier_periods(self) -> None:
        """Forget who served in windows without an epoch of the period in which this one begins: other names."""
        period = self._timeline.period_of(self._live[0].slice.epoch)
        if period != self._period and self._setup.options.forget_served:
            self._period = period
            self._history.forget(self._timeline.first_epoch_of(period) - self._reach - self._first_epoch)

    def _decide(self) -> HidingSets:
        if not any(len(live.slice.users) for live in self._live):
            return no_hiding_sets(self._setup.promise.k)
        rule = self._history.rule(self._window)
        return self._selector.choose(OpenWindow(self._window, self._live, rule, self._leakage_context()))

    def _leakage_context(self) -> LeakageContext | None:
        """What the surcharge on leaking members goes by."""
        if self._published_epochs is None:
            return None
        promise = self._setup.promise
        return LeakageContext(
            published_epochs=self._published_epochs.published_epochs,
            window=self._window,
            epoch=self._live[0].slice.epoch,
            reach=self._reach,
            k=promise.k,
            tau=promise.tau or 1,
            epsilon=promise.epsilon or 1,
            price=self._leak_price,
        )

    def _apply(self, hiding_sets: HidingSets, ends_stretch: bool) -> list[LiveEpoch]:
        """Let the members join the live epochs; take out, and return, the epochs that no later window will change."""
        if not self._setup.promise.whole:  # with every other window names are others, too
            self._history.append(self._window, hiding_sets.owners, hiding_sets.members, hiding_sets.exposure)
        if self._hardening is not None:
            self._hardening.note_window(
                self._live[0].slice.epoch,
                self._live[-1].slice.epoch + 1,
                hiding_sets.owners,
                hiding_sets.members,
            )
        line = np.full(self._n_users, -1, np.int64)
        line[hiding_sets.owners] = np.arange(len(hiding_sets.owners))
        self._live = [self._joined(live, hiding_sets.members[line[live.slice.users]]) for live in self._live]
        n_final = len(self._live) if ends_stretch else 1
        final, self._live = self._live[:n_final], self._live[n_final:]
        return final

    def _harden(self, live: LiveEpoch, later: list[LiveEpoch], window: int) -> tuple[LiveEpoch, Witnesses]:
        """A final epoch with witnesses where an attacker would link windows; and who became one."""
        if self._hardening is None:
            return live, no_witnesses()
        live, witnesses = self._hardening.harden(live, later, self._history.rule(window))
        self._history.append_each(window, witnesses.owners, witnesses.members)
        return live, witnesses

    def _remember(self, part: EpochSlice, boxes: Boxes, *, ends_stretch: bool) -> None:
        """Remember a published epoch, where that matters for later ones."""
        if self._published_epochs is not None:
            self._published_epochs.append(part, boxes)
        if self._hardening is not None:
            self._hardening.note_published(part, boxes, ends_stretch=ends_stretch)

    def _joined(self, live: LiveEpoch, members: Int32s) -> LiveEpoch:
        """A live epoch after every record has taken in the samples of its new members."""
        pools = live.pools
        for column in range(members.shape[1]):
            pools = with_members(pools, live.slice.raw, live.rows(members[:, column]), self._workers)
        return live._replace(pools=pools)
