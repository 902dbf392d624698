"""Record linkage: which record is the victim's, by one interval, a longer one, several, or single points?"""

from __future__ import annotations

from shoal.auditing.box_index import AttackedRecords
from shoal.auditing.context import AuditContext
from shoal.auditing.kernels.fits import Knowledge
from shoal.auditing.measures import (
    NO_KEY,
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
PUBLISHED_POINTS = "4_published"


def attack_linkage(context: AuditContext) -> list[Measure]:
    """The attacker of the promise: one interval of tau."""
    return _attack(context, "linkage", "", intervals(context, context.randomness(1), context.promise.tau))


def attack_longer(context: AuditContext) -> list[Measure]:
    """Knowledge longer than promised: where protection ends."""
    if context.promise.tau is None:
        return []
    found = []
    for factor in LONGER:
        knowledge = intervals(context, context.randomness(2, factor), factor * context.promise.tau)
        found += _attack(context, "longer", f"{factor}_tau", knowledge)
    return found


def attack_intervals(context: AuditContext) -> list[Measure]:
    """Several separate intervals of tau each."""
    if context.promise.tau is None:
        return []
    found = []
    for n in INTERVALS:
        knowledge = intervals(context, context.randomness(3, n), context.promise.tau, n)
        found += _attack(context, "intervals", str(n), knowledge)
    return found


def attack_points(context: AuditContext) -> list[Measure]:
    """Unicity: some of the victim's samples at random; the attacker does not know that there are no others between."""
    found = []
    for n in POINTS:
        found += _attack(context, "points", str(n), points(context, context.randomness(4, n), n))
    return [*found, _published_points(context)]


def _published_points(context: AuditContext) -> Measure:
    """Four of the samples that were published, so that what is suppressed does not make the attack look weak.

    Only whether they leave a single record is told: that they lie in the victim's own record is given, so the share of
    that record among those that fit would say little.
    """
    has_key, rng = context.published.has_key, context.randomness(4, 4, 1)
    known = points(context, rng, 4, context.held.samples if has_key else None)
    found = {figure.measure: figure for figure in _attack(context, "points", PUBLISHED_POINTS, known)}
    return found["single"] if has_key else found["single"]._replace(published=NO_KEY)


def _attack(context: AuditContext, attack: str, variant: str, knowledge: Knowledge) -> list[Measure]:
    return measures_of(
        attack,
        variant,
        _outcomes(context, context.published, knowledge),
        _outcomes(context, context.raw, knowledge),
        guessing_outcomes(context.published, context.promise.k),
        Victims(knowledge.victim, knowledge.victim),
    )


def _outcomes(
    context: AuditContext, target: AttackedRecords, knowledge: Knowledge
) -> dict[str, Floats | Bools]:
    fits = context.fits(target, knowledge)
    return linkage_outcomes(fits.n, own_fits(target, knowledge, fits), context.promise.k)
