"""Guarantee 1 over every interval: how many records are consistent with what an attacker saw (docs/promise.md).

For one user the attacker's knowledge K is a run of consecutive samples, and stays the same while the interval's begin
``a`` moves over a *segment*. A record that holds all of K is consistent for every ``a`` of the segment except where one
of its boxes lies wholly inside the interval and holds no sample of K: box [t0, t1] does so for t1+1-tau <= a <= t0.
So every record contributes some ranges of ``a``, and the promise holds if everywhere at least k of them overlap.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.auditing.kernels.box_index import record_found, slot_over
from shoal.auditing.kernels.consistency import (
    BoxIndex,
    Trajectories,
    box_holding,
    consistent_ranges,
    first_box_ending_after,
    fits_forward,
    holds,
    holds_any,
    is_consistent,
)
from shoal.core.arrays import Bools, Int64s
from shoal.core.compiled import jit, jit_inline, jit_inline_allocating
from shoal.core.sorting import sort_by


class ViolationsByUser(NamedTuple):
    """What the exact check found, a line for each user: how many segments begin in a chunk of time, and for each
    attacker (column 0 strict, 1 gap-tolerant) how many of them are violated. begin, records: where the interval begins
    that leaves the fewest records, and how many it leaves.

    A segment may reach over the borders of a chunk. entered: whether a segment that began in an earlier chunk is
    violated in this one; left: whether the last segment of this chunk is.
    """

    segments: Int64s
    violations: Int64s
    begin: Int64s
    records: Int64s
    entered: Bools
    left: Bools


class Segment(NamedTuple):
    """K is samples first .. last - 1 of a user for every a in low .. high; ``line`` is the user's line of findings."""

    line: int
    user: int
    own: int
    first: int
    last: int
    low: int
    high: int


class PromiseInSlots(NamedTuple):
    """The promise in slots; epsilon 0: everything is one epoch."""

    k: int
    tau: int
    epsilon: int


class BeginRange(NamedTuple):
    """The begins a of intervals to check, earliest .. latest; is_first: this is the first of such ranges."""

    earliest: int
    latest: int
    is_first: bool


class ConsistentRecords(NamedTuple):
    """Records found consistent with a segment: the first n[0] of ``throughout``, at most k, for every a of it.

    n[1]: how many ranges of a there are in which other records are consistent; the ranges stand elsewhere, as lines
    (begin, end, record). reached[i]: up to which sample and which box record throughout[i] is known to fit; both only
    move on as the interval does.
    """

    n: Int64s
    throughout: Int64s
    reached: Int64s


@jit_inline_allocating
def make_consistent_records(k: int) -> ConsistentRecords:
    """Room for up to k records, none of them found yet."""
    return ConsistentRecords(np.zeros(2, np.int64), np.empty(k, np.int64), np.zeros((k, 2), np.int64))


class Owners(NamedTuple):
    """Answers kept: answer[record] says whether a record may be the own record of user asked[record]."""

    asked: Int64s
    answer: Bools


@jit_inline
def note_violation(
    findings: ViolationsByUser, line: int, attacker: int, begin: int, records: int, again: bool
) -> None:
    """Keep the violation with the fewest records; count it unless it is ``again`` in the same segment."""
    if findings.violations[line, attacker] == 0 or records < findings.records[line, attacker]:
        findings.begin[line, attacker] = begin
        findings.records[line, attacker] = records
    if not again:
        findings.violations[line, attacker] += 1


@jit
def may_be_own(trajectories: Trajectories, index: BoxIndex, user: int, record: int, epsilon: int) -> bool:
    """Whether a record could be the user's own: it is consistent, gaps forgiven, with all samples of the user."""
    first, last = trajectories.ptr[user], trajectories.ptr[user + 1]
    end_box = index.ptr[record + 1]
    begin, end = index.box[index.ptr[record]]["since"], index.box[end_box - 1]["t1"] + 1
    return is_consistent(trajectories, index, record, first, last, begin, end, epsilon, True)


@jit
def count_possible_records(
    trajectories: Trajectories,
    index: BoxIndex,
    epsilon: int,
    users: Int64s,
    most: int,
    begin: int,
    end: int,
    found: Int64s,
) -> None:
    """found[line]: how many records may be users[line]'s, counted up to ``most``, for lines begin .. end - 1.

    Every box of a record that may be a user's own holds a sample of the user, so only records with such a box are
    looked at.
    """
    asked = np.full(len(index.ptr) - 1, -1, np.int64)
    for line in range(begin, end):
        user, n = users[line], 0
        sample = trajectories.ptr[user]
        while sample < trajectories.ptr[user + 1] and n < most:
            row = trajectories.sample[sample]
            for probe in range(4 * len(index.levels)):
                slot = slot_over(index, probe, row["t"], row["x"], row["y"])
                for entry in range(index.slot_ptr[slot], index.slot_ptr[slot + 1]):
                    box = index.slot_box[entry]
                    record = index.box[box]["record"]
                    if n >= most or asked[record] == line:
                        continue
                    if holds(index, box, row["t"], row["x"], row["y"]):
                        asked[record] = line
                        n += may_be_own(trajectories, index, user, record, epsilon)
            sample += 1
        found[line] = n


@jit_inline
def is_own(
    trajectories: Trajectories, index: BoxIndex, segment: Segment, record: int, epsilon: int, owners: Owners
) -> bool:
    """Whether a record is the user's own, or may be where that is unknown."""
    if segment.own >= 0:
        return segment.own == record
    if owners.asked[record] != segment.user:
        owners.asked[record] = segment.user
        owners.answer[record] = may_be_own(trajectories, index, segment.user, record, epsilon)
    return bool(owners.answer[record])


@jit_inline
def fits_on(
    trajectories: Trajectories, index: BoxIndex, segment: Segment, tau: int, record: int, reached: Int64s
) -> bool:
    """Whether a record that fits up to ``reached`` (a sample, a box) is consistent throughout a later segment.

    A box wholly inside an interval holds a sample of K if it holds any sample of the user, so that samples and boxes
    before ``reached`` need no second look.
    """
    first, end = max(reached[0], segment.first), index.ptr[record + 1]
    if first < segment.last and not fits_forward(trajectories, index, record, first, segment.last, 0, False):
        return False
    reached[0] = segment.last
    box = max(reached[1], first_box_ending_after(index, record, segment.low))
    while box < end and index.box[box]["t1"] < segment.high + tau:
        t0, t1 = index.box[box]["t0"], index.box[box]["t1"]
        if t0 >= segment.low and t1 - t0 < tau:
            user = segment.user
            if not holds_any(trajectories, index, box, trajectories.ptr[user], trajectories.ptr[user + 1]):
                return False
        box += 1
    reached[1] = box
    return True


@jit
def add_record(
    trajectories: Trajectories,
    index: BoxIndex,
    segment: Segment,
    promise: PromiseInSlots,
    record: int,
    tolerant: bool,
    consistent: ConsistentRecords,
    ranges: Int64s,
) -> None:
    """Add a record to ``consistent``, or the ranges of a in which it is consistent to ``ranges``."""
    if not fits_forward(trajectories, index, record, segment.first, segment.last, promise.epsilon, tolerant):
        return
    n_before = consistent.n[1]
    n_after = consistent_ranges(
        trajectories, index, record, segment.first, segment.last, segment.low, segment.high, promise.tau,
        ranges, n_before,
    )  # fmt: skip
    throughout = (
        n_after == n_before + 1 and ranges[n_before, 0] == segment.low and ranges[n_before, 1] == segment.high
    )
    if throughout:
        consistent.throughout[consistent.n[0]] = record
        consistent.reached[consistent.n[0], :] = 0
        consistent.n[0] += 1
    else:
        consistent.n[1] = n_after


@jit_inline
def is_consistent_throughout(consistent: ConsistentRecords, record: int) -> bool:
    """Whether a record is among those found consistent throughout a segment."""
    for line in range(consistent.n[0]):  # noqa: SIM110 (a generator does not compile)
        if consistent.throughout[line] == record:
            return True
    return False


@jit_inline
def own_is_among(
    trajectories: Trajectories,
    index: BoxIndex,
    segment: Segment,
    epsilon: int,
    consistent: ConsistentRecords,
    ranges: Int64s,
    begin: int,
    owners: Owners,
) -> bool:
    """Whether the user's own record, or one that may be it, is among those consistent at ``begin``."""
    for line in range(consistent.n[0]):
        if is_own(trajectories, index, segment, consistent.throughout[line], epsilon, owners):
            return True
    for line in range(consistent.n[1]):
        if ranges[line, 0] <= begin <= ranges[line, 1] and is_own(
            trajectories, index, segment, ranges[line, 2], epsilon, owners
        ):
            return True
    return False


@jit
def note_shortfalls(
    trajectories: Trajectories,
    index: BoxIndex,
    segment: Segment,
    promise: PromiseInSlots,
    tolerant: bool,
    consistent: ConsistentRecords,
    ranges: Int64s,
    owners: Owners,
    findings: ViolationsByUser,
) -> bool:
    """Note the begins a at which fewer than k records are consistent. Returns whether there are any.

    The strict attacker is held to k only where the victim's own record is consistent.
    """
    n = consistent.n[1]
    places, changes = np.empty(2 * n + 1, np.int64), np.zeros(2 * n + 1, np.int64)
    places[2 * n] = segment.low
    for line in range(n):
        places[line], changes[line] = ranges[line, 0], 1
        places[n + line], changes[n + line] = ranges[line, 1] + 1, -1
    order = np.arange(2 * n + 1)
    sort_by(places, order, 0, 2 * n + 1, np.empty(2 * n + 1, np.int64))
    short = noted = False
    found = consistent.n[0]
    for turn in range(2 * n + 1):
        a = places[order[turn]]
        found += changes[order[turn]]
        if a > segment.high:
            break
        if found >= promise.k or (turn < 2 * n and places[order[turn + 1]] == a):
            continue
        short = True
        known_worst = noted and found >= findings.records[segment.line, int(tolerant)]
        if known_worst or (not tolerant and found == 0):
            continue
        if tolerant or own_is_among(
            trajectories, index, segment, promise.epsilon, consistent, ranges, a, owners
        ):
            note_violation(findings, segment.line, int(tolerant), a, found, noted)
            noted = True
    return short


@jit
def check_segment(
    trajectories: Trajectories,
    index: BoxIndex,
    segment: Segment,
    promise: PromiseInSlots,
    strict: ConsistentRecords,
    tolerant: ConsistentRecords,
    ranges: Int64s,
    owners: Owners,
    findings: ViolationsByUser,
) -> None:
    """Check one segment in which K is not empty.

    In most cases the k records that are needed are found soon. The records consistent throughout the segment before,
    with which ``strict`` comes, are tried first, then all records that hold the first sample. ``strict`` is left with
    the records consistent throughout this segment.
    """
    n_before = strict.n[0]
    strict.n[0], strict.n[1] = 0, 0
    for line in range(n_before):
        record = strict.throughout[line]
        if fits_on(trajectories, index, segment, promise.tau, record, strict.reached[line]):
            strict.throughout[strict.n[0]] = record
            for side in range(strict.reached.shape[1]):
                strict.reached[strict.n[0], side] = strict.reached[line, side]
            strict.n[0] += 1
    row = trajectories.sample[segment.first]
    t, x, y = row["t"], row["x"], row["y"]
    for probe in range(4 * len(index.levels)):
        if strict.n[0] == promise.k:
            return
        slot = slot_over(index, probe, t, x, y)
        for entry in range(index.slot_ptr[slot], index.slot_ptr[slot + 1]):
            if strict.n[0] == promise.k:
                return
            record = record_found(index, slot, entry, probe, t, x, y)
            if record >= 0 and not is_consistent_throughout(strict, record):
                add_record(trajectories, index, segment, promise, record, False, strict, ranges)
    if strict.n[0] == promise.k or not note_shortfalls(
        trajectories, index, segment, promise, False, strict, ranges, owners, findings
    ):
        return
    # A record that fits for the strict attacker fits for the tolerant one: count for that one only where k are lacking.
    tolerant.n[0], tolerant.n[1] = 0, 0
    for record in range(len(index.ptr) - 1):
        add_record(trajectories, index, segment, promise, record, True, tolerant, ranges)
        if tolerant.n[0] == promise.k:
            return
    note_shortfalls(trajectories, index, segment, promise, True, tolerant, ranges, owners, findings)


@jit
def check_empty(
    trajectories: Trajectories,
    index: BoxIndex,
    segment: Segment,
    promise: PromiseInSlots,
    few_absent: Int64s,
    owners: Owners,
    findings: ViolationsByUser,
) -> None:
    """Check one segment of empty knowledge: it must not meet a range in which fewer than k records are absent."""
    noted, own_noted = False, False
    for line in range(len(few_absent)):
        if few_absent[line, 0] > segment.high:
            return
        if few_absent[line, 1] < segment.low:
            continue
        a, found = max(segment.low, few_absent[line, 0]), few_absent[line, 2]
        note_violation(findings, segment.line, 1, a, found, noted)
        noted = True
        known = segment.own >= 0
        for record in range(segment.own if known else 0, segment.own + 1 if known else len(index.ptr) - 1):
            if is_own(trajectories, index, segment, record, promise.epsilon, owners) and is_consistent(
                trajectories,
                index,
                record,
                segment.first,
                segment.first,
                a,
                a + promise.tau,
                promise.epsilon,
                False,
            ):
                note_violation(findings, segment.line, 0, a, found, own_noted)
                own_noted = True
                break


@jit_inline
def holds_some(trajectories: Trajectories, index: BoxIndex, record: int, first: int, last: int) -> bool:
    """Whether a record holds one of samples first .. last - 1."""
    for sample in range(first, last):
        row = trajectories.sample[sample]
        box = first_box_ending_after(index, record, row["t"])
        if box_holding(index, box, index.ptr[record + 1], row["t"], row["x"], row["y"]) >= 0:
            return True
    return False


@jit_inline
def begins_here(trajectories: Trajectories, segment: Segment, tau: int, begins: BeginRange) -> bool:
    """Whether a segment begins at its ``low``, where a sample comes or goes, and did not begin in an earlier chunk."""
    first, last, begin = segment.first, segment.last, trajectories.ptr[segment.user]
    if begins.is_first or segment.low > begins.earliest:
        return True
    if first > begin and trajectories.sample[first - 1]["t"] == segment.low - 1:
        return True
    return bool(last > begin and trajectories.sample[last - 1]["t"] == segment.low + tau - 1)


@jit
def check_coverage(
    trajectories: Trajectories,
    index: BoxIndex,
    own: Int64s,
    promise: PromiseInSlots,
    begins: BeginRange,
    few_absent: Int64s,
    published_only: bool,
    base: int,
    begin_user: int,
    end_user: int,
    findings: ViolationsByUser,
) -> None:
    """Check guarantee 1 for users begin_user .. end_user - 1 and every a of ``begins``; user ``base`` has line 0 of
    findings. ``published_only``: skip K of which the user's own record, which is known then, holds no sample.

    Needs the samples of slots earliest - 1 .. latest + tau - 1 and the boxes that meet the epochs of all but the first
    of these slots; more do no harm. Where it is unknown whose a record is, needs all samples and boxes.

    own[i]: the user's record, -1 where it is unknown, -2 where there is none (such users are promised nothing).
    few_absent: lines (begin, end, records) in order, the ranges of a in which fewer than k records are consistent with
    empty knowledge.
    """
    ranges = np.empty((len(index.box) + len(index.ptr), 3), np.int64)  # room for every record's
    n_records = len(index.ptr) - 1
    strict, tolerant = (
        make_consistent_records(min(promise.k, n_records)),
        make_consistent_records(min(promise.k, n_records)),
    )
    n_asked = n_records if np.any(own[begin_user:end_user] == -1) else 0
    owners = Owners(np.full(n_asked, -1, np.int64), np.zeros(n_asked, np.bool_))
    for user in range(begin_user, end_user):
        if own[user] == -2:
            continue
        line = user - base
        strict.n[0] = 0
        if own[user] >= 0:
            strict.n[0], strict.throughout[0] = 1, own[user]
            strict.reached[0, :] = 0
        stop = trajectories.ptr[user + 1]
        first = last = trajectories.ptr[user]
        low = begins.earliest
        while low <= begins.latest:
            while last < stop and trajectories.sample[last]["t"] - promise.tau + 1 <= low:
                last += 1
            while first < last and trajectories.sample[first]["t"] + 1 <= low:
                first += 1
            high = begins.latest
            if last < stop:
                high = min(high, trajectories.sample[last]["t"] - promise.tau)
            if first < last:
                high = min(high, trajectories.sample[first]["t"])
            segment = Segment(line, user, own[user], first, last, low, high)
            n_strict, n_tolerant = findings.violations[line, 0], findings.violations[line, 1]
            if first == last:
                check_empty(trajectories, index, segment, promise, few_absent, owners, findings)
            elif not published_only or holds_some(trajectories, index, own[user], first, last):
                check_segment(
                    trajectories, index, segment, promise, strict, tolerant, ranges, owners, findings
                )
            findings.left[line, 0] = findings.violations[line, 0] > n_strict
            findings.left[line, 1] = findings.violations[line, 1] > n_tolerant
            if begins_here(trajectories, segment, promise.tau, begins):
                findings.segments[line] += 1
            else:
                for attacker in range(2):
                    findings.entered[line, attacker] = findings.left[line, attacker]
            low = high + 1
