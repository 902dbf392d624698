"""Users with equal presence patterns get equal numbers, however many epochs a pattern has."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.hiding.patterns import group_equal


@pytest.mark.parametrize("n_bits", [1, 2, 5, 15, 16, 17, 40, 64, 65, 130])
@pytest.mark.parametrize("n", [0, 1, 2, 300])
def test_equal_patterns_are_numbered_in_their_order(n_bits: int, n: int) -> None:
    rng = np.random.default_rng(n_bits + n)
    few = rng.integers(0, 2, (5, n_bits))
    few[1], few[2] = few[0], few[0]
    few[1, -1] ^= 1
    few[2, 0] ^= 1
    bits = few[rng.integers(0, 5, n)]
    words = np.zeros((n, -(-n_bits // 64)), np.uint64)
    for bit in range(n_bits):
        words[:, bit // 64] |= bits[:, bit].astype(np.uint64) << np.uint64(bit % 64)
    lines = [tuple(line) for line in words.tolist()]
    numbers = {line: number for number, line in enumerate(sorted(set(lines)))}
    assert group_equal(words).tolist() == [numbers[line] for line in lines]
