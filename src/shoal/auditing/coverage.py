"""The exact check of guarantee 1: every user, every interval, both attackers; it never samples."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from shoal.auditing.records import Records, make_shelves, make_trails
from shoal.blocks import Workers
from shoal.boxes import NONE, UNKNOWN
from shoal.kernels.consistency import Shelves, Trails
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
    n_unchecked: users who would be unprotected, but who may have no record; nobody can tell without a key.
    """

    n_users: int
    n_intervals: int
    n_strict: int
    n_tolerant: int
    n_unchecked: int
    worst: list[Violation]

    @property
    def kept(self) -> bool:
        """Whether guarantee 1 holds."""
        return self.n_strict == self.n_tolerant == 0


def check(
    samples: Samples,
    records: Records,
    promise: Promise,
    own: Int64s,
    workers: Workers,
    progress: Progress | None = None,
) -> Coverage:
    """Check guarantee 1 for everybody. own[i]: the record of user i, UNKNOWN, or NONE (who is promised nothing)."""
    progress = progress or Silent()
    boxes = records.boxes
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
    trails, shelves = make_trails(samples), make_shelves(records)
    lonely = _lonely_ranges(records, promise.k, tau, earliest, latest)
    terms = Terms(promise.k, tau, epsilon)

    def check_users(first: int, last: int) -> None:
        check_coverage(trails, shelves, own, terms, earliest, latest, lonely, first, last, findings)

    check_users(0, 0)  # compiles it
    edges = np.linspace(0, samples.n_users, 1 + max(1, samples.n_users // _USERS_A_STEP)).astype(np.int64)
    progress.stage("checking every user and interval", len(edges) - 1)
    for start, stop in pairwise(edges.tolist()):
        workers.between(start, stop, check_users)
        progress.advance()
    excused = _without_record(trails, shelves, records, own, findings, terms, workers)
    findings.violations[excused] = 0
    return _coverage(findings, int((own != NONE).sum()), len(excused))


def _without_record(
    trails: Trails,
    shelves: Shelves,
    records: Records,
    own: Int64s,
    findings: Findings,
    terms: Terms,
    workers: Workers,
) -> Int64s:
    """Users who are unprotected but may have no record: nothing in the file could be theirs, and records are missing.

    If there are more of them than records are missing, some do have a record, and the file is untrue as well.
    """
    users = np.flatnonzero((findings.violations[:, 1] > 0) & (own == UNKNOWN))
    found = np.zeros(len(users), np.bool_)
    workers.over(
        len(users),
        lambda first, last: find_possible_owners(trails, shelves, users, terms.epsilon, first, last, found),
    )
    without = users[~found]
    n_missing = int((own == UNKNOWN).sum()) - records.n_records
    return without if len(without) <= n_missing else without[:0]


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


def _coverage(findings: Findings, n_users: int, n_unchecked: int) -> Coverage:
    worst = [
        Violation(int(user), name, int(findings.begin[user, attacker]), int(findings.records[user, attacker]))
        for attacker, name in enumerate(("strict", "gap-tolerant"))
        for user in np.flatnonzero(findings.violations[:, attacker])
    ]
    strict, tolerant = findings.violations.sum(axis=0).tolist()
    worst.sort(key=lambda violation: violation.n_records)
    return Coverage(n_users, int(findings.segments.sum()), strict, tolerant, n_unchecked, worst)
