"""What the method gives away about records, against the slow way from docs/audit.md."""

from __future__ import annotations

import random
from math import isnan, log, nan
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from auditing.audit_contexts import context_of, damaged, owners_of
from oracles import auditor
from oracles.attacker import knowledge
from oracles.casual_worlds import random_case
from oracles.reference import reference_release
from shoal.auditing.attacks.chain import known_method
from shoal.auditing.kernels.chain_traits import N_TRAITS, find_traits
from shoal.auditing.victims import knowledge_of


def mean(values: list[float]) -> float:
    return fmean(values) if values else nan


def equal_faces(box: Any, others: Any) -> int:
    at_the_same_time = [other for other in others if other[0] <= box[1] and box[0] <= other[1]]
    return max(
        (sum(a == b for a, b in zip(box, other, strict=True)) for other in at_the_same_time), default=0
    )


def expected(
    records: Any, owner: Any, left: set[Any], known: Any, a: int, tau: int, epsilon: int
) -> list[float]:
    whole, own = (a, a + tau), records[owner]
    covers, faces, favours = [], [], []
    overlapping = [
        w for w in auditor.windows_that_exist(records, tau, epsilon) if w[0] < a + tau and w[1] > a
    ]
    for window in overlapping:
        if not any(auditor.shares_a_slot(box, window) for box in own):
            continue
        others = [
            other
            for other in records
            if other != owner
            and auditor.fits_in_window(records[other], known, whole, window)
            and auditor.all_meet(own, records[other], known, whole, window)
            and auditor.all_meet(records[other], own, known, whole, window)
        ]
        unknown = [b for b in own if auditor.shares_a_slot(b, window) and not auditor.wholly_inside(b, whole)]
        shares = [mean([equal_faces(box, records[other]) / 6 for box in unknown] or [0]) for other in others]
        covers.append(log(1 + len(others)))
        faces.append(max(shares, default=0.0))
        favours.append(log(1 + len(left & set(others))))
    span = (overlapping[0][0], overlapping[-1][1]) if covers else (0, 0)
    sizes = [
        log(auditor.span(b[0], b[1]) * (auditor.span(b[2], b[3]) + auditor.span(b[4], b[5])))
        for b in own
        if auditor.shares_a_slot(b, span) and not auditor.wholly_inside(b, whole)
    ]
    seen = sorted(known)
    places = [s[1:] for s in (seen[0], seen[len(seen) // 2], seen[-1])]
    outside = [b for b in own if not auditor.shares_a_slot(b, whole)]
    close = [b for b in outside if auditor.shares_a_slot(b, (a - 4 * tau, a + 5 * tau))]

    def away(box: Any, place: Any) -> int:
        return sum(max(box[2 + 2 * i] - place[i], place[i] - box[3 + 2 * i], 0) for i in (0, 1))

    return [
        mean(covers or [0]),
        mean(faces or [0]),
        mean(favours or [0]),
        mean(sizes),
        mean([away(box, place) == 0 for box in outside for place in places]),
        mean([log(1 + away(box, place)) for box in outside for place in places]),
        mean([away(box, place) == 0 for box in close for place in places]),
    ]


@pytest.mark.parametrize("seed", range(2))
def test_traits(seed: int) -> None:
    rng, compared = random.Random(seed), 0
    while compared < 400:
        world, k, tau, epsilon = random_case(rng)
        release = reference_release(world, k, tau, epsilon, rng)
        if release is None:
            continue
        records = damaged(rng, release.records, overlaps=True)
        context = context_of(world, records, k, tau, epsilon)
        users, owners = sorted(world), owners_of(context, world)
        victim = rng.choice(users)
        a = rng.choice(sorted(world[victim]))[0] - rng.randrange(tau)
        drawn = knowledge_of(context, np.array([users.index(victim)]), np.array([[a]]), tau)
        fits = context.fits(context.published, drawn)
        surviving = np.array([rng.random() < 0.7 for _ in fits.record], np.bool_)
        traits = np.full((len(surviving), N_TRAITS), -1.0)
        find_traits(
            context.trajectories, context.published.index, context.published.by_end, drawn, fits,
            known_method(context, context.published), surviving, np.ones(1, np.bool_), 0, 1, traits,
        )  # fmt: skip
        left = {owners[record] for record in fits.record[surviving].tolist()}
        known = knowledge(world, victim, a, tau)
        rows = [context.trajectories.sample[i] for i in range(drawn.first[0], drawn.last[0])]
        if [row["t"] for row in rows] != [s[0] for s in sorted(known)] or len({s[0] for s in known}) < len(
            known
        ):
            continue  # which sample is the middle one of a slot is not said
        for line in np.flatnonzero(surviving).tolist():
            found = traits[line].tolist()
            wanted = expected(records, owners[fits.record[line]], left, known, a, tau, epsilon)
            for one, other in zip(found, wanted, strict=True):
                assert one == pytest.approx(other) or (isnan(one) and isnan(other))
            compared += 1
        assert (traits[~surviving] == -1).all()
