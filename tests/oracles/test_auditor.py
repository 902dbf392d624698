"""The audit's oracle on examples worked by hand, so that it can be trusted to judge the audit."""

from fractions import Fraction
from random import Random

import pytest

from oracles.attacker import Violation, consistent, interval_starts, knowledge, violations
from oracles.auditor import (
    boxes_without_own_sample,
    candidates,
    cells_fit,
    central_score,
    chain_survivors,
    consistent_with_pieces,
    faces_score,
    guessed_place,
    homogeneity,
    interval,
    keyless_violations,
    leakage,
    overlapping_pairs,
    pieces_outside,
    points_fit,
    share_on_cells,
    smallest_score,
    suppressed_samples,
    top_cells,
    true_place,
)
from oracles.casual_worlds import random_case


def at(t0, t1, x=0, y=0):
    """A box of one cell."""
    return (t0, t1, x, x, y, y)


# --- consistency -------------------------------------------------------------------------------------------

TWO_BOXES = [at(-4, -3), at(0, 1)]


@pytest.mark.parametrize(
    ("own", "pieces", "fits"),
    [
        ({(-4, 0, 0), (0, 0, 0)}, [(-4, -2), (0, 2)], True),
        ({(-4, 0, 0)}, [(-4, -2), (0, 2)], False),  # the box 0..1 is unexplained
        ({(-4, 0, 0)}, [(-4, -2), (1, 3)], True),  # it begins before the second piece
        ({(-4, 0, 0)}, [(-4, -2), (-1, 1)], True),  # it ends after it
        ({(-4, 0, 0), (3, 0, 0)}, [(-4, -2), (2, 5)], False),  # nothing covers slot 3
        ({(-4, 0, 0), (5, 0, 0)}, [(-4, -2), (2, 5)], True),  # slot 5 is not known
        (set(), [(0, 2)], False),
        (set(), [(0, 1), (1, 2)], True),  # pieces that touch remain two
        (set(), [], True),
    ],
)
def test_consistency_with_pieces(own, pieces, fits):
    assert consistent_with_pieces(TWO_BOXES, own, pieces) is fits


def test_candidates_of_several_intervals_are_those_of_each():
    samples = {"A": {(0, 0, 0), (9, 0, 0)}}
    records = {
        "A": [at(0, 0), at(9, 9)],
        "B": [at(0, 1), at(8, 9, x=5)],  # fits at first, is elsewhere at 9
        "C": [at(9, 9)],  # is not there at first
        "D": [(0, 9, 0, 1, 0, 1)],  # one box for all
        "E": [],  # no record
    }
    assert candidates(samples, records, "A", [(0, 4)]) == {"A", "B", "D"}
    assert candidates(samples, records, "A", [(8, 12)]) == {"A", "C", "D"}
    assert candidates(samples, records, "A", [(0, 4), (8, 12)]) == {"A", "D"}
    assert candidates(samples, records, "A", [(3, 7)]) == {
        "A",
        "B",
        "C",
        "D",
    }  # nothing known, nothing inside
    assert candidates(samples, records, "A", [interval(None, None)]) == {"A", "D"}
    # Nothing is known of B, who has no samples: the boxes at 0..1 and at 0 stand inside.
    assert candidates(samples, records, "B", [(0, 4)]) == {"C", "D"}


def test_candidates_are_those_of_the_attacker():
    rng = Random(3)
    for _ in range(10):
        world, _, tau, epsilon = random_case(rng)
        records = {user: [at(t, t + 1, x, y) for t, x, y in sorted(own)] for user, own in world.items()}
        for victim in world:
            for a in (None, *interval_starts(world, records, tau, epsilon)):
                length = None if a is None else tau
                known = knowledge(world, victim, a, length)
                fitting = {user for user, boxes in records.items() if consistent(boxes, known, a, length)}
                assert candidates(world, records, victim, [interval(a, length)]) == fitting


# --- without a key -----------------------------------------------------------------------------------------

# k = 2, tau = epsilon = 4. A and B share a box at slots 1..2 of epoch 0.
SHARED = [(1, 2, 0, 1, 0, 0)]
PAIR = {"A": {(1, 0, 0)}, "B": {(2, 1, 0)}}


def test_keyless_a_pair_hides_each_other():
    assert keyless_violations(PAIR, [SHARED, SHARED], 2, 4, 4) == ([], set(), set(), 0)
    assert keyless_violations(PAIR, [SHARED, SHARED], 2, None, None) == ([], set(), set(), 0)


def test_keyless_users_without_a_possible_own_record_may_have_none():
    # Z is elsewhere at slot 1, so nobody's record is Z's; a = -2..1 knows it. Otherwise K is empty: a = 2 and
    # later do not hold slot 1, where the shared box begins.
    samples = PAIR | {"Z": {(1, 50, 50)}}
    of_z = [Violation("Z", a, "gap-tolerant", 0) for a in (-2, -1, 0, 1)]
    assert keyless_violations(samples, [SHARED, SHARED], 2, 4, 4) == (of_z, {"Z"}, {"Z"}, 0)
    # Three records for three users: none is missing that could be Z's. The third, a gap in epoch 0, is forgiven.
    elsewhere = [at(100, 100)]
    of_z = [Violation("Z", a, "gap-tolerant", 1) for a in (-2, -1, 0, 1)]
    assert keyless_violations(samples, [SHARED, SHARED, elsewhere], 2, 4, 4) == (of_z, {"Z"}, set(), 1)
    # Two unprotected, one missing: both are held to the promise.
    samples["Y"] = {(1, 60, 60)}
    both = keyless_violations(samples, [SHARED, SHARED, elsewhere], 2, 4, 4)
    assert both.without_own == {"Y", "Z"}
    assert both.n_untrue == 1
    assert both.not_checked == set()


def test_keyless_absence_is_checked_as_well():
    # Z is there in epoch 2 only, where A and B have a gap: forgiven. But no record is absent with Z when the
    # shared box, slots 1..2, lies in [a, a+4): a = -1, 0, 1. No record is Z's: the shared box holds no sample of Z.
    of_z = [Violation("Z", a, "gap-tolerant", 0) for a in (-1, 0, 1)]
    found = keyless_violations(PAIR | {"Z": {(9, 0, 0)}}, {"A": SHARED, "B": SHARED, "Z": []}, 2, 4, 4)
    assert found == (of_z, {"Z"}, {"Z"}, 0)


def test_keyless_a_possible_own_record_brings_the_strict_clause():
    # B has no record, but A's record could be B's. One record in all: every attack, also with nothing known, finds
    # too few.
    found = keyless_violations(PAIR, [SHARED], 2, 4, 4)
    assert found.without_own == set()
    assert found.not_checked == set()
    assert Violation("B", 0, "strict", 1) in found.violations
    assert Violation("B", 0, "gap-tolerant", 1) in found.violations
    # a = -2 knows slots -2..1, and that B is not there: the box is not wholly inside, so it fits.
    assert Violation("B", -2, "strict", 1) in found.violations
    # Epsilon does not matter to the strict attacker; tau = 5 and epsilon = 3: epoch 0 is slots 0..2.
    assert Violation("B", -2, "strict", 1) in keyless_violations(PAIR, [SHARED], 2, 5, 3).violations


def test_keyless_a_possible_own_record_may_have_gaps():
    # Z's sample in epoch 2 is withheld or not Z's record at all: both records could be Z's. k = 3 breaks everything.
    found = keyless_violations(PAIR | {"Z": {(1, 0, 0), (9, 9, 9)}}, [SHARED, SHARED], 3, 4, 4)
    assert Violation("Z", 0, "gap-tolerant", 2) in found.violations
    assert found.without_own == set()


def test_keyless_can_accuse_a_file_that_keeps_the_promise():
    # The letter of docs/audit.md. In epoch 0 V, W and X hide in a ring: V with W, W with X, X with V.
    # U's sample there is withheld; by accident it lies in V's box and in no other. In epoch 1 all four are together.
    samples = {
        "U": {(1, 2, 2), (5, 9, 9)},
        "V": {(1, 0, 0), (5, 9, 9)},
        "W": {(1, 4, 4), (5, 9, 9)},
        "X": {(1, 4, 0), (5, 9, 9)},
    }
    together = at(5, 5, 9, 9)
    records = {
        "U": [together],
        "V": [(1, 1, 0, 4, 0, 4), together],
        "W": [(1, 1, 4, 4, 0, 4), together],
        "X": [(1, 1, 0, 4, 0, 0), together],
    }
    assert violations(samples, records, 2, 4, 4) == []
    # V's record could be U's and fits; U's own does not, which only the key tells. a = -2..1 knows slot 1.
    found = keyless_violations(samples, records, 2, 4, 4)
    assert found.violations == [Violation("U", a, "strict", 1) for a in (-2, -1, 0, 1)]
    assert found.without_own == set()
    # The same if U has no record at all: the missing record could be U's, but V's could, too, so U is not excused.
    del records["U"]
    assert violations(samples, records, 2, 4, 4) == []
    found = keyless_violations(samples, records, 2, 4, 4)
    assert set(found.violations) == {
        Violation("U", a, attacker, 1) for a in (-2, -1, 0, 1) for attacker in ("strict", "gap-tolerant")
    }
    assert found.not_checked == set()


# --- truthfulness ------------------------------------------------------------------------------------------


def test_truthfulness_with_a_key():
    samples = {"A": {(-1, 0, 0), (4, 0, 0), (6, 7, 0)}, "B": {(5, 0, 0)}, "C": {(0, 0, 0)}}
    # A's first two boxes share slot 4, the second and third slots 5 and 6; the third is elsewhere, without A.
    one, two, three = (-1, 4, 0, 1, 0, 0), (4, 6, 0, 0, 0, 0), (5, 9, 50, 60, 0, 0)
    records = {"A": [one, two, three], "B": [at(5, 5)], "C": []}
    assert boxes_without_own_sample(samples, records) == [("A", three)]
    assert overlapping_pairs(records) == [("A", one, two), ("A", two, three)]
    assert suppressed_samples(samples, records) == {("A", (6, 7, 0)), ("C", (0, 0, 0))}
    # B's samples in A's boxes count for nothing.
    assert boxes_without_own_sample(samples, {"A": [at(5, 5)]}) == [("A", at(5, 5))]
    assert overlapping_pairs({"A": [at(0, 9)] * 3}) == [("A", at(0, 9), at(0, 9))] * 3


# --- rankings ----------------------------------------------------------------------------------------------

# WIDE: 5 slots, 4 columns, 1 row: cost 5 * (4 + 1) = 25. TALL: 2 slots, 1 column, 2 rows: 2 * (1 + 2) = 6.
WIDE, TALL = (0, 4, 0, 3, 0, 0), (2, 3, 0, 0, 0, 1)
IN_BOTH, IN_WIDE = (2, 0, 0), (4, 3, 0)


def test_smallest():
    assert smallest_score([WIDE, TALL, at(7, 7)], {IN_BOTH}) == 25 + 6
    assert smallest_score([WIDE, TALL, at(7, 7)], {IN_WIDE}) == 25
    assert smallest_score([WIDE, TALL], {IN_BOTH, IN_WIDE}) == 25 + 6  # each box once


def test_faces():
    # IN_BOTH touches in WIDE: column 0 and both rows; in TALL: slot 2, both columns, row 0. So 3 + 4 of 12.
    assert faces_score([WIDE, TALL, at(7, 7)], {IN_BOTH}) == Fraction(7, 12)
    # IN_WIDE adds slot 4 and column 3 of WIDE.
    assert faces_score([WIDE, TALL], {IN_BOTH, IN_WIDE}) == Fraction(9, 12)
    assert faces_score([at(7, 7)], {(7, 0, 0)}) == 1


def test_central():
    # IN_BOTH counts in TALL, which ends first: |4-5|/2, 0, |0-1|/2.
    assert central_score([WIDE, TALL], {IN_BOTH}) == Fraction(1, 3)
    assert central_score([TALL, WIDE], {IN_BOTH}) == Fraction(1, 3)
    # IN_WIDE: |8-4|/5, |6-3|/4, 0; together (1 + 31/20) / 6.
    assert central_score([WIDE, TALL], {IN_BOTH, IN_WIDE}) == Fraction(17, 40)
    # Same end: the one that begins first, 2..4 and not 3..4: |6-6|/3 and not |6-7|/2. Below zero as above.
    assert central_score([at(3, 4), at(2, 4)], {(3, 0, 0)}) == 0
    assert central_score([at(-4, -3), at(-4, -2)], {(-3, 0, 0)}) == Fraction(1, 2) / 3
    # Same end and begin: as listed: |0-0-1|/2 in the first, 0 in the second.
    assert central_score([(3, 4, 0, 1, 0, 0), (3, 4, 0, 0, 0, 0)], {(3, 0, 0)}) == Fraction(1 + 1, 2) / 3
    assert central_score([(3, 4, 0, 0, 0, 0), (3, 4, 0, 1, 0, 0)], {(3, 0, 0)}) == Fraction(1, 2) / 3


# --- chain -------------------------------------------------------------------------------------------------


def test_chain_records_that_part_after_the_interval():
    # tau = 6, epsilon = 4: r = 2, windows of 12 slots. I = 1..6 shares slots with those that begin at -8, -4, 0, 4.
    # All three fit. At slot 9, in the last two windows, A and B meet; C meets nobody.
    samples = {"A": {(1, 0, 0), (5, 0, 0)}}
    seen = [at(1, 1), at(5, 5)]
    records = {"A": [*seen, at(9, 9)], "B": [*seen, (9, 9, 0, 1, 0, 0)], "C": [*seen, at(9, 9, x=5)]}
    assert chain_survivors(samples, records, "A", 1, 2, 6, 4) == {"A", "B"}
    assert chain_survivors(samples, records, "A", 1, 3, 6, 4) == set()
    # At slot 16 no window reaches: 4 + 12 = 16.
    records["C"] = [*seen, at(9, 9), at(16, 16, x=5)]
    assert chain_survivors(samples, records, "A", 1, 3, 6, 4) == {"A", "B", "C"}
    records["C"] = [*seen, at(9, 9), at(15, 15, x=5)]
    assert chain_survivors(samples, records, "A", 1, 2, 6, 4) == {"A", "B"}
    # Before the interval, the window from -8 on.
    records["C"] = [at(-8, -8, x=5), *seen, at(9, 9)]
    assert chain_survivors(samples, records, "A", 1, 2, 6, 4) == {"A", "B"}
    records["C"] = [at(-9, -9, x=5), *seen, at(9, 9)]
    assert chain_survivors(samples, records, "A", 1, 3, 6, 4) == {"A", "B", "C"}


def test_chain_cover_may_come_from_records_that_do_not_fit_everywhere():
    # tau = epsilon = 4: windows of 8 slots; I = 2..5 shares slots with those from -4, 0 and 4.
    # B fits only slot 3 (windows from -4 and 0), C only slot 4 (windows from 0 and 4).
    samples = {"A": {(3, 0, 0), (4, 0, 0)}}
    records = {"A": [at(3, 3), at(4, 4)], "B": [at(3, 3)], "C": [at(4, 4)]}
    # Window -4..3 wants slot 3: B. Window 4..11 wants slot 4: C. Window 0..7 wants both: nobody but A.
    assert chain_survivors(samples, records, "A", 2, 2, 4, 4) == set()
    records["D"] = [at(3, 3), at(4, 4), at(6, 6)]  # fits, but 6 meets nothing of A
    assert chain_survivors(samples, records, "A", 2, 2, 4, 4) == set()
    records["D"] = [at(3, 3), at(4, 4), at(8, 8)]  # in window 4..11 only: there A has C, and D has nobody
    assert chain_survivors(samples, records, "A", 2, 2, 4, 4) == {"A"}
    records["C"] = [at(4, 5, x=1), at(4, 4)]  # in window 4..11, 4..5 lies inside I without a sample of A
    assert chain_survivors(samples, records, "A", 2, 2, 4, 4) == set()
    records["C"] = [at(4, 6), at(7, 7, x=1)]  # not inside, and meets A at the sample; 7 meets nobody
    assert chain_survivors(samples, records, "A", 2, 2, 4, 4) == set()
    records["C"] = [at(4, 6)]
    assert chain_survivors(samples, records, "A", 2, 2, 4, 4) == {"A"}


@pytest.mark.parametrize(
    ("one", "other", "survivors"),
    [
        # I = 0..3, known: slot 1. In common is slot 3: inside, and nothing of A is known there.
        ([at(1, 1), at(3, 5)], [at(1, 3)], set()),
        # In common are 3..4, and 4 is outside.
        ([at(1, 1), at(3, 5)], [at(1, 4)], {"A", "B"}),
        # In common is slot 1 with the sample of A.
        ([at(-1, 1)], [at(1, 5)], {"A", "B"}),
        # A slot outside in common, but no cell.
        ([at(1, 1), at(4, 5)], [at(1, 1), at(4, 5, x=1)], set()),
        # B meets A's box, but has another in the window that A does not meet.
        ([at(1, 1), at(4, 5)], [at(1, 1), at(4, 4), at(5, 5, x=1)], set()),
        # Overlapping boxes of one record: it is enough to meet one.
        ([at(1, 1), at(4, 7), at(5, 5)], [at(1, 1), at(4, 6)], {"A", "B"}),
    ],
)
def test_chain_boxes_that_meet(one, other, survivors):
    assert chain_survivors({"A": {(1, 0, 0)}}, {"A": one, "B": other}, "A", 0, 2, 4, 4) == survivors


def test_chain_a_box_may_be_met_outside_the_window():
    # Only in files whose boxes cross epochs. tau = epsilon = 2, I = 0..1: windows -2..1 and 0..3. A's long box shares
    # slot 1 with the first; B meets it at 8..9, which neither window reaches. The page asks for no more.
    records = {"A": [at(0, 0), at(1, 9)], "B": [at(0, 0), at(8, 9)]}
    assert chain_survivors({"A": {(0, 0, 0)}}, records, "A", 0, 2, 2, 2) == {"A", "B"}
    records["B"] = [at(0, 0)]
    assert chain_survivors({"A": {(0, 0, 0)}}, records, "A", 0, 2, 2, 2) == set()


def test_chain_only_the_window_counts():
    # tau = epsilon = 4, I = 2..5. D covers A in window 0..7 only: -1 and 8 meet nothing. C serves in 4..11, and B in
    # -4..3, though at slot 4 it has a box without a sample of A. At slot 2 that rules B out, and A with it.
    samples = {"A": {(3, 0, 0), (4, 0, 0)}}
    a, c = [at(3, 3), at(4, 4)], [at(4, 4)]
    d = [at(-1, -1, x=5), at(3, 3), at(4, 4), at(8, 8, x=5)]
    beside = {"A": a, "B": [at(3, 3), at(4, 4, x=1)], "C": c, "D": d}
    assert chain_survivors(samples, beside, "A", 2, 2, 4, 4) == {"A"}
    beside["B"] = [at(2, 2, x=1), at(3, 3)]
    assert chain_survivors(samples, beside, "A", 2, 2, 4, 4) == set()


def test_chain_boxes_inside_the_interval_need_not_meet():
    # tau = 4, epsilon = 2: windows of 6 slots; I = 0..3 shares slots with those from -4, -2, 0 and 2. In -4..1 nothing
    # is known; C's box at -3 meets nothing; B has nothing there. A's box 1..2 crosses the end of that window, but lies
    # inside I: B need not meet it. In the others C covers A.
    records = {"A": [at(1, 2)], "B": [at(9, 9)], "C": [at(-3, -3, x=5), at(2, 2)]}
    assert chain_survivors({"A": {(2, 0, 0)}}, records, "A", 0, 2, 4, 2) == {"A"}


# --- leakage -----------------------------------------------------------------------------------------------


def test_pieces_outside_an_interval():
    assert pieces_outside(0, 8, 3, 3) == [(0, 3), (6, 8)]
    assert pieces_outside(0, 8, 0, 3) == [(3, 8)]
    assert pieces_outside(0, 8, -2, 12) == []
    assert pieces_outside(-1, 8, 3, 3) == [(-8, 0)]
    assert pieces_outside(-1, 8, -3, 7) == [(-8, -3)]
    assert pieces_outside(0, 4, 3, 6) == [(0, 3)]
    assert pieces_outside(2, 4, 3, 6) == [(9, 12)]


# tau = 3, epsilon = 8, a = 3: epoch 0 is slots 0..7, and 0..2 and 6..7 of it are outside.
LEAKING = {"A": {(-2, 5, 5), (1, 0, 0), (4, 0, 0), (7, 0, 0)}}
OWN = [at(-2, -2, 5, 5), at(1, 1), at(4, 4), at(7, 7)]


@pytest.mark.parametrize(
    ("other", "slots"),
    [
        # Covers everything: 5 slots of epoch 0 and the 8 of epoch -1.
        ([(-3, -1, 4, 5, 5, 5), (0, 2, 0, 1, 0, 0), at(4, 5), at(6, 7)], 5 + 8),
        # A box without A wholly inside the first piece: epoch 0 does not leak.
        ([at(-2, -2, 5, 5), at(0, 2), at(2, 2, x=9), at(4, 5), at(6, 7)], 8),
        # The same across the border of interval and piece: not wholly inside either.
        ([at(-2, -2, 5, 5), at(0, 2), at(2, 3, x=9), at(4, 5), at(6, 7)], 5 + 8),
        # Slot 7 is not covered, though slot 1 is.
        ([at(-2, -2, 5, 5), at(0, 2), at(4, 6)], 8),
        # Nothing in epoch -1.
        ([at(0, 7)], 5),
        # Nothing outside the interval.
        ([at(4, 5)], 0),
        # Does not fit: the others do not matter, A's own record tells all.
        ([at(0, 2)], 5 + 8),
    ],
)
def test_leakage(other, slots):
    assert leakage(LEAKING, {"A": OWN, "B": other}, "A", 3, 3, 8) == slots


def test_leakage_when_epsilon_does_not_divide_tau():
    # tau = 6, epsilon = 4, a = -2: knows -2..3, so slots -4, -3 of epoch -1 and nothing of epoch 0 is outside.
    samples = {"A": {(-3, 0, 0), (-1, 0, 0), (2, 0, 0), (4, 0, 0), (11, 0, 0)}}
    every_epoch = [at(-3, -1), at(2, 2), at(4, 4), at(11, 11)]
    assert leakage(samples, {"A": every_epoch}, "A", -2, 6, 4) == 2 + 0 + 4 + 4
    # -3..-1 alone is covered by B, too, and 11 by C: epoch 1 by neither.
    records = {"A": every_epoch, "B": [at(-3, -1), at(2, 2)], "C": [at(-1, -1), at(2, 2), at(11, 11)]}
    assert leakage(samples, records, "A", -2, 6, 4) == 0
    assert leakage(samples, {u: records[u] for u in "AB"}, "A", -2, 6, 4) == 2
    assert leakage(samples, {u: records[u] for u in "AC"}, "A", -2, 6, 4) == 4
    # Epoch 0 has samples, but none outside the interval; with a = 2 that changes nothing, with a = 3 it does.
    assert leakage(samples, {"A": every_epoch}, "A", 2, 6, 4) == 4 + 4
    assert leakage(samples, {"A": every_epoch}, "A", 3, 6, 4) == 4 + 3 + 3
    assert leakage(samples, {"B": [at(0, 0)]}, "A", -2, 6, 4) is None


# --- points and places -------------------------------------------------------------------------------------


def test_points():
    records = {"A": [at(0, 0), at(0, 5, x=1)], "B": [(0, 3, 0, 1, 0, 0), at(7, 7)], "C": []}
    assert points_fit(records, {(0, 0, 0)}) == {"A", "B"}
    assert points_fit(records, {(0, 0, 0), (5, 1, 0)}) == {"A"}
    assert points_fit(records, {(0, 0, 0), (3, 1, 0)}) == {"A", "B"}
    assert points_fit(records, {(0, 9, 0)}) == set()


def test_top_cells():
    samples = {(-1, 1, 1), (1, 1, 1), (2, 0, 5), (3, 0, 2), (4, -1, 9)}
    assert top_cells(samples, 1) == [(1, 1)]
    assert top_cells(samples, 3) == [(1, 1), (-1, 9), (0, 2)]


def test_records_on_cells():
    records = {"A": [at(0, 0), at(5, 9, x=3, y=3)], "B": [(0, 0, 0, 3, 0, 3)], "C": [at(0, 0)], "D": []}
    assert cells_fit(records, [(0, 0)]) == {"A", "B", "C"}
    assert cells_fit(records, [(0, 0), (3, 3)]) == {"A", "B"}
    assert cells_fit(records, [(4, 4)]) == set()
    # Two cells of 1 * 1 and 2 * 1, known (0, 0) and, not inside, (9, 9): (1 + 1/2 + 0) / 3. Time does not weigh.
    boxes = [at(0, 0), (5, 90, 0, 1, 0, 0), at(7, 7, x=4)]
    assert share_on_cells(boxes, [(0, 0), (9, 9)]) == Fraction(1, 2)
    assert share_on_cells([(0, 0, 0, 3, 0, 3)], [(0, 0), (3, 3)]) == Fraction(2, 16)


def test_home_and_work():
    def night(t):
        return t % 24 >= 22 or t % 24 < 6

    samples = {(-1, 2, 2), (0, 2, 2), (5, 1, 1), (12, 1, 1), (13, 1, 1), (29, 1, 0), (22, 1, 0)}
    # At night: (2, 2) at -1 and 0; (1, 1) at 5; (1, 0) at 29 (5 the next day) and 22. Two each: the smaller x.
    assert true_place(samples, night) == (1, 0)
    assert true_place({(12, 1, 1)}, night) is None
    # At night begin the first three. Middle cells: (2, 0), (0, 4), (7, 6); they weigh 1/5, 1/4 and 1/3.
    boxes = [(0, 1, 0, 4, 0, 0), (-2, 9, 0, 1, 4, 5), (23, 23, 6, 8, 6, 6), at(6, 30)]
    assert guessed_place(boxes, night) == (15, 13)
    assert guessed_place(boxes[::-1], night) == (15, 13)
    assert guessed_place([at(6, 30)], night) is None
    # One more box over (2, 0), of 6 cells: 1/5 + 1/6 is more than 1/3. Its own middle, (1, 0), weighs as much, later.
    assert guessed_place([*boxes, (1, 1, 0, 2, 0, 1)], night) == (5, 1)
    # The centre of one cell lies half a cell from its corner: doubled 2 x + 1. Overlapping twins: by their end.
    assert guessed_place([at(-1, 5, 0, 0), at(-1, -1, -3, 7)], night) == (-5, 15)


# --- homogeneity -------------------------------------------------------------------------------------------


def test_homogeneity():
    # tau = 2, a = 0: A and B fit, C does not. Slot -3: both, hull 1..1 by 0..2. Slot 5: A twice (boxes overlap),
    # B once: hull 0..5 by 0..0. Slot 6: A in one cell, B is not there. C's box at 7 is nobody's business.
    samples = {"A": {(0, 0, 0)}}
    records = {
        "A": [at(-3, -3, x=1), at(0, 0), at(4, 5), at(5, 6, x=5)],
        "B": [(-4, -3, 1, 1, 1, 2), at(0, 1), at(5, 5, x=1)],
        "C": [at(0, 0, x=3), at(7, 7)],
    }
    assert homogeneity(samples, records, "A", 0, 2) == 3
    # Without slot -3 the hull of slot 5 remains: 6 cells. Slot 0, one cell for both, is inside.
    later = {user: [box for box in boxes if box[0] >= 0] for user, boxes in records.items()}
    assert homogeneity(samples, later, "A", 0, 2) == 6
    # Never together outside.
    assert homogeneity(samples, {"A": [at(0, 0), at(5, 5)], "B": [at(0, 0), at(6, 6)]}, "A", 0, 2) is None
    # No record fits.
    assert homogeneity(samples, {"C": records["C"]}, "A", 0, 2) is None
    # A box that sticks out of the interval counts where it is outside: slot 2.
    assert homogeneity(samples, {"A": [at(0, 2)], "B": [(0, 3, 0, 1, 0, 0)]}, "A", 0, 2) == 2


def test_homogeneity_of_whole_trajectories_counts_any_slot():
    samples = {"A": {(0, 0, 0), (5, 0, 0)}}
    records = {"A": [at(0, 0), (5, 6, 0, 3, 0, 0)], "B": [(0, 0, 0, 1, 0, 0), at(5, 6)]}
    assert homogeneity(samples, records, "A", None, None) == 2
