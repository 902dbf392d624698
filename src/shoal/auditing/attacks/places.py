"""Places: the victim's top locations without times, and home and work out of the victim's own record."""

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


def attack_top_locations(scene: AuditContext) -> list[Measure]:
    """The cells where the victim has most samples; when is not known."""
    found, n_cells = [], np.empty(scene.samples.n_users, np.int64)
    scene.workers.over(
        len(n_cells), lambda begin, end: count_cells(scene.trails, max(TOP), begin, end, n_cells)
    )
    for n in TOP:
        rng = scene.randomness(10, n)
        known = scene.victims[n_cells[scene.victims] >= n]
        victim = rng.choice(known, scene.n_attacks if len(known) else 0)
        cells = cells_by_visits(scene, _of(scene.samples.user, victim, scene.samples.n_users))
        line = cells.at[victim][:, None] + np.arange(n)
        x, y = cells.x[line], cells.y[line]
        published, raw = (_located(scene, target, victim, x, y) for target in (scene.published, scene.raw))
        guessing = guessing_outcomes(scene.published, scene.promise.k)
        guessing["pick"] = guessing["success"]
        found += measures_of("top_locations", str(n), published, raw, guessing, Victims(victim, victim))
    return found


def attack_home_and_work(scene: AuditContext) -> list[Measure]:
    """Where somebody lives and works, by an attacker who even knows which record is theirs."""
    found = []
    for number, (place, when) in enumerate((("home", _at_night), ("work", _at_work))):
        rng = scene.randomness(11, number)
        known = scene.victims[_seen(scene, when)[scene.victims]]
        victim = rng.choice(known, scene.n_attacks if len(known) else 0)
        rows = _of(scene.samples.user, victim, scene.samples.n_users)
        cells = cells_by_visits(scene, rows[when(scene, scene.samples.t[rows])])
        true = np.stack([cells.x[cells.at[victim]], cells.y[cells.at[victim]]], axis=1) + 0.5
        stranger = rng.integers(0, scene.published.records.n_records, len(victim))
        own, raw_own = scene.published.own[victim], scene.raw.own[victim]
        guess = _heaviest(scene, scene.published, when, np.concatenate([own, stranger]))
        raw_guess = _heaviest(scene, scene.raw, when, raw_own)
        published = _near(scene, true, guess[own])
        blind = _near(scene, true, guess[stranger])
        found += measures_of(
            "home_and_work",
            place,
            published if scene.published.has_key else {},
            _near(scene, true, raw_guess[raw_own]),
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


def _of(owner: Int32s, some: Int64s, n: int) -> Int64s:
    """Where some of n owners stand; of a country, the rest is left alone."""
    wanted = np.zeros(n, np.bool_)
    wanted[some[some >= 0]] = True
    return np.flatnonzero(wanted[owner])


def _seen(scene: AuditContext, when: Hours) -> Bools:
    """Which users have a sample in certain hours; looked at piece by piece."""
    samples, seen = scene.samples, np.zeros(scene.samples.n_users, np.bool_)
    for begin in range(0, len(samples), _AT_A_TIME):
        rows = slice(begin, begin + _AT_A_TIME)
        seen[samples.user[rows][when(scene, samples.t[rows])]] = True
    return seen


def cells_by_visits(scene: AuditContext, rows: Int64s) -> _Visited:
    """The cells of some samples."""
    samples = scene.samples
    user, x, y = (column[rows].astype(np.int64) for column in (samples.user, samples.x, samples.y))
    return _Visited(user, x, y, samples.n_users)


def _located(
    scene: AuditContext, target: AttackedRecords, victim: Int64s, x: Int64s, y: Int64s
) -> dict[str, Floats | Bools]:
    found = cell_fits(target, target.own[victim], x, y, scene.workers)
    if not target.has_key:
        return linkage_outcomes(found.n, found.n > 0, scene.promise.k)
    pick = np.where(found.own_share >= found.largest * (1 - ALIKE), 1 / np.maximum(found.n_largest, 1), 0.0)
    return {**linkage_outcomes(found.n, found.own_fits, scene.promise.k), "pick": pick}


def cell_fits(target: AttackedRecords, own: Int64s, x: Int64s, y: Int64s, workers: Workers) -> CellFits:
    """Which records are over the cells x[i], y[i] (a line of them per attack), and how much of them is."""
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
        add_cell_fits(target.shelves, cells, own, begin, end, part)
        parts.append(part)

    workers.over(n_records, look)
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


def _heaviest(scene: AuditContext, target: AttackedRecords, when: Hours, some: Int64s) -> Floats:
    """For some of the records (NaN for others) the place where their boxes of some hours pile up."""
    n, boxes = target.records.n_records, target.records.boxes
    rows = _of(boxes.owner, some, n)
    places = footprints(boxes, rows[when(scene, boxes.t0[rows])], n)
    x, y = np.empty((2, n))
    scene.workers.over(n, lambda begin, end: find_heaviest_places(places, begin, end, x, y))
    return np.stack([x, y], axis=1)


def _near(scene: AuditContext, true: Floats, guess: Floats) -> dict[str, Floats | Bools]:
    distance = scene.grid.cell_m * np.hypot(*(true - guess).T)
    return {name: distance <= radius for name, radius in RADII_M.items()}


def _at_night(scene: AuditContext, slot: Int64s) -> Bools:
    return at_night(_local(scene, slot))


def _at_work(scene: AuditContext, slot: Int64s) -> Bools:
    return at_work(_local(scene, slot))


def _local(scene: AuditContext, slot: Int64s) -> Int64s:
    return scene.zone.from_utc(slot * scene.grid.step_s)
