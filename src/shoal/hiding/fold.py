"""The engine: a fold over epochs. One epoch in; its window decided; an epoch published tau later (design 3.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Int32s, Int64s
from shoal.core.boxes import Boxes, concatenate
from shoal.core.engines import Engine, LocalEngine
from shoal.core.promise import Promise
from shoal.core.workers import Workers
from shoal.errors import UnfinishedError
from shoal.hiding.epochs import EpochSlice, LiveEpoch, Timeline
from shoal.hiding.hardening import PRICES, Hardening, Witnesses, all_witnesses, no_witnesses
from shoal.hiding.leakage.published_epochs import PublishedEpochsBuilder
from shoal.hiding.leakage.surcharge import MEMORY, LeakageContext
from shoal.hiding.merging import publish, with_members
from shoal.hiding.mutual.selector import choose_mutual
from shoal.hiding.reuse import History
from shoal.hiding.settings import MOST_REACH, Selector, Settings
from shoal.hiding.window import HidingSets, build_window, cut_into_shards, no_hiding_sets
from shoal.hiding.window_tasks import WindowTask, decide_window

_LEAKING_K = 2  # with more records left, they hardly ever all agree by accident


class Step(NamedTuple):
    """What one epoch brought: the window decided (no hiding_sets while it is incomplete) and the boxes published.

    ``window`` is the first epoch that is live, hence of the window decided. Helpers hold others in one epoch only.
    """

    window: int
    hiding_sets: HidingSets | None
    boxes: Boxes
    witnesses: Witnesses


class Fold:
    """State of the engine between two epochs: the live epochs, who has hidden whom before, and what is out.

    planned: the hiding sets of every window, by its first epoch, where they are decided already.
    """

    def __init__(
        self,
        n_users: int,
        timeline: Timeline,
        promise: Promise,
        settings: Settings,
        workers: Workers,
        planned: Mapping[int, HidingSets] | None = None,
        engine: Engine | None = None,
    ) -> None:
        self._planned = planned
        self._engine = engine or LocalEngine()
        self._n_users = n_users
        self._first_epoch = int(timeline.epochs[0])
        self._reach = timeline.reach
        self._k = promise.k
        self._mutual = settings.selector is Selector.MUTUAL
        self._weight = settings.space_weight
        self._shard_size = settings.shard_size
        self._workers = workers
        self._live: list[LiveEpoch] = []
        self._history = History(n_users, settings.reuse, timeline.reach)
        self._promise = promise
        self._leak_price = settings.leak_price if promise.k == _LEAKING_K and planned is None else 0.0
        self._published_epochs = PublishedEpochsBuilder(n_users, MEMORY) if self._leak_price else None
        self._hardening = None
        if settings.harden and settings.selector is Selector.MATCHING and 0 < self._reach <= MOST_REACH:
            price = PRICES[settings.harden]
            self._hardening = Hardening(n_users, promise.k, self._reach, self._weight, price, workers)
        self._rank = np.random.default_rng(settings.seed).permutation(n_users).astype(np.int32)

    def advance(self, newest: EpochSlice, *, ends_stretch: bool) -> Step:
        """Take in the next epoch: decide the window it completes and publish what is settled by that."""
        self._live.append(LiveEpoch(newest, newest.raw))
        if not self._window_complete(ends_stretch):
            return Step(self._live[0].slice.epoch, None, concatenate([]), no_witnesses())
        epoch, window, hiding_sets = self._live[0].slice.epoch, self._window, self._decide()
        settled = self._apply(hiding_sets, ends_stretch)
        boxes, witnesses = [], [no_witnesses()]
        for place, live in enumerate(settled):
            later = settled[place + 1 :]
            hardened, more = self._harden(live, [*later, *self._live], window)
            witnesses.append(more)
            boxes.append(publish(hardened, self._weight, self._workers))
            self._remember(live.slice, boxes[-1])
        return Step(epoch, hiding_sets, concatenate(boxes), all_witnesses(witnesses))

    def replay(self, newest: EpochSlice, done: Step, *, ends_stretch: bool) -> None:
        """Take in an epoch whose window was decided, and whose boxes were published, in an earlier run."""
        self._live.append(LiveEpoch(newest, newest.raw))
        if done.hiding_sets is not None:
            self._check_planned(done)
            window = self._window
            settled = self._apply(done.hiding_sets, ends_stretch)
            self._history.append_each(window, *done.witnesses)
            for live, following in zip(settled, [*settled[1:], None], strict=True):
                inside = done.boxes.t0 >= live.slice.origin
                if following is not None:
                    inside &= done.boxes.t0 < following.slice.origin
                boxes = Boxes._make(column[inside] for column in done.boxes)
                self._remember(live.slice, boxes)

    def reserve_history(self, entries: Int64s) -> None:
        """Make room for as many members of every user as will be supposed, before the first is."""
        self._history.reserve(entries)

    def assume_served(self, window: int, owners: Int32s, members: Int32s) -> None:
        """Take for granted who served whom in a window, named by its first epoch, that is not folded."""
        self._history.append(window - self._first_epoch, owners, members)

    def skip_epochs(self) -> None:
        """Forget the live epochs: those that are folded next are not next to them."""
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

    def _decide(self) -> HidingSets:
        if not any(len(live.slice.users) for live in self._live):
            return no_hiding_sets(self._k)
        if self._planned is not None:
            return self._planned[self._live[0].slice.epoch]
        arrays = build_window(self._live, self._n_users, self._rank, self._weight, self._workers)
        arrays = cut_into_shards(arrays, self._shard_size, self._k)
        barred = self._history.barred(self._window)
        whole = WindowTask(self._window, self._k, arrays, barred, self._company())
        if self._mutual:
            return choose_mutual(whole.window, arrays, self._k, barred, self._workers, whole.leakage)
        return decide_window(whole, self._workers, self._engine)

    def _company(self) -> LeakageContext | None:
        """What the surcharge on leaking members goes by."""
        if self._published_epochs is None:
            return None
        return LeakageContext(
            published_epochs=self._published_epochs.published_epochs,
            window=self._window,
            epoch=self._live[0].slice.epoch,
            reach=self._reach,
            k=self._k,
            tau=self._promise.tau or 1,
            epsilon=self._promise.epsilon or 1,
            price=self._leak_price,
        )

    def _apply(self, hiding_sets: HidingSets, ends_stretch: bool) -> list[LiveEpoch]:
        """Note the hiding_sets, let the members join the live epochs, and take out the epochs that are settled now."""
        self._history.append(self._window, hiding_sets.owners, hiding_sets.members, hiding_sets.alone)
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
        n_settled = len(self._live) if ends_stretch else 1
        settled, self._live = self._live[:n_settled], self._live[n_settled:]
        return settled

    def _harden(self, live: LiveEpoch, later: list[LiveEpoch], window: int) -> tuple[LiveEpoch, Witnesses]:
        """An epoch that is settled, with witnesses where an attacker would link windows; and who became one."""
        if self._hardening is None:
            return live, no_witnesses()
        live, witnesses = self._hardening.harden(live, later, self._history.barred(window))
        self._history.append_each(window, *witnesses)
        return live, witnesses

    def _check_planned(self, done: Step) -> None:
        """Refuse to go on with hiding sets that are not those planned: clusters can differ between machines."""
        if self._planned is None or done.hiding_sets is None or not len(done.hiding_sets.owners):
            return
        planned = self._planned.get(done.window)
        if planned is None or not np.array_equal(planned.members, done.hiding_sets.members):
            raise UnfinishedError(
                "The checkpoint was made on a machine that clusters users otherwise: nothing was published;"
                " remove the checkpoint and begin again."
            )

    def _remember(self, part: EpochSlice, boxes: Boxes) -> None:
        """Note an epoch that is out now, where that matters for later ones."""
        if self._published_epochs is not None:
            self._published_epochs.append(part, boxes)
        if self._hardening is not None:
            self._hardening.note_published(part, boxes)

    def _joined(self, live: LiveEpoch, members: Int32s) -> LiveEpoch:
        """An epoch after every record took in the samples of its new members."""
        pools = live.pools
        for column in range(members.shape[1]):
            pools = with_members(pools, live.slice.raw, live.rows(members[:, column]), self._workers)
        return live._replace(pools=pools)
