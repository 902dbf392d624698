"""Random numbers that are the same on every platform: each is a hash of the seed and of what it is for.

A stream is a 64-bit number; ``child`` derives streams from it, one for each thing to be drawn. Only whole numbers and
operations that round alike everywhere are used (docs/decisions/0008-synthetic-regions.md).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.core.arrays import Floats

Streams = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


# ---- streams ------------------------------------------------------------------------------------------------------


def root(seed: int) -> Streams:
    """The stream that everything of one seed descends from (an array of one)."""
    return _mix(np.array([seed], dtype=np.uint64))


def child(stream: Streams, index: npt.ArrayLike) -> Streams:
    """The streams below ``stream`` at ``index`` (whole numbers from 0; broadcast against each other)."""
    steps = np.atleast_1d(np.asarray(index)).astype(np.uint64) + np.uint64(1)
    return _mix(stream + steps * _GOLDEN)


def _mix(z: Streams) -> Streams:
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))


# ---- one draw per stream ------------------------------------------------------------------------------------------


def uniform(stream: Streams) -> Floats:
    """One number in [0, 1) per stream: its upper 53 bits, exactly."""
    return (stream >> np.uint64(11)).astype(np.float64) * 2.0**-53


def uniform_below(stream: Streams, bound: npt.ArrayLike) -> Ints:
    """One whole number in [0, bound) per stream; bound is at most 2^31."""
    upper = (stream >> np.uint64(32)).astype(np.int64)
    return (upper * np.asarray(bound, dtype=np.int64)) >> 32


def bernoulli_percent(stream: Streams, percent: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """True for ``percent`` in a hundred of the streams."""
    return uniform_below(stream, 100) < np.asarray(percent)


def even(stream: Streams, draw: int, spread_m: int | Ints) -> Ints:
    """Anywhere from -spread to spread, by the child ``draw`` of each stream."""
    return uniform_below(child(stream, draw), 2 * np.asarray(spread_m)) - spread_m


def bell(stream: Streams, draw: int, spread_m: int | Ints) -> Ints:
    """The sum of four even draws, ``draw`` and the next: nearly normal, standard deviation 1.15 spreads."""
    first, second = even(stream, draw, spread_m), even(stream, draw + 1, spread_m)
    return first + second + even(stream, draw + 2, spread_m) + even(stream, draw + 3, spread_m)


def log_logistic(stream: Streams, cap: float) -> Floats:
    """Log-logistic of shape 2: median 1, density falling like x^-3, cut at ``cap``."""
    u = uniform(stream)
    return np.minimum(np.sqrt(u / (1.0 - u)), cap)


def pick(stream: Streams, cumulative: Ints, row: npt.ArrayLike = 0) -> Ints:
    """One column per stream, drawn by weight from a row of ``cumulative``.

    ``cumulative`` has shape (rows, columns): running totals of whole-number weights along each row, each row
    starting at its own first weight and below 2^31.
    """
    rows: int = cumulative.shape[0]
    columns: int = cumulative.shape[1]
    of_row: Ints = np.broadcast_to(np.asarray(row, dtype=np.int64), stream.shape)
    totals = cumulative[:, -1]
    starts = np.cumsum(totals) - totals
    flat = (cumulative + starts[:, None]).reshape(rows * columns)
    drawn = starts[of_row] + uniform_below(stream, totals[of_row])
    place: Ints = np.searchsorted(flat, drawn, side="right").astype(np.int64)
    return place - of_row * columns


# ---- runs of different lengths ------------------------------------------------------------------------------------


def ragged(counts: Ints) -> tuple[Ints, Ints]:
    """Owner and position of every element of consecutive runs of the given lengths."""
    owner = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    return owner, np.arange(len(owner), dtype=np.int64) - np.repeat(np.cumsum(counts) - counts, counts)


def elapsed(gaps: Ints, owner: Ints, position: Ints) -> Ints:
    """For every element of runs that ``ragged`` describes, none of them empty, the gaps since the first of its run."""
    first = position == 0
    total = np.cumsum(np.where(first, 0, gaps))
    since: Ints = total - total[first][owner]
    return since
