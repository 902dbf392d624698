"""Record linkage: which record is the victim's? By what fits, in one interval or several, and by single points."""

from __future__ import annotations

from shoal.auditing.box_index import AttackedRecords
from shoal.auditing.context import AuditContext
from shoal.auditing.kernels.fits import Knowledge
from shoal.auditing.measures import (
    Measure,
    Victims,
    guessing_outcomes,
    linkage_outcomes,
    measures_of,
    own_fits,
)
from shoal.auditing.victims import intervals, points
from shoal.core.arrays import Bools, Floats

LONGER = (1, 2, 4, 8)  # times tau
INTERVALS = (1, 2, 3, 4)
POINTS = tuple(range(1, 9))


def attack_linkage(scene: AuditContext) -> list[Measure]:
    """The attacker of the promise: one interval of tau."""
    return _attack(scene, "linkage", "", intervals(scene, scene.randomness(1), scene.promise.tau))


def attack_longer(scene: AuditContext) -> list[Measure]:
    """Knowledge longer than promised: where protection ends."""
    if scene.promise.tau is None:
        return []
    found = []
    for factor in LONGER:
        knowledge = intervals(scene, scene.randomness(2, factor), factor * scene.promise.tau)
        found += _attack(scene, "longer", f"{factor}_tau", knowledge)
    return found


def attack_intervals(scene: AuditContext) -> list[Measure]:
    """Several separate intervals of tau each."""
    if scene.promise.tau is None:
        return []
    found = []
    for n in INTERVALS:
        knowledge = intervals(scene, scene.randomness(3, n), scene.promise.tau, n)
        found += _attack(scene, "intervals", str(n), knowledge)
    return found


def attack_points(scene: AuditContext) -> list[Measure]:
    """Unicity: some points at random, not knowing that there are no others."""
    found = []
    for n in POINTS:
        found += _attack(scene, "points", str(n), points(scene, scene.randomness(4, n), n))
    return found


def _attack(scene: AuditContext, attack: str, variant: str, knowledge: Knowledge) -> list[Measure]:
    return measures_of(
        attack,
        variant,
        _outcomes(scene, scene.published, knowledge),
        _outcomes(scene, scene.raw, knowledge),
        guessing_outcomes(scene.published, scene.promise.k),
        Victims(knowledge.victim, knowledge.victim),
    )


def _outcomes(
    scene: AuditContext, target: AttackedRecords, knowledge: Knowledge
) -> dict[str, Floats | Bools]:
    fits = scene.fits(target, knowledge)
    return linkage_outcomes(fits.n, own_fits(target, knowledge, fits), scene.promise.k)
