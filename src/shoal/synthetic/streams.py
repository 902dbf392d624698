"""Random numbers that are the same for ever, on every platform and with every version of numpy.

A stream is a 64-bit number. It has children (one per index), each a stream of its own, so what a user does on
a day depends only on the seed, the user's index and the day, not on how many others are drawn beside it. The
hash is the finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): whole numbers modulo 2^64.

What is made of the numbers uses whole numbers and the five operations that IEEE 754 rounds correctly
(+ - * / sqrt), element by element: never exp, log, sin, a sum of floats or BLAS, whose last bits depend on
the machine. numpy's own random streams are not used, so its policy on them does not matter either.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Streams = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def root(seed: int) -> Streams:
    """The stream that everything of one seed descends from (an array of one)."""
    return _mix(np.array([seed], dtype=np.uint64))


def child(stream: Streams, index: npt.ArrayLike) -> Streams:
    """The streams below ``stream`` at ``index`` (whole numbers from 0; broadcast against each other)."""
    steps = np.atleast_1d(np.asarray(index)).astype(np.uint64) + np.uint64(1)
    return _mix(stream + steps * _GOLDEN)


def uniform(stream: Streams) -> Floats:
    """One number in [0, 1) per stream: its upper 53 bits, exactly."""
    return (stream >> np.uint64(11)).astype(np.float64) * 2.0**-53


def below(stream: Streams, bound: npt.ArrayLike) -> Ints:
    """One whole number in [0, bound) per stream; bound is at most 2^31."""
    upper = (stream >> np.uint64(32)).astype(np.int64)
    return (upper * np.asarray(bound, dtype=np.int64)) >> 32


def chance(stream: Streams, percent: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """True for ``percent`` in a hundred of the streams."""
    return below(stream, 100) < np.asarray(percent)


def heavy(stream: Streams, cap: float) -> Floats:
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
    drawn = starts[of_row] + below(stream, totals[of_row])
    place: Ints = np.searchsorted(flat, drawn, side="right").astype(np.int64)
    return place - of_row * columns


def _mix(z: Streams) -> Streams:
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))
