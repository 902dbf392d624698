"""Clusters with a minimum spread: those whose users are all too near each other are joined with others, entirely."""

from __future__ import annotations

import numpy as np

from shoal.core.arrays import Bools, Floats, Int64s
from shoal.errors import InputError
from shoal.hiding.kernels.clusters import UserClusters
from shoal.hiding.kernels.merge import exponent_of
from shoal.hiding.kernels.window import WindowArrays


def join_narrow(arrays: WindowArrays, clusters: UserClusters, cells: int) -> UserClusters:
    """Clusters whose samples together reach over ``cells`` cells on the longer side.

    One that does not is joined with the cluster whose records become least larger by that, as one box over all of
    them, and again until it does. All users of a window over whole trajectories have one pattern, so that any two
    clusters can be joined, those of different shards as well.
    """
    hulls = _hulls(arrays, clusters)
    joined_to = np.arange(len(clusters.size))
    size = clusters.size.astype(np.int64)
    alive = np.ones(len(size), np.bool_)
    for narrow in np.flatnonzero(_longer_side(hulls) < cells).tolist():
        while alive[narrow] and _longer_side(hulls[narrow]) < cells:
            other = _nearest(hulls, size, alive, narrow, exponent_of(arrays.weight))
            if other < 0:
                raise InputError(
                    "--min-spread cannot be kept: in some period all people together were not so far apart:"
                    " choose a smaller distance, or longer periods."
                )
            hulls[other] = _joint(hulls[other], hulls[narrow])
            size[other] += size[narrow]
            joined_to[joined_to == narrow] = other
            alive[narrow] = False
            narrow = other
    return _relabelled(clusters, joined_to)


def _hulls(arrays: WindowArrays, clusters: UserClusters) -> Int64s:
    """Of every cluster, and negative for the lower ends, so that unions are maxima: t, x and y of lower, upper ends."""
    raw, row = arrays.raw, arrays.row[:, 0]
    touch = raw.touch[row].astype(np.int64)
    first, last = raw.slot[raw.ptr[row]]["t"], raw.slot[raw.ptr[row + 1] - 1]["t"]
    own = np.stack([-first, last, -touch[:, 2], touch[:, 3], -touch[:, 4], touch[:, 5]], axis=1)
    there = clusters.member >= 0
    users = clusters.member[there]
    starts = np.concatenate([[0], np.cumsum(there.sum(axis=1))[:-1]])
    return np.maximum.reduceat(own[users], starts, axis=0) if len(users) else own[:0]


def _longer_side(hulls: Int64s) -> Int64s:
    """Cells of the longer side."""
    longer: Int64s = np.maximum(hulls[..., 2] + hulls[..., 3], hulls[..., 4] + hulls[..., 5]) + 1
    return longer


def _joint(hulls: Int64s, other: Int64s) -> Int64s:
    both: Int64s = np.maximum(hulls, other)
    return both


def _cost(hulls: Int64s, weight: float) -> Floats:
    """The cost of one box over all of a cluster."""
    slots, cells = hulls[..., 0] + hulls[..., 1] + 1, hulls[..., 2:].sum(axis=-1) + 2
    cost: Floats = slots * cells.astype(np.float64) ** weight
    return cost


def _nearest(hulls: Int64s, size: Int64s, alive: Bools, one: int, weight: float) -> int:
    """The cluster that is best joined with another, -1 if there is none."""
    added = (size + size[one]) * _cost(_joint(hulls, hulls[one]), weight) - size * _cost(hulls, weight)
    added[~alive] = np.inf
    added[one] = np.inf
    best = int(added.argmin())
    return best if np.isfinite(added[best]) else -1


def _relabelled(clusters: UserClusters, joined_to: Int64s) -> UserClusters:
    """The clusters after some were joined to others; costs are not computed again."""
    kept, label = np.unique(joined_to, return_inverse=True)
    there = clusters.member >= 0
    users = clusters.member[there]
    of_user = np.repeat(label, there.sum(axis=1))
    order = np.argsort(of_user, kind="stable")
    size = np.bincount(of_user, minlength=len(kept)).astype(np.int32)
    member = np.full((len(kept), int(size.max(initial=1))), -1, np.int32)
    place = np.arange(len(users)) - np.repeat(np.cumsum(size) - size, size)
    member[of_user[order], place] = users[order]
    return UserClusters(member, size, np.full(len(kept), np.nan))
