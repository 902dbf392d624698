"""Which records would vouch for those that cover somebody, against an attacker who links windows (hiding.hardening)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Floats, Int32s, Int64s
from shoal.core.compiled import jit, jit_inline, jit_no_arrays
from shoal.hiding.kernels.consistency import row_consistent
from shoal.hiding.kernels.cost_bounds import one_box_cost, write_outline
from shoal.hiding.kernels.merge import best_cuts, write_boxes
from shoal.hiding.kernels.pools import Pools, longest_row, room_for_union, write_union
from shoal.hiding.kernels.reuse import ReuseRule, may_serve


class NeighbouringEpochs(NamedTuple):
    """Epochs around one that is about to be published, which is column ``here``; those before it are published.

    row[u, column]: row of user u in that epoch, -1 when absent; those of ``here`` begin at ``offset``. raw: users' own
    samples; own: their slots as lines (pools.slot_lines). The boxes of a record (int32, 6 columns: t0, t1, x0, x1, y0,
    y1; times count from the beginning of the epoch) are n_boxes[row] lines from first[row] on.
    """

    row: Int64s
    here: int
    offset: int
    raw: Pools
    own: Int32s
    first: Int64s
    n_boxes: Int64s
    box: Int32s


class CoveredWindows(NamedTuple):
    """The windows that hold the epoch in question, a line each, by time; epochs are columns of Nearby.row.

    user: who is there, near ones together, -1 behind the last; place: the inverse, -1 for the absent. member, cover:
    whom users' records hold there, and which users' records hold them, a line of k - 1 per user.
    """

    begin: Int64s
    end: Int64s
    user: Int32s
    place: Int32s
    member: Int32s
    cover: Int32s


class WitnessCandidates(NamedTuple):
    """Records that vouch for covers of victims, or would if they held them: ptr[i] .. ptr[i + 1] - 1 for victim[i].

    needs: for which of its needs, a bit for each. A need is a cover in a window for which records must vouch in a
    window beside it: some covers of each window, for each of the windows beside it, in this order.
    """

    victim: Int32s
    ptr: Int64s
    record: Int32s
    needs: Int32s


@jit_inline
def holds(nearby: NeighbouringEpochs, record: int, user: int) -> bool:
    """Whether the boxes of a row hold all samples of another row, and each of them one."""
    return bool(row_consistent(nearby, record, nearby.own, nearby.raw.ptr, user))


@jit_inline
def all_met(nearby: NeighbouringEpochs, one: int, other: int) -> bool:
    """Whether every box of a row meets one of another row."""
    box = nearby.box
    first, last = nearby.first[other], nearby.first[other] + nearby.n_boxes[other]
    for b in range(nearby.first[one], nearby.first[one] + nearby.n_boxes[one]):
        met = False
        for d in range(first, last):
            met |= (
                box[b, 0] <= box[d, 1] and box[d, 0] <= box[b, 1]
                and box[b, 2] <= box[d, 3] and box[d, 2] <= box[b, 3]
                and box[b, 4] <= box[d, 5] and box[d, 4] <= box[b, 5]
            )  # fmt: skip
        if not met:
            return False
    return True


@jit_inline
def meet(nearby: NeighbouringEpochs, column: int, one: int, other: int) -> bool:
    """Whether two records meet box for box in an epoch; if both are absent, they do."""
    row, second = nearby.row[one, column], nearby.row[other, column]
    if row < 0 or second < 0:
        return bool(row < 0 and second < 0)
    return all_met(nearby, row, second) and all_met(nearby, second, row)


@jit_inline
def held_since(nearby: NeighbouringEpochs, victim: int, record: int, first: int) -> int:
    """The column from which on a record holds the victim in all published epochs up to now; from ``first`` on at most.

    Where both are absent, it does.
    """
    column = nearby.here
    while column > first:
        own, row = nearby.row[victim, column - 1], nearby.row[record, column - 1]
        if (own < 0) != (row < 0) or (own >= 0 and not holds(nearby, row, own)):
            break
        column -= 1
    return column


@jit_inline
def met_since(nearby: NeighbouringEpochs, cover: int, record: int, first: int, end: int) -> int:
    """The column from which on a record meets a cover in all epochs before ``end``; from ``first`` on at most."""
    column = end
    while column > first and meet(nearby, column - 1, cover, record):
        column -= 1
    return column


@jit_inline
def met_until(nearby: NeighbouringEpochs, cover: int, record: int, begin: int, last: int) -> int:
    """The column before which a record meets a cover in all epochs from ``begin`` on; before ``last`` at most."""
    column = begin
    while column < last and meet(nearby, column, cover, record):
        column += 1
    return column


@jit_inline
def needs_served(
    nearby: NeighbouringEpochs, windows: CoveredWindows, victim: int, record: int, n_covers: int
) -> int:
    """The needs for which a record would vouch if it held the victim here, a bit each.

    It must meet the cover in all epochs of the window beside that are not in the cover's own, and hold the victim in
    those of both that are published. All windows hold the epoch in question, so both are runs of epochs.
    """
    n_windows, needs, need = len(windows.begin), 0, 0
    first, last = windows.begin[0], windows.end[n_windows - 1]
    held = held_since(nearby, victim, record, first)
    for window in range(n_windows):
        begin, end = windows.begin[window], windows.end[window]
        for cover in windows.cover[window, victim, :n_covers]:
            if cover == record:
                need += n_windows - 1
                continue
            low = met_since(nearby, cover, record, first, begin)
            high = met_until(nearby, cover, record, end, last)
            for beside in range(n_windows):
                if beside < window:
                    needs |= (low <= windows.begin[beside] and held <= begin) << need
                elif beside > window:
                    needs |= (high >= windows.end[beside] and held <= windows.begin[beside]) << need
                need += beside != window
    return needs


@jit_inline
def option(windows: CoveredWindows, victim: int, cover: int, beside: int, number: int) -> int:
    """The number-th record that may vouch for a cover, -1 where there is none.

    First those that hold the cover in the window beside, those that it holds there, and those that hold the victim:
    then the ones near the cover.
    """
    width = windows.cover.shape[2]
    kind, column = divmod(number, width)
    if kind == 0:
        return int(windows.cover[beside, cover, column])
    if kind == 1:
        return int(windows.member[beside, cover, column])
    if kind == 2:
        return int(windows.cover[beside, victim, column])
    step, upwards = divmod(number - 3 * width, 2)
    place = windows.place[beside, cover]
    place = place + step + 1 if upwards else place - step - 1
    return int(windows.user[beside, place]) if 0 <= place < windows.user.shape[1] else -1


@jit
def find_candidates(
    nearby: NeighbouringEpochs,
    windows: CoveredWindows,
    n_covers: int,
    near: int,
    most: int,
    candidates: WitnessCandidates,
) -> None:
    """For each victim, ask records for each need until enough do vouch for it, or ``most`` do or would.

    near: how many records near a cover are asked, beside those that have to do with it or with the victim.
    """
    wanted, n_windows = windows.cover.shape[2], len(windows.begin)
    mark = np.full(len(nearby.row), -1, np.int32)
    vouching = np.empty(n_windows * (n_windows - 1) * n_covers, np.int32)
    n, candidates.ptr[0] = 0, 0
    for i in range(len(candidates.victim)):
        victim, first, need = candidates.victim[i], n, 0
        own = nearby.row[victim, nearby.here]
        mark[victim] = victim
        vouching[:] = 0
        for window in range(n_windows):
            for cover in windows.cover[window, victim, :n_covers]:
                for beside in range(n_windows):
                    if beside == window:
                        continue
                    for number in range(3 * wanted + near):
                        if vouching[need] >= wanted or n == first + most:
                            break
                        record = option(windows, victim, cover, beside, number)
                        if record < 0 or mark[record] == victim:
                            continue
                        mark[record] = victim
                        row = nearby.row[record, nearby.here]
                        if row < 0:
                            continue
                        needs = needs_served(nearby, windows, victim, record, n_covers)
                        if not needs:
                            continue
                        candidates.record[n], candidates.needs[n] = record, needs
                        n += 1
                        if holds(nearby, row, own):
                            for other in range(len(vouching)):
                                vouching[other] += (needs >> other) & 1
                    need += 1
        candidates.ptr[i + 1] = n


class RecordState(NamedTuple):
    """What records hold in the epoch in question (rows as in Nearby, from ``offset`` on): what that costs, and outlines
    of it (kernels.tree)."""

    pools: Pools
    cost: Floats
    outline: Floats


class WitnessChoice(NamedTuple):
    """The record that each victim wants most as a witness, or -1, and what it would cost for each need it serves."""

    witness: Int32s
    price: Floats


@jit_inline
def list_open(
    nearby: NeighbouringEpochs, candidates: WitnessCandidates, line: int, vouching: Int32s, opened: Int64s
) -> int:
    """List the offers of records that do not hold a victim yet; how many there are. vouching: how many do, by need."""
    own, n = nearby.row[candidates.victim[line], nearby.here], 0
    vouching[:] = 0
    for offer in range(candidates.ptr[line], candidates.ptr[line + 1]):
        if not holds(nearby, nearby.row[candidates.record[offer], nearby.here], own):
            opened[n] = offer
            n += 1
            continue
        for need in range(len(vouching)):
            vouching[need] += (candidates.needs[offer] >> need) & 1
    return n


@jit_inline
def count_unserved(needs: int, vouching: Int32s, wanted: int) -> int:
    """For how many of some needs too few records vouch."""
    n = 0
    for need in range(len(vouching)):
        n += (needs >> need) & 1 and vouching[need] < wanted
    return n


@jit
def seek_witnesses(
    nearby: NeighbouringEpochs,
    candidates: WitnessCandidates,
    held: RecordState,
    rule: ReuseRule,
    weight: float,
    most: float,
    n_needs: int,
    wanted: int,
    lines: Int64s,
    begin: int,
    end: int,
    choice: WitnessChoice,
) -> None:
    """For victims lines[begin .. end - 1], find the record that would serve their needs at the least price for each.

    To hold the victim as well may cost a record up to ``most`` more for each need; rule: whom it may not hold.
    wanted: how many records must vouch for a need.
    """
    pools = held.pools
    room_for_slots = longest_row(pools) + longest_row(nearby.raw) + 1
    union = room_for_union(room_for_slots)
    place_a, place_b = np.empty(room_for_slots, np.int32), np.empty(room_for_slots, np.int32)
    cost, previous = np.empty(room_for_slots), np.empty(room_for_slots, np.int32)
    opened, vouching = np.empty(np.diff(candidates.ptr).max(), np.int64), np.empty(n_needs, np.int32)
    for i in range(begin, end):
        line = lines[i]
        victim = candidates.victim[line]
        own = nearby.row[victim, nearby.here]
        n_open = list_open(nearby, candidates, line, vouching, opened)
        best, price = -1, most
        for offer in opened[:n_open]:
            served = count_unserved(candidates.needs[offer], vouching, wanted)
            if not served:
                continue
            record = candidates.record[offer]
            here = nearby.row[record, nearby.here] - nearby.offset
            together = one_box_cost(held.outline[here], nearby.raw, own, weight)
            if together < 0:
                size = write_union(pools, here, nearby.raw, own, union, 0, place_a, place_b)
                limit = np.nextafter(held.cost[here] + price * served, np.inf)
                together = best_cuts(union, 0, size, weight, limit, cost, previous)
            each = (together - held.cost[here]) / served
            cheaper = each < price or (best < 0 and each <= price)
            if cheaper and may_serve(rule, record, victim):
                best, price = record, each
        choice.witness[i], choice.price[i] = best, price


@jit
def renew(
    held: RecordState, weight: float, rows: Int64s, begin: int, end: int, nearby: NeighbouringEpochs
) -> None:
    """Find out anew what rows rows[begin .. end - 1] show and cost.

    There is room for it: a record has no more boxes than its user has slots, whoever joins.
    """
    pools = held.pools
    room = longest_row(pools) + 1
    cost, previous = np.empty(room), np.empty(room, np.int32)
    for i in range(begin, end):
        row, shown = rows[i], rows[i] + nearby.offset
        first, n = pools.ptr[row], pools.ptr[row + 1] - pools.ptr[row]
        held.cost[row] = best_cuts(pools, first, n, weight, np.inf, cost, previous)
        nearby.n_boxes[shown] = write_boxes(pools, first, n, previous, nearby.box, nearby.first[shown])
        write_outline(pools, row, held.outline[row])


@jit_no_arrays
def cheapest_candidates(choice: WitnessChoice, order: Int64s, taken: Int32s, chosen: Int64s) -> int:
    """chosen: the first victim, in an order, of every record that is wanted as a witness; how many there are.

    taken: -1 for every user.
    """
    n = 0
    for i in order:
        if taken[choice.witness[i]] < 0:
            taken[choice.witness[i]] = 1
            chosen[n] = i
            n += 1
    return n
