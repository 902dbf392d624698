"""Accidental leakage: in which epochs a record agrees with a user by accident, and how exposed users are.

A record *agrees* with a user in an epoch if it is consistent with all that the user has there (consistency.py). A user
is *exposed* in a window if an attacker who knows an interval of length tau is left with k records or fewer: only then
do other epochs leak. hiding.leakage makes prices of both.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Bytes, Floats, Int32s, Int64s
from shoal.core.compiled import jit, jit_inline, jit_no_arrays
from shoal.hiding.kernels.consistency import consistent, row_consistent_between
from shoal.hiding.kernels.cost_bounds import OWN
from shoal.hiding.kernels.edge_cost import make_scratch, write_outlines
from shoal.hiding.kernels.merge import CostRule, best_cuts, merge_boxes, write_boxes
from shoal.hiding.kernels.pools import Pools, Slots, write_union
from shoal.hiding.kernels.reuse import PastMembers, ReuseRule
from shoal.hiding.kernels.window import WindowArrays

_INTERVALS = 3  # of length tau that are tried in a window
_NEAR = 100  # users on either side whose records are tried


class PublishedEpochs(NamedTuple):
    """The samples of users and the boxes of their records in published epochs, a row per user and epoch.

    own (pools.OWN_SLOT): the user's own samples, own_first[row] .. own_first[row + 1] - 1 in them.
    box (int32, 6 columns: t0, t1, x0, x1, y0, y1): the boxes of the record, lines box_first[row] .. box_first[row + 1]
    - 1. Both by time, which counts from the beginning of the epoch. latest[u] is the last row of user u, earlier[row]
    the one before; -1 for none.
    """

    epoch: Int64s
    own_first: Int64s
    own: Slots
    box_first: Int64s
    box: Int32s
    earlier: Int64s
    latest: Int64s


class RecordBoxes(NamedTuple):
    """The boxes of records in a window, a row per user and epoch, as lines like those of PublishedEpochs.

    Those of a row are the first n_boxes[row] lines from first[row] on. hull (int32, 4 columns: x0, x1, y0, y1): the
    rectangle around them.
    """

    first: Int64s
    n_boxes: Int64s
    box: Int32s
    hull: Int32s


@jit
def write_record_boxes(pools: Pools, weight: CostRule, begin: int, end: int, shown: RecordBoxes) -> None:
    """Write the boxes and hulls of rows begin .. end - 1 of some pools; shown.first is where the rows begin."""
    merge_boxes(pools, weight, begin, end, shown.n_boxes, shown.box)
    for row in range(begin, end):
        first, hull = shown.first[row], shown.hull[row]
        for side in range(4):
            hull[side] = shown.box[first, 2 + side]
        for b in range(first + 1, first + shown.n_boxes[row]):
            hull[0], hull[1] = min(hull[0], shown.box[b, 2]), max(hull[1], shown.box[b, 3])
            hull[2], hull[3] = min(hull[2], shown.box[b, 4]), max(hull[3], shown.box[b, 5])


@jit_no_arrays
def cheapest_edges(first: Int64s, cost: Floats, best: Int64s) -> None:
    """best[i] = the first of the cheapest edges first[i] .. first[i + 1] - 1, -1 where there are none."""
    for owner in range(len(best)):
        best[owner] = -1
        for edge in range(first[owner], first[owner + 1]):
            if best[owner] < 0 or cost[edge] < cost[best[owner]]:
                best[owner] = edge


@jit_no_arrays
def published_agreements(
    published_epochs: PublishedEpochs,
    oldest: int,
    owner: Int32s,
    member: Int32s,
    most: int,
    begin: int,
    end: int,
    count: Int32s,
) -> None:
    """count[q] (int32) = in how many published epochs the record of owner[q] agrees with member[q].

    For q in begin .. end - 1; epochs from ``oldest`` on are counted, and no more than ``most`` of them. Owners and
    members are numbered in the whole dataset.
    """
    for q in range(begin, end):
        count[q] = 0
        a, b = published_epochs.latest[owner[q]], published_epochs.latest[member[q]]
        while a >= 0 and b >= 0 and count[q] < most:
            if min(published_epochs.epoch[a], published_epochs.epoch[b]) < oldest:
                break
            if published_epochs.epoch[a] > published_epochs.epoch[b]:
                a = published_epochs.earlier[a]
            elif published_epochs.epoch[b] > published_epochs.epoch[a]:
                b = published_epochs.earlier[b]
            else:
                count[q] += consistent(
                    published_epochs.box, published_epochs.box_first[a], published_epochs.box_first[a + 1],
                    published_epochs.own, published_epochs.own_first[b], published_epochs.own_first[b + 1],
                )  # fmt: skip
                a, b = published_epochs.earlier[a], published_epochs.earlier[b]


@jit_no_arrays
def chain_lengths(published_epochs: PublishedEpochs, users: Int32s, oldest: int, lengths: Int64s) -> None:
    """lengths[i] (int64) = how many rows user users[i] has in epochs from ``oldest`` on."""
    for i in range(len(users)):
        lengths[i], row = 0, published_epochs.latest[users[i]]
        while row >= 0 and published_epochs.epoch[row] >= oldest:
            lengths[i] += 1
            row = published_epochs.earlier[row]


@jit_no_arrays
def chain_rows(published_epochs: PublishedEpochs, users: Int32s, first: Int64s, rows: Int64s) -> None:
    """rows[first[i] .. first[i + 1] - 1] = the latest rows of user users[i], in order of time."""
    for i in range(len(users)):
        row = published_epochs.latest[users[i]]
        for place in range(first[i + 1] - 1, first[i] - 1, -1):
            rows[place] = row
            row = published_epochs.earlier[row]


@jit
def live_agreements(
    arrays: WindowArrays,
    rule: ReuseRule,
    oldest: int,
    until: int,
    owner: Int32s,
    member: Int32s,
    most: int,
    begin: int,
    end: int,
    leaking: Int32s,
) -> None:
    """leaking[q] (int32) = what the record of owner[q] would leak about former members if member[q] joined it.

    For each epoch of the window and each former member with whom the record would agree there, the exposure of that
    member, in sixtieths, is added, for ``most`` agreements at most. Former members are those of windows ``oldest`` ..
    ``until`` - 1 who are in the owner's group, the latest first. q is in begin .. end - 1; owners should come in runs,
    and are numbered in the window, like members.
    """
    scratch = make_scratch(arrays)
    box = np.empty((len(scratch[1]), 6), np.int32)
    outline = np.empty((arrays.row.shape[1], OWN))
    most_former = 0
    for n_former in rule.past.length:
        most_former = max(most_former, n_former)
    former = np.empty((2, most_former), np.int32)
    find_agreements(
        arrays, rule, oldest, until, owner, member, most, begin, end, leaking,
        scratch, box, outline, former,
    )  # fmt: skip


@jit_no_arrays
def find_agreements(  # type: ignore[no-untyped-def]
    arrays: WindowArrays,
    rule: ReuseRule,
    oldest: int,
    until: int,
    owner: Int32s,
    member: Int32s,
    most: int,
    begin: int,
    end: int,
    leaking: Int32s,
    scratch,
    box: Int32s,
    outline: Floats,
    former: Int32s,
) -> None:
    """See live_agreements. outline and former are scratch for what is known of one owner."""
    union, place_a, place_b, cost, previous = scratch
    raw, n_former = arrays.raw, 0
    for q in range(begin, end):
        i, j = int(owner[q]), int(member[q])
        if q == begin or i != owner[q - 1]:
            n_former = list_former_members(arrays, rule.past, i, oldest, until, former)
            write_outlines(arrays, i, outline)
        found = 0
        leaking[q] = 0
        for w in range(arrays.row.shape[1]):
            row, boxes = arrays.row[i, w], -1
            if row < 0:
                continue
            joining = arrays.row[j, w]
            for entry in range(n_former):
                if found == most:
                    break
                known = arrays.row[former[0, entry], w]
                if former[0, entry] == j or not within_hull(raw, known, outline[w], joining):
                    continue
                if boxes < 0:
                    n = write_union(arrays.pools, row, raw, joining, union, 0, place_a, place_b)
                    best_cuts(union, 0, n, arrays.weight, np.inf, cost, previous)
                    boxes = write_boxes(union, 0, n, previous, box, 0)
                if consistent(box, 0, boxes, raw.slot, raw.ptr[known], raw.ptr[known + 1]):
                    leaking[q] += former[1, entry]
                    found += 1


@jit_inline
def list_former_members(
    arrays: WindowArrays, past: PastMembers, owner: int, oldest: int, until: int, former: Int32s
) -> int:
    """Write the former members of an owner in windows oldest .. until - 1, and their exposure; return how many."""
    user, n = arrays.user[owner], 0
    for entry in range(past.first[user] + past.length[user] - 1, past.first[user] - 1, -1):
        if past.when[entry] < oldest:
            break
        if past.when[entry] >= until:
            continue
        other = arrays.place[past.member[entry]]
        if arrays.first[owner] <= other < arrays.last[owner]:
            former[0, n], former[1, n] = other, past.exposure[entry]
            n += 1
    return n


@jit_inline
def within_hull(raw: Pools, known: int, outline: Floats, joining: int) -> bool:
    """Whether a user's row lies within the hull of a record and a member that joins; if not, no box can hold it."""
    user, other = raw.touch[known], raw.touch[joining]
    return bool(
        user[0] >= min(outline[0], other[0])
        and user[1] <= max(outline[1], other[1])
        and user[2] >= min(outline[2], other[2])
        and user[3] <= max(outline[3], other[3])
        and user[4] >= min(outline[4], other[4])
        and user[5] <= max(outline[5], other[5])
    )


@jit_inline
def first_known(
    raw: Pools, rows: Int64s, epsilon: int, since: int, until: int
) -> tuple[int, int, int, int, int]:
    """The first epoch of a window in which a user has samples between two times (-1: none), and the hull of these."""
    x0, x1, y0, y1 = 0, 0, 0, 0
    for w in range(len(rows)):
        met = False
        if rows[w] >= 0:
            for q in range(raw.ptr[rows[w]], raw.ptr[rows[w] + 1]):
                slot = raw.slot[q]
                if not since <= slot.t + w * epsilon < until:
                    continue
                if met:
                    x0, x1 = min(x0, slot.x0), max(x1, slot.x1)
                    y0, y1 = min(y0, slot.y0), max(y1, slot.y1)
                else:
                    x0, x1, y0, y1 = slot.x0, slot.x1, slot.y0, slot.y1
                met = True
        if met:
            return w, x0, x1, y0, y1
    return -1, x0, x1, y0, y1


@jit_no_arrays
def exposed_shares(
    arrays: WindowArrays,
    shown: RecordBoxes,
    epsilon: int,
    tau: int,
    k: int,
    begin: int,
    end: int,
    exposure: Bytes,
) -> None:
    """exposure[i] (uint8) = in how many sixths of intervals user i of the window is left with k records or fewer.

    The intervals have length tau and are spread over the window; of three, those in which the user has samples count,
    so sixths are exact. Only records of the group's users who are near are tried, so that the time taken does not grow
    with the square of their number. epsilon and tau are in slots.
    """
    width, raw = arrays.row.shape[1], arrays.raw
    for i in range(begin, end):
        rows, tried, few = arrays.row[i], 0, 0
        for part in range(1, _INTERVALS + 1):
            since = max(width * epsilon - tau, 0) * part // (_INTERVALS + 1)
            scan, x0, x1, y0, y1 = first_known(raw, rows, epsilon, since, since + tau)
            if scan < 0:
                continue
            tried += 1
            others = 0
            for step in range(2, 2 * _NEAR + 2):
                other = i + step // 2 if step % 2 else i - step // 2
                if others >= k:
                    break
                if other < arrays.first[i] or other >= arrays.last[i]:
                    continue
                row = arrays.row[other, scan]
                if shown.hull[row, 0] > x0 or shown.hull[row, 1] < x1:
                    continue
                if shown.hull[row, 2] > y0 or shown.hull[row, 3] < y1:
                    continue
                fits = True
                for w in range(width):
                    start = since - w * epsilon
                    if fits and rows[w] >= 0 and start < epsilon and start + tau > 0:
                        fits = row_consistent_between(
                            shown, arrays.row[other, w], raw.slot, raw.ptr, rows[w], start, start + tau
                        )
                others += fits
            few += others < k
        exposure[i] = 6 * few // max(tried, 1)
