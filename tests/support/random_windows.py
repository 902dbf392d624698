"""Windows full of random users."""

from __future__ import annotations

import random

import numpy as np

from shoal.core.promise import Promise
from shoal.core.samples import samples_from_columns
from shoal.core.workers import Workers
from shoal.hiding.epochs import LiveEpoch, Timeline
from shoal.hiding.kernels.window import WindowArrays
from shoal.hiding.window import build_window


def crowd(
    rng: random.Random,
    n_users: int,
    side: int,
    most: int,
    n_epochs: int = 2,
    *,
    epsilon: int | None = None,
    weight: float | None = None,
) -> WindowArrays:
    """A window of random users of whom some are absent in one epoch or the other."""
    epsilon = epsilon or rng.choice([3, 20])
    rows = [
        (user, w * epsilon + rng.randrange(epsilon), rng.randrange(side), rng.randrange(side))
        for user in range(n_users)
        for w in range(n_epochs)
        if rng.random() < 0.8
        for _ in range(rng.randint(1, most))
    ] + [(user, 0, 0, 0) for user in range(2)]
    user, t, x, y = (np.array(column) for column in zip(*rows, strict=True))
    samples = samples_from_columns(np.array([f"u{i:04}" for i in range(n_users)], object), user, t, x, y)
    timeline = Timeline(samples, Promise(2, epsilon * (n_epochs - 1) or 1, epsilon))
    parts = [timeline.slice(epoch) for epoch in timeline.epochs.tolist()]
    weight = weight or rng.choice([1.0, 1.0, 2.0, 0.5])
    rank = np.random.default_rng(rng.randrange(99)).permutation(n_users).astype(np.int32)
    return build_window(
        [LiveEpoch(part, part.raw) for part in parts], samples.n_users, rank, weight, Workers(1)
    )
