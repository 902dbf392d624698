"""Inference: what follows about a victim because all records that fit agree on it.

That may be a place they have in common (homogeneity), or where the victim was outside of what the attacker saw
(leakage).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from shoal.auditing.box_index import AttackedRecords
from shoal.auditing.context import AuditContext, every_record
from shoal.auditing.kernels.fits import Fits, Knowledge, find_common_extents, find_leaks
from shoal.auditing.measures import Measure, measures_of, own_fits
from shoal.auditing.victims import intervals
from shoal.core.arrays import Bools, Floats, Int64s

WITHIN_M = {"within_500m": 500.0, "within_1km": 1000.0}


def attack_homogeneity(context: AuditContext) -> list[Measure]:
    """How often all records that fit are in one small place at some time that the attacker did not see."""
    knowledge = intervals(context, context.randomness(9), context.promise.tau)
    targets = (context.published, context.raw)
    fits = [context.fits(target, knowledge) for target in targets]
    published, raw = (
        _outcomes(context, target, knowledge, each) for target, each in zip(targets, fits, strict=True)
    )
    blind = _outcomes(context, context.published, knowledge, every_record(context, knowledge))
    guessing = {measure: float(np.mean(outcomes)) for measure, outcomes in blind.items()}
    victims = context.victims_of(*(knowledge.victim[each.n > 0] for each in fits))
    return measures_of("homogeneity", "", published, raw, guessing, victims)


def _outcomes(
    context: AuditContext, target: AttackedRecords, knowledge: Knowledge, fits: Fits
) -> dict[str, Floats | Bools]:
    cells = {"one_cell": 1} | {
        name: math.floor(metres / context.grid.cell_m) for name, metres in WITHIN_M.items()
    }
    most = max(cells.values()) + 1
    extent = np.empty(len(fits.n), np.int64)
    context.workers.for_blocks(
        len(fits.n),
        lambda begin, end: find_common_extents(
            target.index, knowledge, fits, context.promise.whole, most, begin, end, extent
        ),
    )
    return {name: extent[fits.n > 0] <= limit for name, limit in cells.items()}


class LeakageSpread(NamedTuple):
    """Leakage over all attacks, in slots."""

    mean: float
    median: float
    q95: float
    q99: float
    largest: float


class Leakage(NamedTuple):
    """How often leakage exceeds epsilon, and how much there is; None where there is no epsilon, or nobody to attack."""

    measures: list[Measure]
    spread: LeakageSpread | None


def attack_leakage(context: AuditContext) -> Leakage:
    """Sum the epochs outside the interval on which all records that fit agree with the victim."""
    epsilon = context.promise.epsilon
    if epsilon is None:
        return Leakage([], None)
    knowledge = intervals(context, context.randomness(8), context.promise.tau)
    fits = context.fits(context.published, knowledge)
    wanted = own_fits(context.published, knowledge, fits)
    published = _leaked(context, context.published, knowledge, fits, epsilon)[wanted]
    raw = _leaked(context, context.raw, knowledge, context.fits(context.raw, knowledge), epsilon)
    blind = _leaked(context, context.published, knowledge, every_record(context, knowledge), epsilon)
    outcomes = [{"above_epsilon": slots > epsilon, "any": slots > 0} for slots in (published, raw)]
    guessing = {"above_epsilon": float((blind > epsilon).mean()), "any": float((blind > 0).mean())}
    victims = context.victims_of(knowledge.victim[wanted], knowledge.victim)
    found = measures_of("leakage", "", outcomes[0], outcomes[1], guessing, victims)
    return Leakage(found, _spread(published) if len(published) else None)


def _leaked(
    context: AuditContext, target: AttackedRecords, knowledge: Knowledge, fits: Fits, epsilon: int
) -> Int64s:
    slots = np.empty(len(fits.n), np.int64)
    context.workers.for_blocks(
        len(fits.n),
        lambda begin, end: find_leaks(
            context.trajectories, target.index, knowledge, fits, epsilon, begin, end, slots
        ),
    )
    return slots


def _spread(slots: Int64s) -> LeakageSpread:
    quantiles = np.quantile(slots, [0.5, 0.95, 0.99, 1.0]).tolist()
    return LeakageSpread(float(slots.mean()), *quantiles)
