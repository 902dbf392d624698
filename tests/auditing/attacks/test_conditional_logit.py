"""Weights learnt from one half of the cases and used on the other: what tells is found, noise is no help."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.auditing.attacks.attackers import LEARNT, Cases, try_attackers
from shoal.core.arrays import Bools, Floats, Int64s


def chances(case: Int64s, features: Floats, right: Bools, half: Int64s) -> Floats:
    """The chances that an attacker gives who learns from the other half."""
    names = tuple(str(column) for column in range(features.shape[1]))
    found = try_attackers(Cases(case, right, features, half), np.zeros(len(names)), names)
    return found.chance[LEARNT]


def made_cases(n: int, rng: np.random.Generator) -> tuple[Int64s, Bools, Int64s]:
    """Cases of 2 to 6 lines, one of them right; every other case in one half."""
    case = np.repeat(np.arange(n), rng.integers(2, 7, n))
    first = np.searchsorted(case, np.arange(n))
    right = np.zeros(len(case), np.bool_)
    right[first + rng.integers(0, np.bincount(case))] = True
    return case, right, np.arange(n) % 2


def given_to_the_right(case: Int64s, features: Floats, right: Bools, half: Int64s) -> Floats:
    found = chances(case, features, right, half)
    assert np.bincount(case, weights=found) == pytest.approx(1)
    assert (found >= 0).all()
    return found[right]


def test_a_feature_that_tells_everything_is_found() -> None:
    rng = np.random.default_rng(1)
    case, right, half = made_cases(400, rng)
    features = rng.normal(size=(len(case), 4))
    features[:, 2] = (
        -7.0 * right + 1e-3 * rng.normal(size=len(case)) + case
    )  # what all of a case share tells nothing
    assert given_to_the_right(case, features, right, half).mean() > 0.95


def test_noise_is_no_help() -> None:
    """Over many draws; a learner that saw its own half would be above chance."""
    gains = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        case, right, half = made_cases(60, rng)
        given = given_to_the_right(case, rng.normal(size=(len(case), 9)), right, half)
        gains.append((given - 1 / np.bincount(case)).mean())
    assert abs(np.mean(gains)) < 3 * np.std(gains) / np.sqrt(len(gains))


def test_half_a_clue_is_worth_something() -> None:
    rng = np.random.default_rng(2)
    case, right, half = made_cases(2000, rng)
    clue = rng.normal(size=(len(case), 1)) + right[:, None]
    given = given_to_the_right(case, clue, right, half)
    assert 1.2 < given.mean() / (1 / np.bincount(case)).mean() < 2
    weight = np.exp(clue[:, 0])  # of two normals one apart, this is how much likelier one is
    best = (weight / np.bincount(case, weights=weight)[case])[right]
    assert given.mean() == pytest.approx(best.mean(), abs=0.01)


def test_one_half_learns_nothing_from_itself() -> None:
    rng = np.random.default_rng(3)
    case, right, half = made_cases(200, rng)
    features = rng.normal(size=(len(case), 2)) + 3 * (right & (half[case] == 0))[:, None]
    given = given_to_the_right(case, features, right, half)
    even = given[half == 0]
    assert abs(even.mean() - (1 / np.bincount(case))[half == 0].mean()) < 0.1
    assert chances(case, features, right, half) == pytest.approx(chances(case, features, right, half), abs=0)


def test_what_is_not_known_counts_for_nothing() -> None:
    rng = np.random.default_rng(4)
    case, right, half = made_cases(100, rng)
    clue = right[:, None] + 0.0
    with_gaps = np.concatenate([clue, np.where(rng.random((len(case), 1)) < 0.5, np.nan, 1.0)], axis=1)
    assert given_to_the_right(case, with_gaps, right, half).mean() > 0.9
    nothing = np.full((len(case), 2), np.nan)
    assert given_to_the_right(case, nothing, right, half) == pytest.approx(1 / np.bincount(case))


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_cases_or_none(n: int) -> None:
    case, right, half = made_cases(n, np.random.default_rng(5))
    found = chances(case, np.ones((len(case), 3)), right, half)
    assert found == pytest.approx((1 / np.maximum(np.bincount(case, minlength=n), 1))[case])


def test_cases_without_a_right_line_teach_nothing() -> None:
    rng = np.random.default_rng(6)
    case, right, half = made_cases(300, rng)
    features = rng.normal(size=(len(case), 2)) + 2 * right[:, None]
    without = right & (case % 10 > 1)
    found = chances(case, features, without, half)
    assert found[without].mean() > 0.6


def test_extreme_values_stay_numbers() -> None:
    rng = np.random.default_rng(7)
    case, right, half = made_cases(50, rng)
    features = np.stack([1e15 * right, np.zeros(len(case)), 1e-15 * rng.normal(size=len(case))], axis=1)
    found = chances(case, features, right, half)
    assert np.isfinite(found).all()
    assert found[right].mean() > 0.8
