"""Causal suppression: suppress users in the newest epoch only, so that no cover is ever taken away.

Afterwards every presence pattern of every window is shared by nobody or by at least k users. So is absence throughout
what the window has of a period, among the users with a part in it (docs/how-it-works.md, "Causal suppression").
``hiding_cost`` is the price of who goes first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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


Marked = Mapping[int, Int32s]  # by epoch, users who are not to be published in it, in increasing order

NOBODY_MARKED: Marked = {}


class SuppressedCounts(NamedTuple):
    """How many samples are suppressed for one reason, and how many users these belong to."""

    samples: int
    users: int


NOBODY_COUNTED = SuppressedCounts(0, 0)


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
    marked: Marked = NOBODY_MARKED,
) -> Presence:
    """Decide who is published when, with as few samples suppressed as possible.

    marked: users who are not to be published in an epoch although the promise would allow it. They count as if they had
    no sample there, before anything else is decided, so that no cover is taken away on which somebody relies.

    A few users who come once can cost many others their cover, as they leave too few who are absent. So where much
    would be suppressed besides, suppression is also tried without the rarest users, and the better result is taken.
    """
    progress.stage("finding who can hide whom", sum(1 for _ in timeline.turns()))
    price = partial(hiding_cost, k=promise.k, n_users=n_users, space_weight=space_weight, workers=workers)

    def presence_without(given_up: Bools) -> Presence:
        return _presence_without(timeline, n_users, promise, given_up, marked, price, progress.advance)

    nobody = np.zeros(n_users, np.bool_)
    best = presence_without(nobody)
    if best.n_suppressed <= n_marked(timeline, marked) + _TOLERABLE * timeline.n_samples:
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


def n_marked(timeline: Timeline, marked: Marked) -> int:
    """How many samples the marked users have in their epochs."""
    return count_marked(timeline, marked).samples


def count_marked(timeline: Timeline, marked: Marked) -> SuppressedCounts:
    """How many samples the marked users have in their epochs, and how many different users that are."""
    samples, who = 0, [np.empty(0, np.int32)]
    for epoch, users in marked.items():
        part = timeline.slice(epoch)
        samples += int(part.counts[np.isin(part.users, users, assume_unique=True)].sum())
        who.append(users)
    return SuppressedCounts(samples, len(np.unique(np.concatenate(who))))


def count_unmarked(timeline: Timeline, presence: Presence, marked: Marked) -> SuppressedCounts:
    """What the promise itself needs: samples that are suppressed although their users are not marked."""
    samples, who = 0, [np.empty(0, np.int32)]
    for epoch in timeline.epochs.tolist():
        part = timeline.slice(epoch)
        lost = ~np.isin(part.users, presence.of(part).users, assume_unique=True)
        if epoch in marked:
            lost &= ~np.isin(part.users, marked[epoch], assume_unique=True)
        samples += int(part.counts[lost].sum())
        who.append(part.users[lost])
    return SuppressedCounts(samples, len(np.unique(np.concatenate(who))))


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
    marked: Marked,
    price: HidingCost,
    tick: Callable[[], object],
) -> Presence:
    """Who is published when, without some users: passes over all epochs until all who count as cover have a part."""
    partless = dict.fromkeys(range(timeline.periods.n_periods), np.flatnonzero(given_up).astype(np.int32))
    while True:
        found = _pass_over_epochs(timeline, n_users, promise, partless, marked, price, tick)
        if not found.lost:
            return found.presence()
        for period, users in found.lost.items():
            partless[period] = np.concatenate([partless[period], users])


class _Pass(NamedTuple):
    """What a pass over all epochs found.

    suppressed: by epoch, the users who have samples in it but are not published; n_suppressed: how many samples that
    are; has_record: who is published at all; samples_of: how many samples each user has. lost: by period, the users who
    counted as cover although nothing of them is published in it.
    """

    suppressed: dict[int, Int32s]
    n_suppressed: int
    has_record: Bools
    samples_of: Int64s
    lost: dict[int, Int32s]

    def presence(self) -> Presence:
        recordless = ~self.has_record
        recordless_samples = int(self.samples_of[recordless].sum())
        others = {epoch: users[~recordless[users]] for epoch, users in self.suppressed.items()}
        suppressed = {epoch: users for epoch, users in others.items() if len(users)}
        return Presence(suppressed, recordless, self.n_suppressed - recordless_samples, recordless_samples)


def _pass_over_epochs(
    timeline: Timeline,
    n_users: int,
    promise: Promise,
    partless: dict[int, Int32s],
    marked: Marked,
    price: HidingCost,
    tick: Callable[[], object],
) -> _Pass:
    """Go over all epochs once. ``partless``: by period, users of whom nothing is published in it."""
    patterns = Patterns(n_users, timeline.reach)
    suppressed_in: dict[int, Int32s] = {}
    lost: dict[int, Int32s] = {}
    has_record = np.zeros(n_users, np.bool_)
    samples_of = np.zeros(n_users, np.int64)
    n_suppressed, stretch_begin = 0, None
    period, counted, has_part = -1, has_record, has_record
    for epoch, ends_stretch in timeline.turns():
        if timeline.period_of(epoch) != period:
            _note_lost(lost, period, counted & ~has_part)
            period = timeline.period_of(epoch)
            counted, has_part = timeline.users_in(period, n_users), np.zeros(n_users, np.bool_)
            counted[partless[period]] = False
        stretch_begin = epoch if stretch_begin is None else stretch_begin
        begin = max(epoch - timeline.reach, stretch_begin)
        patterns.open_epoch(epoch)
        whole_slice = timeline.slice(epoch)
        samples_of[whole_slice.users] += whole_slice.counts
        cover = Cover(counted, has_part, across_border=begin < timeline.first_epoch_of(period))
        there = counted[whole_slice.users]
        if epoch in marked:
            there &= ~np.isin(whole_slice.users, marked[epoch], assume_unique=True)
        there[there] = ~choose_suppressed(whole_slice.restricted(there), patterns, cover, promise.k, price)
        kept = whole_slice.users[there]
        patterns.publish(epoch, kept)
        has_part[kept] = has_record[kept] = True
        if not there.all():
            suppressed_in[epoch] = whole_slice.users[~there]
            n_suppressed += int(whole_slice.counts[~there].sum())
        if ends_stretch:
            patterns.clear()
            stretch_begin = None
        tick()
    _note_lost(lost, period, counted & ~has_part)
    return _Pass(suppressed_in, n_suppressed, has_record, samples_of, lost)


def _note_lost(lost: dict[int, Int32s], period: int, users: Bools) -> None:
    if users.any():
        lost[period] = np.flatnonzero(users).astype(np.int32)


class Cover(NamedTuple):
    """Who may count as absent in an epoch: the users with a part in its period.

    counted: these users; has_part: whether each was published in the period before this epoch. across_border: the
    window that the epoch completes begins in an earlier period.
    """

    counted: Bools
    has_part: Bools
    across_border: bool


def choose_suppressed(
    newest: EpochSlice, patterns: Patterns, cover: Cover, k: int, price: HidingCost
) -> Bools:
    """A mask of the users of the newest epoch to suppress, so that no pattern is left with 1 .. k - 1 users.

    Of users with equal patterns before this epoch there are none or at least k. That must hold for those of them who
    are present now, and for those who are absent: a small present part is suppressed; a small absent part is filled up
    with the users costliest to hide, or with everybody where too few would stay. Where the window begins in an earlier
    period, absence throughout it need not be shared; absence since the border must be.
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
        n_elsewhere = k if cover.across_border else int(cover.counted.sum()) - int(active.sum())
        n_total[never_seen[0]] += n_elsewhere
    n_present = np.bincount(group_of_present, minlength=len(n_total))
    n_absent = n_total - n_present
    for troubled in np.flatnonzero((n_present > 0) & ((n_present < k) | ((n_absent > 0) & (n_absent < k)))):
        members = group_of_present == troubled
        missing = k - int(n_absent[troubled])
        if n_present[troubled] < k or n_present[troubled] - missing < k:
            suppressed |= members
            continue
        suppressed |= _costliest(newest, members, missing, price)
    if cover.across_border:
        suppressed |= _fill_up_waiting(newest, group_of_present, n_absent, suppressed, cover, k, price)
    return suppressed


def _fill_up_waiting(
    newest: EpochSlice,
    group: Int64s,
    n_absent: Int64s,
    suppressed: Bools,
    cover: Cover,
    k: int,
    price: HidingCost,
) -> Bools:
    """Whom to suppress besides, so that none or at least k users have a part in the period, but no box in it so far.

    They are taken from one group of equal patterns, whose present and absent parts stay empty or large enough: the
    group that loses the fewest.
    """
    waiting = cover.counted & ~cover.has_part
    candidates = waiting[newest.users] & ~suppressed
    n_waiting = int(waiting.sum()) - int(candidates.sum())
    nobody = np.zeros(len(newest.users), np.bool_)
    if n_waiting == 0 or n_waiting >= k or not candidates.any():
        return nobody
    n_stay = np.bincount(group[candidates], minlength=len(n_absent))
    n_gone = n_absent + np.bincount(group[suppressed], minlength=len(n_absent))
    wanted = np.where(n_gone > 0, k - n_waiting, k)
    n_taken = np.where(n_stay - wanted < k, n_stay, wanted)
    chosen = int(np.argmin(np.where(n_stay > 0, n_taken, len(group) + 1)))
    members = candidates & (group == chosen)
    return (
        members
        if n_taken[chosen] == n_stay[chosen]
        else _costliest(newest, members, int(n_taken[chosen]), price)
    )


def _costliest(newest: EpochSlice, members: Bools, n: int, price: HidingCost) -> Bools:
    """The n of some users of an epoch who are costliest to hide."""
    order = np.argsort(-price(newest, members), kind="stable")[:n]
    chosen = np.zeros(len(members), np.bool_)
    chosen[np.flatnonzero(members)[order]] = True
    return chosen
