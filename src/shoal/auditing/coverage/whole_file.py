"""The exact check of a whole file, with or without a key, whether its records keep their names or get new ones."""

from __future__ import annotations

import numpy as np

from shoal.auditing.audited_parts import AuditedParts
from shoal.auditing.context import AuditContext
from shoal.auditing.coverage.check import (
    Coverage,
    PartsEvidence,
    RunTasks,
    begin_stage,
    check_parts,
    coverage_of,
)
from shoal.auditing.coverage.chunks import BoxesByTime, bucket_borders, make_plan
from shoal.auditing.coverage.violations import ViolationCounter, find_violations, user_blocks
from shoal.auditing.kernels.coverage import count_possible_records
from shoal.core.arrays import Int64s
from shoal.core.boxes import NONE, UNKNOWN
from shoal.core.progress import Progress, SilentProgress
from shoal.storage.box_store import open_box_store


def check_file(
    context: AuditContext, progress: Progress | None = None, *, run: RunTasks | None = None
) -> Coverage:
    """Check guarantee 1 for everybody with a record; violations are told of people.

    With a key this is done in chunks of time, which take little more memory than samples and boxes do, and which
    ``run`` may carry out elsewhere. Without a key whole trajectories matter, and all of a period is checked at once;
    nobody knows then which parts are one person's, so that what crosses a border cannot be checked.
    """
    progress = progress or SilentProgress()
    if context.published.has_key:
        return _check_in_chunks(context, progress, run)
    if context.parts is None:
        return _check_at_once(context, progress)
    return _check_each_period(context, context.parts, progress)


def _check_in_chunks(context: AuditContext, progress: Progress, run: RunTasks | None) -> Coverage:
    with open_box_store(bucket_borders(context.people_store, context.promise), None) as boxes:
        boxes.add(context.published.records.boxes)
        evidence = evidence_of(context, boxes)
        # check_truthfulness looks at the boxes of the whole file, so chunks need not.
        coverage, _ = check_parts(
            evidence, context.promise, context.workers, progress, run=run, with_truth=False
        )
        return coverage


def evidence_of(context: AuditContext, boxes: BoxesByTime) -> PartsEvidence:
    """What the exact check looks at in an audit with a key, whose boxes are given by time."""
    own, n_records = context.published.own, context.published.records.n_records
    with_record = np.flatnonzero(own >= 0)
    person = np.empty(n_records, np.int64)
    person[own[with_record]] = context.person_of(with_record)
    period = np.zeros(n_records, np.int64) if context.parts is None else context.parts.record_period
    return PartsEvidence(context.people_store, boxes, person, period, context.periods)


def _check_at_once(context: AuditContext, progress: Progress, *, of_parts: bool = False) -> Coverage:
    target, counter = context.published, ViolationCounter()
    plan = make_plan(context.promise, *context.span, np.empty(0, np.int64))
    begin_stage(progress, len(user_blocks(context.store.n_users)) - 1, context.workers)
    for begins, _ in plan.begin_ranges():
        counter.add(
            find_violations(
                context.trajectories, target, plan.promise, begins, context.workers, progress.advance
            )
        )
    unknown = np.flatnonzero(target.own == UNKNOWN)
    without_record = unknown[_n_possible_records(context, plan.promise.epsilon, unknown, most=1) == 0]
    n_missing = len(unknown) - target.records.n_records
    n_untrue = len(without_record) - max(n_missing, 0)
    unchecked = without_record if n_untrue <= 0 else without_record[:0]
    counter.drop(unchecked)
    if of_parts and n_untrue <= 0:
        unchecked = np.concatenate([unchecked, _doubtful(context, counter, plan.promise.epsilon, -n_untrue)])
        counter.drop(unchecked)
    n_users = int((target.own != NONE).sum())
    return coverage_of([counter], n_users, len(unchecked), max(n_untrue, 0))


def _doubtful(context: AuditContext, counter: ViolationCounter, epsilon: int, n_missing: int) -> Int64s:
    """Users who are hidden from the gap-tolerant attacker; nobody knows whether they are from the strict one, too.

    That one is held to k where the own record fits. Parts are short, so that several may be somebody's, of which
    another than the own one fits; or somebody has none, as long as these are no more than the records that are missing.
    """
    strict, tolerant = (counter.user[counter.attacker == of] for of in (0, 1))
    found: Int64s = np.setdiff1d(strict, tolerant)
    found = found[context.published.own[found] == UNKNOWN]
    several = _n_possible_records(context, epsilon, found, most=2) > 1
    return found if np.count_nonzero(~several) <= n_missing else found[several]


def _n_possible_records(context: AuditContext, epsilon: int, users: Int64s, *, most: int) -> Int64s:
    """How many records in the file may belong to each of some users, counted up to ``most``."""
    found = np.zeros(len(users), np.int64)
    if len(users):
        context.workers.for_blocks(
            len(users),
            lambda first, last: count_possible_records(
                context.trajectories, context.published.index, epsilon, users, most, first, last, found
            ),
        )
    return found


def _check_each_period(context: AuditContext, parts: AuditedParts, progress: Progress) -> Coverage:
    found, worst = [Coverage(0, 0, 0, 0, 0, 0, [])], []
    for period, of_period in zip(parts.attackable, context.by_period(), strict=True):
        first = parts.users_of(period).start
        found.append(_check_at_once(of_period, progress, of_parts=True))
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
