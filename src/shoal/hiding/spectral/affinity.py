"""How alike users are in one epoch: the cost of merging two of them, and what spectral clustering makes of it."""

from __future__ import annotations

import numpy as np

from shoal.core.arrays import Floats, Int32s
from shoal.hiding.kernels.search import WindowArrays, edge_costs

_NEIGHBOUR = 7  # whose distance scales a user's affinities (Zelnik-Manor and Perona 2004)


def pairwise_costs(arrays: WindowArrays, users: Int32s) -> Floats:
    """The cost of merging any two of some users (numbered in the window), n x n; 0 for a user alone."""
    first, second = (side.astype(np.int32) for side in np.triu_indices(len(users), 1))
    cost = np.empty(len(first))
    edge_costs(arrays, users[first], users[second], 0, len(first), cost)
    matrix = np.zeros((len(users), len(users)))
    matrix[first, second] = cost
    matrix[second, first] = cost
    return matrix


def costs_to(arrays: WindowArrays, landmarks: Int32s) -> Floats:
    """The cost of merging every user with each of a few landmarks, a line per user; 0 with itself."""
    n = len(arrays.user)
    user = np.repeat(np.arange(n, dtype=np.int32), len(landmarks))
    landmark = np.tile(landmarks, n)
    other = user != landmark
    cost = np.zeros(len(user))
    priced = np.empty(int(other.sum()))
    edge_costs(arrays, user[other], landmark[other], 0, len(priced), priced)
    cost[other] = priced
    return cost.reshape(n, len(landmarks))


def self_tuning_affinity(costs: Floats) -> Floats:
    """exp(-c_ij^2 / (s_i s_j)), where s_i is the cost to the seventh nearest: dense and sparse areas count alike."""
    neighbour = min(_NEIGHBOUR, len(costs) - 1)
    scale = np.partition(costs, neighbour, axis=1)[:, neighbour]  # the nearest of all is oneself, at no cost
    affinity: Floats = np.exp(-(costs / scale[:, None]) * (costs / scale))
    return affinity
