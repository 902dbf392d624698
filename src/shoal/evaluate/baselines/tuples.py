"""Random k-tuples of users, each anonymized on its own: how the paper compares merges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Int64s
from shoal.core.samples import Samples
from shoal.evaluate.baselines.method import Method, check_k


class TupleFigures(NamedTuple):
    """A method on many tuples: means over tuples, shares as parts of the tuple's samples.

    success: share of tuples whose members have all become alike. time_minutes and space_km: see ``BaselinePrecision``,
    over the tuples of which anything was published.
    """

    success: float
    time_minutes: float
    space_km: float
    suppressed: float
    trashed: float
    created: float
    deleted: float


def draw_tuples(samples: Samples, k: int, count: int, seed: int) -> list[Samples]:
    """``count`` tuples of k different users each; the same seed gives the same tuples."""
    check_k(samples, k)
    rng = np.random.default_rng(seed)
    return [only(samples, rng.choice(samples.n_users, k, replace=False)) for _ in range(count)]


def only(samples: Samples, users: Int64s) -> Samples:
    """The samples of some users, numbered afresh in their old order."""
    users = np.sort(users)
    ends = np.searchsorted(samples.user, np.stack([users, users + 1]))
    sizes = ends[1] - ends[0]
    rows = np.concatenate([np.arange(begin, end) for begin, end in ends.T.tolist()])
    return Samples(
        users=samples.users[users],
        user=np.repeat(np.arange(len(users), dtype=np.int32), sizes),
        t=samples.t[rows],
        x=samples.x[rows],
        y=samples.y[rows],
    )


def on_tuples(method: Method, tuples: Sequence[Samples], k: int) -> TupleFigures:
    """Anonymize every tuple on its own, and average."""
    results = [method(members, k) for members in tuples]
    sizes = np.array([result.counts.samples for result in results])
    precision = np.array([result.precision for result in results])
    known = precision[np.isfinite(precision).all(axis=1)]
    time, space = known.mean(axis=0).tolist() if len(known) else (float("nan"), float("nan"))
    shares = {
        name: float((np.array([getattr(result.counts, name) for result in results]) / sizes).mean())
        for name in ("suppressed", "trashed", "created", "deleted")
    }
    return TupleFigures(float(np.mean([result.succeeded for result in results])), time, space, **shares)
