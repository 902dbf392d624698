"""Witnesses: records that keep an attacker who links windows from ruling out the records that cover somebody.

A *cover* of a victim in a window is a record that holds the victim there. A *need* is a cover in one window together
with another window beside it, both of which hold the epoch in question. A record is a *witness* for the need if it
holds the victim in the epochs that both windows share and meets the cover, box for box, in the other epochs of the
window beside (docs/decisions/0016-hardening.md). hiding.hardening asks these kernels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Floats, Int32s, Int64s
from shoal.core.compiled import jit, jit_inline, jit_no_arrays
from shoal.hiding.kernels.consistency import row_consistent
from shoal.hiding.kernels.cost_bounds import one_box_cost, write_outline
from shoal.hiding.kernels.merge import best_cuts, write_boxes
from shoal.hiding.kernels.pools import Pools, longest_row, room_for_pools, write_union
from shoal.hiding.kernels.reuse import ReuseRule, may_serve


class NeighbouringEpochs(NamedTuple):
    """Epochs around one that is about to be published, which is column ``here``; those before it are published.

    row[u, column]: row of user u in that epoch, -1 when absent; those of ``here`` begin at ``offset``. raw: users' own
    samples. The boxes of a record (int32, 6 columns: t0, t1, x0, x1, y0,
    y1; times count from the beginning of the epoch) are n_boxes[row] lines from first[row] on.
    """

    row: Int64s
    here: int
    offset: int
    raw: Pools
    first: Int64s
    n_boxes: Int64s
    box: Int32s


class CoveredWindows(NamedTuple):
    """The windows that hold the epoch in question, a line each, by time.

    begin, end (int64): the window's epochs, as columns of NeighbouringEpochs.row. user (int32): who is there, near ones
    together, -1 behind the last; place: the inverse, -1 for the absent. member, cover (int32, k - 1 per user): whom the
    user's record holds in the window, and whose records hold the user.
    """

    begin: Int64s
    end: Int64s
    user: Int32s
    place: Int32s
    member: Int32s
    cover: Int32s


class WitnessCandidates(NamedTuple):
    """Records that are witnesses, or would be if they held the victim here.

    Entries ptr[i] .. ptr[i + 1] - 1 are those of victim[i]. needs (int32): the victim's needs that the record serves,
    a bit each. Needs are numbered by window, then by cover, then by the window beside.
    """

    victim: Int32s
    ptr: Int64s
    record: Int32s
    needs: Int32s


class RecordState(NamedTuple):
    """What records hold in the epoch in question, what that costs, and its outlines (cost_bounds.write_outline).

    Rows are those of NeighbouringEpochs, counted from ``offset``.
    """

    pools: Pools
    cost: Floats
    outline: Floats


class WitnessChoice(NamedTuple):
    """The cheapest candidate of each victim (int32, -1 for none); its price (float64) for what its needs are worth."""

    witness: Int32s
    price: Floats


@jit_inline
def holds(nearby: NeighbouringEpochs, record: int, user: int) -> bool:
    """Whether a record, by its row, holds a user, by its row: all samples lie in boxes, and every box holds one."""
    return bool(row_consistent(nearby, record, nearby.raw.slot, nearby.raw.ptr, user))


@jit_inline
def all_met(nearby: NeighbouringEpochs, one: int, other: int) -> bool:
    """Whether every box of one record, by its row, meets a box of another."""
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
    """Whether two records meet box for box in an epoch; two that are both absent do."""
    row, second = nearby.row[one, column], nearby.row[other, column]
    if row < 0 or second < 0:
        return bool(row < 0 and second < 0)
    return all_met(nearby, row, second) and all_met(nearby, second, row)


@jit_inline
def held_since(nearby: NeighbouringEpochs, victim: int, record: int, first: int) -> int:
    """The first column, ``first`` or later, from which on a record holds the victim in all epochs before this one.

    A record that is absent holds a victim who is absent.
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
    """The first column, ``first`` or later, from which on a record meets a cover in all epochs before ``end``."""
    column = end
    while column > first and meet(nearby, column - 1, cover, record):
        column -= 1
    return column


@jit_inline
def met_until(nearby: NeighbouringEpochs, cover: int, record: int, begin: int, last: int) -> int:
    """The last column, ``last`` or earlier, before which a record meets a cover in all epochs from ``begin`` on."""
    column = begin
    while column < last and meet(nearby, column, cover, record):
        column += 1
    return column


@jit_inline
def needs_served(
    nearby: NeighbouringEpochs, windows: CoveredWindows, victim: int, record: int, n_covers: int
) -> int:
    """The needs for which a record would be a witness if it held the victim here, a bit each.

    All windows hold the epoch in question, so the epochs that two of them share are a run, and so are the other epochs
    of either. Later epochs are not published: there, holding the victim is not asked for.
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
def record_to_ask(windows: CoveredWindows, victim: int, cover: int, beside: int, number: int) -> int:
    """The number-th record to ask about a cover and a window beside, -1 where there is none.

    First the records that hold the cover's user in the window beside, then those that the cover holds, then those that
    hold the victim; after them the users near the cover's, in turn from either side.
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
    """List the candidates of every victim: records are asked need by need.

    A need is done with when it has k - 1 witnesses among the records that hold the victim here already. At most
    ``most`` candidates are listed for a victim. near: how many users near a cover are asked for each of its needs.
    """
    wanted, n_windows = windows.cover.shape[2], len(windows.begin)
    mark = np.full(len(nearby.row), -1, np.int32)
    n_witnesses = np.empty(n_windows * (n_windows - 1) * n_covers, np.int32)
    n, candidates.ptr[0] = 0, 0
    for i in range(len(candidates.victim)):
        victim, first, need = candidates.victim[i], n, 0
        own = nearby.row[victim, nearby.here]
        mark[victim] = victim
        n_witnesses[:] = 0
        for window in range(n_windows):
            for cover in windows.cover[window, victim, :n_covers]:
                for beside in range(n_windows):
                    if beside == window:
                        continue
                    for number in range(3 * wanted + near):
                        if n_witnesses[need] >= wanted or n == first + most:
                            break
                        record = record_to_ask(windows, victim, cover, beside, number)
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
                            for other in range(len(n_witnesses)):
                                n_witnesses[other] += (needs >> other) & 1
                    need += 1
        candidates.ptr[i + 1] = n


@jit_inline
def list_not_holding(
    nearby: NeighbouringEpochs,
    candidates: WitnessCandidates,
    line: int,
    n_witnesses: Int32s,
    not_holding: Int64s,
) -> int:
    """List the candidates that do not hold the victim yet; return how many. n_witnesses: those that do, by need."""
    own, n = nearby.row[candidates.victim[line], nearby.here], 0
    n_witnesses[:] = 0
    for candidate in range(candidates.ptr[line], candidates.ptr[line + 1]):
        if not holds(nearby, nearby.row[candidates.record[candidate], nearby.here], own):
            not_holding[n] = candidate
            n += 1
            continue
        for need in range(len(n_witnesses)):
            n_witnesses[need] += (candidates.needs[candidate] >> need) & 1
    return n


@jit_inline
def worth_serving(needs: int, n_witnesses: Int32s, wanted: int, worth: Floats) -> float:
    """What some needs, given as bits, are worth together, as far as they have fewer witnesses than wanted."""
    total = 0.0
    for need in range(len(n_witnesses)):
        if (needs >> need) & 1 and n_witnesses[need] < wanted:
            total += worth[need]
    return total


@jit
def seek_witnesses(
    nearby: NeighbouringEpochs,
    candidates: WitnessCandidates,
    state: RecordState,
    rule: ReuseRule,
    weight: float,
    most: float,
    wanted: int,
    worth: Floats,
    lines: Int64s,
    begin: int,
    end: int,
    choice: WitnessChoice,
) -> None:
    """For victims lines[begin .. end - 1], find the candidate whose price is least for what its needs are worth.

    The price is what the record's boxes would cost more if it held the victim here, over the worth of the needs that it
    serves; at most ``most``. worth (float64): of every victim's needs, a line each.
    rule: whom a record may not hold. wanted: how many witnesses a need should have.
    """
    pools = state.pools
    room_for_slots = longest_row(pools) + longest_row(nearby.raw) + 1
    union = room_for_pools(1, room_for_slots)
    place_a, place_b = np.empty(room_for_slots, np.int32), np.empty(room_for_slots, np.int32)
    cost, previous = np.empty(room_for_slots), np.empty(room_for_slots, np.int32)
    most_candidates = 0
    for q in range(len(candidates.ptr) - 1):
        most_candidates = max(most_candidates, candidates.ptr[q + 1] - candidates.ptr[q])
    not_holding, n_witnesses = np.empty(most_candidates, np.int64), np.empty(worth.shape[1], np.int32)
    for i in range(begin, end):
        line = lines[i]
        victim = candidates.victim[line]
        own = nearby.row[victim, nearby.here]
        n_not_holding = list_not_holding(nearby, candidates, line, n_witnesses, not_holding)
        best, price = -1, most
        for candidate in not_holding[:n_not_holding]:
            served = worth_serving(candidates.needs[candidate], n_witnesses, wanted, worth[line])
            if served <= 0:
                continue
            record = candidates.record[candidate]
            here = nearby.row[record, nearby.here] - nearby.offset
            together = one_box_cost(state.outline[here], nearby.raw, own, weight)
            if together < 0:
                size = write_union(pools, here, nearby.raw, own, union, 0, place_a, place_b)
                limit = np.nextafter(state.cost[here] + price * served, np.inf)
                together = best_cuts(union, 0, size, weight, limit, cost, previous)
            each = (together - state.cost[here]) / served
            cheaper = each < price or (best < 0 and each <= price)
            if cheaper and may_serve(rule, record, victim):
                best, price = record, each
        choice.witness[i], choice.price[i] = best, price


@jit
def recompute(
    state: RecordState, weight: float, rows: Int64s, begin: int, end: int, nearby: NeighbouringEpochs
) -> None:
    """Compute boxes, cost and outlines of rows rows[begin .. end - 1] after their pools have changed.

    The boxes fit where the old ones were: a record has no more boxes than its user has slots, whoever joins.
    """
    pools = state.pools
    room = longest_row(pools) + 1
    cost, previous = np.empty(room), np.empty(room, np.int32)
    for i in range(begin, end):
        row, shown = rows[i], rows[i] + nearby.offset
        first, n = pools.ptr[row], pools.ptr[row + 1] - pools.ptr[row]
        state.cost[row] = best_cuts(pools, first, n, weight, np.inf, cost, previous)
        nearby.n_boxes[shown] = write_boxes(pools, first, n, previous, nearby.box, nearby.first[shown])
        write_outline(pools, row, state.outline[row])


@jit_no_arrays
def cheapest_candidates(choice: WitnessChoice, order: Int64s, taken: Int32s, chosen: Int64s) -> int:
    """Choose, for every record that victims want, the first victim in the given order; return how many are chosen.

    chosen (int64): numbers into ``choice``. taken (int32): -1 for every user when called.
    """
    n = 0
    for i in order:
        if taken[choice.witness[i]] < 0:
            taken[choice.witness[i]] = 1
            chosen[n] = i
            n += 1
    return n
