"""The first row of each user in each period."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from shoal.core.sorting import sort_distinct
from shoal.reading.buckets import Sightings, joined

_AT_LEAST = 1 << 20  # rows worth sorting again


def first_rows(pieces: Iterable[Sightings], period_s: int) -> Sightings:
    """Each user's first row in each period, counted from 1970 on, in no matter how many pieces.

    Among rows of one second the one with the smallest cell is kept, whatever the order of rows. Memory holds the rows
    to keep and about as many more.
    """
    waiting: list[Sightings] = []
    room = _AT_LEAST
    for piece in pieces:
        waiting.append(piece)
        if sum(len(each.when) for each in waiting) > room:
            waiting = [_firsts(joined(waiting), period_s)]
            room = max(_AT_LEAST, 2 * len(waiting[0].when))
    return _firsts(joined(waiting), period_s)


def _firsts(rows: Sightings, period_s: int) -> Sightings:
    rows = Sightings(*sort_distinct(rows))
    period = rows.when // period_s
    first = np.ones(len(period), bool)
    first[1:] = (rows.user[1:] != rows.user[:-1]) | (period[1:] != period[:-1])
    return Sightings._make(column[first] for column in rows)
