"""Lineages: users who have been in the same clusters throughout a window; absence is a cluster of its own."""

from __future__ import annotations

import numpy as np

from shoal.core.arrays import Int32s, Int64s
from shoal.hiding.kernels.search import WindowArrays

ABSENT = -1


def cluster_histories(arrays: WindowArrays, live: list[tuple[Int32s, Int32s]]) -> Int32s:
    """The cluster of every user of a window in each of its epochs, a line per user.

    live: for each epoch the users in increasing order and their clusters.
    """
    history = np.full(arrays.row.shape, ABSENT, np.int32)
    for column, (users, clusters) in enumerate(live):
        present = arrays.row[:, column] >= 0
        history[present, column] = clusters[np.searchsorted(users, arrays.user[present])]
    return history


def by_lineage(arrays: WindowArrays, history: Int32s) -> tuple[WindowArrays, Int64s]:
    """The window with its users numbered lineage by lineage, and where each lineage begins (and the last ends)."""
    _, lineage = np.unique(history, axis=0, return_inverse=True)
    lineage = lineage.reshape(-1)
    order = np.argsort(lineage, kind="stable")
    bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(lineage))])
    user, lineage = arrays.user[order], lineage[order]
    place = np.full_like(arrays.place, -1)
    place[user] = np.arange(len(user), dtype=np.int32)
    sorted_arrays = arrays._replace(
        row=arrays.row[order],
        user=user,
        place=place,
        first=bounds[lineage].astype(np.int32),
        last=bounds[lineage + 1].astype(np.int32),
    )
    return sorted_arrays, bounds
