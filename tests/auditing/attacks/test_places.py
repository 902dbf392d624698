"""Homes by posterior and records by top locations against the oracle, on tiny releases."""

from __future__ import annotations

import numpy as np
import pytest

from auditing.attacks.test_place_in_box import random_weights
from auditing.audit_contexts import SLOTS_AN_HOUR, context_of, tiny_context, tiny_releases
from oracles.auditor import top_cells
from oracles.strong_attackers import (
    best_share,
    cells_held,
    edges_on,
    home_guess_by_posterior,
    home_posterior,
    share_on,
    sites,
    tight_on,
    top_candidates,
    top_features,
    top_fits,
    weighed,
)
from shoal.auditing.attacks import places
from shoal.auditing.attacks.attackers import TRANSFER, transferred_weights, try_attackers
from shoal.auditing.attacks.place_in_box import place_weights
from shoal.auditing.context import AuditContext
from shoal.auditing.kernels.known_cells import TOP_FEATURES
from shoal.auditing.kernels.sites import PLACE_FEATURES, find_heaviest_sites
from shoal.auditing.measures import NO_VICTIM
from shoal.core.arrays import Bools, Int64s
from shoal.core.proportions import Proportion
from shoal.core.workers import Workers
from support.tiny_releases import TinyRelease


def every_other_slot(_context: AuditContext, slot: Int64s) -> Bools:
    return np.asarray(slot) % 2 == 0


@pytest.mark.parametrize("whole", [False, True])
def test_homes_by_posterior(whole: bool) -> None:
    guessed = without = 0
    for release, rng in tiny_releases(70 + whole, 350):
        context = tiny_context(release, whole=whole)
        slots = SLOTS_AN_HOUR if whole else release.epsilon
        victims = rng.sample(release.owners, min(4 if len(release.owners) < 10 else 1, len(release.owners)))
        by_half = [random_weights(rng), random_weights(rng)]
        asked = np.array(victims * 2)
        own, half = context.published.own[asked], context.half[asked]
        found = places._likeliest(context, every_other_slot, own, half, by_half)
        for line, user in enumerate(victims * 2):
            r = release.owners.index(user)
            wanted = [b for b, box in enumerate(release.records[r]) if box[0] % 2 == 0]
            weights = by_half[context.half[user]]
            cell = home_guess_by_posterior(release.records, r, wanted, weights, slots)
            if cell is None:
                assert np.isnan(found[line]).all()
                without += 1
            else:
                assert (found[line] == np.array(cell) + 0.5).all()
                guessed += 1
    assert min(guessed, without) > 50


def known_cells(release: TinyRelease, context: AuditContext, n: int) -> tuple[list[int], list[list[tuple]]]:
    """Everybody with a record and as many cells, and the cells."""
    tops = {user: top_cells(release.samples[user], n) for user in release.owners}
    users = [user for user in context.victims.tolist() if len(tops[user]) == n]
    return users, [tops[user] for user in users]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_records_that_fit_top_locations(n: int) -> None:
    partly = 0
    with Workers(3) as three:
        for release, _ in tiny_releases(80 + n, 600):
            context = tiny_context(release)
            users, tops = known_cells(release, context, n)
            if not users:
                continue
            cells, own = np.array(tops, np.int64), context.published.own[users]
            workers = three if len(users) % 2 else context.workers
            found = places.cell_fits(
                context.published, own, cells[:, :, 0].copy(), cells[:, :, 1].copy(), workers
            )
            for attack, top in enumerate(tops):
                fit = top_fits(release.records, top)
                boxes = release.records[own[attack]]
                assert found.n[attack] == len(fit)
                assert found.covered[attack] == (cells_held(release.records[fit[0]], top) if fit else 0)
                assert found.own_covered[attack] == cells_held(boxes, top)
                partly += 0 < found.covered[attack] < n
                shares = [share_on(each, top) for each in release.records]
                assert found.own_share[attack] == pytest.approx(share_on(boxes, top))
                assert found.largest[attack] == pytest.approx(max(shares))
                assert found.n_largest[attack] == sum(
                    share == pytest.approx(max(shares), rel=1e-9) for share in shares
                )
                _same_candidates(release, top, found.likeliest[attack])
    assert partly > 20 or n == 1


def _same_candidates(release: TinyRelease, cells: list[tuple], found: Int64s) -> None:
    """The best records by tight + edges; which of equals, at the end of the list, is open."""
    chosen = [r for r in found.tolist() if r >= 0]
    score = {r: tight_on(boxes, cells) + edges_on(boxes, cells) for r, boxes in enumerate(release.records)}
    expected = top_candidates(release.records, cells)
    assert len(set(chosen)) == len(chosen) == len(expected)
    assert [score[r] for r in chosen] == pytest.approx([score[r] for r in expected])
    if sum(cells_held(boxes, cells) > 0 for boxes in release.records) <= len(found):
        assert set(chosen) == set(expected)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_features_of_records_by_top_locations(n: int) -> None:
    attacks = 0
    for release, rng in tiny_releases(90 + n, 200):
        context = tiny_context(release)
        users, tops = known_cells(release, context, n)
        few = rng.sample(range(len(users)), min(2 if len(users) < 10 else 1, len(users)))
        if not few:
            continue
        victim = np.array([users[i] for i in few])
        cells = np.array([tops[i] for i in few], np.int64)
        x, y, own = cells[:, :, 0].copy(), cells[:, :, 1].copy(), context.published.own[victim]
        fits = places.cell_fits(context.published, own, x, y, context.workers)
        (cases,) = places.top_cases(context, context.published, [places.TopCells(victim, x, y)], [fits])
        weights = transferred_weights("top_locations", TOP_FEATURES)
        found = try_attackers(cases, weights, TOP_FEATURES)
        for attack, i in enumerate(few):
            lines = np.flatnonzero(cases.case == attack)
            records = [r for r in fits.likeliest[attack].tolist() if r >= 0]
            features = {
                r: top_features(release.records, r, tops[i], place_weights(), release.epsilon)
                for r in records
            }
            assert cases.features[lines] == pytest.approx(
                np.array(list(features.values())).reshape(-1, len(TOP_FEATURES))
            )
            assert cases.right[lines].tolist() == [r == own[attack] for r in records]
            if records:
                share = best_share(weighed(features, weights), {int(own[attack])})
                assert found.picks[TRANSFER][attack] == share
            attacks += 1
    assert attacks > 100


def test_masses_of_any_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chances summed over a record's boxes, also where records are asked for one after the other."""
    some = 0
    for release, rng in tiny_releases(95, 150, crowds=False):
        context = tiny_context(release)
        corners = sites(release.records)
        records = sorted(rng.sample(range(len(release.records)), min(4, len(release.records))))
        asked = [
            rng.sample([*corners, (10**6, 0)], min(rng.randint(1, 3), len(corners) + 1)) for _ in records
        ]
        weights = random_weights(rng)
        x, y = (np.array([cell[axis] for cells in asked for cell in cells], np.int64) for axis in (0, 1))
        monkeypatch.setattr(places, "place_weights", lambda weights=weights: weights)
        monkeypatch.setattr(places, "_ROOM", rng.choice([1, 200, 1 << 22]))
        places._masses_of(context, context.published, np.array(records[: rng.randint(0, 2)], np.int64))
        found = places._masses_of(context, context.published, np.array(records))
        mass = found.of(
            np.repeat(records, [len(cells) for cells in asked]), places._sites_at(context.sites, x, y)
        )
        expected = []
        for r, cells in zip(records, asked, strict=True):
            total = home_posterior(
                release.records, r, range(len(release.records[r])), weights, release.epsilon
            )
            expected += [total.get(cell, 0.0) for cell in cells]
        assert mass == pytest.approx(expected)
        some += sum(value > 0 for value in expected)
    assert some > 100


def test_cells_that_nobody_has_lead_nowhere() -> None:
    world = {user: {(0, user, 0), (1, user, 1), (2, user, 2)} for user in range(3)}
    records = {user: [(0, 2, 50, 60, 50, 60)] for user in world}
    for measure in places.attack_top_locations(context_of(world, records, 2, 8, 8)):
        assert isinstance(measure.published, Proportion)
        expected = (
            1 / 3 if measure.measure == "pick" else 0
        )  # of all records, none of which spends anything there
        assert measure.published.value == pytest.approx(expected)


@pytest.mark.filterwarnings("error")
def test_a_file_without_nights_has_nobody_to_attack() -> None:
    at_noon = {user: {(12, 0, user)} for user in range(3)}
    records = {user: [(12, 12, 0, 0, user, user)] for user in at_noon}
    found = places.attack_home_and_work(context_of(at_noon, records, 2, 8, 8))
    assert {measure.published for measure in found if measure.variant == "home"} == {NO_VICTIM}


def test_chances_too_small_for_a_number_take_no_more_room() -> None:
    """Weights learnt from few boxes can be huge, so that all but one candidate have no chance at all: each of them is
    noted once, however many boxes it is in."""
    boxes = [(3 * t, 3 * t, 0, 4, 0, 4) for t in range(40)] + [(200, 200, 1, 1, 1, 1)]
    release = TinyRelease([[(3 * t, 0, 0) for t in range(40)]] * 2, [boxes, boxes], [0, 1], 3, 3)
    context = tiny_context(release)
    weights = np.zeros(len(PLACE_FEATURES))
    weights[PLACE_FEATURES.index("corner")] = -1e6  # only the cell in the middle has a chance
    wanted = np.ones(len(context.published.records.box), np.bool_)
    site = np.full(2, -2, np.int64)
    find_heaviest_sites.py_func(
        context.published.index, context.sites, weights, wanted, np.arange(2), 0, 2, site
    )  # in Python, where there are bounds
    assert (context.sites.x[site] == 1).all()
