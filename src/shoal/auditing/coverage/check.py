"""The exact check of guarantee 1: every user, every interval, both attackers; it never samples.

Where records get new names it is made in every period on its own, then across borders; where they never do, there is
one period.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from shoal.auditing.coverage.chunks import (
    CHECK_REHEARSAL,
    BoxesByTime,
    Chunk,
    ChunkFindings,
    ChunkPlan,
    Evidence,
    check_chunk,
    check_together,
    make_chunks,
    make_plan,
    plan_across,
    plan_chunks,
)
from shoal.auditing.coverage.violations import ViolationCounter, user_blocks
from shoal.auditing.truthfulness import NO_UNTRUTHS, UntruthCounts
from shoal.core.arrays import Int32s, Int64s
from shoal.core.boxes import NONE, Boxes
from shoal.core.compiling import make_ready
from shoal.core.formatting import counted
from shoal.core.periods import Periods
from shoal.core.progress import Progress, SilentProgress
from shoal.core.promise import Promise
from shoal.core.workers import Workers
from shoal.storage.sample_store import SampleStore

# Like the builtin ``map``: calls a function for each chunk, here or elsewhere, and gives the results in order. It
# should take chunks from the iterable only as it needs them, so that few are in memory.
RunTasks = Callable[[Callable[[Chunk], ChunkFindings], Iterable[Chunk]], Iterable[ChunkFindings]]

_ATTACKERS = ("strict", "gap-tolerant")


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
    n_untrue records belong to nobody, and the file is not true. Of parts, users whom the strict attacker alone
    finds are not checked, either, where several records may be theirs; or where they may have none, as long as these
    and those before are no more than the records that are missing.
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


class PartsEvidence(NamedTuple):
    """What the exact check looks at: samples and boxes by time; record r is the part of user[r] in period[r]."""

    samples: SampleStore
    boxes: BoxesByTime
    user: Int64s
    period: Int64s
    periods: Periods

    @property
    def begin(self) -> int:
        """The first slot with anything in it."""
        return min(int(self.samples.slots[0]), self.boxes.begin)

    @property
    def end(self) -> int:
        """One past the last slot with anything in it."""
        return max(int(self.samples.slots[-1]) + 1, self.boxes.end)


def check_parts(
    evidence: PartsEvidence,
    promise: Promise,
    workers: Workers,
    progress: Progress | None = None,
    *,
    run: RunTasks | None = None,
    with_truth: bool = True,
) -> tuple[Coverage, UntruthCounts]:
    """Check guarantee 1 in every period and across borders; and, ``with_truth``, count what is untrue.

    That is done chunk by chunk, on the workers' threads or where ``run`` takes them. Never more of the data is in
    memory than a chunk, or as many as ``run`` asks for.
    """
    within, n_elsewhere = _checks_within(evidence, promise, with_truth=with_truth)
    checks = [*within, *_checks_across(evidence, promise)]
    found = list(carry_out(checks, workers, progress or SilentProgress(), run))
    untruths = _total(*(untruths for _, untruths in found))
    if with_truth:
        untruths = untruths._replace(n_suppressed=untruths.n_suppressed + n_elsewhere)
    return coverage_of([counter for counter, _ in found], len(np.unique(evidence.user))), untruths


def _checks_within(
    evidence: PartsEvidence, promise: Promise, *, with_truth: bool
) -> tuple[list[PlannedCheck], int]:
    """A check for every period, and how many samples there are in periods without any part."""
    checks, n_elsewhere = [], 0
    edges = [evidence.begin, *evidence.periods.borders.tolist(), evidence.end]
    for period, (begin, end) in enumerate(pairwise(edges)):
        samples = evidence.samples.during(begin, end)
        records = np.flatnonzero(evidence.period == period)
        if not len(records):
            n_elsewhere += len(samples)
            continue
        place = np.full(len(evidence.user), -1, np.int32)
        place[records] = np.arange(len(records), dtype=np.int32)
        own = np.full(evidence.samples.n_users, NONE, np.int64)
        own[evidence.user[records]] = place[records]
        boxes = _ChosenBoxes(evidence.boxes, begin, end, place)
        of_period = Evidence(samples, boxes, own, len(records))
        checks.append(PlannedCheck(of_period, plan_chunks(of_period, promise), with_truth))
    return checks, n_elsewhere


def _checks_across(evidence: PartsEvidence, promise: Promise) -> list[PlannedCheck]:
    """A check for every border: the parts of a person count as one record where intervals cross it."""
    if promise.tau is None:
        return []
    in_slots = make_plan(promise, evidence.begin, evidence.end, np.empty(0, np.int64)).promise
    borders, checks = evidence.periods.borders.tolist(), []
    for since, border in zip([evidence.begin - promise.tau, *borders], borders, strict=False):
        plan = plan_across(border, since, in_slots)
        [(begins, _)] = plan.begin_ranges()
        if begins.earliest > begins.latest:
            continue
        first, last = evidence.periods.of(np.array([begins.earliest, begins.latest + promise.tau - 1]))
        there = (evidence.period >= first) & (evidence.period <= last)
        people = np.unique(evidence.user[there])
        own = np.full(evidence.samples.n_users, NONE, np.int64)
        own[people] = np.arange(len(people))
        place = np.where(there, own[evidence.user], NONE).astype(np.int32)
        boxes = _ChosenBoxes(evidence.boxes, evidence.begin, evidence.end, place)
        of_people = Evidence(evidence.samples, boxes, own, len(people))
        checks.append(PlannedCheck(of_people, plan, with_truth=False, published_only=True))
    return checks


class _ChosenBoxes(NamedTuple):
    """The boxes of some records, in slots begin .. end - 1; record r is called place[r], below 0 if it is left out."""

    boxes: BoxesByTime
    begin: int
    end: int
    place: Int32s

    def between(self, begin: int, end: int) -> Boxes:
        """The boxes that meet slots begin .. end - 1."""
        found = self.boxes.between(max(begin, self.begin), min(end, self.end))
        found = found._replace(owner=self.place[found.owner])
        return Boxes._make(column[found.owner >= 0] for column in found)


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
    n_steps = [
        check.plan.n_chunks * (1 if run else len(user_blocks(len(check.evidence.own))) - 1)
        for check in checks
    ]
    begin_stage(progress, sum(n_steps), workers)
    for check in checks:
        found: Iterable[ChunkFindings]
        if run is None:
            found = (check_together(chunk, workers, progress.advance) for chunk in check.chunks())
        else:
            found = _counted(run(check_chunk, check.chunks()), progress)
        counter, untruths = ViolationCounter(), NO_UNTRUTHS
        for part in found:
            counter.add(part.violations)
            untruths = _total(untruths, part.untruths)
        yield counter, untruths


def _total(*counts: UntruthCounts) -> UntruthCounts:
    return UntruthCounts._make(map(sum, zip(NO_UNTRUTHS, *counts, strict=True)))


def begin_stage(progress: Progress, n_steps: int, workers: Workers) -> None:
    """Load the check, and say that it takes so many steps."""
    make_ready([CHECK_REHEARSAL], workers.count, progress, "the check")
    progress.stage("checking every user and interval", n_steps)


def _counted(found: Iterable[ChunkFindings], progress: Progress) -> Iterator[ChunkFindings]:
    for part in found:
        yield part
        progress.advance()


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
