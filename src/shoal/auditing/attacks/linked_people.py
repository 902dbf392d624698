"""Whose parts are linked, and of when: where there are too many parts, people near each other and some periods.

Fewer people to choose from make relinking easier, and fewer periods make what is known of a person a larger part of
all: what is measured on some of the parts errs on the side of the attacker.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.auditing.audited_parts import AuditedParts
from shoal.auditing.box_index import AttackedRecords, records_among
from shoal.auditing.context import AuditContext
from shoal.core.arrays import Int64s
from shoal.core.boxes import Boxes
from shoal.core.periods import Periods
from shoal.core.promise import DAY_S
from shoal.core.samples import Samples
from shoal.storage.sample_store import store_of

MOST_PARTS = 60_000  # that are linked: some minutes
_FEWEST_PEOPLE = 2_000  # of whom all are looked at, however many periods there are
_DAYS = 2  # so that a part can be compared with the one at the same hours of the next day
_NAME = "linked people"


def linked_context(context: AuditContext, parts: AuditedParts, most: int) -> AuditContext:
    """The context, or that of some people and periods with at most about so many parts; chosen once an audit."""
    if len(parts.person) <= most:
        return context
    if _NAME not in context.memo:
        context.memo[_NAME] = _chosen(context, parts, most)
    found: AuditContext = context.memo[_NAME]
    return found


def _chosen(context: AuditContext, parts: AuditedParts, most: int) -> AuditContext:
    rng = context.randomness(24)
    wanted = min(parts.n_periods, _DAYS * -(-DAY_S // parts.renaming.every_s) + 1)
    people = _near_people(context, parts, rng, max(_FEWEST_PEOPLE, most // wanted))
    n_users = np.bincount(parts.period[people[parts.person]], minlength=parts.n_periods)
    behind = np.concatenate([[0], np.cumsum(n_users)])
    first = int(rng.integers(0, parts.n_periods - wanted + 1))
    end = max(first + wanted, int(np.searchsorted(behind, behind[first] + most, side="right")) - 1)
    inside = people[parts.person] & (parts.period >= first) & (parts.period < end)
    return _only(context, parts, np.flatnonzero(inside), first, min(end, parts.n_periods))


def _near_people(
    context: AuditContext, parts: AuditedParts, rng: np.random.Generator, most: int
) -> np.typing.NDArray[np.bool_]:
    """Which people have their first sample nearest to that of one of them, at most so many."""
    first = context.trajectories.ptr[:-1]
    x, y = (column[first].astype(np.float64) for column in (context.samples.x, context.samples.y))
    centre = int(rng.integers(0, len(parts.person)))
    distance = np.full(parts.n_people, np.inf)
    np.minimum.at(distance, parts.person, np.hypot(x - x[centre], y - y[centre]))
    chosen = np.zeros(parts.n_people, np.bool_)
    chosen[np.argsort(distance, kind="stable")[:most]] = True
    return chosen


def _only(context: AuditContext, parts: AuditedParts, users: Int64s, first: int, end: int) -> AuditContext:
    """Some users, all of periods first .. end - 1, with their records and samples; periods are counted from 0."""
    samples, published = context.samples, context.published
    number = np.full(samples.n_users, -1, np.int32)
    number[users] = np.arange(len(users), dtype=np.int32)
    rows = np.flatnonzero(number[samples.user] >= 0)
    user = number[samples.user[rows]]
    chosen = Samples(samples.users[users], user, samples.t[rows], samples.x[rows], samples.y[rows])
    known = published.own[users]
    records = np.unique(known[known >= 0]) if published.has_key else np.arange(published.records.n_records)
    place = np.full(published.records.n_records, -1, np.int32)
    place[records] = np.arange(len(records), dtype=np.int32)
    boxes = published.records.boxes
    there = place[boxes.owner] >= 0
    boxes = Boxes._make(column[there] for column in boxes._replace(owner=place[boxes.owner]))
    own = np.where(known >= 0, place[known], known).astype(np.int64)
    some = parts._replace(
        person=parts.person[users],
        period=parts.period[users] - first,
        periods=Periods(parts.periods.borders[first : end - 1]),
        record_period=parts.record_period[records] - first,
    )
    target = AttackedRecords(records_among(boxes, len(records)), own)
    return replace(context, store=store_of(chosen), published=target, parts=some)
