"""Counting rows by time, and cutting it: no part with many rows but a single stretch."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from shoal.reading.plausibility import TimeHistogram


@pytest.mark.parametrize("dense", [1, 10**6])
def test_counts_and_cuts(monkeypatch: pytest.MonkeyPatch, dense: int) -> None:
    monkeypatch.setattr("shoal.reading.plausibility._MOST_STRETCHES", dense)
    rng = random.Random(1)
    for _ in range(300):
        unit, most = rng.choice((1, 7, 60)), rng.randrange(1, 12)
        batches = [
            [rng.randrange(-300, 300) for _ in range(rng.randrange(20))] for _ in range(rng.randrange(1, 5))
        ]
        expected = Counter(second // unit for batch in batches for second in batch)
        histogram = TimeHistogram(unit)
        for batch in batches:
            histogram.add(np.array(batch, np.int64))
        assert histogram.units.tolist() == sorted(expected)
        assert histogram.rows.tolist() == [expected[each] for each in sorted(expected)]
        check_cuts(expected, unit, histogram.cuts(most).tolist(), most)


def check_cuts(rows: Counter[int], unit: int, cuts: list[int], most: int) -> None:
    """Parts begin with a unit that has rows, and none could have had one more unit."""
    assert cuts == sorted(set(cuts))
    edges = [-(10**9), *(cut // unit for cut in cuts), 10**9]
    assert all(cut % unit == 0 for cut in cuts)
    for begin, end in pairwise(edges):
        inside = [rows[each] for each in rows if begin <= each < end]
        assert sum(inside) <= most or len(inside) == 1
        assert inside or not rows
        assert end == 10**9 or sum(inside) + rows[end] > most
