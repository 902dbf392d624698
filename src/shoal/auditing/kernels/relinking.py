"""How alike are two parts of records? Features of pairs, for attackers who tie parts of one person together again.

Places are compared by their chances in boxes (kernels/sites.py). That two boxes are of one person is likelier by the
factor sum over sites of chance x chance / commonness of the site: their *kinship*.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from shoal.auditing.kernels.consistency import BoxIndex
from shoal.auditing.kernels.sites import (
    MOST_CANDIDATES,
    Sites,
    forget_habits,
    make_habits,
    make_scratch,
    note_habits,
    nth_smallest,
    weigh_box,
)
from shoal.core.arrays import Bools, Floats, Int64s
from shoal.core.compiled import jit, jit_inline
from shoal.core.reprs import sizes_only

PAIR_FEATURES = (
    "forward", "backward", "kinship", "closest_kin", "kin_by_hour", "kin_in_time", "missed", "missed_back",
    "overlap", "faces", "size", "boxes", "more_boxes", "near", "near_back",
    "border_overlap", "border_gap", "border_speed", "border_faces", "border_distance", "border_kinship", "pause",
    "border_overlap_x_pause", "border_gap_x_pause", "border_faces_x_pause", "border_distance_x_pause",
    "border_kinship_x_pause", "kinship_x_pause", "faces_x_pause",
    "forward_2", "backward_2", "kinship_2", "missed_2", "missed_back_2", "overlap_2", "faces_2", "near_2",
    "near_back_2", "border_distance_2",
)  # fmt: skip
_SQUARED = np.array([0, 1, 2, 6, 7, 8, 9, 13, 14, 19])
_BY_PAUSE = np.array([15, 16, 18, 19, 20, 2, 9])
_PAUSE, _FIRST_PRODUCT, _FIRST_SQUARE = 21, 22, 29
LEAST_CHANCE = 0.01  # less likely places of a box are left out
_MOST_BOXES = 24  # of a part that are compared with those of another
_FAR = 1e18  # a squared distance beyond all


class PlacedBoxes(NamedTuple):
    """Boxes record by record, by their ends: record r has ptr[r] .. ptr[r + 1] - 1. Box b has the sites of lines
    at[b] .. at[b + 1] - 1, in order, with their chances; x and y are the means of these. commonness: the share of each
    site in the boxes of everybody."""

    ptr: Int64s
    t0: Int64s
    t1: Int64s
    x0: Int64s
    x1: Int64s
    y0: Int64s
    y1: Int64s
    x: Floats
    y: Floats
    at: Int64s
    site: Int64s
    chance: Floats
    commonness: Floats

    def __repr__(self) -> str:
        return sizes_only(self)


@jit
def list_chances(
    index: BoxIndex,
    sites: Sites,
    weights: Floats,
    begin: int,
    end: int,
    n: Int64s,
    site: Int64s,
    chance: Floats,
) -> None:
    """The likely sites of the boxes of records begin .. end - 1, and their chances, which add up to 1.

    Those of the i-th of these boxes are n[i] from line i x MOST_CANDIDATES on.
    """
    habits, scratch = make_habits(sites), make_scratch(sites)
    first = index.ptr[begin]
    for record in range(begin, end):
        note_habits(index, sites, record, habits)
        for box in range(index.ptr[record], index.ptr[record + 1]):
            line, total = (box - first) * MOST_CANDIDATES, 0.0
            n[box - first] = 0
            for j in range(weigh_box(index, sites, box, weights, habits, scratch)):
                if scratch.chance[j] >= LEAST_CHANCE:
                    site[line + n[box - first]], chance[line + n[box - first]] = (
                        scratch.site[j],
                        scratch.chance[j],
                    )
                    total += scratch.chance[j]
                    n[box - first] += 1
            for j in range(line, line + n[box - first]):
                chance[j] /= total
        forget_habits(index, sites, record, habits)


class Profiles(NamedTuple):
    """Where people spend their time: profile i has sites ptr[i] .. ptr[i + 1] - 1 with masses, total[i] in all."""

    ptr: Int64s
    site: Int64s
    mass: Floats
    total: Floats

    def __repr__(self) -> str:
        return sizes_only(self)


class Hulls(NamedTuple):
    """The smallest and largest cells of records along both axes."""

    x0: Int64s
    x1: Int64s
    y0: Int64s
    y1: Int64s


@jit
def shortlist(
    asking: Profiles,
    asking_hulls: Hulls,
    ptr: Int64s,
    part: Int64s,
    share: Floats,
    asked_hulls: Hulls,
    begin: int,
    end: int,
    chosen: Int64s,
) -> None:
    """chosen[i]: the candidates, in order, that look most like profile i at first sight, for i in begin .. end - 1.

    Candidates are parts 0, 1, ... with hulls; those at a site are part[ptr[site]] .. part[ptr[site + 1] - 1], with the
    share of their time there over the site's commonness. What counts is the sum of shares over one plus the distance
    of hulls.
    """
    n, wanted = len(asked_hulls.x0), chosen.shape[1]
    score, partial = np.empty(n), np.empty(n)
    for i in range(begin, end):
        score[:] = 0.01
        for line in range(asking.ptr[i], asking.ptr[i + 1]):
            site = asking.site[line]
            for other in range(ptr[site], ptr[site + 1]):
                score[part[other]] += asking.mass[line] / asking.total[i] * share[other]
        x0, x1, y0, y1 = asking_hulls.x0[i], asking_hulls.x1[i], asking_hulls.y0[i], asking_hulls.y1[i]
        for j in range(n):
            across = max(0, x0 - asked_hulls.x1[j], asked_hulls.x0[j] - x1)
            along = max(0, y0 - asked_hulls.y1[j], asked_hulls.y0[j] - y1)
            score[j] /= 1.0 + math.sqrt(float(across * across + along * along))
            partial[j] = score[j]
        least = nth_smallest(partial, n, n - wanted)
        above = 0
        for j in range(n):
            above += score[j] > least
        ties, k = wanted - above, 0
        for j in range(n):
            if score[j] > least or (score[j] == least and ties > 0):
                ties -= score[j] == least
                chosen[i, k] = j
                k += 1


@jit
def mark_largest(ptr: Int64s, value: Floats, most: int, kept: Bools) -> None:
    """kept[i]: whether value[i] is among the ``most`` largest of its row, of equals the first.

    Row r has values ptr[r] .. ptr[r + 1] - 1.
    """
    partial = np.empty(len(value))
    for row in range(len(ptr) - 1):
        begin, n = ptr[row], ptr[row + 1] - ptr[row]
        for i in range(n):
            partial[i] = value[begin + i]
        least = nth_smallest(partial, n, n - most) if n > most else -math.inf
        ties = most
        for i in range(n):
            ties -= value[begin + i] > least
        for i in range(begin, begin + n):
            kept[i] = value[i] > least or (value[i] == least and ties > 0)
            ties -= value[i] == least


@jit_inline
def kinship_of(boxes: PlacedBoxes, one: int, other: int) -> float:
    """By how much likelier two boxes are of one person for the places in them."""
    i, j, kinship = boxes.at[one], boxes.at[other], 0.0
    while i < boxes.at[one + 1] and j < boxes.at[other + 1]:
        if boxes.site[i] < boxes.site[j]:
            i += 1
        elif boxes.site[i] > boxes.site[j]:
            j += 1
        else:
            kinship += boxes.chance[i] * boxes.chance[j] / boxes.commonness[boxes.site[i]]
            i += 1
            j += 1
    return kinship


@jit_inline
def cells_of(boxes: PlacedBoxes, box: int) -> float:
    """The cells inside a box."""
    return float((boxes.x1[box] - boxes.x0[box] + 1.0) * (boxes.y1[box] - boxes.y0[box] + 1.0))


@jit_inline
def common_cells(boxes: PlacedBoxes, one: int, other: int) -> float:
    """The cells that two boxes share."""
    across = min(boxes.x1[one], boxes.x1[other]) - max(boxes.x0[one], boxes.x0[other]) + 1.0
    along = min(boxes.y1[one], boxes.y1[other]) - max(boxes.y0[one], boxes.y0[other]) + 1.0
    return float(max(0.0, across) * max(0.0, along))


@jit_inline
def equal_faces(boxes: PlacedBoxes, one: int, other: int) -> float:
    """How many of their four faces two boxes have in common."""
    return float(
        int(boxes.x0[one] == boxes.x0[other])
        + int(boxes.x1[one] == boxes.x1[other])
        + int(boxes.y0[one] == boxes.y0[other])
        + int(boxes.y1[one] == boxes.y1[other])
    )


@jit_inline
def squared_distance(boxes: PlacedBoxes, one: int, other: int) -> float:
    """The square of the cells between the mean places of two boxes."""
    across, along = boxes.x[one] - boxes.x[other], boxes.y[one] - boxes.y[other]
    return float(across * across + along * along)


@jit_inline
def describe_border(
    boxes: PlacedBoxes, last: int, first: int, hour: float, far: float, found: Floats
) -> None:
    """What the last box of one part and the first of another say: whether somebody could have gone on from the one to
    the other, and how long the pause between them is."""
    common = common_cells(boxes, last, first)
    share = common / (cells_of(boxes, last) + cells_of(boxes, first) - common)
    across = max(0, boxes.x0[last] - boxes.x1[first], boxes.x0[first] - boxes.x1[last])
    along = max(0, boxes.y0[last] - boxes.y1[first], boxes.y0[first] - boxes.y1[last])
    gap = far * math.hypot(across, along)
    pause = abs(boxes.t0[first] - boxes.t1[last]) / hour
    found[15] = math.log(0.01 + share)
    found[16] = math.log1p(gap)
    found[17] = math.log1p(gap / max(pause, 1 / 60))
    found[18] = equal_faces(boxes, last, first)
    found[19] = math.log1p(far * math.sqrt(squared_distance(boxes, last, first)))
    found[20] = math.log(0.1 + kinship_of(boxes, last, first))
    found[_PAUSE] = math.log1p(pause)


@jit
def describe_pairs(
    boxes: PlacedBoxes,
    one: Int64s,
    other: Int64s,
    hour: float,
    far: float,
    begin: int,
    end: int,
    found: Floats,
) -> None:
    """Features (PAIR_FEATURES) of pairs of parts begin .. end - 1, the earlier part first.

    hour: slots; far: the side of a cell in units of 500 m.
    """
    room = _MOST_BOXES
    kin, kin_back, met, met_back = np.empty(room), np.empty(room), np.empty(room), np.empty(room)
    near, near_back = np.empty(room), np.empty(room)
    for line in range(begin, end):
        a, b, row = boxes.ptr[one[line]], boxes.ptr[other[line]], found[line]
        all_a, all_b = boxes.ptr[one[line] + 1] - a, boxes.ptr[other[line] + 1] - b
        n_a, n_b = min(all_a, room), min(all_b, room)
        for i in range(n_a):
            kin_back[i], met_back[i], near_back[i] = 0.0, 0.0, _FAR
        for j in range(n_b):
            kin[j], met[j], near[j] = 0.0, 0.0, _FAR
        total, most, by_hour, in_time, overlap, faces, size = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(n_a):
            box = a + i * all_a // n_a  # of many boxes some, spread over the part
            size += math.log(cells_of(boxes, box)) / n_a
            for j in range(n_b):
                against = b + j * all_b // n_b
                common = common_cells(boxes, box, against)
                if common > 0:
                    overlap += common / (cells_of(boxes, box) + cells_of(boxes, against) - common)
                    met[j] = met_back[i] = 1.0
                    kinship = kinship_of(boxes, box, against)
                    if kinship > 0:
                        pause = abs(boxes.t0[box] + boxes.t1[box] - boxes.t0[against] - boxes.t1[against]) / (
                            2 * hour
                        )
                        kin[j] += kinship
                        kin_back[i] += kinship
                        most = max(most, kinship)
                        by_hour += kinship * math.exp(-min(pause % 24, 24 - pause % 24) / 1.5)
                        in_time += kinship * math.exp(-pause / 2)
                faces += equal_faces(boxes, box, against)
                distance = squared_distance(boxes, box, against)
                near[j], near_back[i] = min(near[j], distance), min(near_back[i], distance)
        for column in (0, 1, 6, 7, 13, 14):
            row[column] = 0.0
        for j in range(n_b):
            row[0] += math.log((kin[j] + 1) / (n_a + 1))
            row[6] += math.log(0.05 + met[j])
            row[13] += math.log1p(far * math.sqrt(near[j])) / n_b
            size -= math.log(cells_of(boxes, b + j * all_b // n_b)) / n_b
        for i in range(n_a):
            row[1] += math.log((kin_back[i] + 1) / (n_b + 1))
            row[7] += math.log(0.05 + met_back[i])
            row[14] += math.log1p(far * math.sqrt(near_back[i])) / n_a
            total += kin_back[i]
        n = n_a * n_b
        row[2], row[3] = math.log(0.01 + total / n), math.log(0.1 + most)
        row[4], row[5] = math.log(0.01 + by_hour / n), math.log(0.01 + in_time / n)
        row[8], row[9] = math.log(0.01 + overlap / n), math.log(0.1 + faces / n)
        row[10], row[11], row[12] = abs(size), abs(math.log(all_a / all_b)), math.log(all_b)
        describe_border(boxes, a + all_a - 1, b, hour, far, row)
        for k in range(len(_BY_PAUSE)):
            row[_FIRST_PRODUCT + k] = row[_BY_PAUSE[k]] * row[_PAUSE]
        for k in range(len(_SQUARED)):
            row[_FIRST_SQUARE + k] = row[_SQUARED[k]] ** 2


@jit
def weigh_profiles(
    profiles: Profiles,
    boxes: PlacedBoxes,
    ptr: Int64s,
    asked: Int64s,
    begin: int,
    end: int,
    likelihood: Floats,
    kinship: Floats,
) -> None:
    """How likely the boxes of parts are those of people with known profiles, begin .. end - 1 of these.

    Profile i is compared with parts asked[ptr[i]] .. asked[ptr[i + 1] - 1]. likelihood: the logarithm, against that of
    anybody; kinship: of the mean kinship of their boxes.
    """
    mass = np.zeros(len(boxes.commonness))
    for i in range(begin, end):
        for line in range(profiles.ptr[i], profiles.ptr[i + 1]):
            site = profiles.site[line]
            mass[site] = profiles.mass[line] / boxes.commonness[site]
        for pair in range(ptr[i], ptr[i + 1]):
            part, total = asked[pair], 0.0
            likelihood[pair] = 0.0
            for box in range(boxes.ptr[part], boxes.ptr[part + 1]):
                here = 0.0
                for line in range(boxes.at[box], boxes.at[box + 1]):
                    here += boxes.chance[line] * mass[boxes.site[line]]
                likelihood[pair] += math.log((here + 1) / (profiles.total[i] + 1))
                total += here
            n = profiles.total[i] * (boxes.ptr[part + 1] - boxes.ptr[part])
            kinship[pair] = math.log(0.01 + total / n)
        for line in range(profiles.ptr[i], profiles.ptr[i + 1]):
            mass[profiles.site[line]] = 0.0
