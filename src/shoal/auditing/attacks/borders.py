"""Across a border: whoever watched somebody when names changed looks for the part before it and the part after it."""

from __future__ import annotations

import numpy as np

from shoal.auditing.attacks.linkage import outcomes_of
from shoal.auditing.audited_parts import AuditedParts
from shoal.auditing.box_index import AttackedRecords
from shoal.auditing.context import AuditContext
from shoal.auditing.kernels.fits import Knowledge
from shoal.auditing.measures import Measure, measures_of
from shoal.auditing.victims import knowledge_of
from shoal.core.arrays import Bools, Floats, Int64s
from shoal.core.boxes import NONE

ACROSS = "across_border"


def attack_across_borders(context: AuditContext) -> list[Measure]:
    """Find both parts of somebody who was seen on both sides of a border, in one interval of tau."""
    parts, tau = context.parts, context.promise.tau
    if parts is None or tau is None:
        return []
    before, after, begin = _drawn(context, parts, tau)
    known = [knowledge_of(context, users, begin[:, None], tau) for users in (before, after)]
    published, raw = (_both(context, target, known) for target in (context.published, context.raw))
    guess = float(context.guessing["success"]) ** 2
    guessing = {"success": guess, "pick": guess, "single": 0.0}
    return measures_of(ACROSS, "", published, raw, guessing, context.victims_of(before))


def _drawn(context: AuditContext, parts: AuditedParts, tau: int) -> tuple[Int64s, Int64s, Int64s]:
    """Parts before and after borders of people who can be seen on both sides within tau; begins of such intervals."""
    before, after = neighbouring_parts(parts)
    known = (context.published.own[before] != NONE) & (context.published.own[after] != NONE)
    before, after = before[known], after[known]
    ptr, t = context.trajectories.ptr, context.samples.t
    last, first = t[ptr[before + 1] - 1], t[ptr[after]]
    near = np.flatnonzero(first - last < tau)
    rng = context.randomness(41)
    chosen = rng.choice(near, context.n_attacks) if len(near) else near
    begin = rng.integers(first[chosen] - tau + 1, last[chosen] + 1)
    return before[chosen], after[chosen], begin


def neighbouring_parts(parts: AuditedParts) -> tuple[Int64s, Int64s]:
    """All pairs of users that are one person in a period and in the next."""
    users = np.arange(len(parts.person))
    following = parts.find_users(parts.person, parts.period + 1)
    return users[following >= 0], following[following >= 0]


def _both(
    context: AuditContext, target: AttackedRecords, known: list[Knowledge]
) -> dict[str, Floats | Bools]:
    """Whether both parts are found; what is known on one side says nothing about the other."""
    one, other = outcomes_of(context, target, known)
    names = ["success", "single", *(["pick"] if "pick" in one else [])]
    return {name: np.asarray(one[name], np.float64) * np.asarray(other[name], np.float64) for name in names}
