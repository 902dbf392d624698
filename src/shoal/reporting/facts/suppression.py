"""What was suppressed by hour and by activity, where it may be told in public: where no few people stand behind it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.auditing.context import Scene
from shoal.core.arrays import Bools, Int64s
from shoal.core.disclosure import few_people, public_share
from shoal.reporting.facts.precision import DAY_HOURS, owners_of_groups
from shoal.reporting.facts.published_part import held_by_own

_QUARTERS = 4


class PublicSuppression(NamedTuple):
    """Shares of samples suppressed, rounded up, for each hour of the day and each quarter of users by activity, and of
    all.

    None where a part may not be told, or where nobody was; the whole is in words where few users stand behind it, and
    then no part is told.
    """

    by_hour: list[float | None]
    by_activity: list[float | None]
    share: float | str = 0.0


def public_suppression(scene: Scene) -> PublicSuppression:
    """Look at every sample; needs to know which record is whose."""
    samples, k = scene.samples, scene.promise.k
    held = held_by_own(scene)
    share = public_share(int((~held).sum()), len(samples), len(np.unique(samples.user[~held])), k)
    if isinstance(share, str) or not share:
        return PublicSuppression([], [], share)
    hour = scene.zone.from_utc(samples.t * scene.grid.step_s) // 3600 % DAY_HOURS
    quarter = np.empty(samples.n_users, np.int64)
    order = np.argsort(np.bincount(samples.user, minlength=samples.n_users), kind="stable")
    quarter[order] = np.arange(samples.n_users) * _QUARTERS // samples.n_users
    return PublicSuppression(
        shares_of_groups(hour, samples.user, held, DAY_HOURS, k),
        shares_of_groups(quarter[samples.user], samples.user, held, _QUARTERS, k),
        share,
    )


def shares_of_groups(
    group: Int64s, user: np.typing.NDArray[np.int32], held: Bools, n: int, k: int
) -> list[float | None]:
    """The suppressed share of each of n groups of samples, of which the whole is told.

    None unless the users with published samples there, and those with suppressed ones, are none or many. One group
    alone would follow from the whole and the others, so that a second is left out with it: the next smallest.
    """
    sizes = np.bincount(group, minlength=n)
    lost = np.bincount(group[~held], minlength=n)
    kept_users, lost_users = (owners_of_groups(group[which], user[which], n) for which in (held, ~held))
    few = few_people(k)
    untold = np.any([(users > 0) & (users < few) for users in (kept_users, lost_users)], axis=0)
    if untold.sum() == 1:
        others = np.flatnonzero(~untold & (sizes > 0))
        order = np.lexsort((sizes[others], lost[others], lost[others] == 0))
        untold[others[order[:1]]] = True
    told = (
        None if hidden or not size else public_share(part, size, users, k)
        for hidden, size, part, users in zip(
            untold.tolist(), sizes.tolist(), lost.tolist(), lost_users.tolist(), strict=True
        )
    )
    return [None if isinstance(share, str) else share for share in told]
