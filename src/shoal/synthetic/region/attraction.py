"""What draws people to an antenna: population, work, errands, journeys; and the tables from which places are picked.

Tables hold whole numbers, made with decimal arithmetic: exact where floats differ from platform to platform.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.core.arrays import Floats
from shoal.synthetic.random_streams import Ints, Streams, child, log_logistic, uniform_below
from shoal.synthetic.region.antennas import Network

# ---- what draws people to antennas --------------------------------------------------------------------------------

_ERRAND_M = 1_500  # a typical distance of errands; longer where antennas are far apart


class Attraction(NamedTuple):
    """How likely each antenna is, as a home, and from each antenna as a work place, an errand, a journey."""

    homes: WeightedChoice  # by population
    work: WeightedChoice
    errands: WeightedChoice
    journeys: WeightedChoice


def build_attraction(network: Network, commute_m: int, journey_m: int, stream: Streams) -> Attraction:
    """Operators build where the load is: people per antenna differ little, jobs and shops crowd where antennas do."""
    each = np.arange(len(network.x))
    crowd = np.sqrt(network.around.astype(np.float64))
    people = (0.1 + _uneven(child(child(stream, 0), each))) * crowd
    crowding = (0.1 + _uneven(child(child(stream, 1), each))) * crowd * np.sqrt(crowd)

    weights = (1_000 * crowding).astype(np.int64)

    def gravity(scale_m: Ints, power: int = 2) -> WeightedChoice:
        return gravity_choice(network.x, network.y, weights, scale_m, power)

    return Attraction(
        homes=flat_choice((1_000 * people).astype(np.int64)),
        work=gravity(commute_m + network.spacing_m, power=6),
        errands=gravity(_ERRAND_M + network.spacing_m, power=4),
        journeys=gravity(np.full(len(each), journey_m)),
    )


def _uneven(stream: Streams) -> Floats:
    """Heavy-tailed, median 1: a product of two draws."""
    return log_logistic(child(stream, 0), cap=12.0) * log_logistic(child(stream, 1), cap=12.0)


# ---- places picked by weight --------------------------------------------------------------------------------------

_ROWS_AT_ONCE = 256
_TOTAL = 1 << 30


class WeightedChoice:
    """Running totals of whole-number weights, a row per place of origin."""

    def __init__(self, running: npt.NDArray[np.int32]) -> None:
        self._running = running
        self._totals = running[:, -1].astype(np.int64)

    def pick(self, stream: Streams, origin: Ints) -> Ints:
        """One column per stream, by the weights of its row."""
        drawn = uniform_below(stream, self._totals[origin])
        low = np.zeros(len(stream), dtype=np.int64)
        size = self._running.shape[1]
        step = 1 << size.bit_length()
        while step:
            further = low + step
            inside = further <= size
            passed = self._running[origin, np.where(inside, further, 1) - 1] <= drawn
            low = np.where(inside & passed, further, low)
            step >>= 1
        return low


def flat_choice(weights: Ints) -> WeightedChoice:
    """The same weights from everywhere: one row, picked with origin 0."""
    return WeightedChoice(np.cumsum(_scaled(weights)).astype(np.int32)[None, :])


def gravity_choice(x: Ints, y: Ints, weights: Ints, scale_m: Ints, power: int = 2) -> WeightedChoice:
    """Weight / (1 + (distance / scale)^2)^(power / 2) from each origin, with its own scale; never the origin itself."""
    scaled = _scaled(weights)
    running = np.empty((len(x), len(x)), dtype=np.int32)
    for first in range(0, len(x), _ROWS_AT_ONCE):
        rows = np.arange(first, min(first + _ROWS_AT_ONCE, len(x)))
        apart = (x[rows, None] - x) ** 2 + (y[rows, None] - y) ** 2
        tenths = 10 * apart // scale_m[rows, None] ** 2
        weights = scaled
        for _ in range(power // 2):
            weights = 10 * weights // (10 + tenths)
        weights = np.maximum(weights, 1)
        weights[rows - first, rows] = 0
        running[rows] = np.cumsum(weights, axis=1)
    return WeightedChoice(running)


def _scaled(weights: Ints) -> Ints:
    """Weights whose total is about the most that a running total may be."""
    total = int(weights.sum())
    if total > _TOTAL:
        return np.maximum(weights // -(-total // _TOTAL), 1)
    return np.maximum(weights * (_TOTAL // total), 1)


# ---- power laws as tables -----------------------------------------------------------------------------------------

ONE = 1 << 20  # certainty, in the tables of chances


def falling_chances(first: str, exponent: str, length: int) -> Ints:
    """``first`` * n^-``exponent`` for n = 1, 2, ... in parts of ONE; the entry for 0 is that for 1."""
    with localcontext() as context:
        context.prec = 30
        chances = [Decimal(first) * Decimal(n) ** -Decimal(exponent) for n in range(1, length)]
    return np.array([int(ONE * chance) for chance in chances[:1] + chances], dtype=np.int64)


def power_law(least: int, most: int, exponent: str, parts: int = 4_096) -> Ints:
    """The parts + 1 quantiles of the density x^-``exponent`` between ``least`` and ``most`` (exponent not 1)."""
    with localcontext() as context:
        context.prec = 30
        flat = 1 - Decimal(exponent)
        low, high = Decimal(least) ** flat, Decimal(most) ** flat
        values = [(low + (high - low) * part / parts) ** (1 / flat) for part in range(parts + 1)]
    return np.array([int(value.to_integral_value()) for value in values], dtype=np.int64)


def draw(stream: Streams, quantiles: Ints) -> Ints:
    """One whole number per stream from the distribution with these quantiles."""
    part = uniform_below(stream, len(quantiles) - 1)
    low = quantiles[part]
    return low + uniform_below(child(stream, 0), np.maximum(quantiles[part + 1] - low, 1))
