"""An attack by somebody who links windows: how many records does it leave, and whom would a witness help?

The attacker saw a victim throughout an interval, and rules out every record that could not have been hidden: in each
window that overlaps the interval, k - 1 other records must cover it, different ones in different windows. A record
covers another in a window if it fits what was seen there and meets it, box for box, where nothing was seen.
hiding.linking draws the attacks. The audit has an attack of its own, since it must not share code with what it audits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Bools, Floats, Int32s, Int64s
from shoal.core.compiled import jit, jit_inline, jit_inline_allocating
from shoal.hiding.kernels.consistency import consistent_between
from shoal.hiding.kernels.witnesses import (
    CoveredWindows,
    NeighbouringEpochs,
    WitnessCandidates,
    list_not_holding,
)


class LinkingAttacks(NamedTuple):
    """Whom attackers saw (int32), from which slot on (int64, from the first of column 0); and what is the same for all.

    tau, epsilon: slots. k: how many records hide. near: how many users on either side of somebody are looked at in each
    window.
    """

    victim: Int32s
    begin: Int64s
    tau: int
    epsilon: int
    k: int
    near: int


class Sight(NamedTuple):
    """What one attacker saw, slots begin .. end - 1 of column 0's time, of a victim, and the columns first .. last - 1
    in which that lies."""

    victim: int
    begin: int
    end: int
    first: int
    last: int


class Scratch(NamedTuple):
    """Records that could cover in each window: record[w, :n[w]]. server: which of them serves each place, with what the
    search for a chain of exchanges needs. seen: who was looked at last in a search, by its number."""

    n: Int64s
    record: Int32s
    server: Int32s
    came_from: Int64s
    waiting: Int64s
    seen: Int64s


@jit_inline
def fits_in(epochs: NeighbouringEpochs, epsilon: int, column: int, record: int, sight: Sight) -> bool:
    """Whether a record fits what was seen in one epoch."""
    since, until = sight.begin - column * epsilon, sight.end - column * epsilon
    row, own = epochs.row[record, column], epochs.row[sight.victim, column]
    begin, end, first, last = 0, 0, 0, 0
    if row >= 0:
        begin, end = epochs.first[row], epochs.first[row] + epochs.n_boxes[row]
    if own >= 0:
        first, last = epochs.raw.ptr[own], epochs.raw.ptr[own + 1]
    return bool(consistent_between(epochs.box, begin, end, epochs.raw.slot, first, last, since, until))


@jit_inline
def fits_between(
    epochs: NeighbouringEpochs, epsilon: int, record: int, sight: Sight, first: int, last: int
) -> bool:
    """Whether a record fits what was seen in columns first .. last - 1."""
    for column in range(max(first, sight.first), min(last, sight.last)):
        if not fits_in(epochs, epsilon, column, record, sight):
            return False
    return True


@jit_inline
def may_be_in_both(
    epochs: NeighbouringEpochs, epsilon: int, column: int, one: int, other: int, sight: Sight
) -> bool:
    """Whether two boxes, by their lines, have a time and place in common at which the victim may have been."""
    a, b = epochs.box[one], epochs.box[other]
    t0, t1 = max(a[0], b[0]), min(a[1], b[1])
    x0, x1 = max(a[2], b[2]), min(a[3], b[3])
    y0, y1 = max(a[4], b[4]), min(a[5], b[5])
    if t0 > t1 or x0 > x1 or y0 > y1:
        return False
    shift = column * epsilon
    if t0 + shift < sight.begin or t1 + shift >= sight.end:
        return True
    own = epochs.row[sight.victim, column]
    if own < 0:
        return False
    for q in range(epochs.raw.ptr[own], epochs.raw.ptr[own + 1]):
        slot = epochs.raw.slot[q]
        if t0 <= slot.t <= t1 and slot.x0 <= x1 and x0 <= slot.x1 and slot.y0 <= y1 and y0 <= slot.y1:
            return True
    return False


@jit_inline
def met_in(
    epochs: NeighbouringEpochs, epsilon: int, column: int, record: int, other: int, sight: Sight
) -> bool:
    """Whether every box of a record in an epoch, but those wholly inside the interval, meets a box of another."""
    row, second = epochs.row[record, column], epochs.row[other, column]
    if row < 0:
        return True
    shift = column * epsilon
    for line in range(epochs.first[row], epochs.first[row] + epochs.n_boxes[row]):
        if epochs.box[line, 0] + shift >= sight.begin and epochs.box[line, 1] + shift < sight.end:
            continue
        met = False
        if second >= 0:
            for against in range(epochs.first[second], epochs.first[second] + epochs.n_boxes[second]):
                if may_be_in_both(epochs, epsilon, column, line, against, sight):
                    met = True
                    break
        if not met:
            return False
    return True


@jit
def could_cover(
    epochs: NeighbouringEpochs, epsilon: int, first: int, last: int, record: int, other: int, sight: Sight
) -> bool:
    """Whether another record could cover a record in the window of columns first .. last - 1."""
    if record == other or not fits_between(epochs, epsilon, other, sight, first, last):
        return False
    for place in range(2 * (last - first)):  # in turn from either side
        one, two = (record, other) if place % 2 else (other, record)
        if not met_in(epochs, epsilon, first + place // 2, one, two, sight):
            return False
    return True


@jit_inline
def record_nearby(windows: CoveredWindows, window: int, user: int, number: int) -> int:
    """The number-th record to look at around a user in a window, -1 where there is none: first those that cover the
    user and those that the user's covers, then the users near it, in turn from either side."""
    width = windows.cover.shape[2]
    if number < width:
        return int(windows.cover[window, user, number])
    if number < 2 * width:
        return int(windows.member[window, user, number - width])
    place = windows.place[window, user]
    step, upwards = divmod(number - 2 * width, 2)
    place = place + step + 1 if upwards else place - step - 1
    if windows.place[window, user] < 0 or place < 0 or place >= windows.user.shape[1]:
        return -1
    return int(windows.user[window, place])


@jit_inline
def is_absent(epochs: NeighbouringEpochs, first: int, last: int, record: int) -> bool:
    """Whether a record has no box in columns first .. last - 1."""
    column = first
    while column < last and epochs.row[record, column] < 0:
        column += 1
    return bool(column == last)


@jit_inline
def find_covers(
    epochs: NeighbouringEpochs,
    windows: CoveredWindows,
    attacks: LinkingAttacks,
    window: int,
    record: int,
    sight: Sight,
    scratch: Scratch,
    w: int,
) -> None:
    """List other records that could cover a record in a window: of the victim, and of those near the two."""
    first, last = windows.begin[window], windows.end[window]
    room = scratch.record.shape[1]
    scratch.n[w] = 0
    scratch.seen[0] += 1
    around = 2 * windows.cover.shape[2] + 2 * attacks.near
    for number in range(2 * around + 1):
        if number == 0:
            other = sight.victim
        elif number % 2:
            other = record_nearby(windows, window, record, number // 2)
        else:
            other = record_nearby(windows, window, sight.victim, number // 2 - 1)
        if other < 0 or scratch.seen[1 + other] == scratch.seen[0]:
            continue
        scratch.seen[1 + other] = scratch.seen[0]
        if could_cover(epochs, attacks.epsilon, first, last, record, other, sight):
            scratch.record[w, scratch.n[w]] = other
            scratch.n[w] += 1
            if scratch.n[w] == room:
                return


@jit_inline
def place_served(scratch: Scratch, n_places: int, record: int) -> int:
    """The place that a record serves; -1 for none."""
    for place in range(n_places):
        if scratch.server[place] == record:
            return place
    return -1


@jit_inline
def serve_place(scratch: Scratch, wanted: int, n_places: int, place: int) -> bool:
    """Find a record for a place, by a chain of exchanges if need be; say whether there is one."""
    scratch.came_from[:n_places] = -2
    scratch.came_from[place], scratch.waiting[0] = -1, place
    at, n_waiting = 0, 1
    while at < n_waiting:
        here = scratch.waiting[at]
        at += 1
        for entry in range(scratch.n[here // wanted]):
            record = scratch.record[here // wanted, entry]
            elsewhere = place_served(scratch, n_places, record)
            if elsewhere < 0:
                while here >= 0:
                    record, scratch.server[here] = scratch.server[here], record
                    here = scratch.came_from[here]
                return True
            if scratch.came_from[elsewhere] == -2:
                scratch.came_from[elsewhere] = here
                scratch.waiting[n_waiting] = elsewhere
                n_waiting += 1
    return False


@jit
def could_be_hidden(
    epochs: NeighbouringEpochs,
    windows: CoveredWindows,
    attacks: LinkingAttacks,
    record: int,
    sight: Sight,
    scratch: Scratch,
    unless: int,
) -> bool:
    """Whether k - 1 others could cover a record in every window that overlaps the interval, each in one of them; but
    for window ``unless``."""
    wanted, n = attacks.k - 1, 0
    for window in range(len(windows.begin)):
        if (
            window == unless
            or windows.begin[window] >= sight.last
            or windows.end[window] <= sight.first
            or is_absent(epochs, windows.begin[window], windows.end[window], record)
        ):
            continue
        find_covers(epochs, windows, attacks, window, record, sight, scratch, n)
        if scratch.n[n] < wanted:
            return False
        n += 1
    n_places = n * wanted
    scratch.server[:n_places] = -1
    place = 0
    while place < n_places and serve_place(scratch, wanted, n_places, place):
        place += 1
    return bool(place == n_places)


@jit
def find_failing(
    epochs: NeighbouringEpochs,
    windows: CoveredWindows,
    attacks: LinkingAttacks,
    record: int,
    sight: Sight,
    scratch: Scratch,
    fails: Bools,
) -> int:
    """In which windows fewer than k - 1 others could cover a record; return how many these are."""
    n = 0
    for window in range(len(windows.begin)):
        fails[window] = False
        if (
            windows.begin[window] >= sight.last
            or windows.end[window] <= sight.first
            or is_absent(epochs, windows.begin[window], windows.end[window], record)
        ):
            continue
        find_covers(epochs, windows, attacks, window, record, sight, scratch, 0)
        fails[window] = scratch.n[0] < attacks.k - 1
        n += fails[window]
    return n


@jit_inline_allocating
def room_for_search(n_users: int, n_windows: int, wanted: int) -> Scratch:
    """Room to search, with as many covers in each window as all windows need together."""
    places = n_windows * wanted
    return Scratch(
        np.zeros(n_windows, np.int64),
        np.empty((n_windows, places), np.int32),
        np.empty(places, np.int32),
        np.empty(places, np.int64),
        np.empty(places, np.int64),
        np.zeros(1 + n_users, np.int64),
    )


@jit_inline_allocating
def sight_of(epochs: NeighbouringEpochs, attacks: LinkingAttacks, victim: int, begin: int) -> Sight:
    """What an attacker saw of a victim from a slot on, as far as there are epochs."""
    end = begin + attacks.tau
    last = min((end - 1) // attacks.epsilon + 1, epochs.row.shape[1])
    return Sight(victim, begin, end, max(0, begin // attacks.epsilon), last)


@jit
def left_by(
    epochs: NeighbouringEpochs,
    windows: CoveredWindows,
    attacks: LinkingAttacks,
    sight: Sight,
    scratch: Scratch,
    asked: Int64s,
    turn: int,
) -> int:
    """How many records one attack leaves, counted up to k. asked: in which turn each record was asked about last."""
    wanted, left = attacks.k - 1, 1
    asked[sight.victim] = turn
    for number in range(2 * wanted + 2 * attacks.near):
        for window in range(len(windows.begin)):
            if left > wanted or windows.begin[window] >= sight.last or windows.end[window] <= sight.first:
                continue
            record = record_nearby(windows, window, sight.victim, number)
            if record < 0 or asked[record] == turn:
                continue
            asked[record] = turn
            fits = fits_between(epochs, attacks.epsilon, record, sight, sight.first, sight.last)
            if fits and could_be_hidden(epochs, windows, attacks, record, sight, scratch, -1):
                left += 1
        if left > wanted:
            break
    return left


@jit
def count_left(
    epochs: NeighbouringEpochs,
    windows: CoveredWindows,
    attacks: LinkingAttacks,
    begin: int,
    end: int,
    left: Int32s,
) -> None:
    """left[i]: how many records attack i leaves, the victim's own among them; counted up to k.

    windows: all that overlap the interval, those that do not among them. Records are looked for among those that hide
    the victim and those near it, so that a few more may be left than are found.
    """
    scratch = room_for_search(len(epochs.row), len(windows.begin), attacks.k - 1)
    asked = np.full(len(epochs.row), -1, np.int64)
    for i in range(begin, end):
        sight = sight_of(epochs, attacks, attacks.victim[i], attacks.begin[i])
        left[i] = left_by(epochs, windows, attacks, sight, scratch, asked, i)


@jit_inline
def saw_something(epochs: NeighbouringEpochs, epsilon: int, sight: Sight) -> bool:
    """Whether the victim has a sample in the interval."""
    for column in range(sight.first, sight.last):
        own = epochs.row[sight.victim, column]
        if own < 0:
            continue
        for q in range(epochs.raw.ptr[own], epochs.raw.ptr[own + 1]):
            if sight.begin <= epochs.raw.slot[q].t + column * epsilon < sight.end:
                return True
    return False


@jit
def weigh_needs(
    epochs: NeighbouringEpochs,
    windows: CoveredWindows,
    attacks: LinkingAttacks,
    candidates: WitnessCandidates,
    first_window: int,
    n_covers: int,
    n_begins: int,
    begin: int,
    end: int,
    worth: Floats,
) -> None:
    """worth[i, need]: in which share of the attacks on victim i within a need's window serving the need would help.

    It helps where fewer than k records are left, and the cover would be left were it not for the window beside; if
    there are several such windows, each is worth its part. Needs
    are numbered as in kernels.witnesses, among windows ``first_window`` and later; those that have witnesses enough are
    worth nothing. Windows that are not decided yet rule out nobody. Attacks begin at n_begins times of the window's
    first epoch.
    """
    n_windows = len(windows.begin)
    scratch = room_for_search(len(epochs.row), n_windows, attacks.k - 1)
    asked, turn = np.full(len(epochs.row), -1, np.int64), 0
    n_each = n_covers * (n_windows - first_window - 1)
    n_witnesses = np.empty(worth.shape[1], np.int32)
    most = 0
    for i in range(len(candidates.ptr) - 1):
        most = max(most, candidates.ptr[i + 1] - candidates.ptr[i])
    not_holding, fails = np.empty(most, np.int64), np.empty(n_windows, np.bool_)
    for i in range(begin, end):
        victim, need = attacks.victim[i], 0
        worth[i] = 0.0
        list_not_holding(epochs, candidates, i, n_witnesses, not_holding)
        for window in range(first_window, n_windows):
            lacking = False
            for at in range(need, need + n_each):
                lacking |= n_witnesses[at] < attacks.k - 1
            if not lacking:
                need += n_each
                continue
            for number in range(n_begins):
                since = windows.begin[window] * attacks.epsilon
                since += (2 * number + 1) * attacks.epsilon // (2 * n_begins)
                sight = sight_of(epochs, attacks, victim, since)
                if not saw_something(epochs, attacks.epsilon, sight):
                    continue
                turn += 1
                if left_by(epochs, windows, attacks, sight, scratch, asked, turn) >= attacks.k:
                    continue
                at = need
                for cover in windows.cover[window, victim, :n_covers]:
                    n_failing = -1  # not known yet
                    fits = fits_between(epochs, attacks.epsilon, cover, sight, sight.first, sight.last)
                    for beside in range(first_window, n_windows):
                        if beside == window:
                            continue
                        if not fits or n_witnesses[at] >= attacks.k - 1:
                            at += 1
                            continue
                        if could_be_hidden(epochs, windows, attacks, cover, sight, scratch, beside):
                            worth[i, at] += 1 / n_begins
                        elif n_each > n_covers:  # more than one window beside
                            if n_failing < 0:
                                n_failing = find_failing(
                                    epochs, windows, attacks, cover, sight, scratch, fails
                                )
                            if fails[beside] and n_failing > 1 and not fails[:first_window].any():
                                worth[i, at] += 1 / (n_failing * n_begins)
                        at += 1
            need += n_each
