"""The oracle of the attackers on times and places: examples worked by hand, and laws that hold in any tiny release."""

from itertools import permutations
from math import inf, log, sqrt
from random import Random

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from oracles.attacker import in_box
from oracles.auditor import candidates, cells_fit, share_on_cells
from oracles.strong_attackers import (
    MOST_SITES,
    PLACE_FEATURES,
    best_share,
    epochs_touched,
    everybody,
    fits_with_gaps,
    holds,
    home_guess_by_posterior,
    home_posterior,
    method_place_features,
    pieces_around,
    place_candidates,
    place_chances,
    place_features,
    presence_left,
    promise_of_a_site,
    share_on,
    sites,
    times_left,
    top_candidates,
    top_features,
    top_fits,
)
from support.tiny_releases import tiny_release


def at(t0, t1, x=0, y=0):
    """A box of one cell."""
    return (t0, t1, x, x, y, y)


def weights(**given):
    return [given.get(name, 0.0) for name in PLACE_FEATURES]


# --- what fits ---------------------------------------------------------------------------------------------

# Epochs of 10 slots. Nobody holds all of K, or has explained it all.
SEEN = [(5, 0, 0), (12, 1, 0), (15, 1, 0)]
ONE_OF_THREE = [at(5, 5)]  # nothing in epoch 1: forgiven
NOT_FORGIVEN = [at(5, 5), at(12, 12, 1)]  # holds two, but has a box in the epoch of the third
TWO_OF_THREE = [at(12, 15, 1)]
UNEXPLAINED = [at(12, 15, 1), at(17, 17, 9)]
NEVER_THERE = [at(40, 41)]
FITS = [at(5, 5), at(12, 15, 1), at(25, 29, 7)]


@pytest.mark.parametrize(
    ("records", "fit"),
    [
        ([ONE_OF_THREE, NOT_FORGIVEN, TWO_OF_THREE, UNEXPLAINED, NEVER_THERE], [2]),
        ([ONE_OF_THREE, NOT_FORGIVEN, UNEXPLAINED, NEVER_THERE, ONE_OF_THREE], [0, 4]),
        ([NOT_FORGIVEN, UNEXPLAINED, NEVER_THERE, []], []),
        ([TWO_OF_THREE, FITS, ONE_OF_THREE, FITS], [1, 3]),
    ],
)
def test_gaps_are_forgiven_where_nothing_fits(records, fit):
    assert fits_with_gaps(records, [(SEEN, 0, 20)], 10) == fit


def test_a_gap_is_an_epoch_that_no_box_touches():
    # A box that begins in epoch 0 and ends in epoch 1 leaves no gap in epoch 1.
    assert fits_with_gaps([[(5, 10, 0, 0, 0, 0)]], [(SEEN, 0, 20)], 10) == []


def test_points_leave_boxes_without_a_point_alone():
    assert fits_with_gaps([UNEXPLAINED, FITS], [(SEEN[1:], 0, 0)], 10) == [0, 1]
    assert fits_with_gaps([UNEXPLAINED, NOT_FORGIVEN], [(SEEN, 0, 0)], 10) == [0]


def test_several_pieces_are_one_knowledge():
    # The box at 17 lies in neither piece; held samples are counted over both.
    pieces = [(SEEN[:1], 0, 10), (SEEN[1:], 11, 16)]
    assert fits_with_gaps([ONE_OF_THREE, UNEXPLAINED], pieces, 10) == [1]


def test_all_of_time_has_gaps_too():
    # Over all of time every box is to be explained: FITS has one at 25.
    assert fits_with_gaps([ONE_OF_THREE, TWO_OF_THREE], [(SEEN, -inf, inf)], 10) == [1]
    assert fits_with_gaps([FITS[:2], FITS, TWO_OF_THREE], [(SEEN, -inf, inf)], 10) == [0]


def test_times_only():
    records = [[at(5, 5), at(25, 25)], [at(5, 12)], [at(5, 5)], [at(45, 45)], []]
    assert times_left(records, {0, 1, 2}, 10, all_known=True) == [0, 1]
    assert times_left(records, {0, 1}, 10, all_known=True) == [1]
    assert times_left(records, {0, 2}, 10, all_known=True) == [
        0
    ]  # 1 touches epoch 1 but also epoch 0: not ruled out
    assert times_left(records, {2}, 10, all_known=False) == [0]
    assert times_left(records, {2}, 10, all_known=True) == []
    assert times_left(records, {7}, 10, all_known=False) == [0, 1, 2, 3]


def test_pieces_of_epochs_around_an_interval():
    assert pieces_around(20, 10, 10) == [(0, 10), (10, 20), (30, 40), (40, 50)]
    assert pieces_around(21, 10, 10) == [(0, 10), (10, 20), (20, 21), (31, 40), (40, 50), (50, 60)]
    assert pieces_around(-1, 2, 1) == [(-3, -2), (-2, -1), (1, 2), (2, 3)]


def test_presence_around():
    # I is epoch 2. The victim was active in epochs 0 and 3, of 1 and 4 it is known that there was nothing.
    victim = [(5, 0, 0), (25, 0, 0), (35, 0, 0), (95, 0, 0)]
    here = at(25, 25)
    records = [
        [here],
        [at(5, 5), here],
        [here, at(30, 31)],
        [at(5, 5), here, at(35, 35), at(44, 44)],  # ruled out by epoch 4
        [at(5, 5, 9), here, at(95, 95)],  # no place is known but in I
        [at(5, 12), here, at(95, 95)],  # touches epoch 0
        [at(5, 5), at(35, 35)],  # not in S(K)
    ]
    assert presence_left(records, victim, 20, 10, 10) == [1, 2, 4, 5]
    assert presence_left([*records, [at(5, 5), here, at(35, 35)]], victim, 20, 10, 10) == [7]
    assert presence_left([records[3]], victim, 20, 10, 10) == []
    # A box that reaches from epoch 1 into I is nobody's but the victim's there, so it must hold what is known of I.
    assert presence_left([[at(15, 22), here], [at(15, 25)]], victim, 20, 10, 10) == [1]
    assert presence_left([[at(15, 22), here], [at(5, 22), here]], victim, 20, 10, 10) == [1]


def test_presence_in_pieces_of_epochs():
    # I is [22, 32). Known are [0, 10), [10, 20), [20, 22), [32, 40), [40, 50), [50, 60): active the first and the last.
    victim = [(0, 0, 0), (5, 0, 0), (25, 0, 0), (50, 0, 0), (52, 0, 0)]
    here = at(25, 25)
    assert presence_left(
        [[here, at(20, 21)], [here, at(20, 22)], [here], [at(20, 25)]], victim, 22, 10, 10
    ) == [2, 3]
    assert presence_left([[here, at(33, 34)], [here, at(52, 55)]], victim, 22, 10, 10) == [1]
    assert presence_left([[here, at(0, 1)], [here, at(9, 10)], [here]], victim, 22, 10, 10) == [0, 1]
    assert presence_left([[here, at(51, 51)], [at(0, 2), here], [here]], victim, 22, 10, 10) == [0, 1]


# --- places ------------------------------------------------------------------------------------------------

# Epochs of 10 slots: the second box of the first record is in epoch 1, everything else in epoch 0.
STREET = [[(0, 1, 0, 2, 0, 0), (10, 11, 2, 2, 0, 0)], [(0, 3, 2, 4, 0, 1)]]
BACK = weights(share=log(3))


def test_sites_and_candidates():
    assert sites(STREET) == [(0, 0), (2, 0), (2, 1), (4, 0), (4, 1)]
    assert place_candidates(STREET, 0, 0) == [(0, 0), (2, 0)]
    assert place_candidates(STREET, 0, 1) == [(2, 0)]
    assert place_candidates(STREET, 1, 0) == [(2, 0), (2, 1), (4, 0), (4, 1)]


def test_features_of_a_place():
    middle = place_features(STREET, 0, 0, (2, 0), 10)
    expected = {
        "faces": 2,
        "corner": 1,
        "corners_now": log(2),
        "corners_near": log(2),
        "faces_now": 2 * log(2),
        "popularity": log(1.5),
        "share": 1,
        "tight": log(1.02),
        "edges": log(1.1),
        "corners": log(1.1),
        "next": 1,
        "off_centre": 2 / 3,
    }
    assert tuple(expected) == PLACE_FEATURES
    assert middle == pytest.approx(list(expected.values()))
    end = [2, 1, 0, 0, log(2), log(0.5), 0, log(0.02), log(0.1), log(0.1), 0, 2 / 3]
    assert place_features(STREET, 0, 0, (0, 0), 10) == pytest.approx(end)
    no_site = [1, 0, 0, 0, log(2), log(0.5), 0, log(0.02), log(0.1), log(0.1), 0, 0]
    assert place_features(STREET, 0, 0, (1, 0), 10) == pytest.approx(no_site)


def test_what_came_before_counts_as_what_comes_after():
    # Nothing else is in epoch 1; both boxes of epoch 0 have a corner there.
    later = [2, 1, 0, log(3), 0, log(1.5), 1, log(0.02 + 1 / sqrt(3)), log(1.1), log(1.1), 1, 0]
    assert place_features(STREET, 0, 1, (2, 0), 10) == pytest.approx(later)


def test_longer_epochs_hold_more_at_once():
    middle = dict(zip(PLACE_FEATURES, place_features(STREET, 0, 0, (2, 0), 60), strict=True))
    assert (middle["corners_now"], middle["corners_near"]) == (log(3), 0)


def test_chances_and_the_guess_of_a_home():
    assert place_chances(STREET, 0, 0, BACK, 10) == pytest.approx({(0, 0): 1 / 4, (2, 0): 3 / 4})
    with_extra = place_chances(STREET, 0, 0, BACK, 10, extra_cell=(1, 0))
    assert with_extra == pytest.approx({(0, 0): 1 / 5, (1, 0): 1 / 5, (2, 0): 3 / 5})
    assert place_chances(STREET, 0, 0, BACK, 10, extra_cell=(2, 0))[2, 0] == pytest.approx(3 / 4)
    assert home_posterior(STREET, 0, [0, 1], BACK, 10) == pytest.approx({(0, 0): 1 / 4, (2, 0): 7 / 4})
    assert home_guess_by_posterior(STREET, 0, [0, 1], BACK, 10) == (2, 0)
    assert home_guess_by_posterior(STREET, 0, [0], weights(), 10) == (0, 0)  # equals
    assert home_guess_by_posterior(STREET, 0, [], BACK, 10) is None


def test_of_too_many_sites_the_promising_ones_count():
    # Every cell is a corner of one box of another record, (1, 1) of three; the record returns to (5, 5). The 36 on the
    # edge of the large box count, and these two; of the other 62, which are equals, the first 26 by x, then y.
    inside = [(x, y) for x in range(10) for y in range(10)]
    large = [(0, 9, 0, 9, 0, 9), at(50, 50, 5, 5)]
    records = [large, [at(t, t, *cell) for t, cell in enumerate(inside)], [at(0, 0, 1, 1), at(1, 1, 1, 1)]]
    assert promise_of_a_site(records, 0, 0, (0, 0)) == 2 * 16
    assert promise_of_a_site(records, 0, 0, (0, 4)) == 2 * 4
    assert promise_of_a_site(records, 0, 0, (1, 1)) == 4
    assert promise_of_a_site(records, 0, 0, (5, 5)) == 2 * 5
    on_the_edge = {cell for cell in inside if 0 in cell or 9 in cell}
    rest = [cell for cell in inside if cell not in on_the_edge | {(1, 1), (5, 5)}]
    expected = on_the_edge | {(1, 1), (5, 5)} | set(rest[: 64 - 38])
    assert place_candidates(records, 0, 0) == sorted(expected)
    beyond = rest[-1]
    chances = place_chances(records, 0, 0, weights(), 10, extra_cell=beyond)
    assert len(chances) == 65
    assert chances[beyond] == pytest.approx(1 / 65)


def test_top_locations():
    known = [(2, 0)]
    first = (log(0.01 + (1 / sqrt(3) + 1) / 2), log(1.02), 1, log(0.01 + 7 / 8))
    second = (log(0.01 + 1 / sqrt(6)), log(1.02), 1, log(0.01 + 1 / 4))
    assert top_features(STREET, 0, known, BACK, 10) == pytest.approx(first)
    assert top_features(STREET, 1, known, BACK, 10) == pytest.approx(second)
    # (1, 0) is in one of two boxes, on one axis, and no site.
    both = (
        log(0.01 + (1 / sqrt(3) + 1) / 2) + log(0.01 + 1 / sqrt(3) / 2),
        log(1.02) + log(0.02 + 1 / 4),
        1,
        log(0.01 + 7 / 8) + log(0.01),
    )
    assert top_features(STREET, 0, [(2, 0), (1, 0)], BACK, 10) == pytest.approx(both)
    assert top_features(STREET, 0, [(0, 0)], BACK, 10)[2] == 1 / 2
    assert top_candidates(STREET, known) == [0, 1]
    assert top_candidates([STREET[1], STREET[0], STREET[0]], known, most=2) == [1, 2]
    assert top_candidates([*STREET, [at(0, 0, 9)]], known) == [0, 1]  # only who was there
    assert top_fits(STREET, [(0, 0), (4, 1), (2, 0)]) == [0, 1]  # two of three each
    assert top_fits(STREET, [(0, 0), (2, 0)]) == [0]
    assert top_fits(STREET, [(8, 8)]) == []


def test_places_for_who_knows_the_method():
    known = [(0, 1, 0), (0, 2, 0), (10, 2, 0), (70, 7, 7)]  # the last was suppressed
    place, tight, edges = method_place_features(STREET, 0, known, BACK, 10)
    assert place == pytest.approx((log(1 / 5) + log(3 / 4) + log(1)) / 3)
    assert tight == pytest.approx((log(0.02) + log(1.02) + log(0.02 + 1 / sqrt(3))) / 3)
    assert edges == pytest.approx((log(0.1) + 2 * log(1.1)) / 3)


def test_of_several_boxes_that_hold_a_sample_the_first_to_end_counts():
    wide, narrow = (0, 5, 0, 3, 0, 0), (3, 4, 1, 3, 0, 0)
    expected = place_features([[narrow, wide]], 0, 0, (3, 0), 10)[PLACE_FEATURES.index("tight")]
    assert (
        method_place_features([[narrow, wide]], 0, [(3, 3, 0)], BACK, 10)[1] == expected == log(0.02 + 1 / 2)
    )


# --- the pick ----------------------------------------------------------------------------------------------


def test_the_share_of_the_right_ones_among_the_best():
    assert best_share([1.0, 3.0, 2.0], {1}) == 1
    assert best_share([1.0, 0.1 + 0.2, 1.0 + 1e-12], {0}) == 1 / 2
    assert (
        best_share({(0, 0): -5.0, (1, 0): -5.0, (2, 0): -5.0, (3, 0): -6.0}, {(0, 0), (2, 0), (3, 0)})
        == 2 / 3
    )
    assert best_share([], {0}) == 0


def test_everybody_by_hand():
    # Anybody would take record 0; matching all three comes before a large score.
    scores = {("a", 0): 9.0, ("b", 0): 5.0, ("b", 1): 1.0, ("c", 1): -2.0, ("c", 2): -4.0}
    assert everybody(scores, "abc") == (3, 6.0)
    assert everybody({key: s for key, s in scores.items() if key[1] < 2}, "abc") == (2, 10.0)
    assert everybody({("a", 0): -3.0}, "ab") == (1, -3.0)
    assert everybody({}, "ab") == (0, 0.0)


def test_everybody_against_an_assignment():
    rng = Random(1)
    for _ in range(100):
        n, m = rng.randint(1, 5), rng.randint(1, 5)
        scores = {(i, j): rng.uniform(-3, 3) for i in range(n) for j in range(m) if rng.random() < 0.6}
        reward = np.zeros((n, m))
        for pair, score in scores.items():
            reward[pair] = 1000 + score
        total = reward[linear_sum_assignment(reward, maximize=True)].sum()
        matched, best = everybody(scores, range(n))
        assert 1000 * matched + best == pytest.approx(total)


# --- any tiny release --------------------------------------------------------------------------------------


def some_releases(n, seed, **shape):
    rng = Random(seed)
    return [(tiny_release(rng, **shape), rng) for _ in range(n)]


def test_tiny_releases_have_every_shape():
    releases = [release for release, _ in some_releases(600, 2)]
    for release in releases:
        assert release.records
        assert all(release.records)
        assert all(release.samples)
        assert len(set(release.owners)) == len(release.owners) == len(release.records)
        for boxes in release.records:
            assert boxes == sorted(boxes, key=lambda box: (box[1], box[0]))
            assert all(lo <= hi for box in boxes for lo, hi in (box[:2], box[2:4], box[4:]))
    boxes = [(box, release) for release in releases for record in release.records for box in record]
    assert any(len(release.samples) == 2 for release in releases)
    assert any(len(release.samples) > len(release.records) for release in releases)
    assert any(len(release.records) > 50 for release in releases)
    assert any(len(own) == 1 for release in releases for own in release.samples)
    assert any(box[2:3] + box[4:5] == box[3:4] + box[5:6] for box, _ in boxes)
    assert any(len(epochs_touched([box], release.epsilon)) > 1 for box, release in boxes)
    assert any(len(set(record)) < len(record) for release in releases for record in release.records)
    assert any(
        sum(holds(box, cell) for cell in sites(release.records)) > MOST_SITES
        for release in releases
        for box in release.records[0]
    )


def test_gap_rule_decides_something_and_agrees_where_it_need_not():
    n_strict = n_tolerant = n_none = 0
    for (samples, records, _, tau, epsilon), rng in some_releases(1000, 3, crowds=False):
        own = rng.choice(samples)
        begin = rng.choice(own)[0] - rng.randrange(tau)
        known = [s for s in own if begin <= s[0] < begin + tau]
        fit = fits_with_gaps(records, [(known, begin, begin + tau)], epsilon)
        strict = candidates({0: set(own)}, dict(enumerate(records)), 0, [(begin, begin + tau)])
        n_strict += bool(strict)
        n_tolerant += not strict and bool(fit)
        n_none += not fit
        assert not strict or set(fit) == strict
        assert all(any(in_box(s, box) for s in known for box in records[r]) for r in fit)
        assert set(presence_left(records, own, begin, tau, epsilon)) <= set(fit)
    assert min(n_strict, n_tolerant, n_none) > 30


def test_all_times_leave_a_true_record_that_lacks_nothing():
    for (samples, records, owners, _, epsilon), _ in some_releases(300, 4, crowds=False):
        for r, owner in enumerate(owners):
            active = {t // epsilon for t, _, _ in samples[owner]}
            if epochs_touched(records[r], epsilon) == active:
                assert r in times_left(records, active, epsilon, all_known=True)
                assert r in times_left(records, active, epsilon, all_known=False)


def test_places_in_any_order_of_records_and_of_axes():
    """Nothing depends on the order of records but ties, nor on which axis is called x."""
    for (_, records, _, _, epsilon), rng in some_releases(100, 5, crowds=False):
        chosen = [rng.uniform(-1, 1) for _ in PLACE_FEATURES]
        r = rng.randrange(len(records))
        b = rng.randrange(len(records[r]))
        chances = place_chances(records, r, b, chosen, epsilon)
        assert sum(chances.values()) == pytest.approx(1)
        order = rng.choice(list(permutations(range(len(records))))[:50])
        shuffled = [records[i] for i in order]
        assert place_chances(shuffled, order.index(r), b, chosen, epsilon) == pytest.approx(chances)
        turned = [[(*box[:2], *box[4:], *box[2:4]) for box in boxes] for boxes in records]
        mirrored = {(x, y): c for (y, x), c in place_chances(turned, r, b, chosen, epsilon).items()}
        assert mirrored == pytest.approx(chances)


def test_top_locations_agree_with_the_older_oracle():
    for (samples, records, _, _, _), rng in some_releases(200, 6, crowds=False):
        cells = sorted({(x, y) for _, x, y in rng.choice(samples)})[: rng.randint(1, 3)]
        older = cells_fit(dict(enumerate(records)), cells) if max_area(records) < 10_000 else None
        assert not older or set(top_fits(records, cells)) == older
        if older is not None:
            shares = [float(share_on_cells(boxes, cells)) for boxes in records]
            assert [share_on(boxes, cells) for boxes in records] == pytest.approx(shares)


def max_area(records):
    return max((b[3] - b[2] + 1) * (b[5] - b[4] + 1) for boxes in records for b in boxes)
