"""The exact checks cut by time into chunks: each is a task that this process, another or another machine can do.

A chunk looks at the intervals that begin in a range of slots. For these it needs the samples up to tau later, and the
boxes in all epochs that the intervals reach into. It also counts what is untrue in its own slots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np

from shoal.auditing.box_index import AttackedRecords, records_among, trajectories_among
from shoal.auditing.coverage.violations import Violations, find_violations
from shoal.auditing.kernels.coverage import BeginRange, PromiseInSlots
from shoal.auditing.truthfulness import NO_UNTRUTHS, UntruthCounts, count_untruths
from shoal.core.arrays import Int32s, Int64s
from shoal.core.boxes import Boxes, concatenate
from shoal.core.compiling import Rehearsal
from shoal.core.promise import Promise
from shoal.core.workers import Workers
from shoal.storage.sample_store import SampleRows, SampleStore

MOST_SAMPLES = (
    1_000_000  # in a chunk, unless the shortest chunk has more; there are never more boxes than samples
)
_BUCKETS_A_CHUNK = 8  # of boxes; the finer, the less is read that a chunk does not need


class BoxesByTime(Protocol):
    """Boxes of which those of a time can be had; owners are numbers of records."""

    @property
    def begin(self) -> int:
        """The first slot of any box."""

    @property
    def end(self) -> int:
        """One past the last slot of any box."""

    def between(self, begin: int, end: int) -> Boxes:
        """The boxes that meet slots begin .. end - 1."""


class Evidence(NamedTuple):
    """What the exact checks look at: samples and boxes by time, and the record of each user (or NONE)."""

    samples: SampleStore
    boxes: BoxesByTime
    own: Int64s
    n_records: int


class Chunk(NamedTuple):
    """One task: samples by time, and boxes whose owners are the numbers of records in the whole file.

    ``begins``: where the intervals to check begin. Slots begins.earliest .. until - 1 are the chunk's own; every slot
    is one chunk's own. ``with_truth``: whether to count what is untrue there. ``published_only``: whether
    only intervals count in which a published sample is known.
    """

    samples: SampleRows
    boxes: Boxes
    own: Int32s
    n_records: int
    promise: PromiseInSlots
    begins: BeginRange
    until: int
    with_truth: bool
    published_only: bool = False


class ChunkFindings(NamedTuple):
    """What is wrong in a chunk; no untruths where they were not to be counted."""

    violations: Violations
    untruths: UntruthCounts


def check_chunk(chunk: Chunk) -> ChunkFindings:
    """Carry out one task on one thread."""
    with Workers(1) as alone:
        return check_together(chunk, alone)


def check_together(
    chunk: Chunk, workers: Workers, tick: Callable[[], object] = lambda: None
) -> ChunkFindings:
    """Carry out one task on several threads, which share its users."""
    trajectories = trajectories_among(chunk.samples, len(chunk.own))
    target = AttackedRecords(records_among(chunk.boxes, chunk.n_records), chunk.own.astype(np.int64))
    violations = find_violations(
        trajectories,
        target,
        chunk.promise,
        chunk.begins,
        workers,
        tick,
        published_only=chunk.published_only,
    )
    if not chunk.with_truth:
        return ChunkFindings(violations, NO_UNTRUTHS)
    begin, end = chunk.begins.earliest, chunk.until
    return ChunkFindings(violations, count_untruths(trajectories, target, begin, end, workers))


def load_check() -> None:
    """Load the compiled code (or compile it, once after installation) by checking an empty chunk."""
    none = np.empty(0, np.int32)
    nothing = SampleRows(none, np.empty(0, np.int64), none, none)
    promise, begins = PromiseInSlots(2, 1, 1), BeginRange(0, 0, True)
    check_chunk(Chunk(nothing, concatenate([]), none, 0, promise, begins, 1, with_truth=True))


CHECK_REHEARSAL = Rehearsal("check", load_check)


def time_borders(samples: SampleStore, promise: Promise, most: int) -> Int64s:
    """Slots at which to cut time, so that a chunk and the tau after it have at most ``most`` samples.

    Borders stand at epochs, further apart than tau: otherwise neighbouring chunks would read mostly the same samples.
    """
    if promise.tau is None or promise.epsilon is None:
        return np.empty(0, np.int64)
    unit = promise.reach * promise.epsilon
    possible = np.unique(samples.slots // unit) * unit
    before, with_tau = (
        samples.first[np.searchsorted(samples.slots, possible + later)] for later in (0, promise.tau)
    )
    with_tau = np.append(with_tau, len(samples))
    chosen: list[int] = []
    place = 0
    while True:
        reached = int(np.searchsorted(with_tau, before[place] + most, side="right")) - 1
        place = max(place + 1, reached)
        if place >= len(possible):
            return np.array(chosen, np.int64)
        chosen.append(int(possible[place]))


def bucket_borders(samples: SampleStore, promise: Promise) -> Int64s:
    """Slots at which to cut time for the buckets of a BoxStore."""
    return time_borders(samples, promise, MOST_SAMPLES // _BUCKETS_A_CHUNK)


class ChunkPlan(NamedTuple):
    """The chunks to make: ``borders`` between them, and slots ``begin`` .. ``end`` - 1, which hold all data."""

    promise: PromiseInSlots
    begin: int
    end: int
    borders: Int64s

    @property
    def n_chunks(self) -> int:
        """The number of chunks."""
        return len(self.borders) + 1

    def begin_ranges(self) -> Iterator[tuple[BeginRange, int]]:
        """For each chunk the begins of its intervals, and the end of its own slots."""
        if self.promise.epsilon == 0:
            yield BeginRange(self.begin, self.begin, True), self.end
            return
        first = self.begin - self.promise.tau
        for begin, end in pairwise([first, *self.borders.tolist(), self.end + 1]):
            yield BeginRange(begin, end - 1, begin == first), end


def make_plan(promise: Promise, begin: int, end: int, borders: Int64s) -> ChunkPlan:
    """The plan for data in slots begin .. end - 1; over whole trajectories there is one interval."""
    if promise.tau is None or promise.epsilon is None:
        return ChunkPlan(PromiseInSlots(promise.k, end - begin, 0), begin, end, borders[:0])
    return ChunkPlan(PromiseInSlots(promise.k, promise.tau, promise.epsilon), begin, end, borders)


def plan_across(border: int, since: int, promise: PromiseInSlots) -> ChunkPlan:
    """The plan for intervals that begin at ``since`` or later and cross a border: a single chunk."""
    begin = max(border - promise.tau + 1, since)
    return ChunkPlan(promise, begin + promise.tau, border - 1, np.empty(0, np.int64))


def plan_chunks(evidence: Evidence, promise: Promise) -> ChunkPlan:
    """Cut time into chunks that memory can hold."""
    slots, boxes = evidence.samples.slots, evidence.boxes
    begin, end = min(int(slots[0]), boxes.begin), max(int(slots[-1]) + 1, boxes.end)
    return make_plan(promise, begin, end, time_borders(evidence.samples, promise, MOST_SAMPLES))


def make_chunks(evidence: Evidence, plan: ChunkPlan, *, with_truth: bool) -> Iterator[Chunk]:
    """The chunks in order of time, each made when it is asked for."""
    own = evidence.own.astype(np.int32)
    for begins, until in plan.begin_ranges():
        begin, boxes = _boxes(evidence.boxes, plan.promise, begins, until)
        samples = evidence.samples.between(min(begin, begins.earliest - 1), begins.latest + plan.promise.tau)
        yield Chunk(samples, boxes, own, evidence.n_records, plan.promise, begins, until, with_truth)


def _boxes(
    buckets: BoxesByTime, promise: PromiseInSlots, begins: BeginRange, until: int
) -> tuple[int, Boxes]:
    """The boxes that a chunk needs, and the slot from which on it has all boxes.

    These are the boxes in the epochs of its intervals. Shoal's boxes lie in one epoch each. Where somebody else's boxes
    reach back from the chunk's own slots into earlier epochs, the boxes there are needed as well, to tell whether these
    long ones hold a sample and whether they overlap.
    """
    begin, end = begins.earliest, begins.latest + promise.tau
    if promise.epsilon:
        begin, end = begin // promise.epsilon * promise.epsilon, -(-end // promise.epsilon) * promise.epsilon
    boxes = buckets.between(begin, end)
    ending = (boxes.t1 >= begins.earliest) & (boxes.t1 < until)
    since = int(boxes.t0[ending].min(initial=begin))
    return since, boxes if since == begin else buckets.between(since, end)
