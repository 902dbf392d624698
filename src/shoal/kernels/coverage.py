"""Guarantee 1 over every interval: how many records are consistent with what an attacker saw (design section 1).

For one user the attacker's knowledge K is a run of consecutive samples, and stays the same while the interval's begin
``a`` moves over a *segment*. A record that holds all of K is consistent for every ``a`` of the segment except where one
of its boxes lies wholly inside the interval and holds no sample of K: box [t0, t1] does so for t1+1-tau <= a <= t0.
So every record contributes some ranges of ``a``, and the promise holds if everywhere at least k of them overlap.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiled import inner, kernel
from shoal.kernels.consistency import (
    Shelves,
    Trails,
    consistent_ranges,
    fits_forward,
    holds,
    interleave,
)
from shoal.samples import Int64s


class Findings(NamedTuple):
    """What the exact check found, a line per user: segments looked at, and for either attacker (0 strict, 1 tolerant)
    the number of violations, with the begin of the interval and the number of consistent records in the worst."""

    segments: Int64s
    violations: Int64s
    begin: Int64s
    records: Int64s


@inner
def note_violation(findings: Findings, user: int, attacker: int, begin: int, records: int) -> None:
    """Count a violation and keep the one with the fewest records."""
    if findings.violations[user, attacker] == 0 or records < findings.records[user, attacker]:
        findings.begin[user, attacker] = begin
        findings.records[user, attacker] = records
    findings.violations[user, attacker] += 1


@inner
def is_consistent_at(
    trails: Trails,
    shelves: Shelves,
    record: int,
    first: int,
    last: int,
    begin: int,
    tau: int,
    epsilon: int,
    tolerant: bool,
    scratch: Int64s,
) -> bool:
    """Whether a record is consistent with samples first .. last - 1, all that are in [begin, begin + tau)."""
    if first < last and not fits_forward(trails, shelves, record, first, last, epsilon, tolerant):
        return False
    return bool(consistent_ranges(trails, shelves, record, first, last, begin, begin, tau, scratch, 0) == 1)


@inner
def may_be_own(
    trails: Trails, shelves: Shelves, user: int, record: int, epsilon: int, scratch: Int64s
) -> bool:
    """Whether a record is gap-tolerantly consistent with all that is known of a user: it could be the user's own."""
    first, last = trails.ptr[user], trails.ptr[user + 1]
    begin, end = shelves.t0[shelves.ptr[record]], shelves.t1[shelves.ptr[record + 1] - 1] + 1
    begin, end = min(begin, trails.t[first]), max(end, trails.t[last - 1] + 1)
    return is_consistent_at(trails, shelves, record, first, last, begin, end - begin, epsilon, True, scratch)


@inner
def enlarged(ranges: Int64s, wanted: int) -> Int64s:
    """The same lines with room for ``wanted`` of them."""
    if wanted <= len(ranges):
        return ranges
    larger = np.empty((2 * wanted, ranges.shape[1]), np.int64)
    larger[: len(ranges)] = ranges
    return larger


@inner
def overlapping(ranges: Int64s, n_ranges: int, begin: int) -> int:
    """How many ranges hold ``begin``."""
    found = 0
    for line in range(n_ranges):
        if ranges[line, 0] <= begin <= ranges[line, 1]:
            found += 1
    return found


@inner
def own_is_among(
    trails: Trails,
    shelves: Shelves,
    own: int,
    user: int,
    whole: Int64s,
    n_whole: int,
    ranges: Int64s,
    n_ranges: int,
    begin: int,
    epsilon: int,
    scratch: Int64s,
) -> bool:
    """Whether the user's own record, or one that may be it, is among those consistent at ``begin``."""
    for line in range(n_whole):
        if own == whole[line] or (
            own < 0 and may_be_own(trails, shelves, user, whole[line], epsilon, scratch)
        ):
            return True
    for line in range(n_ranges):
        if ranges[line, 0] <= begin <= ranges[line, 1]:
            record = ranges[line, 2]
            if own == record or (own < 0 and may_be_own(trails, shelves, user, record, epsilon, scratch)):
                return True
    return False


@inner
def change_of_count(ranges: Int64s, line: int, low: int) -> int:
    """The number of overlapping ranges changes only at ``low`` (line -1), where one begins, or after one ends."""
    if line < 0:
        return low
    return int(ranges[line // 2, 0] if line % 2 == 0 else ranges[line // 2, 1] + 1)


@inner
def check_tolerant(
    trails: Trails,
    shelves: Shelves,
    user: int,
    first: int,
    last: int,
    low: int,
    high: int,
    k: int,
    tau: int,
    epsilon: int,
    ranges: Int64s,
    findings: Findings,
) -> Int64s:
    """Check one segment against the gap-tolerant attacker, over all records."""
    n_whole, n_ranges = 0, 0
    for record in range(len(shelves.ptr) - 1):
        if not fits_forward(trails, shelves, record, first, last, epsilon, True):
            continue
        ranges = enlarged(ranges, n_ranges + int(shelves.ptr[record + 1] - shelves.ptr[record]) + 1)
        n_more = consistent_ranges(trails, shelves, record, first, last, low, high, tau, ranges, n_ranges)
        if n_more == n_ranges + 1 and ranges[n_ranges, 0] == low and ranges[n_ranges, 1] == high:
            n_whole += 1
            if n_whole == k:
                return ranges
        else:
            n_ranges = n_more
    for line in range(-1, 2 * n_ranges):
        a = change_of_count(ranges, line, low)
        found = n_whole + overlapping(ranges, n_ranges, a)
        if a <= high and (line < 0 or a > low) and found < k:
            note_violation(findings, user, 1, a, found)
    return ranges


@inner
def is_listed(records: Int64s, n: int, record: int) -> bool:
    """Whether a record is among the first n."""
    for line in range(n):  # noqa: SIM110 (a generator does not compile)
        if records[line] == record:
            return True
    return False


@inner
def check_segment(
    trails: Trails,
    shelves: Shelves,
    own: int,
    user: int,
    first: int,
    last: int,
    low: int,
    high: int,
    k: int,
    tau: int,
    epsilon: int,
    ranges: Int64s,
    whole: Int64s,
    scratch: Int64s,
    findings: Findings,
) -> Int64s:
    """Check one segment: K is samples first .. last - 1 for every a in low .. high. Returns the (grown) ranges.

    The k records that are needed are found soon in most cases: those in ``whole``, which were consistent throughout an
    earlier segment, are tried first (-1: none), then all outwards from the first sample's place. ``whole`` is left with
    the records that are consistent throughout this segment.
    """
    n_whole, n_ranges = 0, 0
    for line in range(k):
        record = whole[line]
        whole[line] = -1
        if record >= 0 and fits_forward(trails, shelves, record, first, last, epsilon, False):
            ranges = enlarged(ranges, int(shelves.ptr[record + 1] - shelves.ptr[record]) + 1)
            n_more = consistent_ranges(trails, shelves, record, first, last, low, high, tau, ranges, 0)
            if n_more == 1 and ranges[0, 0] == low and ranges[0, 1] == high:
                whole[n_whole] = record
                n_whole += 1
    if n_whole == k:
        return ranges
    bucket = (trails.t[first] - shelves.origin) // shelves.width
    inside = 0 <= bucket < len(shelves.bucket_ptr) - 1
    begin = shelves.bucket_ptr[bucket] if inside else 0
    end = shelves.bucket_ptr[bucket + 1] if inside else 0
    up = begin + np.searchsorted(
        shelves.bucket_code[begin:end], interleave(trails.x[first] + 2**30, trails.y[first] + 2**30)
    )
    down = up - 1
    while (up < end or down >= begin) and n_whole < k:
        for side in range(2):
            if side == 0:
                if up >= end:
                    continue
                box = shelves.bucket_box[up]
                up += 1
            else:
                if down < begin:
                    continue
                box = shelves.bucket_box[down]
                down -= 1
            if n_whole == k or not holds(shelves, box, trails, first):
                continue
            record = shelves.record[box]
            if is_listed(whole, n_whole, record) or not fits_forward(
                trails, shelves, record, first, last, epsilon, False
            ):
                continue
            ranges = enlarged(ranges, n_ranges + int(shelves.ptr[record + 1] - shelves.ptr[record]) + 1)
            n_more = consistent_ranges(trails, shelves, record, first, last, low, high, tau, ranges, n_ranges)
            if n_more == n_ranges + 1 and ranges[n_ranges, 0] == low and ranges[n_ranges, 1] == high:
                whole[n_whole] = record
                n_whole += 1
                continue
            for line in range(n_ranges, n_more):
                ranges[line, 2] = record
            n_ranges = n_more
    if n_whole >= k:
        return ranges
    short = False
    for line in range(-1, 2 * n_ranges):
        a = change_of_count(ranges, line, low)
        found = n_whole + overlapping(ranges, n_ranges, a)
        if a > high or (line >= 0 and a == low) or found >= k:
            continue
        short = True
        if found and own_is_among(
            trails, shelves, own, user, whole, n_whole, ranges, n_ranges, a, epsilon, scratch
        ):
            note_violation(findings, user, 0, a, found)
    if (
        short
    ):  # whoever fits for the strict attacker fits for the tolerant one, so only now need these be counted
        ranges = check_tolerant(
            trails, shelves, user, first, last, low, high, k, tau, epsilon, ranges, findings
        )
    return ranges


@inner
def check_empty(
    trails: Trails,
    shelves: Shelves,
    own: int,
    user: int,
    first: int,
    low: int,
    high: int,
    tau: int,
    epsilon: int,
    lonely: Int64s,
    scratch: Int64s,
    findings: Findings,
) -> None:
    """Check one segment of empty knowledge: it must not meet a range where too few records are absent."""
    for line in range(len(lonely)):
        if lonely[line, 0] > high:
            return
        if lonely[line, 1] < low:
            continue
        a, found = max(low, lonely[line, 0]), lonely[line, 2]
        note_violation(findings, user, 1, a, found)
        for record in range(len(shelves.ptr) - 1):
            if (
                own == record or (own < 0 and may_be_own(trails, shelves, user, record, epsilon, scratch))
            ) and (is_consistent_at(trails, shelves, record, first, first, a, tau, epsilon, False, scratch)):
                note_violation(findings, user, 0, a, found)
                break


@kernel
def check_coverage(
    trails: Trails,
    shelves: Shelves,
    own: Int64s,
    k: int,
    tau: int,
    epsilon: int,
    earliest: int,
    latest: int,
    lonely: Int64s,
    begin_user: int,
    end_user: int,
    findings: Findings,
) -> None:
    """Check guarantee 1 for users begin_user .. end_user - 1 and every a in earliest .. latest.

    own[i]: the user's record, -1 where it is unknown, -2 where there is none (such users are promised nothing).
    lonely: ranges of a, a line (begin, end, records) each and in order, where fewer than k records are consistent with
    empty knowledge. epsilon 0: everything is one epoch.
    """
    ranges, scratch = np.empty((1024, 3), np.int64), np.empty((2, 3), np.int64)
    whole = np.empty(k, np.int64)
    for user in range(begin_user, end_user):
        if own[user] == -2:
            continue
        whole[:] = -1
        if own[user] >= 0:
            whole[0] = own[user]
        stop = trails.ptr[user + 1]
        first = last = trails.ptr[user]
        low = earliest
        while low <= latest:
            while last < stop and trails.t[last] - tau + 1 <= low:
                last += 1
            while first < last and trails.t[first] + 1 <= low:
                first += 1
            high = latest
            if last < stop:
                high = min(high, trails.t[last] - tau)
            if first < last:
                high = min(high, trails.t[first])
            findings.segments[user] += 1
            if first == last:
                check_empty(
                    trails,
                    shelves,
                    own[user],
                    user,
                    first,
                    low,
                    high,
                    tau,
                    epsilon,
                    lonely,
                    scratch,
                    findings,
                )
            else:
                ranges = check_segment(
                    trails, shelves, own[user], user, first, last, low, high, k, tau, epsilon,
                    ranges, whole, scratch, findings,
                )  # fmt: skip
            low = high + 1
