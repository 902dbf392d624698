"""What follows about a victim from all records that fit: a common place, and more than epsilon."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from shoal.auditing.box_index import AttackedRecords
from shoal.auditing.context import AuditContext, everybody
from shoal.auditing.kernels.fits import Fits, Knowledge, find_common_extents, find_leaks
from shoal.auditing.measures import Measure, Victims, measures_of, own_fits
from shoal.auditing.victims import intervals
from shoal.core.arrays import Bools, Floats, Int64s

WITHIN_M = {"within_500m": 500.0, "within_1km": 1000.0}


def attack_homogeneity(scene: AuditContext) -> list[Measure]:
    """How small a place all records that fit share at some time that the attacker did not see."""
    knowledge = intervals(scene, scene.randomness(9), scene.promise.tau)
    targets = (scene.published, scene.raw)
    fits = [scene.fits(target, knowledge) for target in targets]
    published, raw = (
        _outcomes(scene, target, knowledge, each) for target, each in zip(targets, fits, strict=True)
    )
    blind = _outcomes(scene, scene.published, knowledge, everybody(knowledge, scene.published))
    guessing = {measure: float(np.mean(outcomes)) for measure, outcomes in blind.items()}
    victims = Victims(*(knowledge.victim[each.n > 0] for each in fits))
    return measures_of("homogeneity", "", published, raw, guessing, victims)


def _outcomes(
    scene: AuditContext, target: AttackedRecords, knowledge: Knowledge, fits: Fits
) -> dict[str, Floats | Bools]:
    cells = {"one_cell": 1} | {
        name: math.floor(metres / scene.grid.cell_m) for name, metres in WITHIN_M.items()
    }
    most = max(cells.values()) + 1
    extent = np.empty(len(fits.n), np.int64)
    scene.workers.over(
        len(fits.n),
        lambda begin, end: find_common_extents(
            target.shelves, knowledge, fits, scene.promise.whole, most, begin, end, extent
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

    figures: list[Measure]
    spread: LeakageSpread | None


def attack_leakage(scene: AuditContext) -> Leakage:
    """Sum the epochs outside the interval on which all records that fit agree with the victim."""
    epsilon = scene.promise.epsilon
    if epsilon is None:
        return Leakage([], None)
    knowledge = intervals(scene, scene.randomness(8), scene.promise.tau)
    fits = scene.fits(scene.published, knowledge)
    wanted = own_fits(scene.published, knowledge, fits)
    published = _leaked(scene, scene.published, knowledge, fits, epsilon)[wanted]
    raw = _leaked(scene, scene.raw, knowledge, scene.fits(scene.raw, knowledge), epsilon)
    blind = _leaked(scene, scene.published, knowledge, everybody(knowledge, scene.published), epsilon)
    outcomes = [{"above_epsilon": slots > epsilon, "any": slots > 0} for slots in (published, raw)]
    guessing = {"above_epsilon": float((blind > epsilon).mean()), "any": float((blind > 0).mean())}
    victims = Victims(knowledge.victim[wanted], knowledge.victim)
    found = measures_of("leakage", "", outcomes[0], outcomes[1], guessing, victims)
    return Leakage(found, _spread(published) if len(published) else None)


def _leaked(
    scene: AuditContext, target: AttackedRecords, knowledge: Knowledge, fits: Fits, epsilon: int
) -> Int64s:
    slots = np.empty(len(fits.n), np.int64)
    scene.workers.over(
        len(fits.n),
        lambda begin, end: find_leaks(
            scene.trails, target.shelves, knowledge, fits, epsilon, begin, end, slots
        ),
    )
    return slots


def _spread(slots: Int64s) -> LeakageSpread:
    quantiles = np.quantile(slots, [0.5, 0.95, 0.99, 1.0]).tolist()
    return LeakageSpread(float(slots.mean()), *quantiles)
