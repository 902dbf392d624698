"""How much of a person's data whoever finds some of the person's parts can read, where records get new names."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from shoal.core.periods import Periods
from shoal.storage.sample_store import SampleStore

KNOWN = 4  # moments, as in the literature on unicity


def read_share(store: SampleStore, periods: Periods, n_known: int = KNOWN) -> float:
    """The share of their samples, on average over people, that lie in periods in which one of n random ones does.

    That is what somebody reads at the most who knows these samples, finds the person's record in each of their periods,
    and cannot tie parts together: 1 where records never get new names.
    """
    if periods.n_periods == 1:
        return 1.0
    slots = store.slots
    edges = [int(slots[0]), *periods.borders.tolist(), int(slots[-1]) + 1]
    total, read = np.zeros(store.n_users), np.zeros(store.n_users)
    for begin, end in pairwise(edges):
        total += np.bincount(store.between(begin, end).user, minlength=store.n_users)
    for begin, end in pairwise(edges):
        share = np.bincount(store.between(begin, end).user, minlength=store.n_users) / total
        read += share * (1 - (1 - share) ** n_known)
    return float(read.mean())
