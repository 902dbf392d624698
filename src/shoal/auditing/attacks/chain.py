"""The chain attack: an attacker who knows the method rules out records that fit, and weighs the survivors.

A record survives if it may be covered in every window that overlaps what the attacker knows. That never rules out the
true record where the file was made as it says. Survivors are weighed by their features, by several attackers
(docs/audit.md).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.auditing.attacks.attackers import Cases, Outcomes, transferred_weights, try_attackers
from shoal.auditing.attacks.place_in_box import learnt_place_weights, place_weights
from shoal.auditing.attacks.places import AskedCells, log_masses
from shoal.auditing.box_index import AttackedRecords
from shoal.auditing.claims import windows_of
from shoal.auditing.context import AuditContext
from shoal.auditing.kernels.chain import KnownMethod, find_survivors
from shoal.auditing.kernels.chain_traits import N_TRAITS, find_traits
from shoal.auditing.kernels.fits import Fits, Knowledge, score_fits
from shoal.auditing.kernels.sites import BoxQueries, find_known_boxes, weigh_known_cells
from shoal.auditing.measures import (
    Measure,
    attack_of,
    linkage_outcomes,
    measures_of,
    own_fits,
    own_lines,
)
from shoal.auditing.victims import intervals
from shoal.core.arrays import Bools, Floats, Int64s

CHAIN = "method"  # the name of the chain attack among an audit's figures and in JSON
_MOST_COMPARED = 100  # of more survivors, all get the same chance: none of so many stands out by much
_ALIKE = 1e-9  # chances that differ by less are equal: they were summed in another order
_NEEDS_KEY = ("pick", "success", "above", "ruled_out")
METHOD_FEATURES = (
    "smallest", "faces", "central",
    "covers", "shared_faces", "favours", "size", "habit", "far", "stays",
    "place", "tight", "edges",
)  # fmt: skip


def attack_chain(context: AuditContext) -> list[Measure]:
    """Rule out records that may not be covered in every window, and weigh the survivors."""
    if context.promise.tau is None:
        return []
    published, raw = (weighed_attacks(context, target) for target in (context.published, context.raw))
    found = _outcomes(context, context.published, published)
    if not context.published.has_key:
        found = {name: outcomes for name, outcomes in found.items() if name not in _NEEDS_KEY}
    guessing = context.guessing
    knowledge = published.knowledge
    return measures_of(
        CHAIN,
        "",
        found,
        _outcomes(context, context.raw, raw),
        {**guessing, "above": guessing["below_k"], "ruled_out": 0.0},
        context.victims_of(knowledge.victim),
    )


class Survivors(NamedTuple):
    """The survivors among records that fit.

    surviving: which lines of the fits survive. For every attack, n: how many survive; own_fits: whether the victim's
    own record fits; ruled_out_truth: whether it fits but does not survive.
    """

    surviving: Bools
    n: Int64s
    own_fits: Bools
    ruled_out_truth: Bools


class WeighedAttacks(NamedTuple):
    """Attackers who watched somebody for tau and know the method: what they know, the records that fit, the survivors,
    and these as cases, where it is known whose records they are."""

    knowledge: Knowledge
    fits: Fits
    survivors: Survivors
    weighed: SurvivorCases | None


def weighed_attacks(context: AuditContext, target: AttackedRecords) -> WeighedAttacks:
    """Attacks drawn at random, on the published file or the raw data; found once an audit."""
    name = f"{CHAIN} {'published' if target is context.published else 'raw'}"
    if name not in context.memo:
        knowledge = intervals(context, context.randomness(7), context.promise.tau)
        fits = context.fits(target, knowledge)
        survivors = surviving_records(context, target, knowledge, fits)
        weighed = weighed_survivors(context, target, knowledge, fits, survivors) if target.has_key else None
        context.memo[name] = WeighedAttacks(knowledge, fits, survivors, weighed)
    found: WeighedAttacks = context.memo[name]
    return found


def _outcomes(
    context: AuditContext, target: AttackedRecords, attacks: WeighedAttacks
) -> dict[str, Floats | Bools]:
    knowledge, fits, survivors, cases = attacks
    k, attack = context.promise.k, attack_of(fits)
    own = own_lines(target, knowledge, fits) & survivors.surviving
    own_survives = survivors.own_fits
    if target.has_key:
        own_survives = np.bincount(attack[own], minlength=len(fits.n)) > 0
    linked = linkage_outcomes(survivors.n, own_survives, k)
    chance = np.array(linked["success"], np.float64)  # all alike, where too many are left to compare
    pick = chance.copy()
    if cases is not None:
        found = try_survivors(cases.cases)
        pick[cases.attack] = found.best
        chance[cases.attack] = np.bincount(
            cases.cases.case, weights=found.best_chance * cases.cases.right, minlength=len(cases.attack)
        )
    return {
        "pick": pick,
        "success": chance,
        "above": chance > 1 / k + _ALIKE,
        "below_k": linked["below_k"],
        "single": linked["single"],
        "ruled_out": survivors.ruled_out_truth,
    }


def surviving_records(
    context: AuditContext, target: AttackedRecords, knowledge: Knowledge, fits: Fits
) -> Survivors:
    """Find the survivors; where none survives, or gaps were forgiven, the attacker goes by all records that fit."""
    attack, method = attack_of(fits), known_method(context, target)
    surviving = np.empty(len(fits.record), np.bool_)
    context.workers.for_blocks(
        len(fits.n),
        lambda begin, end: find_survivors(
            context.trajectories, target.index, target.by_end, knowledge, fits, method, begin, end, surviving
        ),
    )
    surviving |= fits.forgiven[attack]
    own, fits_own = own_lines(target, knowledge, fits), own_fits(target, knowledge, fits)
    own_survives = np.zeros(len(fits.n), np.bool_)
    own_survives[attack[surviving & own if target.has_key else surviving]] = True
    surviving |= (np.bincount(attack[surviving], minlength=len(fits.n)) == 0)[attack]
    n = np.bincount(attack[surviving], minlength=len(fits.n))
    return Survivors(surviving, n, fits_own, fits_own & ~own_survives)


def known_method(context: AuditContext, target: AttackedRecords) -> KnownMethod:
    """What the attacker assumes of the method: what the file claims, and the windows that follow."""
    promise, distinct, _ = context.method_claim
    return KnownMethod(promise.k, distinct, *windows_of(target.records.boxes, promise, context.periods))


class SurvivorCases(NamedTuple):
    """Attacks with several survivors as cases: attack[c] is the attack of case c, and line[i] the line of the fits that
    line i of the cases is about."""

    attack: Int64s
    line: Int64s
    cases: Cases


def weighed_survivors(
    context: AuditContext, target: AttackedRecords, knowledge: Knowledge, fits: Fits, survivors: Survivors
) -> SurvivorCases:
    """The survivors of attacks that leave several, but not too many to compare, with their features."""
    wanted = (survivors.n > 1) & (survivors.n <= _MOST_COMPARED)
    line = np.flatnonzero(survivors.surviving & wanted[attack_of(fits)])
    of_attack = attack_of(fits)[line]
    attack, case = np.unique(of_attack, return_inverse=True)
    right, half = own_lines(target, knowledge, fits)[line], context.half[knowledge.victim]
    learns = target is context.published and target.has_key
    weights = [place_weights(), *(learnt_place_weights(context) if learns else [])]
    places = known_places(context, target, knowledge, fits, line, np.array(weights))
    transferred = places[:, [0, -2, -1]]
    traits = known_traits(context, target, knowledge, fits, survivors.surviving, wanted)[line]
    more = None
    if learns:
        learnt = np.where(half[of_attack] == 0, places[:, 1], places[:, 2])[:, None]
        mass = known_masses(context, target, knowledge, fits, line)[:, None]
        more = np.concatenate([learnt, learnt**2, transferred**2, mass], axis=1)
    features = np.concatenate([traits, transferred], axis=1)
    return SurvivorCases(attack, line, Cases(case, right, features, half[attack], more))


def known_places(
    context: AuditContext,
    target: AttackedRecords,
    knowledge: Knowledge,
    fits: Fits,
    line: Int64s,
    weights: Floats,
) -> Floats:
    """Means over known samples, for some lines of the fits; each box is looked at once.

    For each row of ``weights`` a column with the logarithm of the chance of the sample's cell in the box that holds it,
    then tightness and edges.
    """
    attack = attack_of(fits)[line]
    piece = knowledge.ptr[attack]
    n = knowledge.last[piece] - knowledge.first[piece]
    at = np.cumsum(n) - n
    box = np.empty(int(n.sum()), np.int64)
    context.workers.for_blocks(
        len(line),
        lambda begin, end: find_known_boxes(
            context.trajectories, target.index, knowledge, fits, line, attack, at, begin, end, box
        ),
    )
    of_line = np.repeat(np.arange(len(line)), n)
    sample = context.trajectories.sample[np.repeat(knowledge.first[piece] - at, n) + np.arange(len(box))]
    order = np.argsort(box, kind="stable")
    order = order[np.searchsorted(box[order], 0) :]  # samples in gaps that were forgiven are in no box
    boxes, first = np.unique(box[order], return_index=True)
    x, y = (sample[name][order].astype(np.int64) for name in ("x", "y"))
    queries = BoxQueries(boxes, np.append(first, len(order)), x, y)
    found, sites = np.empty((len(order), len(weights) + 2)), context.sites_of(target)
    tight = context.tight_of(target).index
    context.workers.for_blocks(
        len(boxes),
        lambda begin, end: weigh_known_cells(tight, sites, weights, queries, begin, end, found),
    )
    n_held = np.maximum(np.bincount(of_line[order], minlength=len(line)), 1)
    columns = [np.bincount(of_line[order], weights=each, minlength=len(line)) / n_held for each in found.T]
    return np.stack(columns, axis=1)


def known_masses(
    context: AuditContext, target: AttackedRecords, knowledge: Knowledge, fits: Fits, line: Int64s
) -> Floats:
    """How much of their time the owners of records most likely spend where victims were: at the first, middle and last
    sample of the interval."""
    record, attack = fits.record[line], attack_of(fits)[line]
    first, last = knowledge.first[attack], knowledge.last[attack]
    row = context.trajectories.sample[np.stack([first, (first + last) // 2, last - 1], axis=1)]
    x, y = (row[name].astype(np.int64) for name in ("x", "y"))
    return log_masses(context, target, [AskedCells(record, x, y)])[0]


def try_survivors(cases: Cases) -> Outcomes:
    """Let every attacker weigh the survivors."""
    return try_attackers(cases, transferred_weights(CHAIN, METHOD_FEATURES), METHOD_FEATURES)


def known_traits(
    context: AuditContext,
    target: AttackedRecords,
    knowledge: Knowledge,
    fits: Fits,
    surviving: Bools,
    wanted: Bools,
) -> Floats:
    """The scores of the rankings and the traits (docs/audit.md), a line for each record that fits."""
    method = known_method(context, target)
    scores, traits = (np.empty((len(surviving), n)) for n in (3, N_TRAITS))

    def look(begin: int, end: int) -> None:
        score_fits(context.trajectories, target.index, knowledge, fits, begin, end, scores)
        find_traits(
            context.trajectories,
            target.index,
            target.by_end,
            knowledge,
            fits,
            method,
            surviving,
            wanted,
            begin,
            end,
            traits,
        )

    context.workers.for_blocks(len(fits.n), look)
    scores[:, 0] = -np.log(-scores[:, 0])  # costs are compared as ratios
    return np.concatenate([scores, traits], axis=1)
