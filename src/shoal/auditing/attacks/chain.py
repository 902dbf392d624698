"""The chain attack: an attacker who knows the method rules out records that fit, and weighs the survivors.

A record survives if it may be covered in every window that overlaps what the attacker knows. That never rules out the
true record where the file was made as it says. Survivors are weighed by their traits, with weights learnt from other
victims of the same data (docs/audit.md).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.auditing.attacks.conditional_logit import chances
from shoal.auditing.box_index import AttackedRecords
from shoal.auditing.claims import windows_of
from shoal.auditing.context import AuditContext
from shoal.auditing.kernels.chain import KnownMethod, find_survivors
from shoal.auditing.kernels.chain_traits import N_TRAITS, find_traits
from shoal.auditing.kernels.fits import Fits, Knowledge, score_fits
from shoal.auditing.measures import (
    Measure,
    Victims,
    attack_of,
    guessing_outcomes,
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
_NEEDS_KEY = ("success", "above", "ruled_out")


def attack_chain(context: AuditContext) -> list[Measure]:
    """Rule out records that may not be covered in every window, and weigh the survivors."""
    if context.promise.tau is None:
        return []
    knowledge = intervals(context, context.randomness(7), context.promise.tau)
    published = _outcomes(context, context.published, knowledge)
    if not context.published.has_key:
        published = {name: found for name, found in published.items() if name not in _NEEDS_KEY}
    guessing = guessing_outcomes(context.published, context.promise.k)
    return measures_of(
        CHAIN,
        "",
        published,
        _outcomes(context, context.raw, knowledge),
        {**guessing, "above": guessing["below_k"], "ruled_out": 0.0},
        Victims(knowledge.victim, knowledge.victim),
    )


class Survivors(NamedTuple):
    """The survivors among records that fit.

    surviving: which lines of the fits survive; chance: that each line is the victim's own record. For every attack,
    n: how many survive; own_fits: whether the victim's own record fits; ruled_out_truth: whether it fits but does not
    survive.
    """

    surviving: Bools
    n: Int64s
    chance: Floats
    own_fits: Bools
    ruled_out_truth: Bools


def _outcomes(
    context: AuditContext, target: AttackedRecords, knowledge: Knowledge
) -> dict[str, Floats | Bools]:
    k, fits = context.promise.k, context.fits(target, knowledge)
    survivors = surviving_records(context, target, knowledge, fits)
    own = own_lines(target, knowledge, fits) & survivors.surviving
    of_own = attack_of(fits)[own]
    chance = np.zeros(len(fits.n))
    chance[of_own] = survivors.chance[own]
    own_survives = np.bincount(of_own, minlength=len(fits.n)) > 0 if target.has_key else survivors.own_fits
    linked = linkage_outcomes(survivors.n, own_survives, k)
    return {
        "success": chance,
        "above": chance > 1 / k + _ALIKE,
        "below_k": linked["below_k"],
        "single": linked["single"],
        "ruled_out": survivors.ruled_out_truth,
    }


def surviving_records(
    context: AuditContext, target: AttackedRecords, knowledge: Knowledge, fits: Fits
) -> Survivors:
    """Find the survivors and their chances; where none survives, the attacker goes back to all records that fit."""
    attack, method = attack_of(fits), known_method(context, target)
    surviving = np.empty(len(fits.record), np.bool_)
    context.workers.for_blocks(
        len(fits.n),
        lambda begin, end: find_survivors(
            context.trajectories, target.index, target.by_end, knowledge, fits, method, begin, end, surviving
        ),
    )
    own, fits_own = own_lines(target, knowledge, fits), own_fits(target, knowledge, fits)
    own_survives = np.zeros(len(fits.n), np.bool_)
    own_survives[attack[surviving & own if target.has_key else surviving]] = True
    surviving |= (np.bincount(attack[surviving], minlength=len(fits.n)) == 0)[attack]
    n = np.bincount(attack[surviving], minlength=len(fits.n))
    chance = np.zeros(len(surviving))
    chance[surviving] = (1 / np.maximum(n, 1))[attack[surviving]]
    if target.has_key:
        _weigh(context, target, knowledge, fits, method, surviving, n, chance)
    return Survivors(surviving, n, chance, fits_own, fits_own & ~own_survives)


def known_method(context: AuditContext, target: AttackedRecords) -> KnownMethod:
    """What the attacker assumes of the method: what the file claims, and the windows that follow."""
    promise, distinct, _ = context.method_claim
    return KnownMethod(promise.k, distinct, *windows_of(target.records.boxes, promise))


def _weigh(
    context: AuditContext,
    target: AttackedRecords,
    knowledge: Knowledge,
    fits: Fits,
    method: KnownMethod,
    surviving: Bools,
    n: Int64s,
    chance: Floats,
) -> None:
    """Set the chances of survivors by their scores and traits, with weights learnt from every other attack."""
    wanted = (n > 1) & (n <= _MOST_COMPARED)
    lines = np.flatnonzero(surviving & wanted[attack_of(fits)])
    features = _features(context, target, knowledge, fits, method, surviving, wanted)[lines]
    numbers, case = np.unique(attack_of(fits)[lines], return_inverse=True)
    right = own_lines(target, knowledge, fits)[lines]
    chance[lines] = chances(case, features, right, numbers % 2)


def _features(
    context: AuditContext,
    target: AttackedRecords,
    knowledge: Knowledge,
    fits: Fits,
    method: KnownMethod,
    surviving: Bools,
    wanted: Bools,
) -> Floats:
    """The scores of the rankings and the traits (docs/audit.md), a line for each record that fits."""
    scores, traits = np.empty((len(surviving), 3)), np.empty((len(surviving), N_TRAITS))

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
