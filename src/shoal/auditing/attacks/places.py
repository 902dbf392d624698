"""Attacks by places: who has these top locations, and where does the person of this record live and work?"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from shoal.auditing.attacks.attackers import Cases, Outcomes, transferred_weights, try_attackers
from shoal.auditing.attacks.place_in_box import learnt_place_weights, place_weights
from shoal.auditing.box_index import AttackedRecords
from shoal.auditing.context import AuditContext
from shoal.auditing.kernels.known_cells import (
    ALIKE,
    TOP_FEATURES,
    CellFits,
    KnownCells,
    add_cell_fits,
    count_cells,
    describe_records,
)
from shoal.auditing.kernels.sites import CellQueries, Sites, find_heaviest_sites, find_masses
from shoal.auditing.measures import Measure, Victims, guessing_outcomes, linkage_outcomes, measures_of
from shoal.core.arrays import Bools, Floats, Int32s, Int64s
from shoal.core.workers import Workers
from shoal.utility.home_work import at_night, at_work, footprints
from shoal.utility.kernels.home_work import find_heaviest_places

TOP = (1, 2, 3)
RADII_M = {"within_500m": 500.0, "within_1km": 1000.0, "within_2km": 2000.0}
_AT_A_TIME = 1 << 22  # samples
_LIKELIEST = 50  # records that are weighed
_SMALL_MASS = 0.01

Hours = Callable[[AuditContext, Int64s], Bools]  # which slots lie in certain hours


def attack_top_locations(context: AuditContext) -> list[Measure]:
    """Find the victim's record by the cells in which the victim has most samples, without times."""
    found = []
    for n in TOP:
        victim, x, y = _top_cells(context, n)
        published, raw = (
            _located(context, target, victim, x, y) for target in (context.published, context.raw)
        )
        guessing = guessing_outcomes(context.published, context.promise.k)
        guessing["pick"] = guessing["success"]
        found += measures_of("top_locations", str(n), published, raw, guessing, Victims(victim, victim))
    return found


def cases_at_random(context: AuditContext, n: int) -> Cases:
    """The records to choose from by n top locations of victims drawn at random."""
    victim, x, y = _top_cells(context, n)
    target = context.published
    return top_cases(
        context, target, victim, x, y, cell_fits(target, target.own[victim], x, y, context.workers)
    )


def _top_cells(context: AuditContext, n: int) -> tuple[Int64s, Int64s, Int64s]:
    """Victims drawn at random, and the n cells of each in which they have most samples."""
    n_cells = np.empty(context.samples.n_users, np.int64)
    context.workers.for_blocks(
        len(n_cells), lambda begin, end: count_cells(context.trajectories, max(TOP), begin, end, n_cells)
    )
    known = context.victims[n_cells[context.victims] >= n]
    victim = context.randomness(10, n).choice(known, context.n_attacks if len(known) else 0)
    cells = cells_by_visits(context, _rows_of(context.samples.user, victim, context.samples.n_users))
    line = cells.at[victim][:, None] + np.arange(n)
    return victim, cells.x[line], cells.y[line]


def attack_home_and_work(context: AuditContext) -> list[Measure]:
    """Find the victim's home and workplace, knowing which record is the victim's."""
    found, weights = [], [place_weights()] * 2
    learnt = learnt_place_weights(context) if context.published.has_key else weights
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
        blind = _near(context, true, guess[stranger])
        published: dict[str, Floats | Bools] = {}
        if context.published.has_key:
            guesses = [guess[own], *(_likeliest(context, when, victim, each) for each in (weights, learnt))]
            near = [_near(context, true, each) for each in guesses]
            published = {name: max((each[name] for each in near), key=np.sum) for name in RADII_M}
        found += measures_of(
            "home_and_work",
            place,
            published,
            _near(context, true, _heaviest(context, context.raw, when, raw_own)[raw_own]),
            {name: float(np.mean(near)) for name, near in blind.items() if len(near)},
            Victims(victim, victim),
        )
    return found


def _likeliest(context: AuditContext, when: Hours, victim: Int64s, weights: list[Floats]) -> Floats:
    """The cell in which the owners of records most likely were in certain hours, with weights by half of the users."""
    target, sites = context.published, context.sites
    wanted = when(context, target.records.box["t0"])
    places = np.full((len(victim), 2), np.nan)
    for half, half_weights in enumerate(weights):
        asked = np.flatnonzero(context.half[victim] == half)
        records, line = np.unique(target.own[victim[asked]], return_inverse=True)
        site = np.empty(len(records), np.int64)
        context.workers.for_blocks(
            len(records),
            functools.partial(_find_heaviest, target, sites, half_weights, wanted, records, site),
        )
        x, y = (np.where(site >= 0, each[site] + 0.5, np.nan) for each in (sites.x, sites.y))
        places[asked] = np.stack([x[line], y[line]], axis=1)
    return places


def _find_heaviest(
    target: AttackedRecords,
    sites: Sites,
    weights: Floats,
    wanted: Bools,
    records: Int64s,
    site: Int64s,
    begin: int,
    end: int,
) -> None:
    find_heaviest_sites(target.index, sites, weights, wanted, records, begin, end, site)


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
    own = found.own_covered == found.covered if target.has_key else found.n > 0
    linked = linkage_outcomes(found.n, own & (found.covered > 0), context.promise.k)
    if not target.has_key:
        return linked
    by_share = np.where(
        found.own_share >= found.largest * (1 - ALIKE), 1 / np.maximum(found.n_largest, 1), 0.0
    )
    weighed = _weighed(context, target, victim, x, y, found)
    return {**linked, "pick": max((by_share, weighed.best), key=np.mean) if len(victim) else by_share}


def _weighed(
    context: AuditContext, target: AttackedRecords, victim: Int64s, x: Int64s, y: Int64s, found: CellFits
) -> Outcomes:
    """How attackers fare who weigh the likeliest records."""
    cases = top_cases(context, target, victim, x, y, found)
    return try_attackers(cases, transferred_weights("top_locations", TOP_FEATURES), TOP_FEATURES)


def top_cases(
    context: AuditContext, target: AttackedRecords, victim: Int64s, x: Int64s, y: Int64s, found: CellFits
) -> Cases:
    """The likeliest records of every attack as cases, with their features."""
    case, place = np.nonzero(found.likeliest >= 0)
    record = found.likeliest[case, place]
    features = np.empty((len(record), len(TOP_FEATURES)))
    context.workers.for_blocks(
        len(record),
        lambda begin, end: describe_records(target.index, case, record, x, y, begin, end, features),
    )
    features[:, 3] = _log_masses(context, target, record, x[case], y[case])
    return Cases(case, record == target.own[victim[case]], features, context.half[victim])


def _log_masses(
    context: AuditContext, target: AttackedRecords, record: Int64s, x: Int64s, y: Int64s
) -> Floats:
    """How much of a record's time its owner most likely spent in known cells; a line each, summed over its cells."""
    lines = np.stack([np.repeat(record, x.shape[1]), x.ravel(), y.ravel()], axis=1)
    asked, line = np.unique(lines, axis=0, return_inverse=True)
    records, first = np.unique(asked[:, 0], return_index=True)
    queries = CellQueries(records, np.append(first, len(asked)), asked[:, 1].copy(), asked[:, 2].copy())
    mass, sites, weights = np.empty(len(asked)), context.sites_of(target), place_weights()
    context.workers.for_blocks(
        len(records),
        lambda begin, end: find_masses(target.index, sites, weights, queries, begin, end, mass),
    )
    n_boxes = np.diff(target.index.ptr)[asked[:, 0]]
    logs: Floats = np.log(_SMALL_MASS + mass / n_boxes)[line.reshape(-1)].reshape(x.shape).sum(axis=1)
    return logs


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
    together.covered[:] = np.max([part.covered for part in parts], axis=0)
    together.largest[:] = np.max([part.largest for part in parts], axis=0)
    for part in parts:
        together.n[:] += np.where(part.covered == together.covered, part.n, 0)
        together.n_largest[:] += np.where(part.largest >= together.largest * (1 - ALIKE), part.n_largest, 0)
        together.own_covered[:] += part.own_covered
        together.own_share[:] += part.own_share
    together.n_largest[together.largest == 0] = n_records
    likeliest, score = (np.concatenate([part[at] for part in parts], axis=1) for at in (-2, -1))
    best = np.lexsort((likeliest, -score), axis=1)[:, :_LIKELIEST]
    together.likeliest[:] = np.take_along_axis(likeliest, best, axis=1)
    together.score[:] = np.take_along_axis(score, best, axis=1)
    return together


def _no_cell_fits(n: int) -> CellFits:
    return CellFits(
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros(n),
        np.zeros(n),
        np.zeros(n, np.int64),
        np.full((n, _LIKELIEST), -1),
        np.zeros((n, _LIKELIEST)),
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
