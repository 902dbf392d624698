"""Exploration and preferential return (Song, Koren, Wang and Barabási, Nature Physics 2010).

Who knows S places goes to a new one with chance rho S^-gamma, else back to one of the places of earlier visits, each
as likely as it was visited often: a visit of the past, drawn at random.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.synthetic.region.people import People
from shoal.synthetic.region.pull import Pull
from shoal.synthetic.region.tables import ONE, falling_chances
from shoal.synthetic.streams import Ints, Streams, below, chance, child

_RHO, _GAMMA = "0.6", "0.21"
_MOST_PLACES = 1_024
_FAR_PERCENT = 10  # of explorations lead as far as journeys do, for people of wanderlust 1
_EXPLORES = falling_chances(_RHO, _GAMMA, _MOST_PLACES)

# What people know before anybody watches: places near home, near work and elsewhere, and how often they were there.
_VISITS = (3, 2, 2, 1, 1, 1, 1, 1)
_NEAR_WORK = (False, True, False, False, True, False, True, False)


class Habits:
    """The visits that people remember; rows are people."""

    def __init__(self, people: People, pull: Pull, most_visits: int) -> None:
        self._pull = pull
        self._far_percent = (_FAR_PERCENT * people.wanderlust * people.wanderlust).astype(np.int64)
        known = [
            pull.errands.pick(child(people.stream, 100 + number), people.work if near_work else people.home)
            for number, near_work in enumerate(_NEAR_WORK)
        ]
        n_known = sum(_VISITS)
        self._visits = np.zeros((len(people.home), n_known + most_visits), dtype=np.int64)
        self._visits[:, :n_known] = np.repeat(np.stack(known, axis=1), _VISITS, axis=1)
        self._length = np.full(len(people.home), n_known, dtype=np.int64)
        self._places = np.full(len(people.home), len(_VISITS), dtype=np.int64)

    def go_out(
        self, stream: Streams, origin: Ints, strange: npt.NDArray[np.bool_]
    ) -> tuple[Ints, npt.NDArray[np.bool_]]:
        """Where everybody would go now, and whether it is new to them; those in strange parts explore."""
        explores = strange | (below(child(stream, 0), ONE) < _EXPLORES[self._places])
        far = chance(child(stream, 3), self._far_percent)
        new = np.where(
            far,
            self._pull.journeys.pick(child(stream, 4), origin),
            self._pull.errands.pick(child(stream, 1), origin),
        )
        rows = np.arange(len(origin))
        known = self._visits[rows, below(child(stream, 2), self._length)]
        return np.where(explores, new, known), explores

    def remember(self, place: Ints, went: npt.NDArray[np.bool_], explored: npt.NDArray[np.bool_]) -> None:
        """Note a visit of those who went."""
        rows = np.flatnonzero(went)
        self._visits[rows, self._length[rows]] = place[rows]
        self._length[rows] += 1
        self._places += went & explored
        np.minimum(self._places, _MOST_PLACES - 1, out=self._places)
