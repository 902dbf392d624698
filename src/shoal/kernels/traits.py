"""What else the method gives away about records that are left: traits by which the victim's own may differ.

The true record is covered in every window, and what covers it holds the same samples: so it meets many, shares faces of
boxes with them where the attacker knows nothing, and stays close to where the victim was seen (docs/audit.md).
"""

from __future__ import annotations

import math

import numpy as np

from shoal.kernels.attacks import Fits, Knowledge
from shoal.kernels.chain import (
    Covers,
    Method,
    View,
    end_of_windows,
    find_covers,
    first_window,
    make_covers,
    seen_in,
)
from shoal.kernels.compiled import inner, kernel
from shoal.kernels.consistency import Shelves, Trails, first_box_ending_after, has_box_in, holds_any
from shoal.samples import Bools, Floats

MOST_COVERS = 64  # that are counted in a window
N_TRAITS = 6
COVERS, FACES, FAVOURS, TWINS, SIZE, NEAR = range(N_TRAITS)


@inner
def equal_faces(shelves: Shelves, box: int, other: int) -> int:
    """The most faces that a box has in common with one box of another record; it may be without any near it."""
    most, one = 0, shelves.box[box]
    candidate = first_box_ending_after(shelves, other, one["t0"])
    while candidate < shelves.ptr[other + 1] and shelves.box[candidate]["since"] <= one["t1"]:
        two = shelves.box[candidate]
        if two["t0"] <= one["t1"]:
            times = int(one["t0"] == two["t0"]) + int(one["t1"] == two["t1"])
            columns = int(one["x0"] == two["x0"]) + int(one["x1"] == two["x1"])
            rows = int(one["y0"] == two["y0"]) + int(one["y1"] == two["y1"])
            most = max(most, times + columns + rows)
        candidate += 1
    return most


@inner
def faces_shared(shelves: Shelves, record: int, other: int, view: View) -> float:
    """The share of faces that boxes of a record in a window, outside the interval, have in common with another's."""
    shared, n = 0, 0
    box = first_box_ending_after(shelves, record, view.low)
    while box < shelves.ptr[record + 1] and shelves.box[box]["since"] < view.high:
        known = view.begin <= shelves.box[box]["t0"] and shelves.box[box]["t1"] < view.end
        if shelves.box[box]["t0"] < view.high and not known:
            shared += equal_faces(shelves, box, other)
            n += 1
        box += 1
    return shared / (6 * n) if n else 0.0


@inner
def is_among(fits: Fits, attack: int, alive: Bools, record: int) -> bool:
    """Whether a record is one of those that are left of an attack."""
    for line in range(fits.at[attack], fits.at[attack] + fits.n[attack]):
        if alive[line] and fits.record[line] == record:
            return True
    return False


@inner
def note_window(
    shelves: Shelves,
    fits: Fits,
    attack: int,
    alive: Bools,
    record: int,
    view: View,
    covers: Covers,
    trait: Floats,
) -> None:
    """Add what a window tells: how many may cover a record, the most faces it shares with one of them, and how many
    of them are left themselves."""
    most, favours = 0.0, 0
    for entry in range(covers.n[0]):
        other = covers.record[0, entry]
        most = max(most, faces_shared(shelves, record, other, view))
        favours += is_among(fits, attack, alive, other)
    trait[COVERS] += math.log(1.0 + covers.n[0])
    trait[FACES] += most
    trait[FAVOURS] += math.log(1.0 + favours)


@inner
def twins(
    trails: Trails,
    shelves: Shelves,
    fits: Fits,
    attack: int,
    alive: Bools,
    record: int,
    first: int,
    last: int,
) -> float:
    """The share of faces that boxes with a known sample have in common with the most alike of the others left."""
    most = 0.0
    for line in range(fits.at[attack], fits.at[attack] + fits.n[attack]):
        other, shared, n = fits.record[line], 0, 0
        if not alive[line] or other == record:
            continue
        box = first_box_ending_after(shelves, record, trails.sample[first]["t"])
        while box < shelves.ptr[record + 1] and shelves.box[box]["since"] <= trails.sample[last - 1]["t"]:
            if holds_any(trails, shelves, box, first, last):
                shared += equal_faces(shelves, box, other)
                n += 1
            box += 1
        most = max(most, shared / (6 * max(n, 1)))
    return most


@inner
def size_outside(shelves: Shelves, record: int, low: int, high: int, begin: int, end: int) -> float:
    """Mean logarithm of the costs of boxes in slots low .. high - 1 that are not wholly in begin .. end - 1; NaN: none."""
    total, n = 0.0, 0
    box = first_box_ending_after(shelves, record, low)
    while box < shelves.ptr[record + 1] and shelves.box[box]["since"] < high:
        row = shelves.box[box]
        if row["t0"] < high and (row["t0"] < begin or row["t1"] >= end):
            cells = row["x1"] - row["x0"] + row["y1"] - row["y0"] + 2
            total += math.log(float((row["t1"] - row["t0"] + 1) * cells))
            n += 1
        box += 1
    return total / n if n else math.nan


@inner
def distance(trails: Trails, shelves: Shelves, sample: int, box: int) -> float:
    """Logarithm of how far, in cells, the middle of a box is from a sample."""
    row, point = shelves.box[box], trails.sample[sample]
    across = abs(2 * point["x"] - row["x0"] - row["x1"])
    along = abs(2 * point["y"] - row["y0"] - row["y1"])
    return math.log(1.0 + (across + along) / 2)


@inner
def distance_beside(
    trails: Trails, shelves: Shelves, record: int, first: int, last: int, begin: int, end: int, reach: int
) -> float:
    """Mean distance of the first and last known samples from the next boxes before and after, in reach; NaN: none."""
    total, n = 0.0, 0
    after = first_box_ending_after(shelves, record, end)
    if after < shelves.ptr[record + 1] and shelves.box[after]["t0"] < end + reach:
        total += distance(trails, shelves, last - 1, after)
        n += 1
    before = first_box_ending_after(shelves, record, begin) - 1
    if before >= shelves.ptr[record] and shelves.box[before]["t1"] >= begin - reach:
        total += distance(trails, shelves, first, before)
        n += 1
    return total / n if n else math.nan


@kernel
def find_traits(
    trails: Trails,
    shelves: Shelves,
    knowledge: Knowledge,
    fits: Fits,
    method: Method,
    alive: Bools,
    wanted: Bools,
    begin: int,
    end: int,
    traits: Floats,
) -> None:
    """A line of traits for every record that is left of attacks begin .. end - 1 (of one piece each) that are wanted."""
    covers = make_covers(1, 1, MOST_COVERS)
    for attack in range(begin, end):
        if not wanted[attack]:
            continue
        piece = knowledge.ptr[attack]
        first, last = knowledge.first[piece], knowledge.last[piece]
        since, until = knowledge.begin[piece], knowledge.end[piece]
        windows = range(first_window(method, since), end_of_windows(method, until))
        for line in range(fits.at[attack], fits.at[attack] + fits.n[attack]):
            if not alive[line]:
                continue
            record, trait, n = fits.record[line], traits[line], 0
            trait[:] = 0.0
            for window in windows:
                low, high = method.low[window], method.high[window]
                if has_box_in(shelves, record, low, high):
                    view = seen_in(trails, first, last, since, until, low, high)
                    find_covers(trails, shelves, record, view, covers, 0)
                    note_window(shelves, fits, attack, alive, record, view, covers, trait)
                    n += 1
            if n:
                trait[:TWINS] /= n
                low, high = method.low[windows.start], method.high[windows.stop - 1]
                trait[SIZE] = size_outside(shelves, record, low, high, since, until)
            else:
                trait[SIZE] = np.nan
            trait[TWINS] = twins(trails, shelves, fits, attack, alive, record, first, last)
            trait[NEAR] = distance_beside(
                trails, shelves, record, first, last, since, until, until - since
            )
