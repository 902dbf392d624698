"""Attacks by places: who has these top locations, and where does the person of this record live and work?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shoal.auditing.box_index import AttackedRecords
from shoal.auditing.context import AuditContext
from shoal.auditing.kernels.fits import ALIKE, CellFits, KnownCells, add_cell_fits, count_cells
from shoal.auditing.measures import Measure, Victims, guessing_outcomes, linkage_outcomes, measures_of
from shoal.core.arrays import Bools, Floats, Int32s, Int64s
from shoal.core.workers import Workers
from shoal.utility.home_work import at_night, at_work, footprints
from shoal.utility.kernels.home_work import find_heaviest_places

TOP = (1, 2, 3)
RADII_M = {"within_500m": 500.0, "within_1km": 1000.0, "within_2km": 2000.0}
_AT_A_TIME = 1 << 22  # samples

Hours = Callable[[AuditContext, Int64s], Bools]  # which slots lie in certain hours


def attack_top_locations(context: AuditContext) -> list[Measure]:
    """Find the victim's record by the cells in which the victim has most samples, without times."""
    found, n_cells = [], np.empty(context.samples.n_users, np.int64)
    context.workers.for_blocks(
        len(n_cells), lambda begin, end: count_cells(context.trajectories, max(TOP), begin, end, n_cells)
    )
    for n in TOP:
        rng = context.randomness(10, n)
        known = context.victims[n_cells[context.victims] >= n]
        victim = rng.choice(known, context.n_attacks if len(known) else 0)
        cells = cells_by_visits(context, _rows_of(context.samples.user, victim, context.samples.n_users))
        line = cells.at[victim][:, None] + np.arange(n)
        x, y = cells.x[line], cells.y[line]
        published, raw = (
            _located(context, target, victim, x, y) for target in (context.published, context.raw)
        )
        guessing = guessing_outcomes(context.published, context.promise.k)
        guessing["pick"] = guessing["success"]
        found += measures_of("top_locations", str(n), published, raw, guessing, Victims(victim, victim))
    return found


def attack_home_and_work(context: AuditContext) -> list[Measure]:
    """Find the victim's home and workplace, knowing which record is the victim's."""
    found = []
    for number, (place, when) in enumerate((("home", _at_night), ("work", _at_work))):
        rng = context.randomness(11, number)
        known = context.victims[_seen(context, when)[context.victims]]
        victim = rng.choice(known, context.n_attacks if len(known) else 0)
        rows = _rows_of(context.samples.user, victim, context.samples.n_users)
        cells = cells_by_visits(context, rows[when(context, context.samples.t[rows])])
        true = np.stack([cells.x[cells.at[victim]], cells.y[cells.at[victim]]], axis=1) + 0.5
        stranger = rng.integers(0, context.published.records.n_records, len(victim))
        own, raw_own = context.published.own[victim], context.raw.own[victim]
        guess = _heaviest(context, context.published, when, np.concatenate([own, stranger]))
        raw_guess = _heaviest(context, context.raw, when, raw_own)
        published = _near(context, true, guess[own])
        blind = _near(context, true, guess[stranger])
        found += measures_of(
            "home_and_work",
            place,
            published if context.published.has_key else {},
            _near(context, true, raw_guess[raw_own]),
            {name: float(np.mean(near)) for name, near in blind.items() if len(near)},
            Victims(victim, victim),
        )
    return found


class _Visited:
    """Cells of every user, those with most samples first: user i has n[i] of them from line at[i] on."""

    def __init__(self, user: Int64s, x: Int64s, y: Int64s, n_users: int) -> None:
        rows, visits = np.unique(np.stack([user, x, y], axis=1), axis=0, return_counts=True)
        order = np.lexsort((rows[:, 2], rows[:, 1], -visits, rows[:, 0]))
        self.x, self.y = rows[order, 1], rows[order, 2]
        self.n = np.bincount(rows[:, 0], minlength=n_users)
        self.at = np.cumsum(self.n) - self.n


def _rows_of(owner: Int32s, some: Int64s, n: int) -> Int64s:
    """The rows of some of n owners; a large dataset is not sorted for a few of them."""
    wanted = np.zeros(n, np.bool_)
    wanted[some[some >= 0]] = True
    return np.flatnonzero(wanted[owner])


def _seen(context: AuditContext, when: Hours) -> Bools:
    """Which users have a sample in certain hours; computed piece by piece, to save memory."""
    samples, seen = context.samples, np.zeros(context.samples.n_users, np.bool_)
    for begin in range(0, len(samples), _AT_A_TIME):
        rows = slice(begin, begin + _AT_A_TIME)
        seen[samples.user[rows][when(context, samples.t[rows])]] = True
    return seen


def cells_by_visits(context: AuditContext, rows: Int64s) -> _Visited:
    """The cells of some rows of the samples, by how often their users were there."""
    samples = context.samples
    user, x, y = (column[rows].astype(np.int64) for column in (samples.user, samples.x, samples.y))
    return _Visited(user, x, y, samples.n_users)


def _located(
    context: AuditContext, target: AttackedRecords, victim: Int64s, x: Int64s, y: Int64s
) -> dict[str, Floats | Bools]:
    found = cell_fits(target, target.own[victim], x, y, context.workers)
    if not target.has_key:
        return linkage_outcomes(found.n, found.n > 0, context.promise.k)
    pick = np.where(found.own_share >= found.largest * (1 - ALIKE), 1 / np.maximum(found.n_largest, 1), 0.0)
    return {**linkage_outcomes(found.n, found.own_fits, context.promise.k), "pick": pick}


def cell_fits(target: AttackedRecords, own: Int64s, x: Int64s, y: Int64s, workers: Workers) -> CellFits:
    """How well records fit known cells; x[i], y[i] are the cells of attack i, own[i] its victim's own record."""
    n_attacks, n_records = len(own), target.records.n_records
    places, known = np.unique(np.stack([x.ravel(), y.ravel()], axis=1), axis=0, return_inverse=True)
    order = np.argsort(known.ravel(), kind="stable")
    first = np.concatenate(
        [np.zeros(1, np.int64), np.cumsum(np.bincount(known.ravel(), minlength=len(places)))]
    )
    cells = KnownCells(
        places[:, 0].copy(), places[:, 1].copy(), first, order // max(x.shape[1], 1), x.shape[1]
    )
    parts: list[CellFits] = []

    def look(begin: int, end: int) -> None:
        part = _no_cell_fits(n_attacks)
        add_cell_fits(target.index, cells, own, begin, end, part)
        parts.append(part)

    workers.for_blocks(n_records, look)
    together = _no_cell_fits(n_attacks)
    for part in parts:
        larger, smaller = (
            part.largest > together.largest * (1 + ALIKE),
            part.largest < together.largest * (1 - ALIKE),
        )
        together.n_largest[larger] = 0
        together.n_largest[:] += np.where(smaller, 0, part.n_largest)
        together.largest[larger] = part.largest[larger]
        together.n[:] += part.n
        together.own_fits[:] |= part.own_fits
        together.own_share[:] += part.own_share
    nowhere = together.largest == 0
    together.n_largest[nowhere] = n_records
    return together


def _no_cell_fits(n: int) -> CellFits:
    return CellFits(
        np.zeros(n, np.int64), np.zeros(n, np.bool_), np.zeros(n), np.zeros(n), np.zeros(n, np.int64)
    )


def _heaviest(context: AuditContext, target: AttackedRecords, when: Hours, some: Int64s) -> Floats:
    """Where the boxes of some records pile up in certain hours; NaN for other records."""
    n, boxes = target.records.n_records, target.records.boxes
    rows = _rows_of(boxes.owner, some, n)
    places = footprints(boxes, rows[when(context, boxes.t0[rows])], n)
    x, y = np.empty((2, n))
    context.workers.for_blocks(n, lambda begin, end: find_heaviest_places(places, begin, end, x, y))
    return np.stack([x, y], axis=1)


def _near(context: AuditContext, true: Floats, guess: Floats) -> dict[str, Floats | Bools]:
    distance = context.grid.cell_m * np.hypot(*(true - guess).T)
    return {name: distance <= radius for name, radius in RADII_M.items()}


def _at_night(context: AuditContext, slot: Int64s) -> Bools:
    return at_night(_local(context, slot))


def _at_work(context: AuditContext, slot: Int64s) -> Bools:
    return at_work(_local(context, slot))


def _local(context: AuditContext, slot: Int64s) -> Int64s:
    return context.zone.from_utc(slot * context.grid.step_s)
