"""Attacks by places: who has these top locations, and where does the person of this record live and work?"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from shoal.auditing.attacks.attackers import Cases, transferred_weights, try_attackers
from shoal.auditing.attacks.place_in_box import learnt_place_weights, place_weights
from shoal.auditing.box_index import AttackedRecords
from shoal.auditing.context import AuditContext
from shoal.auditing.kernels.consistency import BoxIndex
from shoal.auditing.kernels.known_cells import (
    ALIKE,
    TOP_FEATURES,
    CellFits,
    KnownCells,
    add_cell_fits,
    count_cells,
    describe_records,
)
from shoal.auditing.kernels.sites import MOST_CANDIDATES, Sites, find_heaviest_sites, list_masses
from shoal.auditing.measures import Measure, linkage_outcomes, measures_of
from shoal.core.arrays import Bools, Floats, Int32s, Int64s
from shoal.core.workers import Workers
from shoal.utility.home_work import at_night, at_work, footprints
from shoal.utility.kernels.home_work import find_heaviest_places

TOP = (1, 2, 3)
RADII_M = {"within_500m": 500.0, "within_1km": 1000.0, "within_2km": 2000.0}
_AT_A_TIME = 1 << 22  # samples
_LIKELIEST = 50  # records that are weighed
_SMALL_MASS = 0.01
_ROOM = 1 << 22  # candidates of boxes that are listed at a time
_STRANGERS = 500  # whose records are looked at to see what a guess achieves

Hours = Callable[[AuditContext, Int64s], Bools]  # which slots lie in certain hours


def attack_top_locations(context: AuditContext) -> list[Measure]:
    """Find the victim's record by the cells in which the victim has most samples, without times."""
    known = [_top_cells(context, n) for n in TOP]
    published, raw = (_located(context, target, known) for target in (context.published, context.raw))
    found = []
    for cells, of_published, of_raw in zip(known, published, raw, strict=True):
        guessing = context.guessing
        victims = context.victims_of(cells.victim)
        found += measures_of("top_locations", str(cells.x.shape[1]), of_published, of_raw, guessing, victims)
    return found


class TopCells(NamedTuple):
    """Victims, and the cells of each in which they have most samples: x[i], y[i] of victim[i]."""

    victim: Int64s
    x: Int64s
    y: Int64s


def cases_at_random(context: AuditContext) -> list[Cases]:
    """The records to choose from by 1, 2 and 3 top locations of victims drawn at random."""
    known = [_top_cells(context, n) for n in TOP]
    found = [_cell_fits(context, context.tight, cells) for cells in known]
    return top_cases(context, context.published, known, found)


def _top_cells(context: AuditContext, n: int) -> TopCells:
    """Victims drawn at random, and the n cells of each in which they have most samples."""
    n_cells = np.empty(context.samples.n_users, np.int64)
    context.workers.for_blocks(
        len(n_cells), lambda begin, end: count_cells(context.trajectories, max(TOP), begin, end, n_cells)
    )
    known = context.victims[n_cells[context.victims] >= n]
    victim = context.randomness(10, n).choice(known, context.n_attacks if len(known) else 0)
    cells = cells_by_visits(context, _rows_of(context.samples.user, victim, context.samples.n_users))
    line = cells.at[victim][:, None] + np.arange(n)
    return TopCells(victim, cells.x[line], cells.y[line])


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
        own = context.published.own[victim]
        guess = _heaviest(context, context.published, when, np.concatenate([own, stranger]))
        some, half = stranger[:_STRANGERS], context.half[victim]
        by_chance = [guess[some], _likeliest(context, when, some, half[: len(some)], weights)]
        blind = _best(context, true[: len(some)], by_chance)
        published: dict[str, Floats | Bools] = {}
        if context.published.has_key:
            likely = [_likeliest(context, when, own, half, each) for each in (weights, learnt)]
            published = _best(context, true, [guess[own], *likely])
        found += measures_of(
            "home_and_work",
            place,
            published,
            dict.fromkeys(RADII_M, np.ones(len(victim))),  # the commonest cell of raw data is the true one
            {name: float(np.mean(near)) for name, near in blind.items() if len(near)},
            context.victims_of(victim),
        )
    return found


def _best(context: AuditContext, true: Floats, guesses: list[Floats]) -> dict[str, Floats | Bools]:
    """How often the best of several attackers is near the true place, for every distance."""
    near = [_near(context, true, guess) for guess in guesses]
    return {name: max((each[name] for each in near), key=np.sum) for name in RADII_M}


def _likeliest(
    context: AuditContext, when: Hours, record: Int64s, half: Int64s, weights: list[Floats]
) -> Floats:
    """The cell in which the owners of records most likely were in certain hours; half[i] says with which weights."""
    target, sites = context.tight, context.sites
    wanted = when(context, target.records.box["t0"])
    places = np.full((len(record), 2), np.nan)
    for number, half_weights in enumerate(weights):
        asked = np.flatnonzero(half == number)
        records, line = np.unique(record[asked], return_inverse=True)
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
    context: AuditContext, target: AttackedRecords, known: list[TopCells]
) -> list[dict[str, Floats | Bools]]:
    found = [_cell_fits(context, target, cells) for cells in known]
    outcomes: list[dict[str, Floats | Bools]] = []
    for fits in found:
        own = fits.own_covered == fits.covered if target.has_key else fits.n > 0
        outcomes.append(linkage_outcomes(fits.n, own & (fits.covered > 0), context.promise.k))
    if target.has_key:
        if context.tight_of(target) is not target:
            found = [_cell_fits(context, context.tight, cells) for cells in known]
        weights = transferred_weights("top_locations", TOP_FEATURES)
        for linked, fits, cases in zip(
            outcomes, found, top_cases(context, target, known, found), strict=True
        ):
            weighed = try_attackers(cases, weights, TOP_FEATURES).best
            linked["pick"] = max((_by_share(fits), weighed), key=lambda pick: float(pick.sum()))
    return outcomes


def _by_share(found: CellFits) -> Floats:
    """How likely the record that spends the largest share on the known cells is the victim's."""
    largest = found.own_share >= found.largest * (1 - ALIKE)
    return np.where(largest, 1 / np.maximum(found.n_largest, 1), 0.0)


def _cell_fits(context: AuditContext, target: AttackedRecords, cells: TopCells) -> CellFits:
    """How well records fit known cells; where records get new names, those of the victim's period."""
    own, workers = target.own[cells.victim], context.workers
    if context.parts is None:
        return cell_fits(target, own, cells.x, cells.y, workers)
    found, period = _no_cell_fits(len(own)), context.parts.period[cells.victim]
    record_period = context.parts.period if target is context.raw else context.parts.record_period
    for each in np.unique(period).tolist():
        some = np.flatnonzero(period == each)
        first, last = np.searchsorted(record_period, (each, each + 1)).tolist()
        part = cell_fits(target, own[some], cells.x[some], cells.y[some], workers, range(first, last))
        for whole, column in zip(found, part, strict=True):
            whole[some] = column
    return found


def top_cases(
    context: AuditContext, target: AttackedRecords, known: list[TopCells], found: list[CellFits]
) -> list[Cases]:
    """The likeliest records of every attack as cases, with their features, for each number of known cells."""
    cases, asked = [], []
    for cells, fits in zip(known, found, strict=True):
        case, place = np.nonzero(fits.likeliest >= 0)
        record = fits.likeliest[case, place]
        features = np.empty((len(record), len(TOP_FEATURES)))
        context.workers.for_blocks(
            len(record),
            functools.partial(_describe_records, context.tight_of(target), case, record, cells, features),
        )
        right = record == target.own[cells.victim[case]]
        cases.append(Cases(case, right, features, context.half[cells.victim]))
        asked.append(AskedCells(record, cells.x[case], cells.y[case]))
    # In raw data every box is one cell, and its owner was there: all of the mass of a box lies in it.
    alone = [each.features[:, 0] for each in cases]
    masses = alone if target is context.raw else log_masses(context, target, asked)
    for each, mass in zip(cases, masses, strict=True):
        each.features[:, 3] = mass
    return cases


def _describe_records(
    target: AttackedRecords,
    case: Int64s,
    record: Int64s,
    cells: TopCells,
    features: Floats,
    begin: int,
    end: int,
) -> None:
    describe_records(target.index, case, record, cells.x, cells.y, begin, end, features)


class AskedCells(NamedTuple):
    """Records, and cells that are looked up in each."""

    record: Int64s
    x: Int64s
    y: Int64s


def log_masses(context: AuditContext, target: AttackedRecords, asked: list[AskedCells]) -> list[Floats]:
    """How much of their time the owners of records most likely spent in cells."""
    found = _masses_of(context, target, np.concatenate([each.record for each in asked]))
    sites, n_boxes = context.sites_of(target), np.diff(target.index.ptr)
    return [
        np.log(
            _SMALL_MASS
            + found.of(each.record[:, None], _sites_at(sites, each.x, each.y)) / n_boxes[each.record][:, None]
        ).sum(axis=1)
        for each in asked
    ]


def _sites_at(sites: Sites, x: Int64s, y: Int64s) -> Int64s:
    """The numbers of the sites at cells; -1 for cells that are none."""
    left, low, rows = int(sites.x.min()), int(sites.y.min()), int(np.ptp(sites.y)) + 1
    number = (sites.x - left) * rows + sites.y - low  # sites go by x, then y
    wanted = np.where((y >= low) & (y < low + rows), (x - left) * rows + y - low, -1)
    place = np.minimum(np.searchsorted(number, wanted), len(number) - 1)
    return np.where(number[place] == wanted, place, -1)


class RecordMasses(NamedTuple):
    """The sums of the chances of sites over all boxes of records. key: record times n_sites plus site, in order.

    known: which records were looked at; a site that is a candidate in none of their boxes is not listed.
    """

    n_sites: int
    known: Bools
    key: Int64s
    mass: Floats

    def of(self, record: Int64s, site: Int64s) -> Floats:
        """The masses of sites of records that are known; 0 for no site."""
        wanted = record * self.n_sites + site
        place = np.minimum(np.searchsorted(self.key, wanted), max(len(self.key) - 1, 0))
        if not len(self.key):
            return np.zeros(wanted.shape)
        return np.where((site >= 0) & (self.key[place] == wanted), self.mass[place], 0.0)


def _masses_of(context: AuditContext, target: AttackedRecords, records: Int64s) -> RecordMasses:
    """The masses of these records at least; every record is looked at once an audit."""
    name, sites = f"masses {'published' if target is context.published else 'raw'}", context.sites_of(target)
    kept: RecordMasses = context.memo.get(name) or RecordMasses(
        len(sites.x), np.zeros(target.records.n_records, np.bool_), np.empty(0, np.int64), np.empty(0)
    )
    missing = np.unique(records)
    missing = missing[~kept.known[missing]]
    if len(missing):
        kept = _with_masses(context, target, sites, kept, missing)
        context.memo[name] = kept
    return kept


def _with_masses(
    context: AuditContext, target: AttackedRecords, sites: Sites, kept: RecordMasses, missing: Int64s
) -> RecordMasses:
    """Masses with those of some records more, some at a time, so that the room for them stays small."""
    index, weights = context.tight_of(target).index, place_weights()
    room = MOST_CANDIDATES * np.diff(index.ptr)[missing]
    keys, masses, known = [kept.key], [kept.mass], kept.known.copy()
    known[missing] = True
    for some in np.split(np.arange(len(missing)), np.flatnonzero(np.diff(np.cumsum(room) // _ROOM)) + 1):
        at = np.cumsum(room[some]) - room[some]
        n, site = np.zeros(len(some), np.int64), np.empty(int(room[some].sum()), np.int64)
        mass = np.empty(len(site))
        context.workers.for_blocks(
            len(some),
            functools.partial(_list_masses, index, sites, weights, missing[some], at, n, site, mass),
        )
        line = np.repeat(at - (np.cumsum(n) - n), n) + np.arange(n.sum())
        keys.append(np.repeat(missing[some], n) * kept.n_sites + site[line])
        masses.append(mass[line])
    key = np.concatenate(keys)
    order = np.argsort(key)
    return RecordMasses(kept.n_sites, known, key[order], np.concatenate(masses)[order])


def _list_masses(
    index: BoxIndex,
    sites: Sites,
    weights: Floats,
    records: Int64s,
    at: Int64s,
    n: Int64s,
    site: Int64s,
    mass: Floats,
    begin: int,
    end: int,
) -> None:
    list_masses(index, sites, weights, records, at, begin, end, n, site, mass)


def cell_fits(
    target: AttackedRecords, own: Int64s, x: Int64s, y: Int64s, workers: Workers, among: range | None = None
) -> CellFits:
    """How well records fit known cells; x[i], y[i] are the cells of attack i, own[i] its victim's own record.

    ``among``: the records that can be the victim's, if not all.
    """
    among = range(target.records.n_records) if among is None else among
    n_attacks = len(own)
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

    workers.for_blocks_between(among.start, among.stop, look)
    together = _no_cell_fits(n_attacks)
    together.covered[:] = np.max([part.covered for part in parts], axis=0)
    together.largest[:] = np.max([part.largest for part in parts], axis=0)
    for part in parts:
        together.n[:] += np.where(part.covered == together.covered, part.n, 0)
        together.n_largest[:] += np.where(part.largest >= together.largest * (1 - ALIKE), part.n_largest, 0)
        together.own_covered[:] += part.own_covered
        together.own_share[:] += part.own_share
    together.n_largest[together.largest == 0] = len(among)
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
