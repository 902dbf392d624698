"""Which of the records that fit is picked, against the oracle on tiny releases."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from auditing.audit_contexts import tiny_context, tiny_releases
from oracles.strong_attackers import best_share, fits_with_gaps, mass_on
from shoal.auditing.attacks import linkage
from shoal.auditing.attacks.attackers import picked
from shoal.auditing.attacks.place_in_box import place_weights
from shoal.auditing.measures import NO_KEY, attack_of, own_lines
from shoal.core.proportions import Proportion


def test_the_record_most_likely_to_have_been_there_is_picked() -> None:
    """Of the records that fit, by the mass of the cells of the first, middle and last sample of every piece."""
    several = more = read = 0
    for number, (release, _) in enumerate(tiny_releases(46, 60, crowds=False)):
        if number % 2:  # the second half of the records says what the first half says
            half = len(release.records) // 2
            release.records[len(release.records) - half :] = release.records[:half]
        context = tiny_context(release, n_attacks=5)
        target = context.published
        known = linkage._everything_known(context)
        fits = [context.fits(target, each.knowledge) for each in known]
        scores_of = linkage._scores(context, target, [each.knowledge for each in known], fits)
        for (attack, variant, knowledge), each, score in zip(known, fits, scores_of, strict=True):
            case = attack_of(each)
            found, twins = (
                picked(case, score, right(target, knowledge, each), len(each.n))
                for right in (own_lines, linkage._twins_of_own)
            )
            for i, user in enumerate(knowledge.victim.tolist()):
                pieces, cells = [], []
                for piece in range(knowledge.ptr[i], knowledge.ptr[i + 1]):
                    rows = range(knowledge.first[piece], knowledge.last[piece])
                    samples = [tuple(int(v) for v in context.trajectories.sample[row]) for row in rows]
                    pieces.append((samples, int(knowledge.begin[piece]), int(knowledge.end[piece])))
                    chosen = {0} if attack == "points" else [0, len(samples) // 2, len(samples) - 1]
                    cells += [samples[place][1:] for place in chosen]
                left = fits_with_gaps(release.records, pieces, release.epsilon)
                weights = place_weights()
                scores = {
                    r: mass_on(release.records, r, cells, weights, release.epsilon) if len(left) > 1 else 0.0
                    for r in left
                }
                own = int(context.published.own[user])
                same = {r for r in left if own >= 0 and release.records[r] == release.records[own]}
                assert found[i] == pytest.approx(best_share(scores, {own})), (attack, variant)
                assert twins[i] == pytest.approx(best_share(scores, same)), (attack, variant)
                read += twins[i] > found[i]
                several += len(left) > 1
                more += own in left and found[i] > 1 / len(left)
    assert several > 300
    assert more > 50
    assert read > 50


def test_what_is_read_is_told_where_records_have_twins() -> None:
    without = 0
    for release, _ in tiny_releases(48, 20, crowds=False):
        if len(set(map(tuple, release.records))) == len(release.records):
            plain = {each.measure for each in linkage.attack_points(tiny_context(release))}
            assert not plain & {"same", "read"}
            without += 1
        if len(release.records) == 1:
            continue
        half = len(release.records) // 2
        release.records[len(release.records) - half :] = release.records[:half]
        found = {each.measure for each in linkage.attack_points(tiny_context(release))}
        unkeyed = linkage.attack_points(tiny_context(release, key=False))
        assert found >= {"same", "read"}
        assert {each.published for each in unkeyed if each.measure == "read"} == {NO_KEY}
    assert without > 5


@pytest.mark.parametrize(
    ("n_records", "told"), [(2, True), (50, True), (199, True), (200, False), (1000, False)]
)
def test_a_pair_of_twins_is_told_unless_it_is_less_than_a_hundredth(n_records: int, told: bool) -> None:
    content = np.arange(n_records, dtype=np.uint64)
    content[-1] = content[0]
    target: Any = SimpleNamespace(content=content, records=SimpleNamespace(n_records=n_records))
    assert linkage.have_twins(target) == told


def test_a_pick_is_never_worse_than_picking_blindly() -> None:
    compared = 0
    for release, _ in tiny_releases(47, 40, crowds=False):
        context = tiny_context(release, n_attacks=20)
        for attack in (linkage.attack_linkage, linkage.attack_points):
            found = {(each.variant, each.measure): each.published for each in attack(context)}
            for variant, measure in found:
                if measure == "pick" and isinstance(found[variant, "pick"], Proportion):
                    assert found[variant, "pick"].value >= found[variant, "success"].value - 1e-12
                    compared += 1
    assert compared > 100
