"""A budget: people who are costliest to hide where they are, are not published there, up to a share of all samples.

Whom: the price of a sample is what it costs on average to hide its user in the epoch among the nearest others, divided
by the user's samples there (docs/decisions/0023-suppression-budget.md has what else was tried). When: a user above the
threshold stays suppressed while the price is above a part of it, so that noise does not make people come and go.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Bools, Floats, Int32s, Int64s
from shoal.core.workers import Workers
from shoal.hiding.epochs import EpochSlice, LiveEpoch, Timeline
from shoal.hiding.matching.candidates import nearest_members
from shoal.hiding.suppression import NOBODY_MARKED, Marked, Presence, n_marked
from shoal.hiding.window import build_window

_NEAREST = (
    8  # others among whom somebody is priced: partners of several windows, and not one who happens to be near
)
_STAYING = 0.7  # of the threshold, above which who is suppressed already stays so
_PATIENT_TRIES = 8  # with thresholds that fit so far; then the budget is halved each time
_AT_ONCE = 1 << 22  # prices that come before those that cannot matter are dropped


class PricedPresence(NamedTuple):
    """Users in epochs, sorted by user and epoch: how many samples each has there, and the price of one."""

    epoch: Int64s
    user: Int32s
    n_samples: Int32s
    price: Floats

    def of(self, lines: Bools | Int64s) -> PricedPresence:
        """Some lines."""
        return PricedPresence(self.epoch[lines], self.user[lines], self.n_samples[lines], self.price[lines])


def samples_of_share(share: float, n_samples: int) -> int:
    """How many samples a share is at most, as the share is written: 0.29 of 100 is 29."""
    return math.floor(Fraction(repr(share)) * n_samples)


def presence_within_budget(
    share: float,
    timeline: Timeline,
    decide: Callable[[Marked], Presence],
    prices: Callable[[EpochSlice], Floats],
) -> tuple[Presence, Marked]:
    """Who is published when, and the users marked for it: no more samples are suppressed than the share allows.

    What the promise needs counts, before and after users are marked. Where that alone is more, nobody is marked.

    decide: causal suppression without some users. prices: of the users of an epoch (``prices_of_samples``).
    """
    presence, allowed = decide(NOBODY_MARKED), samples_of_share(share, timeline.n_samples)
    left = allowed - presence.n_suppressed
    if left <= 0 or presence.nothing_left:
        return presence, NOBODY_MARKED
    priced = _priced(timeline, presence, prices, left)
    tries = 0
    while left > 0:
        marked = dearest(priced, left)
        if not marked:
            break
        without = decide(marked)
        if without.n_suppressed <= allowed and not without.nothing_left:
            return without, marked
        tries += 1
        taken = n_marked(timeline, marked)
        left = taken - (without.n_suppressed - allowed) if tries <= _PATIENT_TRIES else taken // 2
    return presence, NOBODY_MARKED


def prices_of_samples(newest: EpochSlice, n_users: int, k: int, weight: float, workers: Workers) -> Floats:
    """What a sample of each user of an epoch costs: the mean cost of its nearest others, by its own samples."""
    width = min(max(_NEAREST, k - 1), len(newest.users) - 1)
    in_order = np.arange(n_users, dtype=np.int32)
    arrays = build_window([LiveEpoch(newest, newest.raw)], n_users, in_order, weight, workers)
    _, cost = nearest_members(arrays, np.arange(len(arrays.user), dtype=np.int32), width, workers)
    prices: Floats = cost.mean(axis=1)[np.argsort(arrays.user)] / newest.counts
    return prices


def dearest(priced: PricedPresence, most: int) -> Marked:
    """Users to mark, at most so many samples: those above the lowest threshold for which they are not too many."""
    chosen = _above(priced, _threshold(priced, most))
    found: dict[int, Int32s] = {}
    epochs, users = priced.epoch[chosen], priced.user[chosen]
    order = np.lexsort((users, epochs))
    numbers, first = np.unique(epochs[order], return_index=True)
    for epoch, part in zip(numbers.tolist(), np.split(users[order], first[1:]), strict=False):
        found[epoch] = part
    return found


def _priced(
    timeline: Timeline, presence: Presence, prices: Callable[[EpochSlice], Floats], most: int
) -> PricedPresence:
    """The prices of everybody published, as far as they may be above the threshold."""
    parts: list[PricedPresence] = []
    n_new = 0
    for part in _published_epochs(timeline, presence):
        epochs = np.full(len(part.users), part.epoch)
        parts.append(PricedPresence(epochs, part.users, part.counts, prices(part)))
        n_new += len(part.users)
        if n_new > _AT_ONCE:
            parts, n_new = [_without_cheap(_sorted(parts), most)], 0
    return _sorted(parts)


def _published_epochs(timeline: Timeline, presence: Presence) -> Iterator[EpochSlice]:
    for epoch in timeline.epochs.tolist():
        part = presence.of(timeline.slice(epoch))
        if len(part.users):
            yield part


def _sorted(parts: list[PricedPresence]) -> PricedPresence:
    epoch, user, n_samples, price = (np.concatenate(column) for column in zip(*parts, strict=True))
    return PricedPresence(epoch, user, n_samples, price).of(np.lexsort((epoch, user)))


def _without_cheap(priced: PricedPresence, most: int) -> PricedPresence:
    """Without those who will not be marked, whoever comes later: more users only make the threshold higher."""
    return priced.of(priced.price >= _STAYING * _threshold(priced, most))


def _threshold(priced: PricedPresence, most: int) -> float:
    """The lowest threshold with at most so many samples above it; infinite where those of the dearest are too many."""
    levels = np.unique(priced.price)
    low, high = 0, len(levels)  # of levels from ``high`` on not too many are above
    while low < high:
        middle = (low + high) // 2
        if int(priced.n_samples[_above(priced, levels[middle])].sum()) <= most:
            high = middle
        else:
            low = middle + 1
    return float(levels[high]) if high < len(levels) else math.inf


def _above(priced: PricedPresence, threshold: float) -> Bools:
    """Who is above the threshold, or was in an epoch just before and has stayed above a part of it since."""
    number = np.arange(len(priced.user))
    staying = priced.price >= _STAYING * threshold
    goes_on = np.zeros(len(number), np.bool_)
    goes_on[1:] = (priced.user[1:] == priced.user[:-1]) & (priced.epoch[1:] == priced.epoch[:-1] + 1)
    goes_on[1:] &= staying[:-1]
    begin = np.maximum.accumulate(np.where(goes_on, 0, number))
    latest = np.maximum.accumulate(np.where(priced.price >= threshold, number, -1))
    return staying & (latest >= begin) & (priced.price > 0)
