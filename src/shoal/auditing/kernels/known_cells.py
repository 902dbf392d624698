"""Which records are often at cells that an attacker knows, without times (docs/audit.md)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from shoal.auditing.kernels.consistency import BoxIndex, Trajectories
from shoal.auditing.kernels.sites import axes_touched, over, tightness
from shoal.core.arrays import Floats, Int64s
from shoal.core.compiled import jit, jit_inline

ALIKE = 1e-9  # shares that differ by less are equal: they were summed in another order
TOP_FEATURES = ("tight", "edges", "either", "mass")
SMALL_TIGHT, SMALL_EDGES = 0.01, 0.02


class KnownCells(NamedTuple):
    """Different cells that attackers know, sorted by x: cell c is known in attacks attack[first[c]] ..
    attack[first[c + 1] - 1]. n: how many cells each attacker knows.
    """

    x: Int64s
    y: Int64s
    first: Int64s
    attack: Int64s
    n: int


class CellFits(NamedTuple):
    """How well records fit known cells, for every attack.

    covered: the most known cells that a record has a box over, n: how many records have as many; own_covered: those of
    the victim's own record. A record's share is the mean over its boxes of known cells / cells inside. own_share: that
    of the victim's own record; largest: the largest share of any record; n_largest: how many records have the largest.
    likeliest: the records with the largest sum of ``tight`` and ``edges`` (score), -1 where there are fewer.
    """

    covered: Int64s
    n: Int64s
    own_covered: Int64s
    own_share: Floats
    largest: Floats
    n_largest: Int64s
    likeliest: Int64s
    score: Floats


@jit_inline
def note_likely(found: CellFits, attack: int, record: int, score: float) -> None:
    """Note a record among the likeliest of an attack, the best first, if it is one; records come in order."""
    place = found.score.shape[1]
    while place > 0 and score > found.score[attack, place - 1]:
        place -= 1
    if place == found.score.shape[1]:
        return
    for later in range(found.score.shape[1] - 1, place, -1):
        found.score[attack, later] = found.score[attack, later - 1]
        found.likeliest[attack, later] = found.likeliest[attack, later - 1]
    found.score[attack, place], found.likeliest[attack, place] = score, record


@jit
def add_cell_fits(
    index: BoxIndex, cells: KnownCells, own: Int64s, begin: int, end: int, found: CellFits
) -> None:
    """Add records begin .. end - 1 to ``found``, empty before. A record that meets no known cell has no share."""
    n_cells = len(cells.x)
    weight, tight, axes, met = (
        np.zeros(n_cells),
        np.zeros(n_cells),
        np.zeros(n_cells),
        np.empty(n_cells, np.int64),
    )
    share, score, covered = np.zeros(len(own)), np.zeros(len(own)), np.zeros(len(own), np.int64)
    concerned = np.empty(len(own), np.int64)
    for record in range(begin, end):
        n_met, n_concerned, n_boxes = 0, 0, index.ptr[record + 1] - index.ptr[record]
        for box in range(index.ptr[record], index.ptr[record + 1]):
            row = index.box[box]
            area = (row["x1"] - row["x0"] + 1.0) * (row["y1"] - row["y0"] + 1.0)
            cell = np.searchsorted(cells.x, row["x0"])
            while cell < n_cells and cells.x[cell] <= row["x1"]:
                if row["y0"] <= cells.y[cell] <= row["y1"]:
                    if weight[cell] == 0:
                        met[n_met] = cell
                        n_met += 1
                    weight[cell] += 1.0 / area
                    tight[cell] += 1.0 / math.sqrt(area)
                    axes[cell] += axes_touched(index, box, cells.x[cell], cells.y[cell])
                cell += 1
        for cell in met[:n_met]:
            gained = math.log(1 + tight[cell] / n_boxes / SMALL_TIGHT)
            gained += math.log(1 + axes[cell] / (2 * n_boxes) / SMALL_EDGES)
            for attack in cells.attack[cells.first[cell] : cells.first[cell + 1]]:
                if covered[attack] == 0:
                    concerned[n_concerned] = attack
                    n_concerned += 1
                covered[attack] += 1
                share[attack] += weight[cell]
                score[attack] += gained
            weight[cell] = tight[cell] = axes[cell] = 0.0
        for attack in concerned[:n_concerned]:
            mean = share[attack] / n_boxes
            if covered[attack] > found.covered[attack]:
                found.covered[attack], found.n[attack] = covered[attack], 0
            found.n[attack] += covered[attack] == found.covered[attack]
            if record == own[attack]:
                found.own_covered[attack], found.own_share[attack] = covered[attack], mean
            if mean > found.largest[attack] * (1 + ALIKE):
                found.largest[attack], found.n_largest[attack] = mean, 0
            found.n_largest[attack] += mean >= found.largest[attack] * (1 - ALIKE)
            note_likely(found, attack, record, score[attack])
            share[attack], score[attack], covered[attack] = 0.0, 0.0, 0


@jit
def describe_records(
    index: BoxIndex,
    attack: Int64s,
    record: Int64s,
    x: Int64s,
    y: Int64s,
    begin: int,
    end: int,
    features: Floats,
) -> None:
    """``tight``, ``edges`` and ``either`` of lines begin .. end - 1: a record and the cells known in an attack."""
    for line in range(begin, end):
        first, last = index.ptr[record[line]], index.ptr[record[line] + 1]
        n, either = last - first, 0
        for box in range(first, last):
            meets = False
            for j in range(x.shape[1]):
                meets |= over(index, box, x[attack[line], j], y[attack[line], j])
            either += meets
        features[line, 0] = features[line, 1] = 0.0
        features[line, 2] = either / n
        for j in range(x.shape[1]):
            known_x, known_y, tight, axes = x[attack[line], j], y[attack[line], j], 0.0, 0
            for box in range(first, last):
                if over(index, box, known_x, known_y):
                    tight += tightness(index, box)
                    axes += axes_touched(index, box, known_x, known_y)
            features[line, 0] += math.log(SMALL_TIGHT + tight / n)
            features[line, 1] += math.log(SMALL_EDGES + axes / (2 * n))


@jit
def count_cells(trajectories: Trajectories, most: int, begin: int, end: int, n: Int64s) -> None:
    """n[i] = in how many different cells user i has samples, up to ``most``, for users begin .. end - 1."""
    met = np.empty((most, 2), np.int64)
    for user in range(begin, end):
        n[user] = 0
        for row in range(trajectories.ptr[user], trajectories.ptr[user + 1]):
            if n[user] == most:
                break
            x, y, fresh = trajectories.sample[row]["x"], trajectories.sample[row]["y"], True
            for cell in range(n[user]):
                fresh &= met[cell, 0] != x or met[cell, 1] != y
            if fresh:
                met[n[user], 0], met[n[user], 1] = x, y
                n[user] += 1
