"""Who vouches for a record that covers somebody, against an attacker who links windows (hiding.hardening)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiled import inner, kernel, lean
from shoal.kernels.merge import best_cuts
from shoal.kernels.pools import Pools, longest_row, room_for_union, write_union
from shoal.kernels.search import Barred
from shoal.samples import Floats, Int32s, Int64s


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


class Needs(NamedTuple):
    """What wants witnesses: that record ``cover`` holds ``victim`` in window ``window``, in window ``beside``."""

    victim: Int32s
    cover: Int32s
    window: Int32s
    beside: Int32s


class Sought(NamedTuple):
    """What was found for each need: witnesses that there are, and the cheapest record that could be one (or -1)."""

    n: Int32s
    witness: Int32s
    price: Floats


@inner
def shows_all(nearby: Nearby, record: int, user: int) -> bool:
    """Whether the boxes of a row hold all samples of another row, and each of them one."""
    box, raw = nearby.box, nearby.raw
    b, end, held = nearby.first[record], nearby.first[record] + nearby.n_boxes[record], True
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
def could_vouch(nearby: Nearby, windows: Windows, needs: Needs, i: int, witness: int) -> bool:
    """Whether a record that held the victim here would vouch for a cover.

    It must meet the cover in all epochs of the window beside that are not in the window itself, and hold the victim in
    those of both.
    """
    victim, cover, window, beside = needs.victim[i], needs.cover[i], needs.window[i], needs.beside[i]
    if witness in (victim, cover) or nearby.row[witness, nearby.here] < 0:
        return False
    begin, end = windows.begin[beside], windows.end[beside]
    for column in range(begin, end):
        inside = windows.begin[window] <= column < windows.end[window]
        if not inside and not meet(nearby, column, cover, witness):
            return False
        if inside and column < nearby.here:
            own, row = nearby.row[victim, column], nearby.row[witness, column]
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
def option(windows: Windows, needs: Needs, i: int, number: int) -> int:
    """The number-th record that may be a witness, -1 where there is none.

    First those that hold the cover in the window beside, those that it holds there, and those that hold the victim:
    then the ones near the cover.
    """
    beside, width = needs.beside[i], windows.cover.shape[2]
    kind, column = divmod(number, width)
    if kind == 0:
        return int(windows.cover[beside, needs.cover[i], column])
    if kind == 1:
        return int(windows.member[beside, needs.cover[i], column])
    if kind == 2:
        return int(windows.cover[beside, needs.victim[i], column])
    step, upwards = divmod(number - 3 * width, 2)
    place = windows.place[beside, needs.cover[i]]
    place = place + step + 1 if upwards else place - step - 1
    return int(windows.user[beside, place]) if 0 <= place < windows.user.shape[1] else -1


@kernel
def seek_witnesses(
    nearby: Nearby,
    windows: Windows,
    pools: Pools,
    base: Floats,
    barred: Barred,
    weight: float,
    most: float,
    near: int,
    needs: Needs,
    begin: int,
    end: int,
    sought: Sought,
) -> None:
    """For needs begin .. end - 1, count witnesses up to as many as are wanted, else find the cheapest to be made one.

    pools: what records hold here (rows as in Nearby, from ``offset`` on), base: what that costs; to hold the victim as
    well may cost a record up to ``most`` more; barred: whom it may not hold; near: how many near records are asked.
    """
    room = longest_row(pools) + longest_row(nearby.raw) + 1
    union, place_a, place_b = room_for_union(room), np.empty(room, np.int32), np.empty(room, np.int32)
    cost, previous = np.empty(room), np.empty(room, np.int32)
    wanted = windows.cover.shape[2]
    known = np.empty(wanted, np.int64)
    for i in range(begin, end):
        own = nearby.row[needs.victim[i], nearby.here]
        n, best, price = 0, -1, most
        for number in range(3 * wanted + near):
            witness = option(windows, needs, i, number)
            if witness < 0 or (known[:n] == witness).any() or witness == best:
                continue
            if not could_vouch(nearby, windows, needs, i, witness):
                continue
            row = nearby.row[witness, nearby.here]
            if shows_all(nearby, row, own):
                known[n] = witness
                n += 1
                if n == wanted:
                    break
                continue
            here = row - nearby.offset
            size = write_union(pools, here, nearby.raw, own, union, 0, place_a, place_b)
            limit = base[here] + price
            more = best_cuts(union, 0, size, weight, np.nextafter(limit, np.inf), cost, previous) - base[here]
            cheaper = more < price or (best < 0 and more <= price)
            if cheaper and not has_served(barred, witness, needs.victim[i]):
                best, price = witness, more
        sought.n[i], sought.witness[i], sought.price[i] = n, best, price


@lean
def cheapest_offers(sought: Sought, order: Int64s, taken: Int32s, chosen: Int64s) -> int:
    """chosen: the first need, in an order, of every record that is wanted as a witness; returns how many there are.

    taken: -1 for every user, and again when done.
    """
    n = 0
    for i in order:
        if taken[sought.witness[i]] < 0:
            taken[sought.witness[i]] = 1
            chosen[n] = i
            n += 1
    for i in chosen[:n]:
        taken[sought.witness[i]] = -1
    return n
