"""Boxes spread over the coarse squares that they meet: how many people where at which hour, and who went where."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Floats, Int32s, Int64s
from shoal.core.compiled import jit, jit_inline

HOUR_S = 3_600
_ALIKE = (
    1e-9  # shares and middles nearer than this are equal: what is left of rounding must not choose a square
)


class Areas(NamedTuple):
    """Boxes, each record's together: seconds begin .. end - 1, and a rectangle whose unit is the side of a square.

    Squares are counted from the south-west corner of a frame that holds them all, so west, south >= 0; square (i, j) is
    [i, i + 1) x [j, j + 1). Boxes have a duration and an area: end > begin, east > west, north > south.
    """

    record: Int32s
    begin: Int64s
    end: Int64s
    west: Floats
    east: Floats
    south: Floats
    north: Floats


@jit_inline
def overlap(low: float, high: float, square: int) -> float:
    """Which share of low .. high lies in square .. square + 1."""
    return (min(high, square + 1.0) - max(low, square + 0.0)) / (high - low)


@jit_inline
def share_of_hour(areas: Areas, box: int, hour: int) -> float:
    """Which share of a box's time lies in an hour."""
    begin, end = areas.begin[box], areas.end[box]
    inside = min(end, (hour + 1) * HOUR_S) - max(begin, hour * HOUR_S)
    return float(inside / (end - begin))


@jit_inline
def last_square(high: float) -> int:
    """The last square of those below a high end, which does not belong to them."""
    return int(np.ceil(high)) - 1


@jit
def spread_over_hours(areas: Areas, longest: int, people: Floats, present: Int64s) -> None:
    """people[h, i, j]: expected records in square (i, j) at hour h of the day, summed over the days.

    A box stands for one sample, spread evenly over its area and its time. In each hour the boxes of a record are
    scaled to sum to 1. present[h]: in how many (record, day) pairs there is a box in that hour of the day. ``longest``:
    hours from the first to the last of a record, at most.
    """
    total = np.zeros(longest)
    box, n_boxes = 0, len(areas.record)
    while box < n_boxes:
        stop, since = box, areas.begin[box] // HOUR_S
        while stop < n_boxes and areas.record[stop] == areas.record[box]:
            since = min(since, areas.begin[stop] // HOUR_S)
            stop += 1
        for each in range(box, stop):
            for hour in range(areas.begin[each] // HOUR_S, (areas.end[each] - 1) // HOUR_S + 1):
                present[hour % 24] += total[hour - since] == 0
                total[hour - since] += share_of_hour(areas, each, hour)
        for each in range(box, stop):
            for hour in range(areas.begin[each] // HOUR_S, (areas.end[each] - 1) // HOUR_S + 1):
                weight = share_of_hour(areas, each, hour) / total[hour - since]
                spread(areas, each, weight, people[hour % 24])
        for each in range(box, stop):
            total[areas.begin[each] // HOUR_S - since : (areas.end[each] - 1) // HOUR_S + 1 - since] = 0
        box = stop


@jit_inline
def spread(areas: Areas, box: int, weight: float, people: Floats) -> None:
    """Add a weight to the squares that a box meets, by area."""
    west, east, south, north = areas.west[box], areas.east[box], areas.south[box], areas.north[box]
    for i in range(int(west), last_square(east) + 1):
        column = weight * overlap(west, east, i)
        for j in range(int(south), last_square(north) + 1):
            people[i, j] += column * overlap(south, north, j)


@jit_inline
def best_squares(
    areas: Areas, box: int, most: int, crowd: int, n_j: int, square: Int64s, share: Floats
) -> int:
    """How many squares stand for a box: of those it meets, the ``most`` with the largest shares, first in order among
    equals; where it meets more than ``crowd``, the one of its middle. Their numbers (i * n_j + j) and shares, which
    sum to 1."""
    west, east, south, north = areas.west[box], areas.east[box], areas.south[box], areas.north[box]
    last_i, last_j = last_square(east), last_square(north)
    if (last_i - int(west) + 1) * (last_j - int(south) + 1) > crowd:
        middle_i, middle_j = int((west + east) / 2 + _ALIKE), int((south + north) / 2 + _ALIKE)
        square[0], share[0] = middle_i * n_j + middle_j, 1.0
        return 1
    n = 0
    for i in range(int(west), last_i + 1):
        for j in range(int(south), last_j + 1):
            here = overlap(west, east, i) * overlap(south, north, j)
            place = n
            while place > 0 and share[place - 1] < here - _ALIKE:
                if place < most:
                    square[place], share[place] = square[place - 1], share[place - 1]
                place -= 1
            if place < most:
                square[place], share[place] = i * n_j + j, here
                n = min(n + 1, most)
    total = 0.0
    for place in range(n):
        total += share[place]
    for place in range(n):
        share[place] /= total
    return n


@jit
def spread_trips(
    areas: Areas,
    gap_s: int,
    most: int,
    crowd: int,
    n_j: int,
    first: int,
    last: int,
    origin: Int64s,
    destination: Int64s,
    trips: Floats,
) -> tuple[int, int]:
    """Trips from boxes first .. last - 1 to the next of their record, if it begins at most ``gap_s`` after they end.

    Each weighs 1 in all, spread over pairs of squares by the product of shares; pairs of one square are left out. How
    many lines were filled (at most most * most each), and how many trips there were, inside one square or not.
    """
    n_lines, n_trips = 0, 0
    here, there = np.empty(most, np.int64), np.empty(most, np.int64)
    share_here, share_there = np.empty(most), np.empty(most)
    for box in range(first, min(last, len(areas.record) - 1)):
        following = box + 1
        if areas.record[following] != areas.record[box] or areas.begin[following] - areas.end[box] > gap_s:
            continue
        n_trips += 1
        n_here = best_squares(areas, box, most, crowd, n_j, here, share_here)
        n_there = best_squares(areas, following, most, crowd, n_j, there, share_there)
        for a in range(n_here):
            for b in range(n_there):
                if here[a] != there[b]:
                    origin[n_lines], destination[n_lines] = here[a], there[b]
                    trips[n_lines] = share_here[a] * share_there[b]
                    n_lines += 1
    return n_lines, n_trips
