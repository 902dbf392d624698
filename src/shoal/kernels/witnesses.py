"""Who vouches for a record that covers somebody, against an attacker who links windows (hiding.hardening)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiled import inner, kernel, lean
from shoal.kernels.merge import best_cuts, write_boxes
from shoal.kernels.pools import Pools, longest_row, room_for_union, write_union
from shoal.kernels.search import Barred
from shoal.kernels.tree import one_box_cost, write_outline
from shoal.samples import Bytes, Floats, Int32s, Int64s


class Nearby(NamedTuple):
    """Epochs around one that is about to be published, which is column ``here``; those before it are published.

    row[u, column]: row of user u in that epoch, -1 when absent; those of ``here`` begin at ``offset``. raw: users' own
    samples. Boxes of a record (int32, 6 columns: t0, t1, x0, x1, y0, y1; times count from the beginning of the epoch)
    are n_boxes[row] from first[row] on.
    """

    row: Int64s
    here: int
    offset: int
    raw: Pools
    first: Int64s
    n_boxes: Int64s
    box: Int32s


class Windows(NamedTuple):
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


class Held(NamedTuple):
    """What records hold in the epoch in question (rows as in Nearby, from ``offset`` on): what that costs, and outlines
    of it (kernels.tree)."""

    pools: Pools
    cost: Floats
    outline: Floats


class Sought(NamedTuple):
    """The record that each victim wants most as a witness, or -1, and what it would cost for each need it serves."""

    witness: Int32s
    price: Floats


class Room(NamedTuple):
    """Room for one victim: who was asked already; its needs, each a cover in a window for which records must vouch in
    a window beside it, and how many do; the records that could be asked, and for which needs they would vouch."""

    mark: Int32s
    cover: Int32s
    window: Int32s
    beside: Int32s
    n: Int32s
    record: Int32s
    vouches: Bytes


@inner
def shows_all(nearby: Nearby, record: int, user: int) -> bool:
    """Whether the boxes of a row hold all samples of another row, and each of them one."""
    box, raw = nearby.box, nearby.raw
    b, end, held = nearby.first[record], nearby.first[record] + nearby.n_boxes[record], False
    for q in range(raw.ptr[user], raw.ptr[user + 1]):
        slot = raw.slot[q]
        while b < end and box[b, 1] < slot.t:
            if not held:
                return False
            b, held = b + 1, False
        if b == end or box[b, 0] > slot.t:
            return False
        if slot.x0 < box[b, 2] or slot.x1 > box[b, 3] or slot.y0 < box[b, 4] or slot.y1 > box[b, 5]:
            return False
        held = True
    return bool(held and b == end - 1)


@inner
def all_met(nearby: Nearby, one: int, other: int) -> bool:
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


@inner
def meet(nearby: Nearby, column: int, one: int, other: int) -> bool:
    """Whether two records meet box for box in an epoch; if both are absent, they do."""
    row, second = nearby.row[one, column], nearby.row[other, column]
    if row < 0 or second < 0:
        return bool(row < 0 and second < 0)
    return all_met(nearby, row, second) and all_met(nearby, second, row)


@inner
def would_vouch(
    nearby: Nearby, windows: Windows, victim: int, cover: int, window: int, beside: int, record: int
) -> bool:
    """Whether a record, if it held the victim here, would vouch for a cover in the window beside.

    It must meet the cover in all epochs of that window that are not in the cover's own, and hold the victim in those
    of both.
    """
    if record == cover:
        return False
    for column in range(windows.begin[beside], windows.end[beside]):
        inside = windows.begin[window] <= column < windows.end[window]
        if not inside and not meet(nearby, column, cover, record):
            return False
        if inside and column < nearby.here:
            own, row = nearby.row[victim, column], nearby.row[record, column]
            if (own < 0) != (row < 0) or (own >= 0 and not shows_all(nearby, row, own)):
                return False
    return True


@inner
def has_served(barred: Barred, owner: int, member: int) -> bool:
    """Whether a record may not hold somebody (again)."""
    past = barred.past
    for entry in range(past.first[owner], past.first[owner] + past.length[owner]):
        if past.member[entry] == member and past.when[entry] >= barred.since:
            return True
    return False


@inner
def list_needs(windows: Windows, victim: int, n_covers: int, room: Room) -> int:
    """So many covers of a victim in each window, for each of the windows beside it; how many there are."""
    n, n_windows = 0, len(windows.begin)
    for window in range(n_windows):
        for beside in range(n_windows):
            if window == beside:
                continue
            for cover in windows.cover[window, victim, :n_covers]:
                room.cover[n], room.window[n], room.beside[n], room.n[n] = cover, window, beside, 0
                n += 1
    return n


@inner
def option(windows: Windows, victim: int, cover: int, beside: int, number: int) -> int:
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


@inner
def ask(nearby: Nearby, windows: Windows, victim: int, n_needs: int, near: int, room: Room) -> int:
    """Note which records could vouch for what, and count those that do; how many could if they held the victim."""
    n, own, wanted = 0, nearby.row[victim, nearby.here], windows.cover.shape[2]
    room.mark[victim] = victim
    for need in range(n_needs):
        for number in range(3 * wanted + near):
            if room.n[need] >= wanted:
                break
            record = option(windows, victim, room.cover[need], room.beside[need], number)
            if record < 0 or room.mark[record] == victim:
                continue
            room.mark[record] = victim
            row = nearby.row[record, nearby.here]
            if row < 0:
                continue
            any_need = False
            for other in range(n_needs):
                cover, window, beside = room.cover[other], room.window[other], room.beside[other]
                vouches = would_vouch(nearby, windows, victim, cover, window, beside, record)
                room.vouches[n, other] = vouches
                any_need |= vouches
            if any_need and shows_all(nearby, row, own):
                for other in range(n_needs):
                    room.n[other] += room.vouches[n, other]
            elif any_need:
                room.record[n] = record
                n += 1
    return n


@kernel
def seek_witnesses(
    nearby: Nearby,
    windows: Windows,
    held: Held,
    barred: Barred,
    weight: float,
    most: float,
    n_covers: int,
    near: int,
    victims: Int32s,
    begin: int,
    end: int,
    sought: Sought,
) -> None:
    """For victims begin .. end - 1, find the record that would serve their needs at the least price for each.

    To hold the victim as well may cost a record up to ``most`` more for each need; barred: whom it may not hold.
    n_covers: for how many covers in a window witnesses are sought, near: how many near records are asked for each.
    """
    pools = held.pools
    room_for_slots = longest_row(pools) + longest_row(nearby.raw) + 1
    union = room_for_union(room_for_slots)
    place_a, place_b = np.empty(room_for_slots, np.int32), np.empty(room_for_slots, np.int32)
    cost, previous = np.empty(room_for_slots), np.empty(room_for_slots, np.int32)
    wanted, n_windows = windows.cover.shape[2], len(windows.begin)
    most_needs = n_windows * (n_windows - 1) * n_covers
    most_records = most_needs * (3 * wanted + near)
    room = Room(
        np.full(len(nearby.row), -1, np.int32),
        np.empty(most_needs, np.int32),
        np.empty(most_needs, np.int32),
        np.empty(most_needs, np.int32),
        np.empty(most_needs, np.int32),
        np.empty(most_records, np.int32),
        np.empty((most_records, most_needs), np.uint8),
    )
    for i in range(begin, end):
        victim = victims[i]
        own = nearby.row[victim, nearby.here]
        n_needs = list_needs(windows, victim, n_covers, room)
        best, price = -1, most
        for candidate in range(ask(nearby, windows, victim, n_needs, near, room)):
            served = 0
            for need in range(n_needs):
                served += room.vouches[candidate, need] and room.n[need] < wanted
            if not served:
                continue
            record = room.record[candidate]
            here = nearby.row[record, nearby.here] - nearby.offset
            together = one_box_cost(held.outline[here], nearby.raw, own, weight)
            if together < 0:
                size = write_union(pools, here, nearby.raw, own, union, 0, place_a, place_b)
                limit = np.nextafter(held.cost[here] + price * served, np.inf)
                together = best_cuts(union, 0, size, weight, limit, cost, previous)
            each = (together - held.cost[here]) / served
            cheaper = each < price or (best < 0 and each <= price)
            if cheaper and not has_served(barred, record, victim):
                best, price = record, each
        sought.witness[i], sought.price[i] = best, price


@kernel
def renew(held: Held, weight: float, rows: Int64s, begin: int, end: int, nearby: Nearby) -> None:
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


@lean
def cheapest_offers(sought: Sought, order: Int64s, taken: Int32s, chosen: Int64s) -> int:
    """chosen: the first victim, in an order, of every record that is wanted as a witness; how many there are.

    taken: -1 for every user.
    """
    n = 0
    for i in order:
        if taken[sought.witness[i]] < 0:
            taken[sought.witness[i]] = 1
            chosen[n] = i
            n += 1
    return n
