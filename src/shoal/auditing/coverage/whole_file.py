"""The exact check of a whole file, whether its records keep their names or get new ones."""

from __future__ import annotations

import numpy as np

from shoal.auditing.audited_parts import AuditedParts
from shoal.auditing.context import AuditContext
from shoal.auditing.coverage.check import Coverage, RunTasks, check
from shoal.auditing.coverage.chunks import bucket_borders
from shoal.auditing.coverage.parts import PartsEvidence, check_parts
from shoal.core.progress import Progress
from shoal.storage.box_store import open_box_store


def check_file(context: AuditContext, progress: Progress, *, run: RunTasks | None = None) -> Coverage:
    """Check guarantee 1 for everybody with a record; violations are told of people.

    Where records get new names, that is done in every period, and with a key across borders as well. Without a key
    nobody knows which parts are one person's, so that what crosses a border cannot be checked.
    """
    if context.parts is None:
        return check(context, progress, run=run)
    if context.published.has_key:
        return _check_with_key(context, context.parts, progress, run)
    return _check_each_period(context, context.parts, progress)


def _check_with_key(
    context: AuditContext, parts: AuditedParts, progress: Progress, run: RunTasks | None
) -> Coverage:
    target = context.published
    person = np.empty(target.records.n_records, np.int64)
    with_record = np.flatnonzero(target.own >= 0)
    person[target.own[with_record]] = parts.person[with_record]
    with open_box_store(bucket_borders(parts.people, context.promise), None) as boxes:
        boxes.add(target.records.boxes)
        evidence = PartsEvidence(parts.people, boxes, person, parts.record_period, parts.periods)
        coverage, _ = check_parts(
            evidence, context.promise, context.workers, progress, run=run, with_truth=False
        )
        return coverage


def _check_each_period(context: AuditContext, parts: AuditedParts, progress: Progress) -> Coverage:
    found, worst = [Coverage(0, 0, 0, 0, 0, 0, [])], []
    for period, of_period in zip(parts.attackable, context.by_period(), strict=True):
        first = parts.users_of(period).start
        found.append(check(of_period, progress))
        worst += [each._replace(user=int(parts.person[first + each.user])) for each in found[-1].worst]
    worst.sort(key=lambda violation: (violation.n_records, violation.attacker, violation.user))
    worst = list({(violation.user, violation.attacker): violation for violation in reversed(worst)}.values())[
        ::-1
    ]
    n_intervals, n_strict, n_tolerant, n_unchecked, n_untrue = (
        sum(column) for column in zip(*(each[1:6] for each in found), strict=True)
    )
    n_people = len(np.unique(parts.person))  # of whom some may be unchecked in several periods
    return Coverage(n_people, n_intervals, n_strict, n_tolerant, min(n_unchecked, n_people), n_untrue, worst)
