"""Which users make up the k-tuples of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from shoal.core.arrays import Int32s
from shoal.core.promise import Promise
from shoal.core.samples import Samples
from shoal.core.workers import Workers
from shoal.evaluate.baselines import draw_tuples
from shoal.evaluate.baselines.tuples import only
from shoal.hiding.epochs import LiveEpoch, Timeline
from shoal.hiding.matching.candidates import nearest_members
from shoal.hiding.window import arrange


class Draw(StrEnum):
    """How tuples are drawn."""

    RANDOM = "random"  # any users
    NEAR = "near"  # a random user with those cheapest to hide among


def draw(
    how: Draw, samples: Samples, ks: Sequence[int], count: int, seed: int, workers: Workers
) -> dict[int, list[Samples]]:
    """``count`` tuples for every k; the same seed gives the same tuples."""
    if how is Draw.RANDOM:
        return {k: draw_tuples(samples, k, count, seed) for k in ks}
    ranked = _random_users_with_their_nearest(samples, max(ks) - 1, count, seed, workers)
    return {k: [only(samples, users[:k].astype(np.int64)) for users in ranked] for k in ks}


def _random_users_with_their_nearest(
    samples: Samples, width: int, count: int, seed: int, workers: Workers
) -> Int32s:
    """A line per tuple: a user, then those whose whole trajectories merge with the user's at the least cost."""
    timeline = Timeline(samples, Promise(2, None, None))
    everything = timeline.slice(int(timeline.epochs[0]))
    rank = np.arange(samples.n_users, dtype=np.int32)
    arrays = arrange([LiveEpoch(everything, everything.raw)], samples.n_users, rank, 1.0, workers)
    rng = np.random.default_rng(seed)
    drawn = np.concatenate([rng.permutation(samples.n_users) for _ in range(-(-count // samples.n_users))])[
        :count
    ]
    owners = arrays.place[drawn]
    members, _ = nearest_members(arrays, owners, width, workers)
    users: Int32s = arrays.user[np.column_stack([owners, members])]
    return users
