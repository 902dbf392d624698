"""What was suppressed by hour and by activity, where it may be told in public: where no few people stand behind it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.auditing.scene import Scene
from shoal.kernels.truth import find_held
from shoal.manifest import public_share
from shoal.overview.precision import DAY_HOURS, owners_of_groups
from shoal.samples import Bools, Int64s

_QUARTERS = 4


class PublicSuppression(NamedTuple):
    """Shares of samples suppressed, rounded up, for each hour of the day and each quarter of the users by activity.

    None where it may not be told, or where nobody was.
    """

    by_hour: list[float | None]
    by_activity: list[float | None]


def public_suppression(scene: Scene) -> PublicSuppression:
    """Look at every sample; needs to know which record is whose."""
    samples, k = scene.samples, scene.promise.k
    held = _held(scene)
    hour = scene.zone.from_utc(samples.t * scene.grid.step_s) // 3600 % DAY_HOURS
    quarter = np.empty(samples.n_users, np.int64)
    order = np.argsort(np.bincount(samples.user, minlength=samples.n_users), kind="stable")
    quarter[order] = np.arange(samples.n_users) * _QUARTERS // samples.n_users
    return PublicSuppression(
        shares_of_groups(hour, samples.user, held, DAY_HOURS, k),
        shares_of_groups(quarter[samples.user], samples.user, held, _QUARTERS, k),
    )


def shares_of_groups(
    group: Int64s, user: np.typing.NDArray[np.int32], held: Bools, n: int, k: int
) -> list[float | None]:
    """The suppressed share of each of n groups of samples.

    None unless the users with published samples there, and those with suppressed ones, are none or at least k each.
    """
    sizes = np.bincount(group, minlength=n)
    lost = np.bincount(group[~held], minlength=n)
    behind = [owners_of_groups(group[which], user[which], n) for which in (held, ~held)]
    few = np.any([(users > 0) & (users < k) for users in behind], axis=0)
    told = (
        None if alone or not size else public_share(part, size, k)
        for alone, part, size in zip(few.tolist(), lost.tolist(), sizes.tolist(), strict=True)
    )
    return [None if isinstance(share, str) else share for share in told]


def _held(scene: Scene) -> Bools:
    """Which samples lie in a box of their own user's record."""
    target = scene.published
    held = np.zeros(len(scene.samples), np.bool_)
    filled = np.zeros(target.records.boxes.n_boxes, np.bool_)
    scene.workers.over(
        len(target.own),
        lambda begin, end: find_held(scene.trails, target.shelves, target.own, begin, end, held, filled),
    )
    return held
