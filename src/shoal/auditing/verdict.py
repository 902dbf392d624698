"""A verdict that a non-expert reads: the promise kept or broken, then what an attacker can and cannot do.

Singling out, linkability and inference are the three risks of the EU's Article 29 Working Party, opinion 05/2014.
"""

from __future__ import annotations

from typing import NamedTuple

from shoal.auditing.attacks.rankings import RANKINGS
from shoal.auditing.result import Audit
from shoal.auditing.shares import Share
from shoal.wording import duration, percent


class Risk(NamedTuple):
    """One of the three risks: how large, against which attacker, and what it means."""

    name: str
    share: Share | None
    attacker: str
    meaning: str


class Limit(NamedTuple):
    """Something that is not promised, and what was measured of it."""

    what: str
    measured: str


class Verdict(NamedTuple):
    """What to tell."""

    kept: bool
    headline: str
    risks: list[Risk]
    limits: list[Limit]


def judge(audit: Audit) -> Verdict:
    """Put an audit into words."""
    return Verdict(
        audit.kept,
        _headline(audit),
        [_singling_out(audit), _linkability(audit), _inference(audit)],
        _limits(audit),
    )


def _headline(audit: Audit) -> str:
    k, found = audit.promise.k, audit.coverage
    if not found.kept:
        n = len({violation.user for violation in found.worst})
        fewest = found.worst[0].n_records
        return (
            f"BROKEN: {n:,} of {found.n_users:,} users are not hidden among {k} records;"
            f" the fewest that fit are {fewest}"
        )
    if not audit.kept:
        return "BROKEN: at least k records always fit, but the file holds boxes that are not true"
    known = "everything" if audit.promise.tau is None else _tau(audit)
    return f"KEPT: whoever knows {known} of anybody finds at least {k} records that fit"


def _singling_out(audit: Audit) -> Risk:
    linkage = _share(audit, "linkage", "success")
    best = max(
        (share for name in RANKINGS if (share := _share(audit, "rankings", name)) is not None),
        key=lambda share: share.value,
        default=None,
    )
    bound = percent(1 / audit.promise.k)
    meaning = f"Picking one of the records that fit is right in {_of(linkage)} of attacks; the promise allows {bound}."
    if best is not None:
        meaning += f" The best of three ways to rank them is right in {_of(best)}."
    if audit.findings:
        meaning += " That is more than the promise's bound: some candidates are likelier than others."
    worst = best if best is not None and linkage is not None and best.value > linkage.value else linkage
    return Risk("Singling out", worst, f"knows {_knowledge(audit)} of the victim, all of it", meaning)


def _linkability(audit: Audit) -> Risk:
    points = _share(audit, "points", "single", "4")
    two = _share(audit, "intervals", "single", "2")
    meaning = f"With 4 points exactly one record fits in {_of(points)} of attacks"
    meaning += "." if two is None else f", with two stretches of {_tau(audit)} in {_of(two)}."
    meaning += " This is not promised: a second dataset about the same people can be linked to this one."
    attacker = "has other data about the victim: 4 points at any times"
    return Risk("Linkability", points, attacker, meaning)


def _inference(audit: Audit) -> Risk:
    leak, cell = _share(audit, "leakage", "above_epsilon"), _share(audit, "homogeneity", "one_cell")
    place = f"All records that fit are in one cell at some other time in {_of(cell)} of attacks."
    attacker = f"knows {_knowledge(audit)}, and asks where else the victim was"
    if leak is None or audit.promise.epsilon is None:
        return Risk("Inference", cell, attacker, place)
    epsilon = duration(audit.promise.epsilon * audit.grid.step_s)
    follows = f"More than {epsilon} beyond what was known follows from the records that fit in {_of(leak)} of attacks."
    return Risk("Inference", leak, attacker, f"{follows} {place}")


def _limits(audit: Audit) -> list[Limit]:
    """What is not promised, each with its figure."""
    limits = []
    if audit.promise.tau is not None:
        cliff = ", ".join(
            f"{duration(factor * audit.promise.tau * audit.grid.step_s)}:"
            f" {_of(_share(audit, 'longer', 'single', f'{factor}_tau'))}"
            for factor in (2, 4, 8)
        )
        several = ", ".join(f"{n}: {_of(_share(audit, 'intervals', 'single', str(n)))}" for n in (2, 3, 4))
        chain = _share(audit, "chain", "single")
        limits = [
            Limit("Knowing longer than tau", f"a single record is left after {cliff}"),
            Limit("Knowing several separate stretches", f"a single record is left after {several}"),
            Limit(
                "An attacker who knows the method and links windows (chain attack)",
                f"a single record is left in {_of(chain)}, fewer than k in {_of(_share(audit, 'chain', 'below_k'))}",
            ),
        ]
    points = ", ".join(f"{n}: {_of(_share(audit, 'points', 'single', str(n)))}" for n in (1, 2, 4, 8))
    top = ", ".join(f"{n}: {_of(_share(audit, 'top_locations', 'single', str(n)))}" for n in (1, 2, 3))
    home, work = (_share(audit, "home_and_work", "within_500m", place) for place in ("home", "work"))
    return [
        *limits,
        Limit("Points at random times", f"a single record fits by number of points {points}"),
        Limit("Top locations", f"a single record fits by number of locations {top}"),
        Limit(
            "Home and work, once a record is known to be somebody's",
            f"found within 500 m in {_of(home)} and {_of(work)}" if audit.has_key else "not checked: no key",
        ),
        Limit(
            "What the records that fit have in common (homogeneity)",
            f"all within 1 km at some other time in {_of(_share(audit, 'homogeneity', 'within_1km'))}",
        ),
        Limit("People who collude", "each takes one off k; not measured"),
        Limit("That somebody is in the data at all", "not hidden"),
        Limit("Other releases of the same events", "can be intersected with this one; not measured"),
    ]


def _share(audit: Audit, attack: str, measure: str, variant: str = "") -> Share | None:
    figure = audit.figure(attack, measure, variant)
    return figure.published if figure is not None and isinstance(figure.published, Share) else None


def _of(share: Share | None) -> str:
    return "(not checked)" if share is None else percent(share.value)


def _tau(audit: Audit) -> str:
    return duration((audit.promise.tau or 0) * audit.grid.step_s)


def _knowledge(audit: Audit) -> str:
    return "all samples" if audit.promise.tau is None else f"any {_tau(audit)}"
