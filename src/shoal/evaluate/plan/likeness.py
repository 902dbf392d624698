"""Which few stretches stand for all: those that look most like all of them under promises that were tried on all.

Precision goes by the hour, and one or two hours taken blindly are off by a fifth. What a short tau showed on many hours
tells which few of them are ordinary together.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from shoal.core.arrays import Bools, Floats, Int64s
from shoal.core.box_sizes import Extents
from shoal.evaluate.plan.stretches import COUNTED, Census, Stretch

_LEVELS = (0.25, 0.5, 0.75)


def most_alike(
    stretches: Sequence[Stretch], views: Sequence[Sequence[Extents]], census: Census, n: int, reach: int
) -> list[Stretch]:
    """So many of the stretches, by time, each for an equal part of the samples; fewer where they would overlap.

    views: what promises showed on each of the stretches. Of all choices, the one is taken in which the shares of boxes
    that stay below the quartiles of all are nearest to a quarter, a half and three quarters.
    """
    n = min(n, len(stretches))
    while n:
        choices = np.array(list(combinations(range(len(stretches)), n)))
        choices = choices[_fits(choices, stretches, census, reach)]
        if len(choices):
            off = sum((_off(choices, view, stretches, census) for view in views), np.zeros(len(choices)))
            chosen = [stretches[number] for number in choices[int(np.argmin(off))]]
            parts = np.diff(np.linspace(0, int(census.samples.sum()), n + 1).astype(np.int64)).tolist()
            return [one._replace(samples=part) for one, part in zip(chosen, parts, strict=True)]
        n //= 2
    return []


def _fits(choices: Int64s, stretches: Sequence[Stretch], census: Census, reach: int) -> Bools:
    """Which choices of stretches, by time, share no epoch and lie inside the data, with what is before and behind."""
    place = np.array([stretch.first for stretch in stretches])[choices] - census.first_epoch
    apart = (np.diff(place, axis=1) >= COUNTED + 2 * reach).all(axis=1)
    inside = (place[:, 0] >= reach) & (place[:, -1] + COUNTED + reach <= len(census.samples))
    return np.asarray(apart & inside)


def _off(choices: Int64s, view: Sequence[Extents], stretches: Sequence[Stretch], census: Census) -> Floats:
    """How far the shares of boxes below the quartiles of all are from what they should be, for each choice."""
    samples = [max(1, census.of(stretch.counted)) for stretch in stretches]
    n_boxes = np.array([extents.n_boxes / n for extents, n in zip(view, samples, strict=True)])
    values = np.unique(np.concatenate([extents.cells.value for extents in view]))
    below = np.array(
        [_below(extents, values) / n for extents, n in zip(view, samples, strict=True)]
    )  # boxes up to each value, for each sample
    if not n_boxes.sum():
        return np.zeros(len(choices))
    all_below = below.sum(axis=0) / n_boxes.sum()
    quartile = np.minimum(np.searchsorted(all_below, _LEVELS), len(values) - 1)
    found = (
        below[:, quartile][choices].sum(axis=1) / np.maximum(n_boxes[choices].sum(axis=1), 1e-300)[:, None]
    )
    return np.asarray(np.abs(found - all_below[quartile]).sum(axis=1))


def _below(extents: Extents, values: Int64s) -> Int64s:
    """How many boxes span at most each of some values."""
    behind = np.concatenate([[0], np.cumsum(extents.cells.frequency)])
    return np.asarray(behind[np.searchsorted(extents.cells.value, values, side="right")])
