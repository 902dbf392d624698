"""How much of a person's data whoever finds some of the person's records can read, and how often names should change.

``recommend_period`` is the one place where a period is chosen: plan, anonymize, audit and report all ask it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Floats, Int64s
from shoal.core.formatting import percent
from shoal.core.period_text import NEVER, parse_period, spell_period
from shoal.core.periods import ONE_PERIOD, Periods, Renaming, find_periods
from shoal.core.promise import Grid, Promise
from shoal.core.zones import Zone
from shoal.storage.sample_store import SampleStore

KNOWN = 4  # moments, as in the literature on unicity
PERIODS = ("7d", "1d", "12h", "6h", "3h")  # longest first: what there is to choose from
LITTLE = 0.2  # of a person's samples: what a period leaves to be read if it is short enough


class PeriodOutlook(NamedTuple):
    """What new names every so often leave to be read to somebody who knows four moments of a person and finds the
    record of each: a share of the person's samples, on average over people, as long as nobody ties parts together.

    n_people: over how many. side: "under" or "over" where the share is only a bound, as it may be in public.
    """

    rename_every: str
    read_share: float
    n_people: int = 0
    side: str = ""

    def in_words(self) -> str:
        """The share as part of a sentence."""
        return f"{self.side} {percent(self.read_share)}".lstrip()

    def as_ceiling(self) -> str:
        """The share as the most that is read, which it is: who finds fewer records reads less."""
        return self.in_words() if self.side else f"at most {self.in_words()}"


def outlook_on_periods(
    store: SampleStore, promise: Promise, grid: Grid, zone: Zone, now: Renaming | None = None
) -> list[PeriodOutlook]:
    """What is left to be read as names change now (never, unless given), and with every shorter period.

    Periods that cut nothing, or are shorter than tau, are left out.
    """
    first, last = int(store.slots[0]), int(store.slots[-1])
    tau_s = (promise.tau or 0) * grid.step_s

    def outlook(period: str, periods: Periods) -> PeriodOutlook:
        return PeriodOutlook(period, read_share(store, periods), store.n_users)

    found = [
        outlook(NEVER, ONE_PERIOD)
        if now is None
        else outlook(spell_period(now.every_s), now.periods(first, last, promise, grid))
    ]
    for period in PERIODS:
        every_s = parse_period(period) or 0
        periods = find_periods(every_s, first, last, promise, grid, zone)
        if periods.n_periods > 1 and every_s >= tau_s and (now is None or every_s < now.every_s):
            found.append(outlook(period, periods))
    return found


def recommend_period(outlooks: Sequence[PeriodOutlook]) -> PeriodOutlook | None:
    """The longest period that leaves a fifth or less to be read, else the shortest; the first outlook is that on names
    as they change now.

    None where that leaves a fifth or less already, or no other period leaves less.
    """
    if not outlooks or outlooks[0].read_share <= LITTLE:
        return None
    better = [outlook for outlook in outlooks[1:] if outlook.read_share < outlooks[0].read_share]
    return next(
        (outlook for outlook in better if outlook.read_share <= LITTLE), better[-1] if better else None
    )


def read_share(store: SampleStore, periods: Periods, n_known: int = KNOWN) -> float:
    """The share of their samples, on average over people, that lie in periods in which one of n random ones does; n
    different ones, or all of somebody who has fewer.

    That is what somebody reads at the most who knows these samples, finds the person's record in each of their periods,
    and cannot tie parts together: 1 where records never get new names.
    """
    if periods.n_periods == 1:
        return 1.0
    total = _samples_of_users(store, 0, len(store))
    read = np.zeros(store.n_users)
    for begin, end in pairwise([0, *_first_rows(store, periods), len(store)]):
        inside = _samples_of_users(store, begin, end)
        read += inside / total * (1 - _chance_of_none(total, inside, n_known))
    return float(read.mean())


def _chance_of_none(total: Int64s, inside: Int64s, n_drawn: int) -> Floats:
    """How likely none of n different samples, out of so many in total, is one of those inside."""
    chance = np.ones(len(total))
    for drawn in range(n_drawn):
        chance *= np.maximum(total - inside - drawn, 0) / np.maximum(total - drawn, 1)
    return chance


def _first_rows(store: SampleStore, periods: Periods) -> list[int]:
    """With which sample every period but the first begins."""
    rows: list[int] = store.first[np.searchsorted(store.slots, periods.borders)].tolist()
    return rows


def _samples_of_users(store: SampleStore, begin: int, end: int) -> Int64s:
    """How many of the samples begin .. end - 1 everybody has."""
    return np.bincount(store.user.part(begin, end), minlength=store.n_users)
