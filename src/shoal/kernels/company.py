"""In which epochs a record agrees with a user by accident, and how much that tells an attacker."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiled import inner, kernel, lean
from shoal.kernels.merge import best_cuts, write_boxes
from shoal.kernels.pools import write_union
from shoal.kernels.search import Barred, WindowArrays, make_scratch
from shoal.samples import Floats, Int32s, Int64s

_INTERVALS = 3  # of length tau that are tried in a window
_NEAR = 500  # users on either side whose records are tried
_ENDLESS = 2**31 - 1  # later than any slot of an epoch


class Ledger(NamedTuple):
    """What users have and what their records show, a row per user and epoch; rows of an epoch together, by user.

    own (int32, 5 columns: t, x0, x1, y0, y1): the user's own samples, lines own_first[row] .. own_first[row + 1] - 1.
    box (int32, 6 columns: t0, t1, x0, x1, y0, y1): the boxes of the record, lines box_first[row] .. box_first[row + 1]
    - 1. Both by time, which counts from the beginning of the epoch. hull (int32, 4 columns: x0, x1, y0, y1): what the
    boxes of a row reach over. near: the rows of each epoch in an order in which near users are together, spot: the
    place of each row in it.
    """

    user: Int32s
    own_first: Int64s
    own: Int32s
    box_first: Int64s
    box: Int32s
    hull: Int32s
    near: Int64s
    spot: Int64s


class Chained(NamedTuple):
    """A ledger with chained rows: latest[u] is the last row of user u, earlier[row] the one before; -1 for none."""

    ledger: Ledger
    epoch: Int64s
    earlier: Int64s
    latest: Int64s


@inner
def consistent(
    box: Int32s, begin: int, end: int, own: Int32s, first: int, last: int, since: int, until: int
) -> bool:
    """Whether boxes begin .. end - 1 hold all slots first .. last - 1 from ``since`` to before ``until``.

    And whether each box that lies wholly between these times holds at least one of them.
    """
    b, held = begin, False
    while b < end and box[b, 1] < since:
        b += 1
    for q in range(first, last):
        t = own[q, 0]
        if t < since or t >= until:
            continue
        while b < end and box[b, 1] < t:
            if not held and box[b, 0] >= since:
                return False
            b, held = b + 1, False
        if b == end or box[b, 0] > t:
            return False
        if own[q, 1] < box[b, 2] or own[q, 2] > box[b, 3] or own[q, 3] < box[b, 4] or own[q, 4] > box[b, 5]:
            return False
        held = True
    while b < end and box[b, 1] < until:
        if not held and box[b, 0] >= since:
            return False
        b, held = b + 1, False
    return True


@lean
def published_agreements(
    chained: Chained, oldest: int, owner: Int32s, member: Int32s, begin: int, end: int, count: Int32s
) -> None:
    """count[q] = in how many published epochs from ``oldest`` on the record of owner[q] agrees with member[q], for q in
    begin .. end - 1."""
    ledger = chained.ledger
    for q in range(begin, end):
        count[q] = 0
        a, b = chained.latest[owner[q]], chained.latest[member[q]]
        while a >= 0 and b >= 0 and min(chained.epoch[a], chained.epoch[b]) >= oldest:
            if chained.epoch[a] > chained.epoch[b]:
                a = chained.earlier[a]
            elif chained.epoch[b] > chained.epoch[a]:
                b = chained.earlier[b]
            else:
                count[q] += consistent(
                    ledger.box, ledger.box_first[a], ledger.box_first[a + 1],
                    ledger.own, ledger.own_first[b], ledger.own_first[b + 1], 0, _ENDLESS,
                )  # fmt: skip
                a, b = chained.earlier[a], chained.earlier[b]


@kernel
def live_agreements(
    arrays: WindowArrays,
    own: Int32s,
    barred: Barred,
    oldest: int,
    settled: int,
    owner: Int32s,
    member: Int32s,
    begin: int,
    end: int,
    former: Int32s,
) -> None:
    """With which former members the record of owner[q] would agree, by accident, if member[q] joined it.

    Looks at members of windows ``oldest`` .. ``settled`` - 1 in the epochs of this window. former (int32, -1 for none)
    has a line per edge: places of these members in the owner's list of past members, the latest first, as many as there
    is room for. own: the slots of arrays.raw, as in a Ledger.
    """
    scratch = make_scratch(arrays)
    box = np.empty((len(scratch[1]), 6), np.int32)
    find_agreements(arrays, own, barred, oldest, settled, owner, member, begin, end, former, scratch, box)


@lean
def find_agreements(  # type: ignore[no-untyped-def]
    arrays: WindowArrays,
    own: Int32s,
    barred: Barred,
    oldest: int,
    settled: int,
    owner: Int32s,
    member: Int32s,
    begin: int,
    end: int,
    former: Int32s,
    scratch,
    box: Int32s,
) -> None:
    """See live_agreements."""
    union, place_a, place_b, cost, previous = scratch
    raw = arrays.raw
    for q in range(begin, end):
        i, j = int(owner[q]), int(member[q])
        user, found = arrays.user[i], 0
        for column in range(former.shape[1]):
            former[q, column] = -1
        for w in range(arrays.row.shape[1]):
            row, boxes = arrays.row[i, w], -1
            if row < 0:
                continue
            for entry in range(barred.length[user] - 1, -1, -1):
                if barred.when[user, entry] < oldest:
                    break
                other = arrays.place[barred.past[user, entry]]
                if barred.when[user, entry] >= settled or other < 0 or other == j or found == former.shape[1]:
                    continue
                known = arrays.row[other, w]
                if known < 0:
                    continue
                if boxes < 0:
                    n = write_union(arrays.pools, row, raw, arrays.row[j, w], union, 0, place_a, place_b)
                    best_cuts(union, 0, n, arrays.weight, np.inf, cost, previous)
                    boxes = write_boxes(union, 0, n, previous, box, 0)
                if consistent(box, 0, boxes, own, raw.ptr[known], raw.ptr[known + 1], 0, _ENDLESS):
                    former[q, found] = entry
                    found += 1


@inner
def row_of(ledger: Ledger, first: int, last: int, user: int) -> int:
    """The row of a user among rows first .. last - 1, which go by user; -1 if it has none."""
    low, high = first, last
    while low < high:
        middle = (low + high) // 2
        if ledger.user[middle] < user:
            low = middle + 1
        else:
            high = middle
    return low if low < last and ledger.user[low] == user else -1


@inner
def row_consistent(ledger: Ledger, row: int, known: int, since: int, until: int) -> bool:
    """Whether the record of one row is consistent with the user of another; -1 is an empty row."""
    begin, end, first, last = 0, 0, 0, 0
    if row >= 0:
        begin, end = ledger.box_first[row], ledger.box_first[row + 1]
    if known >= 0:
        first, last = ledger.own_first[known], ledger.own_first[known + 1]
    return bool(consistent(ledger.box, begin, end, ledger.own, first, last, since, until))


@inner
def first_known(
    ledger: Ledger, rows: Int64s, epsilon: int, since: int, until: int
) -> tuple[int, int, int, int, int]:
    """The first epoch of a window in which a user has samples between two times, -1 for none, and their hull in it."""
    x0, x1, y0, y1 = 0, 0, 0, 0
    for w in range(len(rows)):
        met = False
        if rows[w] >= 0:
            for slot in range(ledger.own_first[rows[w]], ledger.own_first[rows[w] + 1]):
                if not since <= ledger.own[slot, 0] + w * epsilon < until:
                    continue
                if met:
                    x0, x1 = min(x0, ledger.own[slot, 1]), max(x1, ledger.own[slot, 2])
                    y0, y1 = min(y0, ledger.own[slot, 3]), max(y1, ledger.own[slot, 4])
                else:
                    x0, x1 = ledger.own[slot, 1], ledger.own[slot, 2]
                    y0, y1 = ledger.own[slot, 3], ledger.own[slot, 4]
                met = True
        if met:
            return w, x0, x1, y0, y1
    return -1, x0, x1, y0, y1


@kernel
def alone_shares(
    ledger: Ledger,
    victim: Int32s,
    first: Int64s,
    last: Int64s,
    epsilon: int,
    tau: int,
    k: int,
    begin: int,
    end: int,
    share: Floats,
) -> None:
    """share[q] (float64) = how often victim[q], known for tau in a window, is left with k records or fewer.

    Of some intervals spread over the window, those in which the victim has samples are counted. The window's w-th epoch
    is rows first[q, w] .. last[q, w] - 1 of the ledger, none for an empty one. Only records of users near the victim
    are tried, so that time does not grow with the square of their number.
    """
    rows = np.empty(first.shape[1], np.int64)
    find_shares(ledger, victim, first, last, epsilon, tau, k, begin, end, share, rows)


@lean
def find_shares(
    ledger: Ledger,
    victim: Int32s,
    first: Int64s,
    last: Int64s,
    epsilon: int,
    tau: int,
    k: int,
    begin: int,
    end: int,
    share: Floats,
    rows: Int64s,
) -> None:
    """See alone_shares."""
    width = first.shape[1]
    for q in range(begin, end):
        for w in range(width):
            rows[w] = row_of(ledger, first[q, w], last[q, w], victim[q])
        tried, alone = 0, 0
        for part in range(1, _INTERVALS + 1):
            since = max(width * epsilon - tau, 0) * part // (_INTERVALS + 1)
            scan, x0, x1, y0, y1 = first_known(ledger, rows, epsilon, since, since + tau)
            if scan < 0:
                continue
            tried += 1
            others, own = 0, ledger.spot[rows[scan]]
            for step in range(2, 2 * _NEAR + 2):
                spot = own + step // 2 if step % 2 else own - step // 2
                if others >= k or spot < first[q, scan] or spot >= last[q, scan]:
                    continue
                row = ledger.near[spot]
                if ledger.hull[row, 0] > x0 or ledger.hull[row, 1] < x1:
                    continue
                if ledger.hull[row, 2] > y0 or ledger.hull[row, 3] < y1:
                    continue
                start = since - scan * epsilon
                if not row_consistent(ledger, row, rows[scan], start, start + tau):
                    continue
                fits = True
                for w in range(width):
                    if fits and w != scan and w * epsilon < since + tau and (w + 1) * epsilon > since:
                        other = row_of(ledger, first[q, w], last[q, w], ledger.user[row])
                        start = since - w * epsilon
                        fits = row_consistent(ledger, other, rows[w], start, start + tau)
                others += fits
            alone += others < k
        share[q] = alone / max(tried, 1)
