"""GLOVE's efforts and its merge of two fingerprints (Gramaglia, Fiore, CoNEXT 2015).

A fingerprint is a list of boxes, one line of six each: t0, t1, x0, x1, y0, y1 (int64, slots and cells, ends included).
A fingerprint of ``members`` subscribers weighs that much. Efforts are kept multiplied by 2 (n_a + n_b) S T while they
are compared and added up, with S and T the space and time that count as 1: then ties are exact where S and T are whole.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Bools, Floats, Int32s, Int64s
from shoal.core.compiled import jit, jit_inline


class Fingerprints(NamedTuple):
    """Many fingerprints: number g is lines first[g] .. first[g] + size[g] - 1 of ``box``, of members[g] subscribers."""

    box: Int64s
    first: Int64s
    size: Int64s
    members: Int64s


@jit_inline
def box_effort(
    a: Int64s, i: int, n_a: int, b: Int64s, j: int, n_b: int, full_space: float, full_time: float
) -> float:
    """The effort of making line i of ``a`` and line j of ``b`` one box, times 2 (n_a + n_b) S T."""
    time = max(a[i, 1], b[j, 1]) - min(a[i, 0], b[j, 0])
    space = max(a[i, 3], b[j, 3]) - min(a[i, 2], b[j, 2]) + max(a[i, 5], b[j, 5]) - min(a[i, 4], b[j, 4])
    space_a, space_b = a[i, 3] - a[i, 2] + a[i, 5] - a[i, 4], b[j, 3] - b[j, 2] + b[j, 5] - b[j, 4]
    stretch_time = float(n_a * (time - (a[i, 1] - a[i, 0])) + n_b * (time - (b[j, 1] - b[j, 0])))
    stretch_space = float(n_a * (space - space_a) + n_b * (space - space_b))
    weight = n_a + n_b
    return (
        min(stretch_space, weight * full_space) * full_time
        + min(stretch_time, weight * full_time) * full_space
    )


@jit_inline
def cheapest_box(
    a: Int64s, i: int, n_a: int, b: Int64s, begin: int, end: int, n_b: int, space: float, time: float
) -> tuple[int, float]:
    """Which of lines begin .. end - 1 of ``b`` costs line i of ``a`` least, the first among equals; and what."""
    best, least = begin, np.inf
    for j in range(begin, end):
        effort = box_effort(a, i, n_a, b, j, n_b, space, time)
        if effort < least:
            best, least = j, effort
    return best, least


@jit_inline
def longer_first(prints: Fingerprints, g: int, h: int) -> tuple[int, int]:
    """Two fingerprints, the longer one first; of equally long ones that with the lower number."""
    if prints.size[g] == prints.size[h]:
        return min(g, h), max(g, h)
    return (g, h) if prints.size[g] > prints.size[h] else (h, g)


@jit
def efforts_of(
    prints: Fingerprints,
    g: int,
    open_groups: Bools,
    begin: int,
    end: int,
    space: float,
    time: float,
    out: Floats,
) -> None:
    """out[h] = effort of fingerprints g and h, begin <= h < end: infinite for g itself and those not open.

    The mean over samples of the longer of the smallest effort to a sample of the shorter, from 0 to 1.
    """
    for h in range(begin, end):
        if h == g or not open_groups[h]:
            out[h] = np.inf
            continue
        long, short = longer_first(prints, g, h)
        n_long, n_short = prints.members[long], prints.members[short]
        first = prints.first[short]
        total = 0.0
        for i in range(prints.first[long], prints.first[long] + prints.size[long]):
            total += cheapest_box(
                prints.box, i, n_long, prints.box, first, first + prints.size[short], n_short, space, time
            )[1]
        out[h] = total / (2.0 * (n_long + n_short) * space * time * prints.size[long])


@jit
def all_efforts(
    prints: Fingerprints, open_groups: Bools, begin: int, end: int, space: float, time: float, out: Floats
) -> None:
    """out[g, h] = effort of fingerprints g and h for g < h, begin <= g < end; the rest of these lines is infinite."""
    for g in range(begin, end):
        out[g, : g + 1] = np.inf
        efforts_of(prints, g, open_groups, g + 1, len(prints.size), space, time, out[g])


@jit_inline
def widen(box: Int64s, line: int, by: Int64s, i: int) -> None:
    """Make a line of ``box`` hold line i of ``by`` as well."""
    for axis in range(0, 6, 2):
        box[line, axis] = min(box[line, axis], by[i, axis])
        box[line, axis + 1] = max(box[line, axis + 1], by[i, axis + 1])


@jit
def join(prints: Fingerprints, g: int, h: int, space: float, time: float, out: Int64s) -> int:
    """Merge two fingerprints into the first lines of ``out`` (as many as the shorter has); return how many are used.

    Each sample of the longer joins its cheapest sample of the shorter. Samples of the shorter that received none join
    the generalized sample that is then cheapest for them; several may join the same one.
    """
    long, short = longer_first(prints, g, h)
    n_long, n_short = prints.members[long], prints.members[short]
    first, n = prints.first[short], prints.size[short]
    out[:n] = prints.box[first : first + n]
    received = np.zeros(n, np.bool_)
    for i in range(prints.first[long], prints.first[long] + prints.size[long]):
        j = cheapest_box(prints.box, i, n_long, prints.box, first, first + n, n_short, space, time)[0] - first
        widen(out, j, prints.box, i)
        received[j] = True
    used = 0
    for j in range(n):
        if received[j]:
            out[used] = out[j]
            used += 1
    generalized = out[:used].copy()
    for j in range(n):
        if not received[j]:
            line = cheapest_box(
                prints.box, first + j, n_short, generalized, 0, used, n_long + n_short, space, time
            )[0]
            widen(out, line, prints.box, first + j)
    return used


@jit
def hull_over_time(box: Int64s, begins: Int64s, ends: Int64s, out: Int64s, covered: Int32s) -> None:
    """out[p] = hull of the areas of all boxes that reach over begins[p] .. ends[p]; covered[p] = how many these are."""
    for p in range(len(begins)):
        covered[p] = 0
        for i in range(len(box)):
            if box[i, 0] <= begins[p] and box[i, 1] >= ends[p]:
                if covered[p] == 0:
                    out[p] = box[i]
                else:
                    widen(out, p, box, i)
                covered[p] += 1
        out[p, 0], out[p, 1] = begins[p], ends[p]
