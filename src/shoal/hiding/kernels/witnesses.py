"""Who becomes a witness: the record that serves a victim's needs at the least price (hiding.hardening)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Floats, Int32s, Int64s
from shoal.core.compiled import inner, kernel, lean
from shoal.hiding.kernels.cost_bounds import one_box_cost, write_outline
from shoal.hiding.kernels.merge import best_cuts, write_boxes
from shoal.hiding.kernels.pools import Pools, longest_row, room_for_union, write_union
from shoal.hiding.kernels.search import Barred
from shoal.hiding.kernels.vouching import Nearby, Offers, shows_all


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


@inner
def has_served(barred: Barred, owner: int, member: int) -> bool:
    """Whether a record may not hold somebody (again)."""
    past = barred.past
    for entry in range(past.first[owner], past.first[owner] + past.length[owner]):
        if past.member[entry] == member and past.when[entry] >= barred.since:
            return True
    return False


@inner
def list_open(nearby: Nearby, offers: Offers, line: int, vouching: Int32s, opened: Int64s) -> int:
    """List the offers of records that do not hold a victim yet; how many there are. vouching: how many do, by need."""
    own, n = nearby.row[offers.victim[line], nearby.here], 0
    vouching[:] = 0
    for offer in range(offers.ptr[line], offers.ptr[line + 1]):
        if not shows_all(nearby, nearby.row[offers.record[offer], nearby.here], own):
            opened[n] = offer
            n += 1
            continue
        for need in range(len(vouching)):
            vouching[need] += (offers.needs[offer] >> need) & 1
    return n


@inner
def count_unserved(needs: int, vouching: Int32s, wanted: int) -> int:
    """For how many of some needs too few records vouch."""
    n = 0
    for need in range(len(vouching)):
        n += (needs >> need) & 1 and vouching[need] < wanted
    return n


@kernel
def seek_witnesses(
    nearby: Nearby,
    offers: Offers,
    held: Held,
    barred: Barred,
    weight: float,
    most: float,
    n_needs: int,
    wanted: int,
    lines: Int64s,
    begin: int,
    end: int,
    sought: Sought,
) -> None:
    """For victims lines[begin .. end - 1], find the record that would serve their needs at the least price for each.

    To hold the victim as well may cost a record up to ``most`` more for each need; barred: whom it may not hold.
    wanted: how many records must vouch for a need.
    """
    pools = held.pools
    room_for_slots = longest_row(pools) + longest_row(nearby.raw) + 1
    union = room_for_union(room_for_slots)
    place_a, place_b = np.empty(room_for_slots, np.int32), np.empty(room_for_slots, np.int32)
    cost, previous = np.empty(room_for_slots), np.empty(room_for_slots, np.int32)
    opened, vouching = np.empty(np.diff(offers.ptr).max(), np.int64), np.empty(n_needs, np.int32)
    for i in range(begin, end):
        line = lines[i]
        victim = offers.victim[line]
        own = nearby.row[victim, nearby.here]
        n_open = list_open(nearby, offers, line, vouching, opened)
        best, price = -1, most
        for offer in opened[:n_open]:
            served = count_unserved(offers.needs[offer], vouching, wanted)
            if not served:
                continue
            record = offers.record[offer]
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
