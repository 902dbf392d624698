"""Which of the records that fit is picked, against the oracle on tiny releases."""

from __future__ import annotations

import pytest

from auditing.audit_contexts import tiny_context, tiny_releases
from oracles.strong_attackers import best_share, fits_with_gaps, mass_on
from shoal.auditing.attacks import linkage
from shoal.auditing.attacks.place_in_box import place_weights
from shoal.core.proportions import Proportion


def test_the_record_most_likely_to_have_been_there_is_picked() -> None:
    """Of the records that fit, by the mass of the cells of the first, middle and last sample of every piece."""
    several = more = 0
    for release, _ in tiny_releases(46, 60, crowds=False):
        context = tiny_context(release, n_attacks=5)
        known = linkage._everything_known(context)
        fits = [context.fits(context.published, each.knowledge) for each in known]
        picks = linkage._picks(context, context.published, [each.knowledge for each in known], fits)
        for (attack, variant, knowledge), found in zip(known, picks, strict=True):
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
                assert found[i] == pytest.approx(best_share(scores, {own})), (attack, variant)
                several += len(left) > 1
                more += own in left and found[i] > 1 / len(left)
    assert several > 300
    assert more > 50


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
