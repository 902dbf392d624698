"""Traits of the records that survive the chain attack, by which the victim's own may stand out (docs/audit.md).

The true record is covered in every window by records that hold the same samples. So it meets many records, and shares
faces of boxes with them where the attacker knows nothing. And people come back to their places.
"""

from __future__ import annotations

import math

import numpy as np

from shoal.auditing.kernels.chain import (
    BoxesByEnd,
    Covers,
    KnownMethod,
    KnownView,
    end_of_windows,
    find_covers,
    first_window,
    make_covers,
    seen_in,
)
from shoal.auditing.kernels.consistency import (
    BoxIndex,
    Trajectories,
    box_cost,
    first_box_ending_after,
    has_box_in,
)
from shoal.auditing.kernels.fits import Fits, Knowledge
from shoal.core.arrays import Bools, Floats
from shoal.core.compiled import jit, jit_inline

MOST_COVERS = 64  # counted in a window
_CLOSE = 4  # boxes this many intervals before or after what was seen are close in time
N_TRAITS = 7
COVERS, FACES, FAVOURS, SIZE, HABIT, FAR, STAYS = range(N_TRAITS)


@jit_inline
def equal_faces(index: BoxIndex, box: int, other: int) -> int:
    """The most faces that a box has in common with one box of another record; 0 if none shares time with it."""
    most, one = 0, index.box[box]
    candidate = first_box_ending_after(index, other, one["t0"])
    while candidate < index.ptr[other + 1] and index.box[candidate]["since"] <= one["t1"]:
        two = index.box[candidate]
        if two["t0"] <= one["t1"]:
            times = int(one["t0"] == two["t0"]) + int(one["t1"] == two["t1"])
            columns = int(one["x0"] == two["x0"]) + int(one["x1"] == two["x1"])
            rows = int(one["y0"] == two["y0"]) + int(one["y1"] == two["y1"])
            most = max(most, times + columns + rows)
        candidate += 1
    return most


@jit_inline
def faces_shared(index: BoxIndex, record: int, other: int, view: KnownView) -> float:
    """The share of faces that boxes of a record in a window, outside the interval, have in common with another's."""
    shared, n = 0, 0
    box = first_box_ending_after(index, record, view.low)
    while box < index.ptr[record + 1] and index.box[box]["since"] < view.high:
        known = view.begin <= index.box[box]["t0"] and index.box[box]["t1"] < view.end
        if index.box[box]["t0"] < view.high and not known:
            shared += equal_faces(index, box, other)
            n += 1
        box += 1
    return shared / (6 * n) if n else 0.0


@jit_inline
def is_among(fits: Fits, attack: int, surviving: Bools, record: int) -> bool:
    """Whether a record is among the survivors of an attack."""
    for line in range(fits.at[attack], fits.at[attack] + fits.n[attack]):
        if surviving[line] and fits.record[line] == record:
            return True
    return False


@jit_inline
def add_window_traits(
    index: BoxIndex,
    fits: Fits,
    attack: int,
    surviving: Bools,
    record: int,
    view: KnownView,
    covers: Covers,
    trait: Floats,
) -> None:
    """Add the traits of one window: how many records may cover this one, the most faces it shares with one of these
    covers, and how many of the covers survive themselves."""
    most, favours = 0.0, 0
    for entry in range(covers.n[0]):
        other = covers.record[0, entry]
        most = max(most, faces_shared(index, record, other, view))
        favours += is_among(fits, attack, surviving, other)
    trait[COVERS] += math.log(1.0 + covers.n[0])
    trait[FACES] += most
    trait[FAVOURS] += math.log(1.0 + favours)


@jit_inline
def size_outside(index: BoxIndex, record: int, low: int, high: int, begin: int, end: int) -> float:
    """Mean logarithm of the costs of boxes in slots low .. high - 1, not wholly in begin .. end - 1; NaN: none."""
    total, n = 0.0, 0
    box = first_box_ending_after(index, record, low)
    while box < index.ptr[record + 1] and index.box[box]["since"] < high:
        row = index.box[box]
        if row["t0"] < high and (row["t0"] < begin or row["t1"] >= end):
            total += math.log(float(box_cost(index, box)))
            n += 1
        box += 1
    return total / n if n else math.nan


@jit_inline
def gap(value: int, low: int, high: int) -> int:
    """How far a coordinate is from low .. high; 0 inside."""
    return max(low - value, value - high, 0)


@jit_inline
def set_place_traits(
    trajectories: Trajectories,
    index: BoxIndex,
    record: int,
    first: int,
    last: int,
    begin: int,
    end: int,
    trait: Floats,
) -> None:
    """How a record keeps to the victim's places outside slots begin .. end - 1; NaN without boxes there.

    Places are where the first, middle and last of samples first .. last - 1 are. HABIT: the share of (box, place) pairs
    in which the box holds the place; FAR: the mean logarithm of the distance; STAYS: HABIT of boxes close in time.
    """
    reach = _CLOSE * (end - begin)
    held, away, n, held_close, n_close = 0, 0.0, 0, 0, 0
    for box in range(index.ptr[record], index.ptr[record + 1]):
        row = index.box[box]
        if row["t1"] >= begin and row["t0"] < end:
            continue
        close = int(row["t0"] < end + reach and row["t1"] >= begin - reach)
        for sample in (first, (first + last) // 2, last - 1):
            x, y = trajectories.sample[sample]["x"], trajectories.sample[sample]["y"]
            cells = gap(x, row["x0"], row["x1"]) + gap(y, row["y0"], row["y1"])
            held += int(cells == 0)
            held_close += close * int(cells == 0)
            away += math.log(1.0 + cells)
        n += 3
        n_close += 3 * close
    trait[HABIT] = held / n if n else math.nan
    trait[FAR] = away / n if n else math.nan
    trait[STAYS] = held_close / n_close if n_close else math.nan


@jit
def find_traits(
    trajectories: Trajectories,
    index: BoxIndex,
    by_end: BoxesByEnd,
    knowledge: Knowledge,
    fits: Fits,
    method: KnownMethod,
    surviving: Bools,
    wanted: Bools,
    begin: int,
    end: int,
    traits: Floats,
) -> None:
    """A line of traits for every surviving record of attacks begin .. end - 1 (of one piece each) that are wanted."""
    covers = make_covers(1, 1, MOST_COVERS)
    for attack in range(begin, end):
        if not wanted[attack]:
            continue
        piece = knowledge.ptr[attack]
        first, last = knowledge.first[piece], knowledge.last[piece]
        since, until = knowledge.begin[piece], knowledge.end[piece]
        windows = range(first_window(method, since), end_of_windows(method, until))
        for line in range(fits.at[attack], fits.at[attack] + fits.n[attack]):
            if not surviving[line]:
                continue
            record, trait, n = fits.record[line], traits[line], 0
            trait[:] = 0.0
            for window in windows:
                low, high = method.low[window], method.high[window]
                if has_box_in(index, record, low, high):
                    view = seen_in(trajectories, first, last, since, until, low, high)
                    find_covers(trajectories, index, by_end, record, view, covers, 0)
                    add_window_traits(index, fits, attack, surviving, record, view, covers, trait)
                    n += 1
            if n:
                trait[:SIZE] /= n
                low, high = method.low[windows.start], method.high[windows.stop - 1]
                trait[SIZE] = size_outside(index, record, low, high, since, until)
            else:
                trait[SIZE] = np.nan
            set_place_traits(trajectories, index, record, first, last, since, until, trait)
