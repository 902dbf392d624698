"""Causal suppression: suppress users in the newest epoch only, so that no cover is ever taken away.

Afterwards every presence pattern of every window, the all-absent one included, is shared by nobody or by at least k
users that have a record (docs/how-it-works.md, "Causal suppression"). ``hiding_cost`` is the price of who goes first.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Bools, Floats, Int32s, Int64s
from shoal.core.progress import Progress
from shoal.core.promise import Promise
from shoal.core.workers import Workers
from shoal.hiding.epochs import EpochSlice, LiveEpoch, Timeline
from shoal.hiding.matching.candidates import nearest_costs
from shoal.hiding.patterns import Patterns, group_equal
from shoal.hiding.window import build_window

_TOLERABLE = 0.001  # share of samples suppressed below which nothing else is tried
_RARE = (2, 3, 5, 9, 17)  # users present in fewer epochs than this are tried without

HidingCost = Callable[
    [EpochSlice, Bools], Floats
]  # of some users of an epoch: a mask over them in, a number each out


class Presence(NamedTuple):
    """Who is published when, and what that costs in samples.

    recordless: a mask of the users of whom nothing can be published. suppressed: by epoch, the other users who have
    samples in it but are not published. epoch_samples: how many samples these are; recordless_samples: those of the
    recordless.
    """

    suppressed: dict[int, Int32s]
    recordless: Bools
    epoch_samples: int
    recordless_samples: int

    @property
    def n_suppressed(self) -> int:
        """Samples that are not published."""
        return self.epoch_samples + self.recordless_samples

    @property
    def n_users_affected(self) -> int:
        """Users with samples that are not published."""
        lost = self.recordless.copy()
        for users in self.suppressed.values():
            lost[users] = True
        return int(lost.sum())

    @property
    def nothing_left(self) -> bool:
        """Whether nobody is published at all."""
        return bool(self.recordless.all())

    def of(self, part: EpochSlice) -> EpochSlice:
        """The part of an epoch that is published."""
        lost = self.recordless[part.users]
        if part.epoch in self.suppressed:
            lost |= np.isin(part.users, self.suppressed[part.epoch], assume_unique=True)
        return part.restricted(~lost)


def decide_presence(
    timeline: Timeline,
    n_users: int,
    promise: Promise,
    space_weight: float,
    workers: Workers,
    progress: Progress,
) -> Presence:
    """Decide who is published when, with as few samples suppressed as possible.

    A few users who come once can cost many others their cover, as they leave too few who are absent. So where much
    would be suppressed, suppression is also tried without the rarest users, and the better result is taken.
    """
    progress.stage("finding who can hide whom", sum(1 for _ in timeline.turns()))
    price = partial(hiding_cost, k=promise.k, n_users=n_users, space_weight=space_weight, workers=workers)

    def presence_without(given_up: Bools) -> Presence:
        return _presence_without(timeline, n_users, promise, given_up, price, progress.advance)

    nobody = np.zeros(n_users, np.bool_)
    best = presence_without(nobody)
    if best.n_suppressed <= _TOLERABLE * timeline.n_samples:
        return best
    epochs_of = timeline.epochs_present(n_users)
    tried = nobody
    for least in _RARE:
        rare = epochs_of < least
        if rare.all() or np.array_equal(rare, tried):
            continue
        tried = rare
        other = presence_without(rare)
        if not other.nothing_left and (best.nothing_left or other.n_suppressed < best.n_suppressed):
            best = other
    return best


def hiding_cost(
    newest: EpochSlice, members: Bools, k: int, n_users: int, space_weight: float, workers: Workers
) -> Floats:
    """What it costs to hide each of some users of an epoch among the others: the sum of its k - 1 cheapest merges."""
    part = newest.restricted(members)
    in_order = np.arange(n_users, dtype=np.int32)
    arrays = build_window([LiveEpoch(part, part.raw)], n_users, in_order, space_weight, workers)
    costs = nearest_costs(arrays, k - 1, workers)
    return costs[np.argsort(arrays.user)]


def _presence_without(
    timeline: Timeline,
    n_users: int,
    promise: Promise,
    given_up: Bools,
    price: HidingCost,
    tick: Callable[[], object],
) -> Presence:
    """Who is published when, without some users: passes over all epochs until all who count as cover have a record."""
    recordless = given_up.copy()
    while True:
        suppressed, has_record, samples_of, n_samples = _pass_over_epochs(
            timeline, n_users, promise, recordless, price, tick
        )
        lost = ~has_record & ~recordless
        if not lost.any():
            return Presence(suppressed, recordless, n_samples, int(samples_of[recordless].sum()))
        recordless |= lost


def _pass_over_epochs(
    timeline: Timeline,
    n_users: int,
    promise: Promise,
    recordless: Bools,
    price: HidingCost,
    tick: Callable[[], object],
) -> tuple[dict[int, Int32s], Bools, Int64s, int]:
    """Users suppressed in each epoch, who has a record, samples per user, and how many samples are suppressed."""
    patterns = Patterns(n_users, timeline.reach)
    n_counted = n_users - int(recordless.sum())
    suppressed_in: dict[int, Int32s] = {}
    has_record = np.zeros(n_users, np.bool_)
    samples_of = np.zeros(n_users, np.int64)
    n_samples = 0
    for epoch, ends_stretch in timeline.turns():
        patterns.open_epoch(epoch)
        whole_slice = timeline.slice(epoch)
        samples_of[whole_slice.users] += whole_slice.counts
        part = whole_slice.restricted(~recordless[whole_slice.users])
        suppressed = choose_suppressed(part, patterns, n_counted, promise.k, price)
        n_samples += int(part.counts[suppressed].sum())
        kept = part.users[~suppressed]
        patterns.publish(epoch, kept)
        has_record[kept] = True
        if suppressed.any():
            suppressed_in[epoch] = part.users[suppressed]
        if ends_stretch:
            patterns.clear()
        tick()
    return suppressed_in, has_record, samples_of, n_samples


def choose_suppressed(
    newest: EpochSlice, patterns: Patterns, n_counted: int, k: int, price: HidingCost
) -> Bools:
    """A mask of the users of the newest epoch to suppress, so that no pattern is left with 1 .. k - 1 users.

    Of users with equal patterns before this epoch there are none or at least k. That must hold for those of them who
    are present now, and for those who are absent: a small present part is suppressed; a small absent part is filled up
    with the users costliest to hide, or with everybody where too few would stay.
    """
    suppressed = np.zeros(len(newest.users), np.bool_)
    if not len(newest.users):
        return suppressed
    seen = patterns.seen()
    active = seen.copy()
    active[newest.users] = True
    group_of = np.empty(len(active), np.int64)
    group_of[active] = group_equal(patterns.of(active))
    n_total = np.bincount(group_of[active])
    group_of_present = group_of[newest.users]
    never_seen = group_of_present[~seen[newest.users]]
    if len(never_seen):  # the all-absent group has members that are neither seen nor here
        n_total[never_seen[0]] += n_counted - int(active.sum())
    n_present = np.bincount(group_of_present, minlength=len(n_total))
    n_absent = n_total - n_present
    for troubled in np.flatnonzero((n_present > 0) & ((n_present < k) | ((n_absent > 0) & (n_absent < k)))):
        members = group_of_present == troubled
        missing = k - int(n_absent[troubled])
        if n_present[troubled] < k or n_present[troubled] - missing < k:
            suppressed |= members
            continue
        costliest = np.argsort(-price(newest, members), kind="stable")[:missing]
        suppressed[np.flatnonzero(members)[costliest]] = True
    return suppressed
