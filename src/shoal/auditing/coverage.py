"""The exact check of guarantee 1: every user, every interval, both attackers; it never samples."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from shoal.auditing.records import Records, Target, make_trails
from shoal.blocks import Workers
from shoal.boxes import NONE, UNKNOWN
from shoal.kernels.consistency import Trails
from shoal.kernels.coverage import Findings, Terms, check_coverage, find_possible_owners
from shoal.progress import Progress, Silent
from shoal.promise import Promise
from shoal.samples import Int64s, Samples

_USERS_A_STEP = 1000  # between two signs of progress


class Violation(NamedTuple):
    """A counterexample: an interval that begins at slot ``begin`` and leaves fewer than k records."""

    user: int
    attacker: str
    begin: int
    n_records: int


class Coverage(NamedTuple):
    """What the exact check found: how many users and intervals were looked at, and in how many of these fewer than k
    records were left to either attacker. Intervals with the same knowledge count as one.

    worst: for each user concerned and either attacker the interval that leaves the fewest records, worst first.
    Without a key, nothing in the file may be some users' own. As long as no more of them are than records are missing,
    they may have none and are not checked (n_unchecked); if there are more, at least n_untrue records are not true.
    """

    n_users: int
    n_intervals: int
    n_strict: int
    n_tolerant: int
    n_unchecked: int
    n_untrue: int
    worst: list[Violation]

    @property
    def kept(self) -> bool:
        """Whether guarantee 1 holds."""
        return self.n_strict == self.n_tolerant == self.n_untrue == 0


def check(
    samples: Samples, target: Target, promise: Promise, workers: Workers, progress: Progress | None = None
) -> Coverage:
    """Check guarantee 1 for everybody; users without a record are promised nothing."""
    progress = progress or Silent()
    boxes, own = target.records.boxes, target.own
    begin = min(int(samples.t.min()), int(boxes.t0.min()))
    end = max(int(samples.t.max()), int(boxes.t1.max())) + 1
    if promise.tau is None or promise.epsilon is None:
        tau, epsilon, earliest, latest = end - begin, 0, begin, begin
    else:
        tau, epsilon, earliest, latest = promise.tau, promise.epsilon, begin - promise.tau, end
    findings = Findings(
        segments=np.zeros(samples.n_users, np.int64),
        violations=np.zeros((samples.n_users, 2), np.int64),
        begin=np.zeros((samples.n_users, 2), np.int64),
        records=np.zeros((samples.n_users, 2), np.int64),
    )
    progress.stage("loading the check (compiles it once)")
    trails, shelves = make_trails(samples), target.shelves
    lonely = _lonely_ranges(target.records, promise.k, tau, earliest, latest)
    terms = Terms(promise.k, tau, epsilon)

    def check_users(first: int, last: int) -> None:
        check_coverage(trails, shelves, own, terms, earliest, latest, lonely, first, last, findings)

    check_users(0, 0)  # compiles it
    edges = np.linspace(0, samples.n_users, 1 + max(1, samples.n_users // _USERS_A_STEP)).astype(np.int64)
    progress.stage("checking every user and interval", len(edges) - 1)
    for start, stop in pairwise(edges.tolist()):
        workers.between(start, stop, check_users)
        progress.advance()
    strangers = _without_possible_record(trails, target, epsilon, workers)
    n_missing = int((own == UNKNOWN).sum()) - target.records.n_records
    n_untrue = len(strangers) - max(n_missing, 0)
    if n_untrue <= 0:
        findings.violations[strangers] = 0
    return _coverage(
        findings,
        n_users=int((own != NONE).sum()),
        n_unchecked=len(strangers) if n_untrue <= 0 else 0,
        n_untrue=max(n_untrue, 0),
    )


def _without_possible_record(trails: Trails, target: Target, epsilon: int, workers: Workers) -> Int64s:
    """Users whose record is unknown, and of whom nothing in the file could be the record."""
    unknown = target.own == UNKNOWN
    found = np.ones(len(unknown), np.bool_)
    if unknown.any():
        workers.over(
            len(found),
            lambda first, last: find_possible_owners(trails, target.shelves, epsilon, first, last, found),
        )
    return np.flatnonzero(unknown & ~found)


def _lonely_ranges(records: Records, k: int, tau: int, earliest: int, latest: int) -> Int64s:
    """Ranges of a, with the number of records, where fewer than k records have no box wholly inside the interval."""
    boxes = records.boxes
    begin, end = boxes.t1 + 1 - tau, boxes.t0
    # A record's boxes come by their ends, and so do these ranges by their begins: what overlaps belongs to the earlier.
    lift = boxes.owner.astype(np.int64) * (int(boxes.t1.max()) - int(boxes.t0.min()) + 1)
    taken = np.maximum.accumulate(end + lift) - lift
    later = np.flatnonzero(boxes.owner[1:] == boxes.owner[:-1]) + 1
    begin[later] = np.maximum(begin[later], taken[later - 1] + 1)
    real = begin <= end
    places = np.concatenate([begin[real], end[real] + 1, [earliest]])
    change = np.concatenate([np.ones(real.sum(), np.int64), -np.ones(real.sum(), np.int64), [0]])
    order = np.argsort(places, kind="stable")
    at, first = np.unique(places[order], return_index=True)
    inside = np.cumsum(np.add.reduceat(change[order], first))
    absent = records.n_records - inside
    until = np.concatenate([at[1:] - 1, [latest]])
    wanted = (absent < k) & (until >= earliest) & (at <= latest)
    lines = np.stack([np.maximum(at, earliest), np.minimum(until, latest), absent], axis=1)
    return lines[wanted]


def _coverage(findings: Findings, *, n_users: int, n_unchecked: int, n_untrue: int) -> Coverage:
    worst = [
        Violation(int(user), name, int(findings.begin[user, attacker]), int(findings.records[user, attacker]))
        for attacker, name in enumerate(("strict", "gap-tolerant"))
        for user in np.flatnonzero(findings.violations[:, attacker])
    ]
    strict, tolerant = findings.violations.sum(axis=0).tolist()
    worst.sort(key=lambda violation: violation.n_records)
    n_intervals = int(findings.segments.sum())
    return Coverage(n_users, n_intervals, strict, tolerant, n_unchecked, n_untrue, worst)
