"""The chain attack: which records could be the victim's, given that whoever is hidden is covered in every window.

The true record must itself be covered in every window that overlaps what the attacker knows, by records that fit
there and meet it box for box where the attacker knows nothing (docs/audit.md).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.auditing.kernels.box_index import record_found, slot_over
from shoal.auditing.kernels.consistency import (
    BoxIndex,
    Trajectories,
    first_box_ending_after,
    first_sample_from,
    has_box_in,
    is_consistent,
)
from shoal.auditing.kernels.fits import Fits, Knowledge
from shoal.core.arrays import Bools, Int32s, Int64s, Integers
from shoal.core.compiled import jit, jit_inline, jit_inline_allocating
from shoal.core.reprs import sizes_only


class KnownMethod(NamedTuple):
    """What the attacker knows of how records are made: everybody is covered by k - 1 others in every window.

    Window m is slots low[m] .. high[m] - 1, in order of time. distinct: nobody is covered by the same record in two
    windows that overlap the same tau.
    """

    k: int
    distinct: bool
    low: Int64s
    high: Int64s


class BoxesByEnd(NamedTuple):
    """All boxes of all records sorted by their ends, with their extent in x; longest: slots of the longest box."""

    box: Integers
    x0: Int32s
    x1: Int32s
    longest: int

    def __repr__(self) -> str:
        return sizes_only(self)


class KnownView(NamedTuple):
    """What the attacker saw, samples first .. last - 1 in slots begin .. end - 1, and a window, slots low .. high - 1.

    Samples seen .. until - 1 are those in the window.
    """

    first: int
    last: int
    begin: int
    end: int
    low: int
    high: int
    seen: int
    until: int


@jit_inline_allocating
def seen_in(
    trajectories: Trajectories, first: int, last: int, begin: int, end: int, low: int, high: int
) -> KnownView:
    """What the attacker saw, beside the window of slots low .. high - 1."""
    seen = first_sample_from(trajectories, first, last, low)
    return KnownView(
        first, last, begin, end, low, high, seen, first_sample_from(trajectories, first, last, high)
    )


@jit_inline
def first_ending_after(index: BoxIndex, by_end: BoxesByEnd, t: int) -> int:
    """The first of all boxes that ends at slot t or later."""
    low, high = 0, len(by_end.box)
    while low < high:
        middle = (low + high) // 2
        if index.box[by_end.box[middle]]["t1"] < t:
            low = middle + 1
        else:
            high = middle
    return low


@jit_inline
def boxes_meet(trajectories: Trajectories, index: BoxIndex, box: int, other: int, view: KnownView) -> bool:
    """Whether two boxes have a place and time in common at which, to the attacker, the victim may have been."""
    one, two = index.box[box], index.box[other]
    t0, t1 = max(one["t0"], two["t0"]), min(one["t1"], two["t1"])
    x0, x1 = max(one["x0"], two["x0"]), min(one["x1"], two["x1"])
    y0, y1 = max(one["y0"], two["y0"]), min(one["y1"], two["y1"])
    if t0 > t1 or x0 > x1 or y0 > y1:
        return False
    if t0 < view.begin or t1 >= view.end:
        return True
    for sample in range(view.first, view.last):
        row = trajectories.sample[sample]
        if t0 <= row["t"] <= t1 and x0 <= row["x"] <= x1 and y0 <= row["y"] <= y1:
            return True
    return False


@jit_inline
def is_met(trajectories: Trajectories, index: BoxIndex, box: int, other: int, view: KnownView) -> bool:
    """Whether a box meets some box of another record."""
    candidate = first_box_ending_after(index, other, index.box[box]["t0"])
    while candidate < index.ptr[other + 1] and index.box[candidate]["since"] <= index.box[box]["t1"]:
        if boxes_meet(trajectories, index, box, candidate, view):
            return True
        candidate += 1
    return False


@jit
def is_met_throughout(
    trajectories: Trajectories, index: BoxIndex, record: int, other: int, view: KnownView
) -> bool:
    """Whether every box of a record in the window, except boxes wholly inside the interval, meets a box of another."""
    box = first_box_ending_after(index, record, view.low)
    while box < index.ptr[record + 1] and index.box[box]["since"] < view.high:
        known = view.begin <= index.box[box]["t0"] and index.box[box]["t1"] < view.end
        if (
            index.box[box]["t0"] < view.high
            and not known
            and not is_met(trajectories, index, box, other, view)
        ):
            return False
        box += 1
    return True


@jit_inline
def may_cover(trajectories: Trajectories, index: BoxIndex, record: int, other: int, view: KnownView) -> bool:
    """Whether another record may cover a record in a window."""
    begin, end = max(view.begin, view.low), min(view.end, view.high)
    return (
        record != other
        and is_consistent(trajectories, index, other, view.seen, view.until, begin, end, 0, False)
        and is_met_throughout(trajectories, index, record, other, view)
        and is_met_throughout(trajectories, index, other, record, view)
    )


class Covers(NamedTuple):
    """Which records may cover a candidate: in its w-th window, record[w, 0] .. record[w, n[w] - 1].

    There is room in each window for as many records as all windows need together: a window with that many has
    enough left, whichever records serve in the other windows. The other fields are for assigning each record to one
    place at most: server[p] is the record that serves place p, came_from and waiting are the search for a chain of
    exchanges.
    """

    n: Int64s
    record: Int64s
    server: Int64s
    came_from: Int64s
    waiting: Int64s


@jit_inline_allocating
def make_covers(n_windows: int, wanted: int, room: int) -> Covers:
    """Room for the covers of some windows, ``wanted`` of them needed in each and at most ``room`` found."""
    places = n_windows * wanted
    return Covers(
        np.zeros(n_windows, np.int64),
        np.empty((n_windows, room), np.int64),
        np.empty(places, np.int64),
        np.empty(places, np.int64),
        np.empty(places, np.int64),
    )


@jit_inline
def note_cover(covers: Covers, w: int, record: int) -> bool:
    """Note a record that may cover in the w-th window; say whether there is room for more."""
    covers.record[w, covers.n[w]] = record
    covers.n[w] += 1
    return bool(covers.n[w] < covers.record.shape[1])


@jit_inline
def is_noted(covers: Covers, w: int, record: int) -> bool:
    """Whether a record is among those that may cover in the w-th window."""
    entry = 0
    while entry < covers.n[w] and covers.record[w, entry] != record:
        entry += 1
    return bool(entry < covers.n[w])


@jit_inline
def narrowest_box(index: BoxIndex, record: int, view: KnownView) -> int:
    """The box with the smallest extent in x among a record's boxes in the window that are not wholly inside the
    interval; -1: there is none."""
    box = first_box_ending_after(index, record, view.low)
    best, fewest = -1, np.int64(2**62)
    while box < index.ptr[record + 1] and index.box[box]["since"] < view.high:
        columns = np.int64(index.box[box]["x1"]) - index.box[box]["x0"]
        known = view.begin <= index.box[box]["t0"] and index.box[box]["t1"] < view.end
        if index.box[box]["t0"] < view.high and not known and columns < fewest:
            best, fewest = box, columns
        box += 1
    return int(best)


@jit_inline
def find_covers_unseen(
    trajectories: Trajectories,
    index: BoxIndex,
    by_end: BoxesByEnd,
    record: int,
    view: KnownView,
    covers: Covers,
    w: int,
) -> None:
    """Find covers in a window where the attacker saw nothing: each cover meets every box that the record has there."""
    narrowest = narrowest_box(index, record, view)
    if narrowest < 0:
        for other in range(len(index.ptr) - 1):
            if may_cover(trajectories, index, record, other, view) and not note_cover(covers, w, other):
                return
        return
    one = index.box[narrowest]
    entry = first_ending_after(index, by_end, one["t0"])
    end = first_ending_after(index, by_end, one["t1"] + by_end.longest)
    while entry < end:
        if by_end.x0[entry] <= one["x1"] and one["x0"] <= by_end.x1[entry]:
            two = index.box[by_end.box[entry]]
            if (
                two["t0"] <= one["t1"]
                and two["y0"] <= one["y1"]
                and one["y0"] <= two["y1"]
                and not is_noted(covers, w, two["record"])
                and may_cover(trajectories, index, record, two["record"], view)
                and not note_cover(covers, w, two["record"])
            ):
                return
        entry += 1


@jit_inline
def find_covers(
    trajectories: Trajectories,
    index: BoxIndex,
    by_end: BoxesByEnd,
    record: int,
    view: KnownView,
    covers: Covers,
    w: int,
) -> None:
    """Find other records that may cover a record in a window where it has boxes, as many as there is room for."""
    covers.n[w] = 0
    if view.seen == view.until:
        find_covers_unseen(trajectories, index, by_end, record, view, covers, w)
        return
    t, x, y = (
        trajectories.sample[view.seen]["t"],
        trajectories.sample[view.seen]["x"],
        trajectories.sample[view.seen]["y"],
    )
    for probe in range(4 * len(index.levels)):
        slot = slot_over(index, probe, t, x, y)
        for entry in range(index.slot_ptr[slot], index.slot_ptr[slot + 1]):
            other = record_found(index, slot, entry, probe, t, x, y)
            if (
                other >= 0
                and may_cover(trajectories, index, record, other, view)
                and not note_cover(covers, w, other)
            ):
                return


@jit_inline
def served_at(covers: Covers, n_places: int, record: int) -> int:
    """The place that a record serves; -1 for none."""
    for place in range(n_places):
        if covers.server[place] == record:
            return place
    return -1


@jit_inline
def serve(covers: Covers, wanted: int, n_places: int, place: int) -> bool:
    """Find a record for a place, by a chain of exchanges with other places if need be; say whether there is one."""
    covers.came_from[:n_places] = -2
    covers.came_from[place], covers.waiting[0], n_waiting, at = -1, place, 1, 0
    while at < n_waiting:
        here = covers.waiting[at]
        at += 1
        for entry in range(covers.n[here // wanted]):
            record = covers.record[here // wanted, entry]
            elsewhere = served_at(covers, n_places, record)
            if elsewhere < 0:
                while here >= 0:
                    record, covers.server[here] = covers.server[here], record
                    here = covers.came_from[here]
                return True
            if covers.came_from[elsewhere] == -2:
                covers.came_from[elsewhere] = here
                covers.waiting[n_waiting] = elsewhere
                n_waiting += 1
    return False


@jit_inline
def can_be_distinct(covers: Covers, n_windows: int, wanted: int) -> bool:
    """Whether every window can have as many covers as it needs without any record covering twice."""
    n_places = n_windows * wanted
    covers.server[:n_places] = -1
    place = 0
    while place < n_places and serve(covers, wanted, n_places, place):
        place += 1
    return place == n_places


@jit_inline
def first_window(method: KnownMethod, begin: int) -> int:
    """The first window that reaches beyond slot begin - 1."""
    return int(np.searchsorted(method.high, begin, side="right"))


@jit_inline
def end_of_windows(method: KnownMethod, end: int) -> int:
    """One past the last window that begins before slot end."""
    return int(np.searchsorted(method.low, end, side="left"))


@jit_inline
def survives(
    trajectories: Trajectories,
    index: BoxIndex,
    by_end: BoxesByEnd,
    record: int,
    first: int,
    last: int,
    begin: int,
    end: int,
    method: KnownMethod,
    covers: Covers,
) -> bool:
    """Whether a record may be covered by k - 1 others in every window that overlaps slots begin .. end - 1.

    A record without boxes in a window is that of somebody absent, and needs no cover in it.
    """
    wanted, n = method.k - 1, 0
    for window in range(first_window(method, begin), end_of_windows(method, end)):
        low, high = method.low[window], method.high[window]
        if not has_box_in(index, record, low, high):
            continue
        view = seen_in(trajectories, first, last, begin, end, low, high)
        find_covers(trajectories, index, by_end, record, view, covers, n)
        if covers.n[n] < wanted:
            return False
        n += 1
    return not method.distinct or can_be_distinct(covers, n, wanted)


@jit
def find_survivors(
    trajectories: Trajectories,
    index: BoxIndex,
    by_end: BoxesByEnd,
    knowledge: Knowledge,
    fits: Fits,
    method: KnownMethod,
    begin: int,
    end: int,
    surviving: Bools,
) -> None:
    """surviving[line]: whether record fits.record[line] survives, for attacks begin .. end - 1 (of one piece each)."""
    for attack in range(begin, end):
        piece = knowledge.ptr[attack]
        first, last = knowledge.first[piece], knowledge.last[piece]
        since, until = knowledge.begin[piece], knowledge.end[piece]
        n_windows = end_of_windows(method, until) - first_window(method, since)
        places = n_windows * (method.k - 1)
        covers = make_covers(n_windows, method.k - 1, places)
        for line in range(fits.at[attack], fits.at[attack] + fits.n[attack]):
            surviving[line] = survives(
                trajectories, index, by_end, fits.record[line], first, last, since, until, method, covers
            )
