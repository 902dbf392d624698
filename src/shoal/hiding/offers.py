"""Records that could be witnesses (hiding.hardening), for all victims of an epoch."""

from __future__ import annotations

import numpy as np

from shoal.core.arrays import Int32s
from shoal.core.workers import Workers
from shoal.hiding.kernels.vouching import Nearby, Offers, Windows, find_offers

_MOST = 256  # to a victim that are remembered: more than all but a few have
_TOGETHER = 500  # victims for whom there is room for that many, before they are put together


def gather_offers(
    nearby: Nearby, windows: Windows, victims: Int32s, n_covers: int, near: int, workers: Workers
) -> Offers:
    """Who vouches for so many covers of victims in each window, or would; so many records near each are asked.

    That stays as it is while records take in others here, since it is about the epochs before and behind.
    """
    groups = [victims[first : first + _TOGETHER] for first in range(0, len(victims), _TOGETHER)]
    parts = [_room_for(victims[:0])] * max(1, len(groups))

    def find(number: int) -> None:
        found = _room_for(groups[number])
        find_offers(nearby, windows, n_covers, near, _MOST, found)
        n = found.ptr[-1]
        parts[number] = found._replace(record=found.record[:n].copy(), needs=found.needs[:n].copy())

    workers.each(len(groups), find)
    lengths = np.concatenate([np.zeros(1, np.int64), *(np.diff(part.ptr) for part in parts)])
    record, needs = (np.concatenate(column) for column in list(zip(*parts, strict=True))[2:])
    return Offers(victims, np.cumsum(lengths), record, needs)


def _room_for(victims: Int32s) -> Offers:
    """Room for as many offers as are remembered of each."""
    record, needs = (np.empty(len(victims) * _MOST, np.int32) for _ in range(2))
    return Offers(victims, np.zeros(len(victims) + 1, np.int64), record, needs)
