"""Pools of hand-made trajectories, for tests of the kernels."""

from __future__ import annotations

import numpy as np

from shoal.core.workers import Workers
from shoal.hiding.kernels.merge import merge_boxes, merge_costs
from shoal.hiding.kernels.pools import Pools, collapsed
from shoal.hiding.merging import with_members

Trajectory = list[tuple[int, int, int]]

ONE = Workers(1)


def raw_pools(trajectories: list[Trajectory]) -> Pools:
    """One pool per trajectory."""
    rows = sorted((user, *sample) for user, own in enumerate(trajectories) for sample in own)
    user, t, x, y = np.array(rows, dtype=np.int64).T
    return collapsed(user.astype(np.int32), t, x.astype(np.int32), y.astype(np.int32), 0)[2]


def pool_of(trajectories: list[Trajectory]) -> Pools:
    """One pool with everybody in it."""
    raw = raw_pools(trajectories)
    pool = raw_pools(trajectories[:1])
    for member in range(1, len(trajectories)):
        pool = with_members(pool, raw, np.array([member]), ONE)
    return pool


def merge(trajectories: list[Trajectory], weight: float = 1.0) -> tuple[float, tuple[tuple[int, ...], ...]]:
    """Cost and boxes of the optimal merge, by the compiled code."""
    pool = pool_of(trajectories)
    cost = np.empty(1)
    merge_costs(pool, weight, 0, 1, cost)
    count, box = np.empty(1, np.int64), np.empty((len(pool.slot), 6), np.int32)
    merge_boxes(pool, weight, 0, 1, count, box)
    return float(cost[0]), tuple(tuple(line) for line in box[: count[0]].tolist())
