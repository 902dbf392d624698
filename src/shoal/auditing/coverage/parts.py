"""The exact check where records get new names: every period on its own, then what crosses borders."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from shoal.auditing.coverage.check import Coverage, PlannedCheck, RunTasks, carry_out, coverage_of
from shoal.auditing.coverage.chunks import BoxesByTime, Evidence, make_plan, plan_across, plan_chunks
from shoal.auditing.truthfulness import NO_UNTRUTHS, UntruthCounts
from shoal.core.arrays import Int32s, Int64s
from shoal.core.boxes import NONE, Boxes
from shoal.core.periods import Periods
from shoal.core.progress import Progress, SilentProgress
from shoal.core.promise import Promise
from shoal.core.workers import Workers
from shoal.storage.sample_store import SampleStore


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
    """Check guarantee 1 in every period and across borders, and count what is untrue if asked to."""
    within, n_elsewhere = _checks_within(evidence, promise, with_truth=with_truth)
    checks = [*within, *_checks_across(evidence, promise)]
    found = list(carry_out(checks, workers, progress or SilentProgress(), run))
    totals = [sum(column) for column in zip(NO_UNTRUTHS, *(untruths for _, untruths in found), strict=True)]
    untruths = UntruthCounts._make(totals)
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
