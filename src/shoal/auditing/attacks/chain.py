"""An attacker who knows the method: what fits, what may be covered in every window, and what is likelier than the rest.

The chain over neighbouring windows rules records out, and never the true one where the file was made as it says. Among
those left, weights of what the method gives away were learnt from other victims of the same data (docs/audit.md).
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

_MOST_COMPARED = 100  # of more records left, all count alike: none of so many stands out by much
_ALIKE = 1e-9  # a chance of 1/k that was added up in another order
_NEEDS_KEY = ("success", "above", "ruled_out")


def attack_chain(context: AuditContext) -> list[Measure]:
    """Rule out what the method rules out, and weigh what is left."""
    if context.promise.tau is None:
        return []
    knowledge = intervals(context, context.randomness(7), context.promise.tau)
    published = _outcomes(context, context.published, knowledge)
    if not context.published.has_key:
        published = {name: found for name, found in published.items() if name not in _NEEDS_KEY}
    guessing = guessing_outcomes(context.published, context.promise.k)
    return measures_of(
        "method",
        "",
        published,
        _outcomes(context, context.raw, knowledge),
        {**guessing, "above": guessing["below_k"], "ruled_out": 0.0},
        Victims(knowledge.victim, knowledge.victim),
    )


class Survivors(NamedTuple):
    """Records that are left: which lines of those that fit, how many of each attack, and the chance of each line.

    mine: whether the victim's own record fits; wrongly: and was ruled out.
    """

    alive: Bools
    n: Int64s
    chance: Floats
    mine: Bools
    ruled_out_truth: Bools


def _outcomes(
    context: AuditContext, target: AttackedRecords, knowledge: Knowledge
) -> dict[str, Floats | Bools]:
    k, fits = context.promise.k, context.fits(target, knowledge)
    left = surviving_records(context, target, knowledge, fits)
    own = own_lines(target, knowledge, fits) & left.alive
    given = np.zeros(len(fits.n))
    given[attack_of(fits)[own]] = left.chance[own]
    there = np.bincount(attack_of(fits)[own], minlength=len(fits.n)) > 0 if target.has_key else left.mine
    return {
        "success": given,
        "above": given > 1 / k + _ALIKE,
        **{name: linkage_outcomes(left.n, there, k)[name] for name in ("below_k", "single")},
        "ruled_out": left.ruled_out_truth,
    }


def surviving_records(
    context: AuditContext, target: AttackedRecords, knowledge: Knowledge, fits: Fits
) -> Survivors:
    """Follow the chain and weigh the survivors; where nothing survives, the attacker goes back to what fits."""
    attack, method = attack_of(fits), known_method(context, target)
    alive = np.empty(len(fits.record), np.bool_)
    context.workers.for_blocks(
        len(fits.n),
        lambda begin, end: find_survivors(
            context.trajectories, target.index, target.ends, knowledge, fits, method, begin, end, alive
        ),
    )
    own, mine = own_lines(target, knowledge, fits), own_fits(target, knowledge, fits)
    survives = np.zeros(len(fits.n), np.bool_)
    survives[attack[alive & own if target.has_key else alive]] = True
    alive |= (np.bincount(attack[alive], minlength=len(fits.n)) == 0)[attack]
    n = np.bincount(attack[alive], minlength=len(fits.n))
    chance = np.zeros(len(alive))
    chance[alive] = (1 / np.maximum(n, 1))[attack[alive]]
    if target.has_key:
        _weigh(context, target, knowledge, fits, method, alive, n, chance)
    return Survivors(alive, n, chance, mine, mine & ~survives)


def known_method(context: AuditContext, target: AttackedRecords) -> KnownMethod:
    """What the attacker counts on: the promise and the reuse that the file tells of, and its windows."""
    claim = context.claim
    return KnownMethod(claim.promise.k, claim.distinct, *windows_of(target.records.boxes, claim.promise))


def _weigh(
    context: AuditContext,
    target: AttackedRecords,
    knowledge: Knowledge,
    fits: Fits,
    method: KnownMethod,
    alive: Bools,
    n: Int64s,
    chance: Floats,
) -> None:
    """Give those that are left chances by what is seen of them, learnt from every other attack."""
    wanted = (n > 1) & (n <= _MOST_COMPARED)
    lines = np.flatnonzero(alive & wanted[attack_of(fits)])
    features = _features(context, target, knowledge, fits, method, alive, wanted)[lines]
    numbers, case = np.unique(attack_of(fits)[lines], return_inverse=True)
    right = own_lines(target, knowledge, fits)[lines]
    chance[lines] = chances(case, features, right, numbers % 2)


def _features(
    context: AuditContext,
    target: AttackedRecords,
    knowledge: Knowledge,
    fits: Fits,
    method: KnownMethod,
    alive: Bools,
    wanted: Bools,
) -> Floats:
    """The scores of the rankings (docs/audit.md) and the traits, a line for each record that fits."""
    scores, traits = np.empty((len(alive), 3)), np.empty((len(alive), N_TRAITS))

    def look(begin: int, end: int) -> None:
        score_fits(context.trajectories, target.index, knowledge, fits, begin, end, scores)
        find_traits(
            context.trajectories,
            target.index,
            target.ends,
            knowledge,
            fits,
            method,
            alive,
            wanted,
            begin,
            end,
            traits,
        )

    context.workers.for_blocks(len(fits.n), look)
    scores[:, 0] = -np.log(-scores[:, 0])  # sizes count as ratios
    return np.concatenate([scores, traits], axis=1)
