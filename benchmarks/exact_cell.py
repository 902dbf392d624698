"""In which of the finest cells was the owner of a box? An attacker for files of any cell and any lattice.

Stronger than the attack of the audit, which looks at the file alone: the attacker knows all cells that occur at all
(antennas are public), the rule that made the boxes larger and its step for every box, what half of the people did, and
which records are theirs. So the attack says the same of a file with coarse cells as of one with a lattice.

A box shows a *strip* of one step along each face, in which somebody was. Candidates are the known cells in the box; a
conditional logit, learnt from the other half of the people, weighs them by ``FEATURES``, once more after it has weighed
all boxes of the record. docs/decisions/0026-no-lattices.md has the figures.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.auditing.attacks.conditional_logit import centred, learn_weights
from shoal.core.compiled import jit
from shoal.core.samples import Samples

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

FEATURES = (
    "axes", "is_corner", "strips", "corner", "corners_now", "corners_near", "strips_now", "corners_anywhere",
    "visits", "visits_now", "share", "tight", "strips_elsewhere", "corners_elsewhere", "next", "off_centre",
    "mass", "small_mass",
)  # fmt: skip
_N = len(FEATURES)
X0, X1, Y0, Y1, STEP, EPOCH = range(6)  # columns of a box, in finest cells


class Known(NamedTuple):
    """What the attacker knows of the world. Cells go by x, then y; those of column x are first[x - left] and on.

    visits[h], visits_now[h, e]: samples of the people who are not of half h in each cell, in all and in an epoch.
    """

    x: Ints
    y: Ints
    first: Ints
    left: int
    low: int
    visits: Floats
    visits_now: Floats


class Seen(NamedTuple):
    """What the boxes of a file say of cells together: by epoch and cell, by epoch and x, by epoch and y."""

    corners: Floats
    corners_now: Floats
    column: Floats
    row: Floats


class Records(NamedTuple):
    """Boxes by record and time: those of record r are ptr[r] .. ptr[r + 1] - 1; half (0 or 1) of their owners."""

    box: Ints
    ptr: Ints
    half: Ints


@jit
def _cells_in(known: Known, box: Ints, cells: Ints) -> int:
    n = 0
    for x in range(max(box[X0], known.left), min(box[X1], known.left + len(known.first) - 2) + 1):
        for cell in range(known.first[x - known.left], known.first[x - known.left + 1]):
            if box[Y0] <= known.y[cell] <= box[Y1]:
                cells[n] = cell
                n += 1
    return n


@jit
def _strips(box: Ints, x: int, y: int) -> tuple[bool, bool, bool, bool]:
    """Whether a cell lies in the strips along the four faces."""
    step = box[STEP]
    return x < box[X0] + step, x > box[X1] - step, y < box[Y0] + step, y > box[Y1] - step


@jit
def _count_strips(known: Known, box: Ints, cells: Ints, n: int, counts: Floats) -> None:
    """How many of the known cells lie in each strip and in each corner."""
    counts[:] = 0
    for i in range(n):
        left, right, low, high = _strips(box, known.x[cells[i]], known.y[cells[i]])
        counts[0] += left
        counts[1] += right
        counts[2] += low
        counts[3] += high
        counts[4] += left and low
        counts[5] += left and high
        counts[6] += right and low
        counts[7] += right and high


@jit
def _part_of(known: Known, box: Ints, cell: int, counts: Floats) -> tuple[int, float, float]:
    """On how many axes a cell lies in a strip, and its parts of the strips and of a corner."""
    left, right, low, high = _strips(box, known.x[cell], known.y[cell])
    strips, corner = 0.0, 0.0
    for place, there in enumerate((left, right, low, high)):
        if there:
            strips += 1 / counts[place]
    for place, there in enumerate((left and low, left and high, right and low, right and high)):
        if there:
            corner = max(corner, 1 / counts[4 + place])
    return int(left or right) + int(low or high), strips, corner


@jit
def _see(known: Known, records: Records, seen: Seen) -> None:
    cells, counts = np.empty(len(known.x), np.int64), np.zeros(8)
    for box in records.box:
        n = _cells_in(known, box, cells)
        _count_strips(known, box, cells, n, counts)
        for i in range(n):
            corner = _part_of(known, box, cells[i], counts)[2]
            seen.corners[cells[i]] += corner
            seen.corners_now[box[EPOCH], cells[i]] += corner
        for d in range(box[STEP]):
            for x in (box[X0] + d, box[X1] - d):
                if 0 <= x - known.left < seen.column.shape[1]:
                    seen.column[box[EPOCH], x - known.left] += 1 / box[STEP]
            for y in (box[Y0] + d, box[Y1] - d):
                if 0 <= y - known.low < seen.row.shape[1]:
                    seen.row[box[EPOCH], y - known.low] += 1 / box[STEP]


@jit
def _describe(
    known: Known,
    seen: Seen,
    records: Records,
    wanted: Ints,
    weights: Floats,
    weighed: bool,
    at: Ints,
    n: Ints,
    cell: Ints,
    features: Floats,
) -> None:
    """Candidates of boxes, of which wanted[box] is the number or -1, from line at[number] on; n alone without room.

    weighed: all boxes of the record are weighed first, with weights[half].
    """
    n_cells, n_epochs = len(known.x), len(seen.corners_now)
    cells, counts, feature = np.empty(n_cells, np.int64), np.zeros(8), np.zeros(_N)
    held, tight, strip, corner_of = np.zeros(n_cells), np.zeros(n_cells), np.zeros(n_cells), np.zeros(n_cells)
    mass = np.zeros(n_cells)
    for r in range(len(records.ptr) - 1):
        begin, end, half = records.ptr[r], records.ptr[r + 1], records.half[r]
        if wanted[begin:end].max() < 0:
            continue
        room = 0
        for b in range(begin, end):
            box = records.box[b]
            inside = _cells_in(known, box, cells)
            room += inside
            if wanted[b] >= 0:
                n[wanted[b]] = inside
            _count_strips(known, box, cells, inside, counts)
            for c in cells[:inside]:
                _, strips, corner = _part_of(known, box, c, counts)
                held[c] += 1
                tight[c] += 1 / np.sqrt(inside)
                strip[c] += strips
                corner_of[c] += corner
        chance = np.zeros(room)
        for turn in range(int(weighed) + 1 if len(cell) else 0):
            last, line = turn == int(weighed), 0
            for b in range(begin, end):
                box, epoch = records.box[b], records.box[b, EPOCH]
                inside = _cells_in(known, box, cells)
                line += inside
                if last and wanted[b] < 0:
                    continue
                _count_strips(known, box, cells, inside, counts)
                score = chance[line - inside : line]
                for i in range(inside):
                    c = cells[i]
                    x, y = known.x[c], known.y[c]
                    axes, strips, corner = _part_of(known, box, c, counts)
                    left, right, low, high = _strips(box, x, y)
                    near = seen.corners_now[epoch - 1, c] if epoch > 0 else 0.0
                    near += seen.corners_now[epoch + 1, c] if epoch + 1 < n_epochs else 0.0
                    column = seen.column[epoch, x - known.left] - (int(left) + int(right)) / box[STEP]
                    row = seen.row[epoch, y - known.low] - (int(low) + int(high)) / box[STEP]
                    follows = b > begin and _over(records.box[b - 1], x, y)
                    precedes = b + 1 < end and _over(records.box[b + 1], x, y)
                    others = max(end - begin - 1, 1)
                    feature[0] = axes
                    feature[1] = axes == 2
                    feature[2] = strips
                    feature[3] = corner
                    feature[4] = np.log(0.05 + max(seen.corners_now[epoch, c] - corner, 0.0))
                    feature[5] = np.log(0.05 + near)
                    feature[6] = np.log(0.3 + max(column, 0.0)) + np.log(0.3 + max(row, 0.0))
                    feature[7] = np.log(0.5 + max(seen.corners[c] - corner_of[c], 0.0))
                    feature[8] = np.log(0.5 + known.visits[half, c])
                    feature[9] = np.log(0.2 + known.visits_now[half, epoch, c])
                    feature[10] = (held[c] - 1) / others
                    feature[11] = np.log(0.02 + max(tight[c] - 1 / np.sqrt(inside), 0.0))
                    feature[12] = np.log(0.1 + max(strip[c] - strips, 0.0))
                    feature[13] = np.log(0.1 + max(corner_of[c] - corner, 0.0))
                    feature[14] = int(follows) + int(precedes)
                    feature[15] = abs(2 * x - box[X0] - box[X1]) / (box[X1] - box[X0] + 1)
                    feature[15] += abs(2 * y - box[Y0] - box[Y1]) / (box[Y1] - box[Y0] + 1)
                    feature[16] = feature[17] = 0.0
                    if turn:
                        elsewhere = max(mass[c] - score[i], 0.0) / others
                        feature[16] = np.log(0.02 + 10 * elsewhere)
                        feature[17] = np.log(0.002 + elsewhere)
                    if last:
                        cell[at[wanted[b]] + i] = c
                        features[at[wanted[b]] + i] = feature
                    else:
                        score[i] = (weights[half] * feature).sum()
                if not last:
                    score[:] = np.exp(score - score.max())
                    score /= score.sum()
            if not last:
                line = 0
                for b in range(begin, end):
                    for c in cells[: _cells_in(known, records.box[b], cells)]:
                        mass[c] += chance[line]
                        line += 1
        for b in range(begin, end):
            for c in cells[: _cells_in(known, records.box[b], cells)]:
                held[c] = tight[c] = strip[c] = corner_of[c] = mass[c] = 0.0


@jit
def _over(box: Ints, x: int, y: int) -> bool:
    return bool(box[X0] <= x <= box[X1] and box[Y0] <= y <= box[Y1])


class Found(NamedTuple):
    """Shares of boxes whose owner's exact cell is picked: by the attacker, and by picking any known cell in the box."""

    picked: float
    guessing: float


def attack_cells(
    samples: Samples, owner: Ints, t0: Ints, t1: Ints, sides: Ints, epoch_slots: int, n_attacks: int = 4000
) -> Found:
    """Attack boxes, by owner and time, drawn at random; ``sides``: columns X0 .. STEP, all in the cells of samples."""
    epoch = t0 // epoch_slots - t0.min() // epoch_slots
    owners, first = np.unique(owner, return_index=True)
    half_of = np.random.default_rng(99).integers(0, 2, samples.n_users)
    records = Records(
        np.column_stack([sides, epoch]).astype(np.int64), np.append(first, len(owner)), half_of[owners]
    )
    known, key = _known(samples, half_of, int(t0.min()) // epoch_slots, int(epoch.max()) + 1, epoch_slots)
    n_epochs, height = known.visits_now.shape[1], int(np.ptp(known.y)) + 1
    seen = Seen(
        np.zeros(len(known.x)), np.zeros((n_epochs, len(known.x))),
        np.zeros((n_epochs, len(known.first) - 1)), np.zeros((n_epochs, height)),
    )  # fmt: skip
    _see(known, records, seen)
    drawn = np.sort(np.random.default_rng(0).choice(len(owner), min(n_attacks, len(owner)), replace=False))
    wanted = np.full(len(owner), -1)
    wanted[drawn] = np.arange(len(drawn))
    n, weights = np.zeros(len(drawn), np.int64), np.zeros((2, _N))
    _describe(known, seen, records, wanted, weights, False, n, n, np.empty(0, np.int64), np.empty((0, _N)))
    at, case = np.cumsum(n) - n, np.repeat(np.arange(len(drawn)), n)
    cell, features = np.empty(len(case), np.int64), np.empty((len(case), _N))
    half, right, shares = half_of[owner[drawn]], np.empty(0, np.bool_), []
    for weighed in (False, True):
        _describe(known, seen, records, wanted, weights, weighed, at, n, cell, features)
        right = (
            right if len(right) else _true_cells(samples, owner[drawn], t0[drawn], t1[drawn], case, key[cell])
        )
        values = centred(case, features)
        score = np.zeros(len(case))
        for each in (0, 1):
            taught, asked = (half != each)[case], (half == each)[case]
            weights[each] = learn_weights(case[taught], values[taught], right[taught])
            score[asked] = values[asked] @ weights[each]
        highest = np.full(len(drawn), -np.inf)
        np.maximum.at(highest, case, score)
        best = score >= highest[case] - 1e-9
        shares.append(float((np.bincount(case, best & right) / np.bincount(case, best)).mean()))
    return Found(max(shares), float((np.bincount(case, right) / n).mean()))


def _known(
    samples: Samples, half_of: Ints, first_epoch: int, n_epochs: int, epoch_slots: int
) -> tuple[Known, Ints]:
    """What is known of cells, and a number for each."""
    key = _key(samples.x, samples.y)
    keys, cell = np.unique(key, return_inverse=True)
    x, y = keys >> 32, (keys & 0xFFFFFFFF) - _MIDDLE
    visits, now = np.zeros((2, len(keys))), np.zeros((2, n_epochs, len(keys)))
    epoch = samples.t // epoch_slots - first_epoch
    for half in (0, 1):
        others = half_of[samples.user] != half
        np.add.at(visits[half], cell[others], 1)
        others &= (epoch >= 0) & (epoch < n_epochs)
        np.add.at(now[half], (epoch[others], cell[others]), 1)
    columns = np.searchsorted(x, np.arange(x[0], x[-1] + 2))
    return Known(x, y, columns, int(x[0]), int(y.min()), visits, now), keys


_MIDDLE = 1 << 31


def _key(x: npt.ArrayLike, y: npt.ArrayLike) -> Ints:
    """A number for a cell; numbers go by x, then y."""
    return (np.asarray(x, np.int64) << 32) + np.asarray(y, np.int64) + _MIDDLE


def _true_cells(
    samples: Samples, owner: Ints, t0: Ints, t1: Ints, case: Ints, key: Ints
) -> npt.NDArray[np.bool_]:
    """Which candidates the owner of a box was in, while it lasted."""
    ptr = np.searchsorted(samples.user, np.arange(samples.n_users + 1))
    right, line = np.zeros(len(case), np.bool_), np.searchsorted(case, np.arange(len(owner) + 1))
    for i, user in enumerate(owner.tolist()):
        t = samples.t[ptr[user] : ptr[user + 1]]
        rows = slice(
            ptr[user] + np.searchsorted(t, t0[i]), ptr[user] + np.searchsorted(t, t1[i], side="right")
        )
        lines = slice(line[i], line[i + 1])
        right[lines] = np.isin(key[lines], _key(samples.x[rows], samples.y[rows]))
    return right
