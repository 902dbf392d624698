"""Positions along an axis, spread about a middle."""

from __future__ import annotations

import numpy as np

from shoal.synthetic.streams import Ints, Streams, below, child


def even(stream: Streams, draw: int, spread_m: int | Ints) -> Ints:
    """Anywhere from -spread to spread, by the child ``draw`` of each stream."""
    return below(child(stream, draw), 2 * np.asarray(spread_m)) - spread_m


def bell(stream: Streams, draw: int, spread_m: int | Ints) -> Ints:
    """The sum of four even draws, ``draw`` and the next: nearly normal, standard deviation 1.15 spreads."""
    first, second = even(stream, draw, spread_m), even(stream, draw + 1, spread_m)
    return first + second + even(stream, draw + 2, spread_m) + even(stream, draw + 3, spread_m)
