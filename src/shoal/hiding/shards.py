"""Shards: users who are in the same place in a window, few enough to choose among (design 3.6).

The cut is made anew in every window. People who live far apart meet at work: cut once for all by where they spend their
time, a city of 40,000 in shards of 10,000 loses a quarter of its precision (docs/decisions/0011-shards.md).
"""

from __future__ import annotations

import numpy as np

from shoal.hiding.kernels.search import WindowArrays


def cut(arrays: WindowArrays, most: int, k: int) -> WindowArrays:
    """The same window with large groups in shards of at most ``most`` users, about equally many in each.

    From here on a shard is a group: its users, near each other, hide among themselves. So it has at least k of them,
    whatever ``most`` is.
    """
    first = np.unique(arrays.first).astype(np.int64)
    n = arrays.last[first] - first
    shards = np.maximum(np.minimum(-(-n // most), n // k), 1)
    number = np.arange(shards.sum()) - np.repeat(np.cumsum(shards) - shards, shards)
    starts = np.repeat(first, shards) + number * np.repeat(n, shards) // np.repeat(shards, shards)
    ends = np.append(starts[1:], len(arrays.user))
    return arrays._replace(
        first=np.repeat(starts, ends - starts).astype(np.int32),
        last=np.repeat(ends, ends - starts).astype(np.int32),
    )
