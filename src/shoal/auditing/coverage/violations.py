"""Where guarantee 1 is broken in a chunk of time, and what is broken in several chunks together."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.auditing.box_index import AttackedRecords, Records
from shoal.auditing.kernels.consistency import Trajectories
from shoal.auditing.kernels.coverage import BeginRange, PromiseInSlots, ViolationsByUser, check_coverage
from shoal.core.arrays import Bools, Int32s, Int64s
from shoal.core.workers import Workers

_USERS_A_STEP = 1000  # at least, between two signs of progress
_MOST_STEPS = 50


class Violations(NamedTuple):
    """Violations in a chunk of time: a line for each user and attacker (0 strict, 1 gap-tolerant) that has any.

    ``number``: how many violations. ``begin``, ``records``: where the worst one begins (of equals the earliest), and
    how many records it leaves.

    Intervals in which the attacker knows the same samples are one *segment*, and one violation at most. A segment
    counts in the chunk in which it begins; ``n_intervals`` of them begin in this one. ``entered``: whether a segment
    that began in an earlier chunk is violated here. ``left``: whether the last segment is violated, which may go on in
    the next chunk. ``begun``, a bit for each user: whether a segment of the user begins in this chunk.
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


def user_blocks(n_users: int) -> Int64s:
    """Borders between the blocks of users that are checked one after the other, with progress after each."""
    n_steps = min(max(1, n_users // _USERS_A_STEP), _MOST_STEPS)
    return np.linspace(0, n_users, 1 + n_steps).astype(np.int64)


def find_violations(
    trajectories: Trajectories,
    target: AttackedRecords,
    promise: PromiseInSlots,
    begins: BeginRange,
    workers: Workers,
    tick: Callable[[], object] = lambda: None,
    *,
    published_only: bool = False,
) -> Violations:
    """Check guarantee 1 for everybody with a record, in every interval that begins in a range of slots.

    ``published_only``: where a published sample is known, and nowhere else.
    """
    few_absent = ranges_with_few_absent(target.records, promise, begins)
    if published_only:
        few_absent = few_absent[:0]

    def find(start: int, stop: int) -> ViolationsByUser:
        found = _no_findings(stop - start)
        workers.for_blocks_between(
            start,
            stop,
            lambda first, last: check_coverage(
                trajectories,
                target.index,
                target.own,
                promise,
                begins,
                few_absent,
                published_only,
                start,
                first,
                last,
                found,
            ),
        )
        tick()
        return found

    users = pairwise(user_blocks(len(target.own)).tolist())
    return _joined([_violators(find(start, stop), start) for start, stop in users])


def _no_findings(n: int) -> ViolationsByUser:
    violations, begin, records = (np.zeros((n, 2), np.int64) for _ in range(3))
    entered, left = (np.zeros((n, 2), np.bool_) for _ in range(2))
    return ViolationsByUser(np.zeros(n, np.int64), violations, begin, records, entered, left)


def _violators(found: ViolationsByUser, base: int) -> Violations:
    """The findings of users base, base + 1, ..., without the users who have no violation."""
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
    """The violations of all blocks of users; bits are packed at the end, since blocks do not end at whole bytes."""
    columns = (np.concatenate(column) for column in zip(*(part[1:] for part in parts), strict=True))
    together = Violations._make([sum(part.n_intervals for part in parts), *columns])
    return together._replace(begun=np.packbits(together.begun))


def ranges_with_few_absent(records: Records, promise: PromiseInSlots, begins: BeginRange) -> Int64s:
    """Where intervals may begin so that fewer than k records have no box wholly inside: lines of first and last begin,
    and the number of such records."""
    boxes, (earliest, latest, _) = records.boxes, begins
    begin, end = boxes.t1 + 1 - promise.tau, boxes.t0
    # A record's boxes are sorted by their ends, so its ranges are sorted by their begins: of ranges that overlap, the
    # earlier one keeps the common part.
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
    wanted = (absent < promise.k) & (until >= earliest) & (at <= latest)
    lines = np.stack([np.maximum(at, earliest), np.minimum(until, latest), absent], axis=1)
    return lines[wanted]


class ViolationCounter:
    """Adds up the violations of chunks that follow each other; one that goes on from chunk to chunk counts once.

    ``line``: 2 user + attacker, in order; for each line the number of violations, and records and begin of the worst.
    """

    def __init__(self) -> None:
        self.n_intervals = 0
        self.line, self.number, self.records, self.begin = (np.empty(0, np.int64) for _ in range(4))
        self._open = np.empty(0, np.int64)  # lines whose last segment was violated and may go on

    @property
    def user(self) -> Int64s:
        """The user of each line."""
        return self.line // 2

    @property
    def attacker(self) -> Int64s:
        """The attacker of each line."""
        return self.line % 2

    def add(self, found: Violations) -> None:
        """Add the violations of the next chunk."""
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
    """Some of the bits of an array that ``packbits`` made."""
    return (packed[places // 8] >> (7 - places % 8).astype(np.uint8) & 1).astype(np.bool_)
