"""Shards: every group in parts that are small enough, large enough, and made of neighbours."""

from __future__ import annotations

import random

import numpy as np
import pytest

from shoal.hiding.window import cut_into_shards
from support.random_windows import crowd


@pytest.mark.parametrize("most", [1, 2, 7, 16, 50, 1000])
@pytest.mark.parametrize("k", [2, 5])
def test_sizes(most: int, k: int) -> None:
    arrays = crowd(random.Random(most), 300, 60, 2)
    shards = cut_into_shards(arrays, most, k)
    for first in np.unique(arrays.first).tolist():
        n = int(arrays.last[first]) - first
        parts = np.unique(shards.first[first : first + n], return_counts=True)
        assert parts[0][0] == first
        assert parts[1].sum() == n
        assert parts[1].max() - parts[1].min() <= 1
        assert parts[1].min() >= min(k, n)
        assert parts[1].max() <= max(most, 2 * k)
        for begin, size in zip(*(column.tolist() for column in parts), strict=True):
            assert set(shards.last[begin : begin + size].tolist()) == {begin + size}


def test_users_of_a_shard_are_near_each_other() -> None:
    arrays = crowd(random.Random(3), 700, 400, 1, n_epochs=1)
    shards = cut_into_shards(arrays, 100, 2)
    x = arrays.raw.touch[arrays.row[:, 0], 2].astype(float)
    y = arrays.raw.touch[arrays.row[:, 0], 4].astype(float)
    areas = []
    for first in np.unique(shards.first).tolist():
        inside = slice(first, int(shards.last[first]))
        areas.append(np.ptp(x[inside]) * np.ptp(y[inside]))
    assert np.median(areas) < 0.5 * np.ptp(x) * np.ptp(y)
