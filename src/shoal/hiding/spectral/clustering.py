"""Spectral clustering of the users of one epoch, by the cost of merging any two of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Floats, Int32s
from shoal.hiding.kernels.edge_cost import edge_costs
from shoal.hiding.kernels.window import WindowArrays

_NEIGHBOUR = 7  # whose distance scales a user's affinities (Zelnik-Manor and Perona 2004)
_FEWEST = 4  # users: fewer are one cluster
_ROUNDS = 10  # of k-means: representatives need not be exact


def pairwise_costs(arrays: WindowArrays, users: Int32s) -> Floats:
    """The cost of merging any two of some users (numbered in the window), n x n; 0 on the diagonal."""
    first, second = (side.astype(np.int32) for side in np.triu_indices(len(users), 1))
    cost = np.empty(len(first))
    edge_costs(arrays, users[first], users[second], 0, len(first), cost)
    matrix = np.zeros((len(users), len(users)))
    matrix[first, second] = cost
    matrix[second, first] = cost
    return matrix


def costs_to(arrays: WindowArrays, landmarks: Int32s) -> Floats:
    """The cost of merging every user with each of a few landmarks, a line per user; 0 for a landmark and itself."""
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


class Scale(NamedTuple):
    """Up to how many users every pair is compared, and how many representatives stand for more users than that.

    exact: the most users who are clustered directly. representatives: the fewest and the most that k-means leaves of
    more users; in between it leaves one of three. landmarks: users to whom the costs are the coordinates of k-means.
    """

    exact: int = 1500
    representatives: tuple[int, int] = (1000, 3000)
    landmarks: int = 64

    def representing(self, n: int) -> int:
        """How many representatives stand for n users. Fewer would suppress more: docs/decisions/0009-spectral.md."""
        least, most = self.representatives
        return min(max(least, n // 3), most)


def cluster(arrays: WindowArrays, seed: int, scale: Scale) -> Int32s:
    """A cluster for every user of a window of one epoch: about as many clusters as the root of their number."""
    n = len(arrays.user)
    if n < _FEWEST:
        return np.zeros(n, np.int32)
    n_clusters = round(np.sqrt(n))
    if n <= scale.exact:
        return _spectral(pairwise_costs(arrays, np.arange(n, dtype=np.int32)), n_clusters)
    nearest = _representatives(np.log(1 + costs_to(arrays, _landmarks(n, scale.landmarks))), seed, scale)
    users, representative = np.unique(nearest, return_inverse=True)
    label = _spectral(pairwise_costs(arrays, users), min(n_clusters, len(users) // 2))
    return np.asarray(label[representative], np.int32)


def _spectral(costs: Floats, n_clusters: int) -> Int32s:
    """Clusters of small mutual cost: the leading eigenvectors of the normalized affinity, read by a pivoted QR.

    The eigenvectors are computed directly (LAPACK): an iteration can fail to converge where parts of a city are hardly
    connected.
    """
    n = len(costs)
    if n < _FEWEST or n_clusters < 2:
        return np.zeros(n, np.int32)
    affinity = self_tuning_affinity(costs)
    degree = np.sqrt(affinity.sum(axis=1))
    affinity /= degree[:, None]
    affinity /= degree
    return _cluster_qr(_leading_eigenvectors(affinity, n_clusters))


def _leading_eigenvectors(affinity: Floats, wanted: int) -> Floats:
    """The eigenvectors of the largest eigenvalues.

    Where many eigenvalues are equal, as of users who cannot be told apart, LAPACK's way to some of them gives up on
    some processors; its way to all of them does not.
    """
    from scipy.linalg import LinAlgError, eigh

    n = len(affinity)
    try:
        _, vectors = eigh(affinity, subset_by_index=[n - wanted, n - 1], check_finite=False)
    except LinAlgError:
        _, vectors = eigh(affinity, driver="evd", check_finite=False)
    return np.asarray(vectors[:, -wanted:])


def _cluster_qr(vectors: Floats) -> Int32s:
    """The cluster to which each line of the eigenvectors points (Damle, Minden and Ying 2019)."""
    from scipy.linalg import qr, svd

    n_clusters = vectors.shape[1]
    *_, pivots = qr(vectors.T, mode="r", pivoting=True, check_finite=False)
    left, _, right = svd(vectors[pivots[:n_clusters]].T, check_finite=False)
    return np.asarray(np.abs(vectors @ (left @ right)).argmax(axis=1), np.int32)


def _landmarks(n: int, wanted: int) -> Int32s:
    """Users spread over the area: near users have near numbers, so every n-th is taken."""
    return np.unique(np.linspace(0, n - 1, wanted).astype(np.int32))


def _representatives(coordinates: Floats, seed: int, scale: Scale) -> Int32s:
    """For every user its representative: of its k-means group, the user nearest to the mean."""
    from sklearn.cluster import KMeans

    wanted = min(scale.representing(len(coordinates)), len(np.unique(coordinates, axis=0)))
    groups = KMeans(wanted, n_init=1, max_iter=_ROUNDS, random_state=seed).fit(coordinates)
    distance = ((coordinates - groups.cluster_centers_[groups.labels_]) ** 2).sum(axis=1)
    order = np.lexsort((distance, groups.labels_))
    occurring, first = np.unique(groups.labels_[order], return_index=True)
    return np.asarray(order[first][np.searchsorted(occurring, groups.labels_)], np.int32)
