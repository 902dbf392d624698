"""The exact check of guarantee 1: every user, every interval, both attackers; it never samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from shoal.auditing.context import AuditContext
from shoal.auditing.coverage.chunks import (
    CHECK_REHEARSAL,
    Chunk,
    ChunkFindings,
    ChunkPlan,
    Evidence,
    bucket_borders,
    check_chunk,
    check_together,
    make_chunks,
    make_plan,
    plan_chunks,
)
from shoal.auditing.coverage.violations import ViolationCounter, find_violations, user_blocks
from shoal.auditing.kernels.coverage import find_possible_owners
from shoal.auditing.truthfulness import NO_UNTRUTHS, UntruthCounts
from shoal.core.arrays import Int64s
from shoal.core.boxes import NONE, UNKNOWN
from shoal.core.compiling import make_ready
from shoal.core.formatting import counted
from shoal.core.progress import Progress, SilentProgress
from shoal.core.promise import Promise
from shoal.core.workers import Workers
from shoal.storage.box_store import open_box_store

# Like the builtin ``map``: calls a function for each chunk, here or elsewhere, and gives the results in order. It
# should take chunks from the iterable only as it needs them, so that few are in memory.
RunTasks = Callable[[Callable[[Chunk], ChunkFindings], Iterable[Chunk]], Iterable[ChunkFindings]]

_ATTACKERS = ("strict", "gap-tolerant")
_CHECKING = "checking every user and interval"


class Violation(NamedTuple):
    """A counterexample: an interval that begins at slot ``begin`` and leaves fewer than k records."""

    user: int
    attacker: str
    begin: int
    n_records: int

    def __repr__(self) -> str:
        return f"<Violation: {counted(self.n_records, 'record')} left to the {self.attacker} attacker>"


class Coverage(NamedTuple):
    """What the exact check found: in how many intervals fewer than k records are left to the strict and to the
    gap-tolerant attacker. Intervals in which the attacker knows the same samples count as one.

    worst: for each user with a violation, and each attacker, the interval that leaves the fewest records; worst first.

    Without a key there may be users to whom no record in the file can belong. As long as they are no more than the
    records that are missing, they may have none at all, and are not checked (n_unchecked). If they are more, at least
    n_untrue records belong to nobody, and the file is not true.
    """

    n_users: int
    n_intervals: int
    n_strict: int
    n_tolerant: int
    n_unchecked: int
    n_untrue: int
    worst: list[Violation]

    def __repr__(self) -> str:
        return (
            f"<Coverage: {counted(self.n_intervals, 'interval')} of {counted(self.n_users, 'user')}, too few records in"
            f" {self.n_strict:,} (strict), {self.n_tolerant:,} (gap-tolerant)>"
        )

    @property
    def kept(self) -> bool:
        """Whether guarantee 1 holds."""
        return self.n_strict == self.n_tolerant == self.n_untrue == 0


def check(
    context: AuditContext, progress: Progress | None = None, *, run: RunTasks | None = None
) -> Coverage:
    """Check guarantee 1 for all users with a record.

    With a key this is done in chunks of time, which take little more memory than samples and boxes do, and which
    ``run`` may carry out elsewhere. Without a key whole trajectories matter, and all is checked at once.
    """
    progress = progress or SilentProgress()
    if context.published.has_key:
        return _check_in_chunks(context, progress, run)
    return _check_at_once(context, progress)


def _check_in_chunks(context: AuditContext, progress: Progress, run: RunTasks | None) -> Coverage:
    store, target, promise = context.store, context.published, context.promise
    with open_box_store(bucket_borders(store, promise), None) as boxes:
        boxes.add(target.records.boxes)
        evidence = Evidence(store, boxes, target.own, target.records.n_records)
        # check_truthfulness looks at the boxes of the whole file, so chunks need not.
        coverage, _ = check_evidence(evidence, promise, context.workers, progress, run=run, with_truth=False)
        return coverage


def _check_at_once(context: AuditContext, progress: Progress) -> Coverage:
    target, counter = context.published, ViolationCounter()
    plan = make_plan(context.promise, *context.span, np.empty(0, np.int64))
    make_ready([CHECK_REHEARSAL], context.workers.count, progress, "the check")
    progress.stage(_CHECKING, len(user_blocks(context.store.n_users)) - 1)
    for begins, _ in plan.begin_ranges():
        counter.add(
            find_violations(
                context.trajectories, target, plan.promise, begins, context.workers, progress.advance
            )
        )
    without_record = _without_possible_record(context, plan.promise.epsilon)
    n_missing = int((target.own == UNKNOWN).sum()) - target.records.n_records
    n_untrue = len(without_record) - max(n_missing, 0)
    if n_untrue <= 0:
        counter.drop(without_record)
    n_unchecked = len(without_record) if n_untrue <= 0 else 0
    n_users = int((target.own != NONE).sum())
    return coverage_of([counter], n_users, n_unchecked, max(n_untrue, 0))


def check_evidence(
    evidence: Evidence,
    promise: Promise,
    workers: Workers,
    progress: Progress | None = None,
    *,
    run: RunTasks | None = None,
    with_truth: bool = True,
) -> tuple[Coverage, UntruthCounts]:
    """Check guarantee 1 and the truth of every box chunk by chunk, on the workers' threads or where ``run`` takes them.

    Untrue boxes are counted only ``with_truth``. Never more of the data is in memory than a chunk, or as many as
    ``run`` asks for.
    """
    planned = PlannedCheck(evidence, plan_chunks(evidence, promise), with_truth)
    [(counter, untruths)] = carry_out([planned], workers, progress or SilentProgress(), run)
    return coverage_of([counter], int((evidence.own != NONE).sum())), untruths


class PlannedCheck(NamedTuple):
    """What to check, cut into chunks; whether to count what is untrue, and whether only intervals count in which a
    published sample is known."""

    evidence: Evidence
    plan: ChunkPlan
    with_truth: bool
    published_only: bool = False

    def chunks(self) -> Iterator[Chunk]:
        """The chunks in order of time, each made when it is asked for."""
        for chunk in make_chunks(self.evidence, self.plan, with_truth=self.with_truth):
            yield chunk._replace(published_only=self.published_only)


def carry_out(
    checks: list[PlannedCheck], workers: Workers, progress: Progress, run: RunTasks | None
) -> Iterator[tuple[ViolationCounter, UntruthCounts]]:
    """Carry out checks one after the other: violations and untruths of each."""
    make_ready([CHECK_REHEARSAL], workers.count, progress, "the check")
    n_steps = [
        check.plan.n_chunks * (1 if run else len(user_blocks(len(check.evidence.own))) - 1)
        for check in checks
    ]
    progress.stage(_CHECKING, sum(n_steps))
    for check in checks:
        found: Iterable[ChunkFindings]
        if run is None:
            found = (check_together(chunk, workers, progress.advance) for chunk in check.chunks())
        else:
            found = _counted(run(check_chunk, check.chunks()), progress)
        counter, untruths = ViolationCounter(), NO_UNTRUTHS
        for part in found:
            counter.add(part.violations)
            untruths = UntruthCounts._make(map(sum, zip(untruths, part.untruths, strict=True)))
        yield counter, untruths


def _counted(found: Iterable[ChunkFindings], progress: Progress) -> Iterator[ChunkFindings]:
    for part in found:
        yield part
        progress.advance()


def _without_possible_record(context: AuditContext, epsilon: int) -> Int64s:
    """Users to whom no record in the file can belong, of those whose record is unknown."""
    unknown = context.published.own == UNKNOWN
    found = np.ones(len(unknown), np.bool_)
    if unknown.any():
        context.workers.for_blocks(
            len(found),
            lambda first, last: find_possible_owners(
                context.trajectories, context.published.index, epsilon, first, last, found
            ),
        )
    return np.flatnonzero(unknown & ~found)


def coverage_of(
    counters: list[ViolationCounter], n_users: int, n_unchecked: int = 0, n_untrue: int = 0
) -> Coverage:
    """What one or several checks found; of a user with violations in several, the worst counts."""
    user, attacker, begin, records, number = (
        np.concatenate([getattr(counter, name) for counter in counters])
        for name in ("user", "attacker", "begin", "records", "number")
    )
    order = np.lexsort((begin, records, attacker, user))
    first = np.unique(np.stack([user, attacker])[:, order], axis=1, return_index=True)[1]
    chosen = order[first]
    chosen = chosen[np.lexsort((user[chosen], attacker[chosen], records[chosen]))]
    worst = [
        Violation(user, _ATTACKERS[attacker], begin, n_records)
        for user, attacker, begin, n_records in zip(
            *(column[chosen].tolist() for column in (user, attacker, begin, records)), strict=True
        )
    ]
    strict, tolerant = (int(number[attacker == of].sum()) for of in (0, 1))
    n_intervals = sum(counter.n_intervals for counter in counters)
    return Coverage(n_users, n_intervals, strict, tolerant, n_unchecked, n_untrue, worst)
