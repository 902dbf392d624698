"""The price of hardening: it stays within bounds, and brings the share that it is steered by to its aim."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest

from shoal.hiding.linking import Tried
from shoal.hiding.steering import AIMS, Steering


def test_a_level_that_asks_for_more_begins_with_a_higher_price() -> None:
    prices = [Steering(aim).price for aim in AIMS]
    assert prices == sorted(prices)
    assert prices[0] == 0
    assert 0 < prices[1] < prices[3] < 10


@pytest.mark.parametrize(("n_left", "least", "most"), [(0, 0.0, 0.0), (200, 20.0, 20.0)])
def test_the_price_stays_within_bounds(n_left: int, least: float, most: float) -> None:
    """Whether nobody is ever left alone, or everybody whatever is paid."""
    steering = Steering(0.02)
    for _ in range(300):
        steering.observe(Tried(200, n_left, 400), steering.price)
    assert least <= steering.price <= most
    assert steering.share_left == n_left / 200


@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize(("unhardened", "steepness"), [(0.2, 0.5), (0.3, 0.7), (0.45, 0.4), (0.35, 2.0)])
def test_the_aim_is_met_whatever_the_data_are_like(level: int, unhardened: float, steepness: float) -> None:
    """Shares that fall with the price otherwise than the model thinks, and are found out by a few attacks."""
    steering, randomness, shares = Steering(AIMS[level]), np.random.default_rng(level), []
    for _ in range(96):
        price = steering.price
        share = unhardened * exp(-steepness * price)
        steering.observe(Tried(200, int(randomness.binomial(200, share)), 400), price)
        shares.append(share)
    assert 0.75 * AIMS[level] < np.mean(shares) < 1.15 * AIMS[level]


def test_nothing_is_estimated_before_anything_is_tried() -> None:
    assert Steering(0.1).share_left is None


def test_an_epoch_counts_for_as_many_as_are_present() -> None:
    steering = Steering(0.1)
    steering.observe(Tried(10, 5, 10), 1.0)
    steering.observe(Tried(10, 0, 40), 1.0)
    assert steering.share_left == pytest.approx(0.1)
