"""Where guarantee 1 is broken in a stretch of time, and what several stretches in a row come to."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.auditing.box_index import AttackedRecords, Records
from shoal.auditing.kernels.consistency import Trajectories
from shoal.auditing.kernels.coverage import BeginRange, Findings, PromiseInSlots, check_coverage
from shoal.core.arrays import Bools, Int32s, Int64s
from shoal.core.workers import Workers

_USERS_A_STEP = 1000  # at least, between two signs of progress
_MOST_STEPS = 50


class Violations(NamedTuple):
    """What is wrong in a stretch of time: a line for each user and attacker (0 strict, 1 gap-tolerant) with violations.

    ``number`` of them, and the interval and the number of records of the worst, the first such in time. Intervals with
    the same knowledge are one; it counts where it begins, ``n_intervals`` in all. ``entered``: whether one that began
    before the stretch is violated in it; ``left``: whether the last one is, which may go on after it. ``begun``, a bit
    for each user: whether knowledge changes in the stretch, so that nothing goes on through it.
    """

    n_intervals: int
    user: Int32s
    attacker: Int32s
    number: Int64s
    begin: Int64s
    records: Int64s
    entered: Bools
    left: Bools
    begun: npt.NDArray[np.uint8]


def steps_over(n_users: int) -> Int64s:
    """Borders of the blocks of users that are checked one after the other."""
    n_steps = min(max(1, n_users // _USERS_A_STEP), _MOST_STEPS)
    return np.linspace(0, n_users, 1 + n_steps).astype(np.int64)


def find_violations(
    trajectories: Trajectories,
    target: AttackedRecords,
    terms: PromiseInSlots,
    stretch: BeginRange,
    workers: Workers,
    tick: Callable[[], object] = lambda: None,
) -> Violations:
    """Check guarantee 1 for everybody with a record and every interval that begins in a stretch of time."""
    lonely = lonely_ranges(target.records, terms, stretch)

    def find(start: int, stop: int) -> Findings:
        found = _nothing(stop - start)
        workers.for_blocks_between(
            start,
            stop,
            lambda first, last: check_coverage(
                trajectories, target.index, target.own, terms, stretch, lonely, start, first, last, found
            ),
        )
        tick()
        return found

    users = pairwise(steps_over(len(target.own)).tolist())
    return _joined([_violators(find(start, stop), start) for start, stop in users])


def _nothing(n: int) -> Findings:
    violations, begin, records = (np.zeros((n, 2), np.int64) for _ in range(3))
    entered, left = (np.zeros((n, 2), np.bool_) for _ in range(2))
    return Findings(np.zeros(n, np.int64), violations, begin, records, entered, left)


def _violators(found: Findings, base: int) -> Violations:
    """Findings of users base, base + 1, ..., those that are without fault left out."""
    line, attacker = np.nonzero(found.violations)
    return Violations(
        n_intervals=int(found.segments.sum()),
        user=(line + base).astype(np.int32),
        attacker=attacker.astype(np.int32),
        number=found.violations[line, attacker],
        begin=found.begin[line, attacker],
        records=found.records[line, attacker],
        entered=found.entered[line, attacker],
        left=found.left[line, attacker],
        begun=(found.segments > 0).astype(np.uint8),
    )


def _joined(parts: list[Violations]) -> Violations:
    """Blocks of users together; only now are bits packed, since blocks do not end at whole bytes."""
    columns = (np.concatenate(column) for column in zip(*(part[1:] for part in parts), strict=True))
    together = Violations._make([sum(part.n_intervals for part in parts), *columns])
    return together._replace(begun=np.packbits(together.begun))


def lonely_ranges(records: Records, terms: PromiseInSlots, stretch: BeginRange) -> Int64s:
    """Ranges of a, with the number of records, where fewer than k records have no box wholly inside the interval."""
    boxes, (earliest, latest, _) = records.boxes, stretch
    begin, end = boxes.t1 + 1 - terms.tau, boxes.t0
    # A record's boxes come by their ends, and so do these ranges by their begins: what overlaps belongs to the earlier.
    span = int(boxes.t1.max()) - int(boxes.t0.min()) + 1 if boxes.n_boxes else 0
    lift = boxes.owner.astype(np.int64) * span
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
    wanted = (absent < terms.k) & (until >= earliest) & (at <= latest)
    lines = np.stack([np.maximum(at, earliest), np.minimum(until, latest), absent], axis=1)
    return lines[wanted]


class ViolationCounter:
    """Violations of stretches of time that follow each other: what goes on from one to the next counts once.

    Lines (2 user + attacker) in order; of each how many violations, and records and begin of the worst.
    """

    def __init__(self) -> None:
        self.n_intervals = 0
        self.line, self.number, self.records, self.begin = (np.empty(0, np.int64) for _ in range(4))
        self._open = np.empty(0, np.int64)  # lines whose last interval has been counted

    @property
    def user(self) -> Int64s:
        """The user of each line."""
        return self.line // 2

    @property
    def attacker(self) -> Int64s:
        """The attacker of each line."""
        return self.line % 2

    def add(self, found: Violations) -> None:
        """Note what the next stretch has."""
        self.n_intervals += found.n_intervals
        line = 2 * found.user.astype(np.int64) + found.attacker
        again = found.entered & np.isin(line, self._open)
        through = self._open[~_bits(found.begun, self._open // 2)]
        self._open = np.union1d(through, line[found.left])
        self._join(line, found.number - again, found.records, found.begin)

    def drop(self, users: Int64s) -> None:
        """Forget some users."""
        kept = ~np.isin(self.user, users)
        self.line, self.number, self.records, self.begin = (
            column[kept] for column in (self.line, self.number, self.records, self.begin)
        )

    def _join(self, line: Int64s, number: Int64s, records: Int64s, begin: Int64s) -> None:
        if not len(line):
            return
        line, number = np.append(self.line, line), np.append(self.number, number)
        records, begin = np.append(self.records, records), np.append(self.begin, begin)
        order = np.lexsort((begin, records, line))
        self.line, first = np.unique(line[order], return_index=True)
        self.number = np.add.reduceat(number[order], first)
        self.records, self.begin = records[order][first], begin[order][first]


def _bits(packed: npt.NDArray[np.uint8], places: Int64s) -> Bools:
    """Some of the bits that ``packbits`` put together."""
    return (packed[places // 8] >> (7 - places % 8).astype(np.uint8) & 1).astype(np.bool_)
