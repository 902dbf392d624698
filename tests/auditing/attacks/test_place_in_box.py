"""Where in its box the owner was: candidates, features and chances against the oracle on tiny releases."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from auditing.audit_contexts import SLOTS_AN_HOUR, tiny_context, tiny_releases
from oracles.attacker import in_box
from oracles.strong_attackers import (
    PLACE_FEATURES,
    best_share,
    method_place_features,
    place_candidates,
    place_chances,
    place_features,
    weighed,
)
from shoal.auditing.attacks import chain, place_in_box
from shoal.auditing.attacks.attackers import TRANSFER, try_attackers
from shoal.auditing.kernels import sites
from shoal.auditing.victims import intervals
from support.tiny_releases import TinyRelease

MOST_BOXES = 3  # of a release; of one with a crowd the largest and another


def some_boxes(release: TinyRelease, rng: Random) -> list[tuple[int, int]]:
    """Boxes as (record, place in it), the one with the most cells among them."""
    everything = [(r, b) for r, boxes in enumerate(release.records) for b in range(len(boxes))]

    def size(which: tuple[int, int]) -> int:
        _, _, x0, x1, y0, y1 = release.records[which[0]][which[1]]
        return (x1 - x0 + 1) * (y1 - y0 + 1)

    most = 2 if len(release.samples) > 8 else MOST_BOXES
    return sorted({max(everything, key=size), *rng.sample(everything, min(most - 1, len(everything)))})


def random_weights(rng: Random) -> np.ndarray[Any, Any]:
    """Weights of places; now and then none at all, so that everything ties."""
    scale = rng.choice([0.0, 1.0, 3.0])
    return np.array([scale * rng.uniform(-1, 1) for _ in PLACE_FEATURES])


def test_the_features_are_those_of_the_docs() -> None:
    assert sites.PLACE_FEATURES == PLACE_FEATURES


@pytest.mark.parametrize("whole", [False, True])
def test_candidates_features_and_chances(whole: bool) -> None:
    crowded = several = unseen = 0
    for release, rng in tiny_releases(50 + whole, 800):
        context = tiny_context(release, whole=whole)
        slots = SLOTS_AN_HOUR if whole else release.epsilon
        chosen = some_boxes(release, rng)
        first = context.published.index.ptr
        boxes = np.array([first[r] + b for r, b in chosen])
        owner = np.array([release.owners[r] for r, _ in chosen])
        cases, n_true = place_in_box.place_cases(context, boxes, owner)
        weights = random_weights(rng)
        found = try_attackers(cases, weights, PLACE_FEATURES)
        assert (cases.half == context.half[owner]).all()
        for case, (r, b) in enumerate(chosen):
            lines = np.flatnonzero(cases.case == case)
            true = {s[1:] for s in release.samples[release.owners[r]] if in_box(s, release.records[r][b])}
            cells = place_candidates(release.records, r, b)
            features = {cell: place_features(release.records, r, b, cell, slots) for cell in cells}
            assert len(lines) == len(cells)
            assert cases.features[lines] == pytest.approx(np.array(list(features.values())))
            assert cases.right[lines].tolist() == [cell in true for cell in cells]
            assert n_true[case] == len(true)
            chances = place_chances(release.records, r, b, weights, slots)
            assert found.chance[TRANSFER][lines] == pytest.approx([chances[cell] for cell in cells])
            assert found.picks[TRANSFER][case] == best_share(weighed(features, weights), true)
            for place, name in enumerate(PLACE_FEATURES):
                for sign, way in ((1, name), (-1, f"least {name}")):
                    alone = {cell: sign * values[place] for cell, values in features.items()}
                    assert found.picks[way][case] == pytest.approx(best_share(alone, true))
            crowded += len(cells) == sites.MOST_CANDIDATES
            several += len(true) > 1
            unseen += not true
    assert min(crowded, several, unseen) > 5


def test_places_for_whoever_knows_the_method() -> None:
    extra = 0
    for release, rng in tiny_releases(60, 500):
        context = tiny_context(release, n_attacks=2)
        known = intervals(context, np.random.default_rng(rng.randrange(99)), release.tau)
        fits = context.fits(context.published, known)
        line, weights = 0, np.array([place_in_box.place_weights(), np.zeros(len(PLACE_FEATURES))])
        found = chain.known_places(
            context, context.published, known, fits, np.arange(len(fits.record)), weights
        )[:, [0, 2, 3]]
        for attack, user in enumerate(known.victim.tolist()):
            begin = int(known.begin[attack])
            seen = [s for s in release.samples[user] if begin <= s[0] < begin + release.tau]
            for _ in range(int(fits.n[attack])):
                r = int(fits.record[line])
                expected = method_place_features(
                    release.records, r, seen, place_in_box.place_weights(), release.epsilon
                )
                assert found[line] == pytest.approx(expected)
                corners = {(x, y) for boxes in release.records for b in boxes for x in b[2:4] for y in b[4:]}
                extra += any(s[1:] not in corners for s in seen)
                line += 1
    assert extra > 50


@pytest.mark.parametrize("site", [True, False])
def test_one_cell_more_than_the_candidates(site: bool) -> None:
    """A known cell that is not among the 64 counts as one more, whether or not it is a site."""
    crowd = [(t, t, x, x, y, y) for t, (x, y) in enumerate((x, y) for x in range(10) for y in range(10))]
    if not site:
        crowd = [box for box in crowd if box[2:] != (8, 8, 8, 8)]
    release = TinyRelease(
        [[(5, 8, 8)], [(t, x, y) for t, _, x, _, y, _ in crowd]],
        [[(0, 9, 0, 9, 0, 9)], crowd], [0, 1], 10, 10,
    )  # fmt: skip
    assert (8, 8) not in place_candidates(release.records, 0, 0)
    context = tiny_context(release)
    known = intervals(context, np.random.default_rng(0), release.tau)
    mine = known.victim == 0
    fits = context.fits(context.published, known)
    places = chain.known_places(
        context,
        context.published,
        known,
        fits,
        np.arange(len(fits.record)),
        np.array([place_in_box.place_weights()]),
    )
    expected = method_place_features(
        release.records, 0, [(5, 8, 8)], place_in_box.place_weights(), release.epsilon
    )
    of_mine = [
        places[line]
        for attack in np.flatnonzero(mine)
        for line in range(fits.at[attack], fits.at[attack] + fits.n[attack])
        if fits.record[line] == 0
    ]
    assert of_mine
    assert np.array(of_mine) == pytest.approx(np.tile(expected, (len(of_mine), 1)))
