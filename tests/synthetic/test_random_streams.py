"""Random numbers from whole-number arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.synthetic.random_streams import (
    bernoulli_percent,
    child,
    log_logistic,
    pick,
    root,
    uniform,
    uniform_below,
)


def reference_mix(z: int) -> int:
    """SplitMix64's finaliser, in Python's own whole numbers."""
    mask = 2**64 - 1
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & mask
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & mask
    return z ^ (z >> 31)


def test_streams_are_splitmix64() -> None:
    stream = root(12345)
    assert stream.tolist() == [reference_mix(12345)]
    expected = [reference_mix((reference_mix(12345) + i * 0x9E3779B97F4A7C15) % 2**64) for i in (1, 2, 1001)]
    assert child(stream, [0, 1, 1000]).tolist() == expected
    # The first outputs of SplitMix64 seeded with 0 (the author's reference code).
    first = child(np.array([0], dtype=np.uint64), [0, 1])
    assert [hex(value) for value in first.tolist()] == ["0xe220a8397b1dcdaf", "0x6e789e6aa1b965f4"]


def test_draws_are_spread_evenly() -> None:
    stream = child(root(1), np.arange(100_000))
    u = uniform(stream)
    assert 0 <= u.min() < u.max() < 1
    assert np.histogram(u, bins=10, range=(0, 1))[0] == pytest.approx(10_000, rel=0.05)
    assert np.bincount(uniform_below(stream, 7), minlength=7) == pytest.approx(100_000 / 7, rel=0.05)
    assert bernoulli_percent(stream, 30).mean() == pytest.approx(0.3, abs=0.01)
    siblings = np.corrcoef(uniform(child(stream, 0)), uniform(child(stream, 1)))[0, 1]
    assert abs(siblings) < 0.02


def test_picks_by_weight_within_the_row() -> None:
    weights = np.array([[1, 0, 3], [2, 2, 0]])
    row = np.arange(40_000) % 2
    picked = pick(child(root(2), np.arange(40_000)), np.cumsum(weights, axis=1), row)
    shares = [np.bincount(picked[row == r], minlength=3) / 20_000 for r in (0, 1)]
    assert shares[0] == pytest.approx([0.25, 0, 0.75], abs=0.02)
    assert shares[1] == pytest.approx([0.5, 0.5, 0], abs=0.02)


def test_heavy_draws_have_median_one_and_are_cut() -> None:
    x = log_logistic(child(root(3), np.arange(100_000)), cap=20.0)
    assert np.median(x) == pytest.approx(1, rel=0.02)
    assert x.max() == 20
    assert (x > 10).mean() == pytest.approx(1 / 101, rel=0.15)
