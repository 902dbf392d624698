"""Runs of different lengths, one after the other in flat arrays."""

from __future__ import annotations

import numpy as np

from shoal.synthetic.streams import Ints


def ragged(counts: Ints) -> tuple[Ints, Ints]:
    """Owner and position of every element of consecutive runs of the given lengths."""
    owner = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    return owner, np.arange(len(owner), dtype=np.int64) - np.repeat(np.cumsum(counts) - counts, counts)
