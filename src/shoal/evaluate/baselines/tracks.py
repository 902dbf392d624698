"""Trajectories as W4M sees them: time turned into way by a common speed."""

from __future__ import annotations

import numpy as np

from shoal.core.samples import Samples
from shoal.evaluate.baselines.kernels.w4m import Tracks


def make_tracks(samples: Samples) -> Tracks:
    """Trajectories in cells, with time as the way that people go in it on average."""
    ptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(samples.user))])
    x, y = samples.x.astype(np.float64), samples.y.astype(np.float64)
    way = (samples.t - samples.t.min()) * common_speed(samples)
    return Tracks(ptr, x, y, way)


def common_speed(samples: Samples) -> float:
    """V, in cells per slot: the mean over trajectories of path length / duration.

    Those of a single moment have no speed and do not count; if all are, V is 0 and time does not matter.
    """
    n = samples.n_users
    same = samples.user[1:] == samples.user[:-1]
    steps = np.hypot(np.diff(samples.x.astype(np.float64)), np.diff(samples.y.astype(np.float64)))
    length = np.bincount(samples.user[1:][same], weights=steps[same], minlength=n)
    duration = np.bincount(samples.user[1:][same], weights=np.diff(samples.t)[same], minlength=n)
    lasting = duration > 0
    return float((length[lasting] / duration[lasting]).mean()) if lasting.any() else 0.0
