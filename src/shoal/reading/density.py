"""How densely people are sampled: positions every few seconds are of devices, not of calls."""

from __future__ import annotations

import numpy as np

from shoal.reading.batches import Batch
from shoal.samples import Bools, Int64s

_FEW_SECONDS = 15
_MOST_USERS = 200  # as many tell enough
_FEWEST_GAPS = 5


def dense_samples(batches: list[Batch], n_users: int) -> list[str]:
    """A warning, one line, where half of the users have half of their samples within seconds of the last.

    Users with a handful of samples count as users, but not as dense.
    """
    asked = _asked(batches, n_users)
    user, when = (
        np.concatenate(columns) for columns in zip(*(_rows(batch, asked) for batch in batches), strict=True)
    )
    order = np.lexsort((when, user))
    user, when = user[order], when[order]
    gap, owner = np.diff(when), user[1:]
    real = (owner == user[:-1]) & (gap > 0)
    medians = _medians(gap[real], owner[real])
    dense = medians[medians <= _FEW_SECONDS]
    if len(dense) == 0 or 2 * len(dense) < len(np.unique(user)):
        return []
    return [
        f"Samples follow each other within {int(np.median(dense))} s, as GPS devices record them: --resample 5min"
        " or the like keeps the first of each period."
    ]


def _asked(batches: list[Batch], n_users: int) -> Bools:
    """Some of the users who have rows left, evenly over all of them."""
    present = np.zeros(n_users, bool)
    for batch in batches:
        present[batch.user] = True
    there = np.flatnonzero(present)
    asked = np.zeros(n_users, bool)
    asked[there[np.linspace(0, len(there) - 1, min(len(there), _MOST_USERS)).astype(np.int64)]] = True
    return asked


def _rows(batch: Batch, asked: Bools) -> tuple[Int64s, Int64s]:
    wanted = asked[batch.user]
    return batch.user[wanted].astype(np.int64), batch.when[wanted]


def _medians(gap: Int64s, owner: Int64s) -> Int64s:
    """The (upper) median gap of each owner with enough gaps."""
    order = np.lexsort((gap, owner))
    _, start, count = np.unique(owner[order], return_index=True, return_counts=True)
    enough = count >= _FEWEST_GAPS
    medians: Int64s = gap[order][(start + count // 2)[enough]]
    return medians
