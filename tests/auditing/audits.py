"""Made-up results of audits, with figures as large and as awkward as they can be."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.auditing.attacks.inference import LeakageSpread
from shoal.auditing.attacks.linkage import INTERVALS, LONGER, POINTS
from shoal.auditing.attacks.places import RADII_M, TOP
from shoal.auditing.attacks.rankings import RANKINGS, Finding
from shoal.auditing.attacks.times import SOME_EPOCHS
from shoal.auditing.coverage.check import Coverage, Violation
from shoal.auditing.guarantees.judgement import Asked, Basis, Guarantees, Judgement, State
from shoal.auditing.guarantees.judging import judge_coverage, judge_matchings
from shoal.auditing.guarantees.matchings import Matchings
from shoal.auditing.measures import NO_KEY, Measure
from shoal.auditing.result import AttackSettings, Audit, DatasetCounts
from shoal.auditing.truthfulness import SuppressedPart, Truthfulness
from shoal.core.period_text import NEVER
from shoal.core.promise import Grid, Promise
from shoal.core.proportions import Proportion
from shoal.utility.read_share import PeriodOutlook

HUGE = 987_654_321_012
KEPT = Coverage(n_users=HUGE, n_intervals=HUGE, n_strict=0, n_tolerant=0, n_unchecked=0, n_untrue=0, worst=[])
TIMED = Promise(2, 30, 30)
WHOLE = Promise(2, None, None)
IN_BOX = ("exact", "transfer", "learnt", "feature", "commonest", "candidate")
USERS = ("a name that goes on " * 6 + "for ever", "u-short", "u-other")
# Slot 0 of the grid is 1970-01-01T00:00Z; the last one is beyond what a calendar holds.
BEGINS = (0, 28_401_122, 10**13)

OUTLOOKS = [
    PeriodOutlook(NEVER, 1.0, 900),
    PeriodOutlook("1d", 0.4812, 900),
    PeriodOutlook("6h", 0.1734, 900),
    PeriodOutlook("3h", 0.1, 900),
]


def share(value: float, n: int = 2000) -> Proportion:
    return Proportion(value, max(0.0, value - 0.0004), min(1.0, value + 0.0004), n)


def broken(*fewest: int, attacker: str = "gap-tolerant", n_unchecked: int = 0) -> Coverage:
    """A violation for each of so many users, with so many records each."""
    worst = [Violation(user, attacker, BEGINS[user], n) for user, n in enumerate(fewest)]
    return Coverage(HUGE, HUGE, HUGE, HUGE, n_unchecked, 0, worst)


def truth(
    empty: int = 0, overlapping: int = 0, suppressed: int = HUGE // 3, recordless: int = 0
) -> Truthfulness:
    part = SuppressedPart(HUGE, suppressed)
    return Truthfulness(
        HUGE, empty, overlapping, part, recordless, [part] * 4, [SuppressedPart(0, 0)] * 23 + [part]
    )


def figures(value: float, *, timed: bool, with_key: bool, n: int = 2000) -> list[Measure]:
    """Every figure of an audit with the same share."""
    linked = ("success", "below_k", "single", "pick")
    names = [("linkage", "", measure) for measure in linked]
    names += [("rankings", "", name) for name in RANKINGS]
    if timed:
        names += [("method", "", measure) for measure in (*linked, "above", "ruled_out")]
        names += [("presence", "", measure) for measure in linked]
        names += [("everybody", "", "success")]
        names += [("longer", f"{factor}_tau", measure) for factor in LONGER for measure in linked]
        names += [("intervals", str(number), measure) for number in INTERVALS for measure in linked]
        names += [("leakage", "", "above_epsilon")]
    names += [("points", str(number), measure) for number in POINTS for measure in linked]
    names += [
        ("times", number, measure)
        for number in ("all", "all_slots", *map(str, SOME_EPOCHS))
        for measure in linked
    ]
    names += [("place", size, measure) for size in ("all", "above_1km2") for measure in IN_BOX]
    names += [("top_locations", str(number), measure) for number in TOP for measure in linked]
    names += [("home_and_work", place, radius) for place in ("home", "work") for radius in RADII_M]
    names += [("homogeneity", "", measure) for measure in ("one_cell", "within_500m", "within_1km")]
    return [
        Measure(
            *name,
            share(_value(*name, value), n) if with_key or not _secret(*name) else NO_KEY,
            share(value, n),
            value,
        )
        for name in names
    ]


def _value(attack: str, _: str, measure: str, value: float) -> float:
    return 1.0 if (attack, measure) == ("place", "candidate") else value  # no success of an attacker


def _secret(attack: str, _: str, measure: str) -> bool:
    return attack in ("rankings", "home_and_work", "place", "everybody") or (
        measure == "pick" or (attack == "method" and measure in ("success", "above", "ruled_out"))
    )


def guarantees(
    coverage: Coverage, *, whole: bool, with_key: bool = True, required: bool = False
) -> Guarantees:
    """Guarantee 1 as the coverage says, 2 kept over whole trajectories and else not checked, 3 kept."""
    asked = Asked.REQUIRED if required else Asked.CLAIMED
    unknown = Judgement(2, State.NOT_CHECKED, Basis.NOTHING, "the file does not show how it was made")
    judged = (
        judge_coverage(coverage, has_key=with_key),
        Judgement(2, State.KEPT, Basis.EXACT, "one window spans all the data") if whole else unknown,
        judge_matchings(Matchings(48, 48, 0)),
    )
    return Guarantees(*(judgement._replace(asked=asked) for judgement in judged))


def some_audit(
    promise: Promise = TIMED,
    *,
    value: float = 0.5,
    n_attacks: int = 2000,
    with_key: bool = True,
    required: bool = False,
    **changes: Any,
) -> Audit:
    """An audit that found nothing wrong, but for the changes; guarantee 1 is judged by the coverage."""
    coverage = changes.get("coverage", KEPT)
    content: dict[str, Any] = {
        "promise": promise,
        "grid": Grid(),
        "counts": DatasetCounts(HUGE, HUGE, HUGE, HUGE),
        "coverage": KEPT,
        "guarantees": guarantees(coverage, whole=promise.whole, with_key=with_key, required=required),
        "truthfulness": truth() if with_key else None,
        "figures": figures(value, timed=not promise.whole, with_key=with_key, n=n_attacks),
        "leakage": None if promise.whole else LeakageSpread(1.0, 0.0, 5.0, 9.0, 100.0),
        "findings": [],
        "draw": AttackSettings(n_attacks, 0, "UTC"),
        "seconds": 1.0,
        "warnings": [],
        "users": np.array(USERS, object),
    }
    return Audit(**{**content, **changes})


def finding(value: float = 0.6) -> Finding:
    return Finding("smallest", share(value), 0.5, 1e-9)
