"""Where inside its boxes was the owner of a record? Candidates and their features, from the file alone (docs/audit.md).

Boxes are as small as they can be, so that faces are coordinates of samples, and corners often somebody's cell. People
come back to their places, so the other boxes of a record tell which of the candidates is its owner's.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from shoal.auditing.kernels.consistency import BoxIndex, Trajectories, box_holding, first_box_ending_after
from shoal.auditing.kernels.fits import Fits, Knowledge
from shoal.core.arrays import Bools, Floats, Int64s
from shoal.core.compiled import jit, jit_inline, jit_inline_allocating, jit_no_arrays
from shoal.core.reprs import sizes_only

MOST_CANDIDATES = 64
PLACE_FEATURES = (
    "faces", "corner", "corners_now", "corners_near", "faces_now", "popularity",
    "share", "tight", "edges", "corners", "next", "off_centre",
)  # fmt: skip
N_PLACE_FEATURES = len(PLACE_FEATURES)
_TIGHT, _EDGES = 7, 8
_ALIKE = 1e-9  # sums of chances that differ by less are equal: they were summed in another order


class EpochCounts(NamedTuple):
    """Numbers of boxes by epoch and by something numbered: epoch e has lines ptr[e] .. ptr[e + 1] - 1, by number."""

    ptr: Int64s
    what: Int64s
    n: Int64s


class Sites(NamedTuple):
    """Cells that are a corner of some box, sorted by x, then y.

    n: how many boxes have a corner there. Sites of column c (the c-th different x) are first[c] .. first[c + 1] - 1;
    row: the number of the site's y among all different ones, row_y. corners, columns and rows: for each epoch, counted
    from ``first_epoch``, how many boxes have a corner at a site, and a face at the x of a column or the y of a row.
    """

    x: Int64s
    y: Int64s
    n: Int64s
    column_x: Int64s
    first: Int64s
    column: Int64s
    row: Int64s
    row_y: Int64s
    epoch_slots: int
    first_epoch: int
    corners: EpochCounts
    columns: EpochCounts
    rows: EpochCounts

    def __repr__(self) -> str:
        return sizes_only(self)


class SiteHabits(NamedTuple):
    """What the boxes of one record say of every site, summed over those that hold it: how many hold it, 1 / sqrt(cells
    inside), axes on which the site lies, and how many have a corner there."""

    held: Floats
    tight: Floats
    axes: Floats
    corners: Floats


class Scratch(NamedTuple):
    """Room for the candidates of one box: their sites, what puts them first (twice), their features and chances."""

    site: Int64s
    rank: Floats
    partial: Floats
    features: Floats
    chance: Floats


@jit_inline_allocating
def make_habits(sites: Sites) -> SiteHabits:
    """SiteHabits of a record without boxes."""
    n = len(sites.x)
    return SiteHabits(np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n))


@jit_inline_allocating
def make_scratch(sites: Sites) -> Scratch:
    """Room for candidates, and for one cell more."""
    n = len(sites.x)
    room = MOST_CANDIDATES + 1
    return Scratch(
        np.empty(n + 1, np.int64),
        np.empty(n),
        np.empty(n),
        np.empty((room, N_PLACE_FEATURES)),
        np.empty(room),
    )


@jit_inline
def axes_touched(index: BoxIndex, box: int, x: int, y: int) -> int:
    """On how many axes of a box a cell inside it lies: 0 to 2."""
    row = index.box[box]
    return int(x == row["x0"] or x == row["x1"]) + int(y == row["y0"] or y == row["y1"])


@jit_inline
def over(index: BoxIndex, box: int, x: int, y: int) -> bool:
    """Whether a box is over a cell, whenever."""
    row = index.box[box]
    return bool(row["x0"] <= x <= row["x1"] and row["y0"] <= y <= row["y1"])


@jit_inline
def tightness(index: BoxIndex, box: int) -> float:
    """1 / sqrt(cells inside)."""
    row = index.box[box]
    return 1.0 / math.sqrt((row["x1"] - row["x0"] + 1.0) * (row["y1"] - row["y0"] + 1.0))


@jit_inline
def lower_bound(values: Int64s, low: int, high: int, value: int) -> int:
    """The first of sorted values low .. high - 1 that is not below a value."""
    while low < high:
        middle = (low + high) // 2
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@jit_inline
def number_of(values: Int64s, value: int) -> int:
    """The place of a value among sorted ones; -1 if it is none of them."""
    at = lower_bound(values, 0, len(values), value)
    return at if at < len(values) and values[at] == value else -1


@jit_inline
def counted_in(counts: EpochCounts, epoch: int, what: int) -> int:
    """How many boxes of an epoch have something; 0 for epochs before the first and after the last."""
    if epoch < 0 or epoch >= len(counts.ptr) - 1:
        return 0
    at = lower_bound(counts.what, counts.ptr[epoch], counts.ptr[epoch + 1], what)
    return int(counts.n[at]) if at < counts.ptr[epoch + 1] and counts.what[at] == what else 0


@jit_inline
def note_box(
    index: BoxIndex, sites: Sites, box: int, x0: int, x1: int, y0: int, y1: int, habits: SiteHabits
) -> None:
    """Add what a box says of the sites in a part of it."""
    tight = tightness(index, box)
    column = lower_bound(sites.column_x, 0, len(sites.column_x), x0)
    while column < len(sites.column_x) and sites.column_x[column] <= x1:
        end = sites.first[column + 1]
        site = lower_bound(sites.y, sites.first[column], end, y0)
        while site < end and sites.y[site] <= y1:
            axes = axes_touched(index, box, sites.x[site], sites.y[site])
            habits.held[site] += 1.0
            habits.tight[site] += tight
            habits.axes[site] += axes
            habits.corners[site] += axes == 2
            site += 1
        column += 1


@jit_inline
def note_habits(index: BoxIndex, sites: Sites, record: int, habits: SiteHabits) -> None:
    """Add what all boxes of a record say of sites."""
    for box in range(index.ptr[record], index.ptr[record + 1]):
        row = index.box[box]
        note_box(index, sites, box, row["x0"], row["x1"], row["y0"], row["y1"], habits)


@jit_inline
def note_habits_inside(index: BoxIndex, sites: Sites, box: int, habits: SiteHabits) -> None:
    """Add what all boxes of a record say of the sites inside one of them."""
    inside = index.box[box]
    for other in range(index.ptr[inside["record"]], index.ptr[inside["record"] + 1]):
        row = index.box[other]
        x0, x1 = max(row["x0"], inside["x0"]), min(row["x1"], inside["x1"])
        y0, y1 = max(row["y0"], inside["y0"]), min(row["y1"], inside["y1"])
        if x0 <= x1 and y0 <= y1:
            note_box(index, sites, other, x0, x1, y0, y1, habits)


@jit_inline
def forget_box(index: BoxIndex, sites: Sites, box: int, habits: SiteHabits) -> None:
    """Forget what is noted of the sites inside a box."""
    row = index.box[box]
    column = lower_bound(sites.column_x, 0, len(sites.column_x), row["x0"])
    while column < len(sites.column_x) and sites.column_x[column] <= row["x1"]:
        end = sites.first[column + 1]
        site = lower_bound(sites.y, sites.first[column], end, row["y0"])
        while site < end and sites.y[site] <= row["y1"]:
            habits.held[site] = habits.tight[site] = habits.axes[site] = habits.corners[site] = 0.0
            site += 1
        column += 1


@jit_inline
def forget_habits(index: BoxIndex, sites: Sites, record: int, habits: SiteHabits) -> None:
    """Forget what is noted of the sites inside the boxes of a record."""
    for box in range(index.ptr[record], index.ptr[record + 1]):
        forget_box(index, sites, box, habits)


@jit_inline
def nth_smallest(values: Floats, n: int, wanted: int) -> float:
    """The value that stands at place ``wanted`` once the first n values are sorted; they are rearranged."""
    low, high = 0, n - 1
    while low < high:
        pivot, left, right = values[(low + high) // 2], low, high
        while left <= right:
            while values[left] < pivot:
                left += 1
            while values[right] > pivot:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                left += 1
                right -= 1
        if wanted <= right:
            high = right
        elif wanted >= left:
            low = left
        else:
            return float(values[wanted])
    return float(values[wanted])


@jit_no_arrays
def find_candidates(index: BoxIndex, sites: Sites, box: int, habits: SiteHabits, scratch: Scratch) -> int:
    """Put the candidates of a box into scratch.site, by x and y; return their number."""
    row, n = index.box[box], 0
    column = lower_bound(sites.column_x, 0, len(sites.column_x), row["x0"])
    while column < len(sites.column_x) and sites.column_x[column] <= row["x1"]:
        end = sites.first[column + 1]
        site = lower_bound(sites.y, sites.first[column], end, row["y0"])
        while site < end and sites.y[site] <= row["y1"]:
            axes = axes_touched(index, box, sites.x[site], sites.y[site])
            elsewhere = sites.n[site] - habits.corners[site]
            scratch.site[n] = site
            scratch.rank[n] = (1 + elsewhere) * 4**axes * (1 + 2 * (habits.axes[site] - axes))
            n += 1
            site += 1
        column += 1
    if n <= MOST_CANDIDATES:
        return n
    for i in range(n):
        scratch.partial[i] = scratch.rank[i]
    least, ties = nth_smallest(scratch.partial, n, n - MOST_CANDIDATES), MOST_CANDIDATES
    for i in range(n):
        ties -= scratch.rank[i] > least
    kept = 0
    for i in range(n):
        tied = scratch.rank[i] == least
        if scratch.rank[i] > least or (tied and ties > 0):
            ties -= tied
            scratch.site[kept] = scratch.site[i]
            kept += 1
    return kept


@jit_inline
def describe_cell(
    index: BoxIndex,
    sites: Sites,
    box: int,
    x: int,
    y: int,
    site: int,
    held: float,
    tight: float,
    axes_elsewhere: float,
    corners: float,
    feature: Floats,
) -> None:
    """The features of a cell in a box; ``site``: its number, or -1; the rest sums over the record's other boxes."""
    row, axes = index.box[box], axes_touched(index, box, x, y)
    is_corner = int(axes == 2)
    record = row["record"]
    begin, end = index.ptr[record], index.ptr[record + 1]
    epoch = row["t0"] // sites.epoch_slots - sites.first_epoch
    on_x, on_y = int(x == row["x0"] or x == row["x1"]), int(y == row["y0"] or y == row["y1"])
    now = near = columns = rows = everywhere = 0
    if site >= 0:
        everywhere = sites.n[site]
        now = counted_in(sites.corners, epoch, site) - is_corner
        near = counted_in(sites.corners, epoch - 1, site) + counted_in(sites.corners, epoch + 1, site)
        columns = counted_in(sites.columns, epoch, sites.column[site])
        rows = counted_in(sites.rows, epoch, sites.row[site])
    else:
        columns = counted_in(sites.columns, epoch, number_of(sites.column_x, x))
        rows = counted_in(sites.rows, epoch, number_of(sites.row_y, y))
    feature[0] = axes
    feature[1] = is_corner
    feature[2] = math.log(1.0 + now)
    feature[3] = math.log(1.0 + near)
    feature[4] = math.log(1.0 + columns - on_x) + math.log(1.0 + rows - on_y)
    feature[5] = math.log(0.5 + everywhere - corners - is_corner)
    feature[6] = held / max(end - begin - 1, 1)
    feature[7] = math.log(0.02 + max(tight, 0.0))
    feature[8] = math.log(0.1 + axes_elsewhere / 2)
    feature[9] = math.log(0.1 + corners)
    before = box > begin and over(index, box - 1, x, y)
    after = box + 1 < end and over(index, box + 1, x, y)
    feature[10] = int(before) + int(after)
    feature[11] = abs(2 * x - row["x0"] - row["x1"]) / (row["x1"] - row["x0"] + 1.0)
    feature[11] += abs(2 * y - row["y0"] - row["y1"]) / (row["y1"] - row["y0"] + 1.0)


@jit_inline
def describe_site(
    index: BoxIndex, sites: Sites, box: int, site: int, habits: SiteHabits, feature: Floats
) -> None:
    """The features of a site in a box of the record whose habits are noted."""
    x, y = sites.x[site], sites.y[site]
    axes = axes_touched(index, box, x, y)
    describe_cell(
        index, sites, box, x, y, site,
        habits.held[site] - 1, habits.tight[site] - tightness(index, box), habits.axes[site] - axes,
        habits.corners[site] - (axes == 2), feature,
    )  # fmt: skip


@jit_inline
def describe_any(index: BoxIndex, sites: Sites, box: int, x: int, y: int, feature: Floats) -> None:
    """The features in a box of a cell that is no site, so that no box has a corner there."""
    record = index.box[box]["record"]
    held = tight = axes = 0.0
    for other in range(index.ptr[record], index.ptr[record + 1]):
        if other != box and over(index, other, x, y):
            held += 1.0
            tight += tightness(index, other)
            axes += axes_touched(index, other, x, y)
    describe_cell(index, sites, box, x, y, -1, held, tight, axes, 0.0, feature)


@jit_inline
def site_at(sites: Sites, x: int, y: int) -> int:
    """The number of the site at a cell; -1 for none."""
    column = lower_bound(sites.column_x, 0, len(sites.column_x), x)
    if column == len(sites.column_x) or sites.column_x[column] != x:
        return -1
    end = sites.first[column + 1]
    site = lower_bound(sites.y, sites.first[column], end, y)
    return site if site < end and sites.y[site] == y else -1


@jit_inline
def score_of(weights: Floats, feature: Floats) -> float:
    """weights . features."""
    score = 0.0
    for j in range(N_PLACE_FEATURES):
        score += weights[j] * feature[j]
    return score


@jit_inline
def set_chances(scratch: Scratch, n: int, weights: Floats) -> None:
    """The chances of n candidates from their features."""
    highest = -math.inf
    for i in range(n):
        scratch.chance[i] = score_of(weights, scratch.features[i])
        highest = max(highest, scratch.chance[i])
    total = 0.0
    for i in range(n):
        scratch.chance[i] = math.exp(scratch.chance[i] - highest)
        total += scratch.chance[i]
    for i in range(n):
        scratch.chance[i] /= total


@jit_inline
def weigh_box(
    index: BoxIndex, sites: Sites, box: int, weights: Floats, habits: SiteHabits, scratch: Scratch
) -> int:
    """Find the candidates of a box and their chances; return the number of candidates."""
    n = find_candidates(index, sites, box, habits, scratch)
    for i in range(n):
        describe_site(index, sites, box, scratch.site[i], habits, scratch.features[i])
    set_chances(scratch, n, weights)
    return n


@jit
def describe_boxes(
    index: BoxIndex,
    sites: Sites,
    boxes: Int64s,
    begin: int,
    end: int,
    at: Int64s,
    n: Int64s,
    site: Int64s,
    features: Floats,
) -> None:
    """Candidates of boxes[begin] .. boxes[end - 1] and their features; only n, their numbers, where ``site`` is empty.

    Those of boxes[i] are lines at[i] .. at[i] + n[i] - 1.
    """
    habits, scratch = make_habits(sites), make_scratch(sites)
    for i in range(begin, end):
        note_habits_inside(index, sites, boxes[i], habits)
        n[i] = find_candidates(index, sites, boxes[i], habits, scratch)
        if len(site):
            for j in range(n[i]):
                line = at[i] + j
                site[line] = scratch.site[j]
                describe_site(index, sites, boxes[i], scratch.site[j], habits, features[line])
        forget_box(index, sites, boxes[i], habits)


@jit
def find_heaviest_sites(
    index: BoxIndex,
    sites: Sites,
    weights: Floats,
    wanted: Bools,
    records: Int64s,
    begin: int,
    end: int,
    heaviest: Int64s,
) -> None:
    """heaviest[i]: the site with the largest sum of chances over wanted boxes of records[i]; -1 where there is none."""
    habits, scratch = make_habits(sites), make_scratch(sites)
    mass, met = np.zeros(len(sites.x)), np.empty(len(sites.x), np.int64)
    is_met = np.zeros(len(sites.x), np.bool_)  # a mass does not tell: chances can be too small for a number
    for i in range(begin, end):
        record, n_met = records[i], 0
        note_habits(index, sites, record, habits)
        for box in range(index.ptr[record], index.ptr[record + 1]):
            if wanted[box]:
                n = weigh_box(index, sites, box, weights, habits, scratch)
                for j in range(n):
                    site = scratch.site[j]
                    if not is_met[site]:
                        met[n_met], is_met[site] = site, True
                        n_met += 1
                    mass[site] += scratch.chance[j]
        heaviest[i] = heaviest_of(mass, met, n_met)
        for site in met[:n_met]:
            mass[site], is_met[site] = 0.0, False
        forget_habits(index, sites, record, habits)


@jit_inline
def heaviest_of(mass: Floats, met: Int64s, n_met: int) -> int:
    """The site with the largest mass among those met, of equals the first; -1 if none was met."""
    largest, best = 0.0, -1
    for i in range(n_met):
        largest = max(largest, mass[met[i]])
    for i in range(n_met):
        if mass[met[i]] >= largest * (1 - _ALIKE) and (best < 0 or met[i] < best):
            best = met[i]
    return int(best)


@jit
def list_masses(
    index: BoxIndex,
    sites: Sites,
    weights: Floats,
    records: Int64s,
    at: Int64s,
    begin: int,
    end: int,
    n: Int64s,
    site: Int64s,
    mass: Floats,
) -> None:
    """Sites that are candidates in boxes of records[i], n[i] of them from line at[i] on, and the sums of their chances
    over these boxes, for i in begin .. end - 1; there is room for every candidate of every box."""
    habits, scratch = make_habits(sites), make_scratch(sites)
    line_of = np.full(len(sites.x), -1, np.int64)
    for i in range(begin, end):
        record, n[i] = records[i], 0
        note_habits(index, sites, record, habits)
        for box in range(index.ptr[record], index.ptr[record + 1]):
            for j in range(weigh_box(index, sites, box, weights, habits, scratch)):
                line = line_of[scratch.site[j]]
                if line < 0:
                    line = at[i] + n[i]
                    n[i] += 1
                    line_of[scratch.site[j]], site[line], mass[line] = line, scratch.site[j], 0.0
                mass[line] += scratch.chance[j]
        for line in range(at[i], at[i] + n[i]):
            line_of[site[line]] = -1
        forget_habits(index, sites, record, habits)


@jit
def find_known_boxes(
    trajectories: Trajectories,
    index: BoxIndex,
    knowledge: Knowledge,
    fits: Fits,
    line: Int64s,
    attack: Int64s,
    at: Int64s,
    begin: int,
    end: int,
    box: Int64s,
) -> None:
    """box[at[i]] and on: the boxes of record fits.record[line[i]] that hold the samples known in attack[i] (of one
    piece), -1 for a sample that none holds; for i in begin .. end - 1."""
    for i in range(begin, end):
        record, piece = fits.record[line[i]], knowledge.ptr[attack[i]]
        first, last = knowledge.first[piece], knowledge.last[piece]
        for row in range(first, last):
            sample = trajectories.sample[row]
            candidate = first_box_ending_after(index, record, sample["t"])
            box[at[i] + row - first] = box_holding(
                index, candidate, index.ptr[record + 1], sample["t"], sample["x"], sample["y"]
            )


class BoxQueries(NamedTuple):
    """Cells asked for inside some boxes: of boxes[i] those of lines ptr[i] .. ptr[i + 1] - 1."""

    boxes: Int64s
    ptr: Int64s
    x: Int64s
    y: Int64s


@jit
def weigh_known_cells(
    index: BoxIndex, sites: Sites, weights: Floats, queries: BoxQueries, begin: int, end: int, found: Floats
) -> None:
    """What is to be known of cells in or near boxes begin .. end - 1: for each row of ``weights`` the logarithm of the
    cell's chance, where it counts as one more candidate if it is none; then its tightness and its edges."""
    habits, scratch = make_habits(sites), make_scratch(sites)
    n_weights = len(weights)
    highest, total = np.empty(n_weights), np.empty(n_weights)
    for i in range(begin, end):
        box = queries.boxes[i]
        note_habits_inside(index, sites, box, habits)
        n = find_candidates(index, sites, box, habits, scratch)
        for j in range(n):
            describe_site(index, sites, box, scratch.site[j], habits, scratch.features[j])
        for w in range(n_weights):
            highest[w], total[w] = -math.inf, 0.0
            for j in range(n):
                scratch.chance[j] = score_of(weights[w], scratch.features[j])
                highest[w] = max(highest[w], scratch.chance[j])
            for j in range(n):
                total[w] += math.exp(scratch.chance[j] - highest[w])
        for line in range(queries.ptr[i], queries.ptr[i + 1]):
            x, y = queries.x[line], queries.y[line]
            site, known = site_at(sites, x, y), -1
            for j in range(n):
                if scratch.site[j] == site:
                    known = j
            extra = known < 0
            if extra:
                known = n
                if site >= 0 and over(index, box, x, y):
                    describe_site(index, sites, box, site, habits, scratch.features[n])
                else:
                    describe_any(index, sites, box, x, y, scratch.features[n])
            for w in range(n_weights):
                score = score_of(weights[w], scratch.features[known])
                top = max(highest[w], score)
                mass = total[w] * math.exp(highest[w] - top) + extra * math.exp(score - top)
                found[line, w] = score - top - math.log(mass)
            found[line, n_weights] = scratch.features[known, _TIGHT]
            found[line, n_weights + 1] = scratch.features[known, _EDGES]
        forget_box(index, sites, box, habits)
