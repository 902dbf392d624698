"""What an edge costs beside the merge: members that served before, and edges made dearer."""

from __future__ import annotations

import numpy as np

from shoal.core.arrays import Floats, Int32s
from shoal.hiding.kernels.rings import Ties
from shoal.hiding.kernels.search import Barred, WindowArrays
from shoal.hiding.matching.assignment import Edges


def ties_between(window: int, arrays: WindowArrays, barred: Barred, edges: Edges, surcharge: Floats) -> Ties:
    """All that is known in a window; the longer ago a member served, the less its reuse counts."""
    n = len(arrays.user)
    owner, member, when = _former(arrays, barred)
    keys = owner.astype(np.int64) * n + member
    latest_first = np.lexsort((-when, keys))
    keys, place = np.unique(keys[latest_first], return_index=True)
    age = window - when[latest_first][place].astype(np.int64)
    dearer = surcharge != 0  # never former members: those are no candidates
    keys = np.concatenate([keys, edges.owner[dearer].astype(np.int64) * n + edges.member[dearer]])
    order = np.argsort(keys)
    reuse = np.concatenate([age.max(initial=0) + 2 - age, np.zeros(int(dearer.sum()), np.int64)])
    extra = np.concatenate([np.zeros(len(age)), surcharge[dearer]])
    ptr = np.searchsorted(keys[order], np.arange(n + 1, dtype=np.int64) * n)
    return Ties(ptr, (keys[order] % max(n, 1)).astype(np.int32), reuse[order], extra[order])


def _former(arrays: WindowArrays, barred: Barred) -> tuple[Int32s, Int32s, Int32s]:
    """Every owner and member who may not serve it again, both numbered in the window, and when it did."""
    past = barred.past
    length = past.length[arrays.user]
    owner = np.repeat(np.arange(len(length), dtype=np.int32), length)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(length) - length, length)
    entry = past.first[arrays.user[owner]] + within
    member, when = arrays.place[past.member[entry]], past.when[entry]
    counts = (member >= 0) & (when >= barred.since)
    return owner[counts], member[counts], when[counts]
