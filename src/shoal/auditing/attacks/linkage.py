"""Record linkage: which record is the victim's, by one interval, a longer one, several, or single points?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.auditing.attacks.attackers import picked
from shoal.auditing.attacks.places import AskedCells, log_masses
from shoal.auditing.box_index import AttackedRecords
from shoal.auditing.context import AuditContext
from shoal.auditing.kernels.fits import Fits, Knowledge
from shoal.auditing.measures import (
    Measure,
    attack_of,
    linkage_outcomes,
    measures_of,
    own_fits,
    own_lines,
)
from shoal.auditing.victims import intervals, points
from shoal.core.arrays import Bools, Floats, Int64s

LINKAGE, LONGER_TAU, SEVERAL, UNICITY = "linkage", "longer", "intervals", "points"
LONGER = (1, 2, 4, 8)  # times tau
INTERVALS = (1, 2, 3, 4)
POINTS = tuple(range(1, 9))
_FEW_TWINS = 0.01  # of the records: whether these count changes no figure by more
_MOST_COMPARED = 100  # of more records that fit, any is picked


def attack_linkage(context: AuditContext) -> list[Measure]:
    """The attacker of the promise: one interval of tau."""
    return _measured(context, LINKAGE)


def attack_longer(context: AuditContext) -> list[Measure]:
    """Knowledge longer than promised: where protection ends."""
    return _measured(context, LONGER_TAU)


def attack_intervals(context: AuditContext) -> list[Measure]:
    """Several separate intervals of tau each."""
    return _measured(context, SEVERAL)


def attack_points(context: AuditContext) -> list[Measure]:
    """Unicity: some of the victim's samples at random; the attacker does not know that there are no others between."""
    return _measured(context, UNICITY)


class _Known(NamedTuple):
    """What the attackers of one kind and variant know."""

    attack: str
    variant: str
    knowledge: Knowledge


def _everything_known(context: AuditContext) -> list[_Known]:
    """What attackers of every kind know, drawn at random."""
    tau, rng = context.promise.tau, context.randomness
    known = [_Known(LINKAGE, "", intervals(context, rng(1), tau))]
    if tau is not None:
        for factor in LONGER:
            known.append(
                _Known(LONGER_TAU, f"{factor}_tau", intervals(context, rng(2, factor), factor * tau))
            )
        for n in INTERVALS:
            known.append(_Known(SEVERAL, str(n), intervals(context, rng(3, n), tau, n)))
    return known + [_Known(UNICITY, str(n), points(context, rng(4, n), n)) for n in POINTS]


def _measured(context: AuditContext, attack: str) -> list[Measure]:
    """The measures of one kind of attack; all kinds are tried at once, so that every record is weighed once."""
    if LINKAGE not in context.memo:
        known = _everything_known(context)
        outcomes = [
            outcomes_of(context, target, [each.knowledge for each in known])
            for target in (context.published, context.raw)
        ]
        context.memo[LINKAGE] = list(zip(known, *outcomes, strict=True))
    guessing = context.guessing
    found: list[Measure] = []
    for (kind, variant, knowledge), published, raw in context.memo[LINKAGE]:
        if kind == attack:
            victims = context.victims_of(knowledge.victim)
            found += measures_of(kind, variant, published, raw, guessing, victims)
    return found


def outcomes_of(
    context: AuditContext, target: AttackedRecords, known: list[Knowledge]
) -> list[dict[str, Floats | Bools]]:
    """What attackers achieve who look for the records that fit, and pick the likeliest, for each kind of knowledge."""
    fits = [context.fits(target, knowledge) for knowledge in known]
    found = [
        linkage_outcomes(each.n, own_fits(target, knowledge, each), context.promise.k)
        for knowledge, each in zip(known, fits, strict=True)
    ]
    if have_twins(context.published):
        for outcomes, knowledge, each in zip(found, known, fits, strict=True):
            outcomes["same"] = own_fits(target, knowledge, each) & all_same(target, each)
    if target.has_key:
        scores = _scores(context, target, known, fits)
        for outcomes, knowledge, each, score in zip(found, known, fits, scores, strict=True):
            outcomes["pick"] = _picked(each, score, own_lines(target, knowledge, each))
            if "same" in outcomes:
                outcomes["read"] = _picked(each, score, _twins_of_own(target, knowledge, each))
    return found


def _picked(fits: Fits, score: Floats, right: Bools) -> Floats:
    """How likely the pick of an attacker is right, who picks by scores, or blindly where that is better."""
    case, n = attack_of(fits), len(fits.n)
    ways = (picked(case, score, right, n), picked(case, np.zeros(len(case)), right, n))
    return max(ways, key=lambda each: float(each.sum()))


def _twins_of_own(target: AttackedRecords, knowledge: Knowledge, fits: Fits) -> Bools:
    """Which lines of fits.record say what the victims' own records say, box for box."""
    own = target.own[knowledge.victim[attack_of(fits)]]
    twins: Bools = (own >= 0) & (target.content[fits.record] == target.content[own])
    return twins


def have_twins(target: AttackedRecords) -> bool:
    """Whether some records are the same as another, box for box: those of whole groups are, and many short parts."""
    _, n_alike = np.unique(target.content, return_counts=True)
    n_with_twin = int(n_alike[n_alike > 1].sum())
    return n_with_twin > _FEW_TWINS * target.records.n_records


def all_same(target: AttackedRecords, fits: Fits) -> Bools:
    """Whether all records that fit are the same, box for box, or one: then the attacker reads what the victim did
    without knowing which of them is the victim's."""
    content = target.content[fits.record]
    first = (
        content[np.minimum(fits.at, max(len(content) - 1, 0))]
        if len(content)
        else np.zeros(len(fits.n), np.uint64)
    )
    n_same = np.bincount(attack_of(fits)[content == first[attack_of(fits)]], minlength=len(fits.n))
    same: Bools = (fits.n > 0) & (n_same == fits.n)
    return same


def _scores(
    context: AuditContext, target: AttackedRecords, known: list[Knowledge], fits: list[Fits]
) -> list[Floats]:
    """How much time the owners of the records that fit spend where the victim was seen, as far as places tell."""
    lines = [np.flatnonzero(((each.n > 1) & (each.n <= _MOST_COMPARED))[attack_of(each)]) for each in fits]
    asked = [
        _asked(context, knowledge, each, line)
        for knowledge, each, line in zip(known, fits, lines, strict=True)
    ]
    found = []
    for each, line, mass in zip(fits, lines, log_masses(context, target, asked), strict=True):
        score = np.zeros(len(each.record))
        score[line] = mass
        found.append(score)
    return found


def _asked(context: AuditContext, knowledge: Knowledge, fits: Fits, line: Int64s) -> AskedCells:
    """The records of some lines, and the cells of the first, middle and last sample of every piece that is known."""
    n_pieces = int(knowledge.ptr[1]) if len(knowledge.victim) else 1
    first, last = (rows.reshape(-1, n_pieces) for rows in (knowledge.first, knowledge.last))
    some = [first] if (last - first <= 1).all() else [first, (first + last) // 2, last - 1]
    row = context.trajectories.sample[np.concatenate(some, axis=1)[attack_of(fits)[line]]]
    return AskedCells(fits.record[line], row["x"].astype(np.int64), row["y"].astype(np.int64))
