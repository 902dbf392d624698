"""Nights away from home."""

from __future__ import annotations

import numpy as np

from shoal.synthetic.region.people import People
from shoal.synthetic.region.pull import Pull
from shoal.synthetic.streams import Ints, Streams, below, child, pick

_LONGEST = 7  # nights; n of them with weight 1 / n
_NIGHTS = np.cumsum(420 // np.arange(1, _LONGEST + 1))[None, :]


class Journeys:
    """Where people sleep, from night to night."""

    def __init__(self, people: People, pull: Pull, per_thousand: int) -> None:
        self._people, self._pull = people, pull
        self._chance = (per_thousand * 1_000 * people.wanderlust).astype(np.int64)  # in a million
        self._bed = people.home
        self._nights_left = np.zeros(len(people.home), dtype=np.int64)

    def next_day(self, stream: Streams) -> tuple[Ints, Ints]:
        """Where everybody wakes up, and where they go to bed."""
        woke = self._bed
        home = self._people.home
        at_home = self._nights_left == 0
        leaves = at_home & (below(child(stream, 0), 1_000_000) < self._chance)
        nights = 1 + pick(child(stream, 1), _NIGHTS)
        self._nights_left = np.where(leaves, nights, np.maximum(self._nights_left - 1, 0))
        goal = self._pull.journeys.pick(child(stream, 2), home)
        self._bed = np.where(self._nights_left == 0, home, np.where(leaves, goal, woke))
        return woke, self._bed
