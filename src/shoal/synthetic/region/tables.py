"""Power laws as tables of whole numbers: the same everywhere, since decimal arithmetic is exact where floats differ."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np

from shoal.synthetic.streams import Ints, Streams, below, child

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
    part = below(stream, len(quantiles) - 1)
    low = quantiles[part]
    return low + below(child(stream, 0), np.maximum(quantiles[part + 1] - low, 1))
