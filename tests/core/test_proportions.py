"""Intervals and tests of significance against known values."""

from __future__ import annotations

import random
from math import comb

import numpy as np
import pytest

from shoal.core.proportions import Proportion, chance_of_more, proportion_of


def test_wilson_intervals_against_published_values() -> None:
    # Newcombe (1998), table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29; Wilson score, method 3.
    for successes, n, low, high in ((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605),
                                    (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)):  # fmt: skip
        found = proportion_of([1.0] * successes + [0.0] * (n - successes))
        assert found is not None
        assert found == pytest.approx(Proportion(successes / n, low, high, n), abs=6e-5)


def test_nothing_tried_is_no_share() -> None:
    assert proportion_of([]) is None


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    rng = np.random.default_rng(0)
    for p in (0.02, 0.3, 0.5, 0.97):
        found = [proportion_of(rng.random(400) < p) for _ in range(600)]
        held = np.mean([share is not None and share.low <= p <= share.high for share in found])
        assert 0.92 < held < 0.98


def test_the_binomial_tail_is_exact() -> None:
    rng = random.Random(0)
    for _ in range(50):
        n, p = rng.randint(1, 40), rng.choice([0.5, 1 / 3, 0.2])
        successes = rng.randint(0, n)
        exact = sum(comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(successes, n + 1))
        assert chance_of_more(successes, n, p) == pytest.approx(exact)


def test_the_tail_of_many_attempts_is_finite() -> None:
    assert chance_of_more(1200, 2000, 0.5) < 1e-15
    assert chance_of_more(800, 2000, 0.5) == pytest.approx(1.0)


def test_many_attacks_on_few_victims_count_as_few() -> None:
    """Two hundred attacks on ten victims say as much as ten attacks: the interval is that of 5 in 10."""
    outcomes = np.arange(200) % 10 < 5
    found = proportion_of(outcomes, victim=np.arange(200) % 10)
    alone = proportion_of(outcomes[:10], victim=np.arange(10))
    assert found is not None
    assert alone is not None
    assert (found.n, found.victims) == (200, 10)
    assert (found.low, found.high) == (alone.low, alone.high) == pytest.approx((0.2366, 0.7634), abs=1e-4)


def test_intervals_hold_the_truth_where_attacks_on_a_victim_end_alike() -> None:
    """Each of 40 victims is lost or not, and attacked fifty times: intervals for 2,000 attacks held it in a fifth."""
    rng = np.random.default_rng(1)
    held = []
    for _ in range(400):
        victim = rng.integers(0, 40, 2000)
        found = proportion_of((rng.random(40) < 0.3)[victim], victim=victim)
        assert found is not None
        held.append(found.low <= 0.3 <= found.high)
    assert np.mean(held) > 0.92
