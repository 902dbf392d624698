"""The chain attack: which records could be the victim's, given that whoever is hidden is covered in every window.

The true record must itself be covered in every window that overlaps what the attacker knows, by records that fit
there and meet it box for box where the attacker knows nothing (design section 1, docs/audit.md).
"""

from __future__ import annotations

from typing import NamedTuple

from shoal.kernels.attacks import Fits, Knowledge
from shoal.kernels.compiled import inner, kernel
from shoal.kernels.consistency import (
    Shelves,
    Trails,
    first_box_ending_after,
    holds,
    is_consistent,
)
from shoal.kernels.coverage import Terms
from shoal.kernels.lookup import comes_first, is_meant, slot_over
from shoal.samples import Bools


class View(NamedTuple):
    """What the attacker saw, samples first .. last - 1 in slots begin .. end - 1, and a window, slots low .. high - 1.

    seen, until: those of the samples that are in the window.
    """

    first: int
    last: int
    begin: int
    end: int
    low: int
    high: int
    seen: int
    until: int


@inner
def boxes_meet(trails: Trails, shelves: Shelves, box: int, other: int, view: View) -> bool:
    """Whether two boxes have a place and time in common where the victim may have been, for all the attacker knows."""
    one, two = shelves.box[box], shelves.box[other]
    t0, t1 = max(one["t0"], two["t0"]), min(one["t1"], two["t1"])
    x0, x1 = max(one["x0"], two["x0"]), min(one["x1"], two["x1"])
    y0, y1 = max(one["y0"], two["y0"]), min(one["y1"], two["y1"])
    if t0 > t1 or x0 > x1 or y0 > y1:
        return False
    if t0 < view.begin or t1 >= view.end:
        return True
    for sample in range(view.first, view.last):
        row = trails.sample[sample]
        if t0 <= row["t"] <= t1 and x0 <= row["x"] <= x1 and y0 <= row["y"] <= y1:
            return True
    return False


@inner
def is_met(trails: Trails, shelves: Shelves, box: int, other: int, view: View) -> bool:
    """Whether a box meets some box of another record."""
    candidate = first_box_ending_after(shelves, other, shelves.box[box]["t0"])
    while candidate < shelves.ptr[other + 1] and shelves.box[candidate]["since"] <= shelves.box[box]["t1"]:
        if boxes_meet(trails, shelves, box, candidate, view):
            return True
        candidate += 1
    return False


@kernel
def is_met_throughout(trails: Trails, shelves: Shelves, record: int, other: int, view: View) -> bool:
    """Whether every box of a record in the window, but for those wholly inside the interval, meets one of another."""
    box = first_box_ending_after(shelves, record, view.low)
    while box < shelves.ptr[record + 1] and shelves.box[box]["since"] < view.high:
        known = view.begin <= shelves.box[box]["t0"] and shelves.box[box]["t1"] < view.end
        if shelves.box[box]["t0"] < view.high and not known and not is_met(trails, shelves, box, other, view):
            return False
        box += 1
    return True


@inner
def may_cover(trails: Trails, shelves: Shelves, record: int, other: int, view: View) -> bool:
    """Whether another record may cover a record in a window."""
    begin, end = max(view.begin, view.low), min(view.end, view.high)
    return (
        record != other
        and is_consistent(trails, shelves, other, view.seen, view.until, begin, end, 0, False)
        and is_met_throughout(trails, shelves, record, other, view)
        and is_met_throughout(trails, shelves, other, record, view)
    )


@inner
def is_covered(trails: Trails, shelves: Shelves, record: int, view: View, wanted: int) -> bool:
    """Whether at least ``wanted`` other records may cover a record in a window."""
    found = 0
    if view.seen == view.until:
        for other in range(len(shelves.ptr) - 1):
            if may_cover(trails, shelves, record, other, view):
                found += 1
                if found == wanted:
                    return True
        return False
    t, x, y = trails.sample[view.seen]["t"], trails.sample[view.seen]["x"], trails.sample[view.seen]["y"]
    for run in range(4 * len(shelves.levels)):
        slot = slot_over(shelves, run, t, x, y)
        for entry in range(shelves.slot_ptr[slot], shelves.slot_ptr[slot + 1]):
            box = shelves.slot_box[entry]
            if (
                is_meant(shelves, slot, entry, run, x, y)
                and holds(shelves, box, t, x, y)
                and comes_first(shelves, box, t, x, y)
                and may_cover(trails, shelves, record, shelves.box[box]["record"], view)
            ):
                found += 1
                if found == wanted:
                    return True
    return False


@inner
def survives(
    trails: Trails,
    shelves: Shelves,
    record: int,
    first: int,
    last: int,
    begin: int,
    end: int,
    terms: Terms,
    since: int,
    until: int,
) -> bool:
    """Whether a record may be covered by k - 1 others in every window that overlaps slots begin .. end - 1.

    Windows that hold all of the data (slots since .. until - 1), or none, are alike and looked at once.
    """
    reach = -(-terms.tau // terms.epsilon)
    oldest, newest = since // terms.epsilon, (until - 1) // terms.epsilon
    window, last_window = begin // terms.epsilon - reach, (end - 1) // terms.epsilon
    while window <= last_window:
        low, high = window * terms.epsilon, (window + reach + 1) * terms.epsilon
        seen, until_seen = first, last
        while seen < until_seen and trails.sample[seen]["t"] < low:
            seen += 1
        while seen < until_seen and trails.sample[until_seen - 1]["t"] >= high:
            until_seen -= 1
        view = View(first, last, begin, end, low, high, seen, until_seen)
        if not is_covered(trails, shelves, record, view, terms.k - 1):
            return False
        if window + reach < oldest:  # windows before the data are all alike, and so are ...
            window = max(window + 1, min(oldest - reach, last_window + 1))
        elif window <= oldest and window + reach >= newest:  # ... those that hold all of it
            window = oldest + 1
        elif window > newest:  # ... and those after it
            return True
        else:
            window += 1
    return True


@kernel
def find_survivors(
    trails: Trails,
    shelves: Shelves,
    knowledge: Knowledge,
    fits: Fits,
    terms: Terms,
    begin: int,
    end: int,
    alive: Bools,
) -> None:
    """alive[line]: whether record fits.record[line] survives, for attacks begin .. end - 1 (of one piece each)."""
    since, until = 2**62, -(2**62)
    for box in range(len(shelves.box)):
        since, until = min(since, shelves.box[box]["t0"]), max(until, shelves.box[box]["t1"] + 1)
    for attack in range(begin, end):
        piece = knowledge.ptr[attack]
        first, last = knowledge.first[piece], knowledge.last[piece]
        for line in range(fits.at[attack], fits.at[attack] + fits.n[attack]):
            alive[line] = survives(
                trails, shelves, fits.record[line], first, last,
                knowledge.begin[piece], knowledge.end[piece], terms, since, until,
            )  # fmt: skip
