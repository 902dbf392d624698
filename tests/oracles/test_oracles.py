"""The oracles on examples worked by hand: each checker must accept what is right and report what is not."""

from itertools import pairwise
from random import Random

import pytest
from scipy.optimize import linear_sum_assignment

from oracles.attacker import (
    Reuse,
    Violation,
    consistent,
    consistent_gap_tolerant,
    knowledge,
    reuse_errors,
    truthfulness_errors,
    violations,
)
from oracles.casual_worlds import as_rows, random_case, random_promise, random_world
from oracles.merge import (
    all_partitions,
    brute_force_merge,
    is_valid_merge,
    merge_cost,
    quadratic_merge_cost,
    random_partition,
    slots_of,
)
from oracles.patterns import (
    all_windows,
    decomposition_errors,
    into_permutations,
    invariant_errors,
    pattern_groups,
    permutation_errors,
)
from oracles.pick import cheapest_factor, cheapest_factor_lp, is_factor
from oracles.reference import reference_release

# --- merge -------------------------------------------------------------------------------------------------

# Times 0 (A), 1 (B), 2 (B), 3 (A). The groups {0} and {3} lack B, so a cut can stand only between 1 and 2:
#   one group:  4 slots * (2 + 1) = 12;                       p = 2: 4 * 9 = 36
#   two groups: 2 * (2 + 1) + 2 * (1 + 1) = 6 + 4 = 10;       p = 2: 2 * 9 + 2 * 4 = 26
CROSSING = [[(0, 0, 0), (3, 0, 0)], [(1, 1, 0), (2, 0, 0)]]
CROSSING_CUT = ((0, 1, 0, 1, 0, 0), (2, 3, 0, 0, 0, 0))
CROSSING_WHOLE = ((0, 3, 0, 1, 0, 0),)


def test_merge_of_two_crossing_trajectories():
    assert set(all_partitions(slots_of(CROSSING), 2)) == {CROSSING_CUT, CROSSING_WHOLE}
    assert brute_force_merge(CROSSING) == (10, {CROSSING_CUT})
    assert brute_force_merge(CROSSING, p=2) == (26, {CROSSING_CUT})


def test_samples_of_one_time_are_never_separated():
    # Cut by place this would cost 2 + 2 = 4; all stand at time 5, so there is one box of 1 * (10 + 1).
    tied = [[(5, 0, 0), (5, 9, 0)], [(5, 0, 0), (5, 9, 0)]]
    assert brute_force_merge(tied) == (11, {((5, 5, 0, 9, 0, 0),)})


def test_all_optimal_partitions_are_found():
    # Together: 2 * (1 + 1) = 4. Apart: 1 * 2 + 1 * 2 = 4.
    together = [[(0, 7, 7), (1, 7, 7)], [(0, 7, 7), (1, 7, 7)]]
    apart = ((0, 0, 7, 7, 7, 7), (1, 1, 7, 7, 7, 7))
    assert brute_force_merge(together) == (4, {apart, ((0, 1, 7, 7, 7, 7),)})


def test_merge_of_one_trajectory_and_of_an_empty_one():
    assert brute_force_merge([[(-3, -2, 5)]]) == (2, {((-3, -3, -2, -2, 5, 5),)})
    with pytest.raises(ValueError, match="no empty one"):
        brute_force_merge([[(0, 0, 0)], []])


@pytest.mark.parametrize(
    "boxes",
    [
        pytest.param([(0, 1, 0, 1, 0, 0)], id="samples left out"),
        pytest.param([(0, 0, 0, 0, 0, 0), (1, 3, 0, 1, 0, 0)], id="a group without B"),
        pytest.param([(0, 3, 0, 2, 0, 0)], id="wider than its samples"),
        pytest.param([(0, 4, 0, 1, 0, 0)], id="longer than its samples"),
        pytest.param(CROSSING_CUT[::-1], id="out of order"),
        pytest.param([(0, 2, 0, 1, 0, 0), (2, 3, 0, 0, 0, 0)], id="overlap in time"),
        pytest.param([], id="nothing"),
    ],
)
def test_invalid_merges(boxes):
    assert is_valid_merge(CROSSING_CUT, CROSSING)
    assert is_valid_merge(CROSSING_WHOLE, CROSSING)
    assert not is_valid_merge(boxes, CROSSING)


@pytest.mark.parametrize("seed", range(40))
def test_merge_oracles_agree(seed):
    rng = Random(seed)
    trajectories = [
        [(rng.randint(0, 9), rng.randint(-3, 3), rng.randint(-3, 3)) for _ in range(rng.randint(1, 5))]
        for _ in range(rng.randint(1, 4))
    ]
    p = rng.choice([0, 1, 2, 1.5])
    cost, partitions = brute_force_merge(trajectories, p)
    assert quadratic_merge_cost(trajectories, p) == pytest.approx(cost)
    assert all(is_valid_merge(partition, trajectories) for partition in partitions)
    assert all(merge_cost(partition, p) == pytest.approx(cost) for partition in partitions)
    drawn = {random_partition(trajectories, rng) for _ in range(20)}
    assert drawn <= set(all_partitions(slots_of(trajectories), len(trajectories)))
    assert min(merge_cost(partition, p) for partition in drawn) >= cost * (1 - 1e-9)


def test_every_partition_can_be_drawn():
    rng = Random(1)
    busy = [[(t, 0, 0) for t in range(5)], [(t, 1, 1) for t in range(5)]]
    assert {random_partition(busy, rng) for _ in range(2000)} == set(all_partitions(slots_of(busy), 2))


# --- attacker ----------------------------------------------------------------------------------------------

# k = 2, tau = epsilon = 4: epoch 0 is slots 0..3, epoch 1 slots 4..7. Both records are the same two merges.
PAIR_SAMPLES = {"A": {(1, 0, 0), (5, 0, 0)}, "B": {(2, 1, 0), (6, 1, 0)}}
PAIR_BOXES = [(1, 2, 0, 1, 0, 0), (5, 6, 0, 1, 0, 0)]


def test_knowledge_is_half_open():
    assert knowledge(PAIR_SAMPLES, "A", 1, 4) == {(1, 0, 0)}
    assert knowledge(PAIR_SAMPLES, "A", 1, 5) == {(1, 0, 0), (5, 0, 0)}
    assert knowledge(PAIR_SAMPLES, "A", 2, 3) == set()
    assert knowledge(PAIR_SAMPLES, "A", None, None) == PAIR_SAMPLES["A"]


def test_backward_concerns_boxes_wholly_inside_only():
    box = (5, 6, 0, 1, 0, 0)
    assert not consistent([box], set(), 3, 4)  # 3..6 holds 5..6
    assert consistent([box], set(), 2, 4)  # 2..5 does not
    assert not consistent([box], set(), 5, 4)
    assert consistent([box], set(), 6, 4)
    assert not consistent([box], {(5, 2, 0)}, 3, 4)  # the right time, the wrong place
    assert consistent([box], {(5, 1, 0)}, 3, 4)


@pytest.mark.parametrize(
    ("boxes", "a", "known", "forgiven"),
    [
        # Attack on slots 2..5 with a sample at 5, in epoch 1 (slots 4..7).
        pytest.param([(1, 2, 0, 0, 0, 0)], 2, {(5, 0, 0)}, True, id="no box in the epoch"),
        pytest.param([(7, 7, 0, 0, 0, 0)], 2, {(5, 0, 0)}, False, id="a box later in the epoch"),
        pytest.param([(8, 8, 0, 0, 0, 0)], 2, {(5, 0, 0)}, True, id="a box just after the epoch"),
        pytest.param([(3, 3, 0, 0, 0, 0)], 2, {(5, 0, 0)}, False, id="an unexplained box elsewhere"),
        pytest.param([(3, 3, 0, 0, 0, 0)], 2, {(3, 0, 0), (5, 0, 0)}, True, id="an explained box elsewhere"),
        # Epoch -1 is slots -4..-1.
        pytest.param([(0, 0, 0, 0, 0, 0)], -4, {(-1, 0, 0)}, True, id="a box just after, before 1970"),
        pytest.param([(-4, -4, 0, 0, 0, 0)], -3, {(-1, 0, 0)}, False, id="a box earlier in it, before 1970"),
        pytest.param([(-5, -5, 0, 0, 0, 0)], -3, {(-1, 0, 0)}, True, id="a box just before, before 1970"),
    ],
)
def test_gaps_are_forgiven_by_the_epoch(boxes, a, known, forgiven):
    assert not consistent(boxes, known, a, 4)
    assert consistent_gap_tolerant(boxes, known, a, 4, 4) == forgiven


def test_two_equal_records_hide_each_other():
    assert violations(PAIR_SAMPLES, {"A": PAIR_BOXES, "B": PAIR_BOXES}, 2, 4, 4) == []


def test_records_without_boxes_do_not_count():
    records = {"A": PAIR_BOXES, "B": PAIR_BOXES, "C": []}
    samples = {**PAIR_SAMPLES, "C": {(1, 5, 5)}}
    assert violations(samples, records, 2, 4, 4) == []
    found = violations(samples, records, 3, 4, 4)
    assert {violation.user for violation in found} == {"A", "B"}
    assert {violation.n_consistent for violation in found} == {2}
    # Even where nothing is known and no box is in sight there are two records, not three.
    assert Violation("A", -4, "strict", 2) in found


def test_a_box_that_misses_one_sample():
    # B's second box shrinks to its own sample. A's sample at 5 is then uncovered for a in 2..5. For a in 3..6
    # the box at 6 is wholly inside and holds no sample of A, a = 6 being an attack that knows of no sample.
    records = {"A": PAIR_BOXES, "B": [PAIR_BOXES[0], (6, 6, 1, 1, 0, 0)]}
    expected = {Violation("A", a, who, 1) for a in range(2, 7) for who in ("strict", "gap-tolerant")}
    found = violations(PAIR_SAMPLES, records, 2, 4, 4)
    assert len(found) == 10
    assert set(found) == expected


def test_a_stale_cover():
    # A and B were merged in epoch 0, then B was withheld there. A's record alone covers A's sample: strict
    # attacks with a in -2..1 find it. In epoch 1 A is absent alone: for a in 3..5 the box at 5..6 is wholly
    # inside and tells B and C apart from A, for either attacker. B's own record never fits B's sample at 2,
    # so the strict attacker is not counted there; the tolerant one forgives.
    samples = {"A": {(1, 0, 0)}, "B": {(2, 0, 0), (5, 9, 9)}, "C": {(6, 9, 9)}}
    records = {"A": [(1, 2, 0, 0, 0, 0)], "B": [(5, 6, 9, 9, 9, 9)], "C": [(5, 6, 9, 9, 9, 9)]}
    expected = {Violation("A", a, "strict", 1) for a in (-2, -1, 0, 1, 3, 4, 5)}
    expected |= {Violation("A", a, "gap-tolerant", 1) for a in (3, 4, 5)}
    found = violations(samples, records, 2, 4, 4)
    assert len(found) == 10
    assert set(found) == expected


def test_whole_trajectories():
    hull = [(1, 6, 0, 1, 0, 0)]
    assert violations(PAIR_SAMPLES, {"A": hull, "B": hull}, 2, None, None) == []
    assert violations(PAIR_SAMPLES, {"A": hull, "B": [(2, 6, 0, 1, 0, 0)]}, 2, None, None) == [
        Violation("A", None, "strict", 1),
        Violation("A", None, "gap-tolerant", 1),
    ]


@pytest.mark.parametrize(
    ("boxes", "suppressed", "complaints"),
    [
        ([(1, 2, 0, 1, 0, 0), (5, 6, 0, 1, 0, 0)], set(), []),
        ([(1, 2, 0, 1, 0, 0)], {("A", 1)}, []),
        ([], {("A", 0), ("A", 1)}, []),
        ([(1, 2, 0, 1, 0, 0)], set(), ["in 0 boxes"]),
        ([(1, 2, 0, 1, 0, 0)], {("A", 0)}, ["suppressed epoch", "in 0 boxes"]),
        ([(1, 2, 0, 1, 0, 0)], {("B", 1)}, ["in 0 boxes"]),
        ([(5, 6, 0, 1, 0, 0), (1, 2, 0, 1, 0, 0)], set(), ["out of order"]),
        ([(1, 2, 0, 0, 0, 0), (2, 3, 0, 0, 0, 0), (5, 5, 0, 0, 0, 0)], set(), ["overlap", "holds no sample"]),
        ([(1, 1, 0, 0, 0, 0), (1, 2, 0, 1, 0, 0), (5, 5, 0, 0, 0, 0)], set(), ["overlap", "in 2 boxes"]),
        ([(1, 1, 0, 0, 0, 0), (2, 3, 0, 0, 0, 0), (5, 5, 0, 0, 0, 0)], set(), ["holds no sample"]),
        ([(1, 4, 0, 0, 0, 0), (5, 5, 0, 0, 0, 0)], set(), ["crosses"]),  # 3 would end epoch 0
        ([(1, 3, 0, 0, 0, 0), (4, 7, 0, 0, 0, 0)], set(), []),
        ([(1, 3, 0, 0, 0, 0), (4, 8, 0, 0, 0, 0)], set(), ["crosses"]),
        ([(1, 2, 0, 0.5, 0, 0), (5, 5, 0, 0, 0, 0)], set(), ["not six whole numbers"]),
        ([(1, 1, 1, 0, 0, 0), (5, 5, 0, 0, 0, 0)], set(), ["ends before it begins"]),
    ],
)
def test_truthfulness(boxes, suppressed, complaints):
    errors = truthfulness_errors({"A": PAIR_SAMPLES["A"]}, {"A": boxes}, suppressed, 4)
    assert len(errors) == len(complaints)
    for error, complaint in zip(errors, complaints, strict=True):
        assert complaint in error


def test_truthfulness_at_the_border_of_1970_and_of_strangers():
    samples = {"A": {(-1, 0, 0), (0, 0, 0)}}
    assert truthfulness_errors(samples, {"A": [(-4, -1, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0)]}, set(), 4) == []
    assert len(truthfulness_errors(samples, {"A": [(-1, 0, 0, 0, 0, 0)]}, set(), 4)) == 1
    assert truthfulness_errors(samples, {"A": [(-1, 0, 0, 0, 0, 0)]}, set(), None) == []
    assert len(truthfulness_errors({}, {"Z": [(0, 0, 0, 0, 0, 0)]}, set(), 4)) == 1


def test_reuse():
    again = {0: {"A": {"B"}}, 2: {"A": {"B"}}}
    assert reuse_errors(again, "once", 1) == [Reuse("A", "B", 0, 2)]
    assert reuse_errors(again, "pair", 1) == [Reuse("A", "B", 0, 2)]
    assert reuse_errors(again, "spaced", 1) == [Reuse("A", "B", 0, 2)]
    # With r = 1 window 0 is epochs 0, 1 and window 3 is epochs 3, 4: no window of two epochs meets both.
    assert reuse_errors({0: {"A": {"B"}}, 3: {"A": {"B"}}}, "spaced", 1) == []
    assert len(reuse_errors({0: {"A": {"B"}}, 3: {"A": {"B"}}, 5: {"A": {"B"}}}, "spaced", 1)) == 1
    swapped = {0: {"A": {"B"}}, 1: {"B": {"A"}}}
    assert reuse_errors(swapped, "once", 1) == []
    assert reuse_errors(swapped, "spaced", 1) == []
    assert reuse_errors(swapped, "pair", 1) == [Reuse("B", "A", 0, 1)]
    assert reuse_errors({0: {"A": {"B"}, "B": {"A"}}}, "pair", 1) == []
    with pytest.raises(ValueError, match="once, pair or spaced"):
        reuse_errors({}, "never", 1)


# --- patterns ----------------------------------------------------------------------------------------------

PRESENCE = {"A": {0, 1}, "B": {0, 1}, "C": {0}, "D": {0}}


def test_patterns_of_a_window():
    assert pattern_groups(PRESENCE, 0, 1, "ABCD") == {(True, True): ["A", "B"], (True, False): ["C", "D"]}
    assert pattern_groups(PRESENCE, 1, 1, "ABCD") == {(True, False): ["A", "B"], (False, False): ["C", "D"]}
    assert list(all_windows(PRESENCE, 1)) == [-1, 0, 1]


def test_pattern_groups_smaller_than_k():
    assert invariant_errors(PRESENCE, [-1, 0, 1], 1, "ABCD", 2) == []
    # k = 3: windows 0 and 1 have two groups of two each; in window -1 all four are alike.
    assert len(invariant_errors(PRESENCE, [-1, 0, 1], 1, "ABCD", 3)) == 4
    # Without D, C is alone: in window 0 as (present, absent), in window 1 as all absent. E has no record.
    for users in ("ABC", "ABCE"):
        errors = invariant_errors({**PRESENCE, "E": set()}, [-1, 0, 1], 1, users, 2)
        assert [error.split(":")[0] for error in errors] == ["window 0", "window 1"]


CIRCLE = {"A": {"B", "C"}, "B": {"C", "D"}, "C": {"D", "A"}, "D": {"A", "B"}}  # k = 3


def test_hiding_sets_fall_apart_into_permutations():
    permutations = into_permutations(CIRCLE, 2)
    assert all(
        sorted(permutation) == sorted(permutation.values()) == list("ABCD") for permutation in permutations
    )
    assert all({permutation[user] for permutation in permutations} == CIRCLE[user] for user in "ABCD")
    assert permutation_errors(CIRCLE, {(True,): list("ABCD")}, 3) == []
    # Nobody but A may pick C or D, and A cannot pick both in one permutation.
    assert into_permutations({"A": {"C", "D"}, "B": {"A"}, "C": {"A"}, "D": {"A"}}, 1) is None


def test_a_false_decomposition_is_seen_through():
    hiding = {"A": ["B"], "B": ["A"]}
    assert decomposition_errors(hiding, [{"A": "B", "B": "A"}]) == []
    for false in (None, [], [{"A": "A", "B": "B"}], [{"A": "B", "B": "B"}], [{"A": "B", "B": "A"}] * 2):
        assert decomposition_errors(hiding, false) != []


@pytest.mark.parametrize(
    ("hiding_sets", "groups", "k"),
    [
        pytest.param({**CIRCLE, "A": {"B"}}, {(True,): list("ABCD")}, 3, id="one member short"),
        pytest.param({**CIRCLE, "A": ["B", "B"]}, {(True,): list("ABCD")}, 3, id="a member twice"),
        pytest.param({**CIRCLE, "A": {"B", "D"}}, {(True,): list("ABCD")}, 3, id="picked unevenly"),
        pytest.param({"A": {"A"}, "B": {"B"}}, {(True,): ["A", "B"]}, 2, id="fixed points"),
        pytest.param({"A": {"A"}}, {(True,): ["A"]}, 2, id="a group of k-1"),
        pytest.param({}, {(True,): ["A"]}, 2, id="a group of k-1, not hidden at all"),
        pytest.param(
            {"A": {"B"}, "B": {"A"}}, {(True, False): ["A"], (True, True): ["B"]}, 2, id="across patterns"
        ),
        pytest.param({"A": {"B"}, "B": {"A"}}, {(False,): ["A", "B"]}, 2, id="hidden while absent"),
        pytest.param({"A": {"B"}, "B": {"A"}, "Z": {"A"}}, {(True,): ["A", "B"]}, 2, id="a stranger"),
    ],
)
def test_hiding_sets_that_are_not_permutations(hiding_sets, groups, k):
    assert permutation_errors(hiding_sets, groups, k) != []


def test_the_absent_need_no_hiding_set():
    assert permutation_errors({"A": {"B"}, "B": {"A"}}, {(True,): ["A", "B"], (False,): ["C", "D"]}, 2) == []


# --- pick --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solve", [cheapest_factor, cheapest_factor_lp])
def test_cheapest_factor_of_three(solve):
    # Three users, k = 2: the circle 0-1-2 costs 1 + 1 + 1, the other way round 5 + 5 + 5.
    costs = [[0, 1, 5], [5, 0, 1], [1, 5, 0]]
    assert solve(costs, 2) == (3, [{1}, {2}, {0}])
    assert solve([[0, None, 5], [5, 0, 1], [1, 5, 0]], 2) == (15, [{2}, {0}, {1}])
    assert solve([[0, None, None], [5, 0, 1], [1, 5, 0]], 2) is None
    assert solve(costs, 3) == (18, [{1, 2}, {0, 2}, {0, 1}])  # k = 3: everybody hides everybody
    assert solve(costs, 4) is None  # a group of k-1


@pytest.mark.parametrize("seed", range(30))
def test_pick_oracles_agree(seed):
    rng = Random(seed)
    n, k = rng.randint(2, 5), rng.randint(2, 4)
    costs = [[None if rng.random() < 0.15 else rng.randint(0, 20) for _ in range(n)] for _ in range(n)]
    tried, solved = cheapest_factor(costs, k), cheapest_factor_lp(costs, k)
    assert (tried is None) == (solved is None)
    if tried is not None:
        assert tried[0] == solved[0]
        assert is_factor(costs, tried[1], k)


def test_the_linear_program_against_an_assignment():
    rng = Random(5)
    n = 60
    costs = [[10**6 if i == j else rng.randint(0, 1000) for j in range(n)] for i in range(n)]
    rows, columns = linear_sum_assignment(costs)
    cost, _ = cheapest_factor_lp(costs, 2)
    assert cost == sum(costs[i][j] for i, j in zip(rows, columns, strict=True))


def test_is_factor_refuses():
    costs = [[0, 1, 5], [5, 0, 1], [1, 5, 0]]
    assert is_factor(costs, [{1}, {2}, {0}], 2)
    assert not is_factor(costs, [{0}, {1}, {2}], 2)
    assert not is_factor(costs, [{1}, {0}, {0}], 2)
    assert not is_factor([[0, None, 5], [5, 0, 1], [1, 5, 0]], [{1}, {2}, {0}], 2)


# --- worlds, and the checkers all at once ------------------------------------------------------------------


def test_worlds_are_repeatable_and_within_bounds():
    for seed in range(200):
        world, k, tau, epsilon = random_case(Random(seed))
        assert (world, k, tau, epsilon) == random_case(Random(seed))
        assert 2 <= len(world) <= 14
        assert all(world.values())
        epochs = {t // epsilon for own in world.values() for t, _, _ in own}
        assert max(epochs) - min(epochs) < 8
        assert 2 <= k <= 4
        assert 1 <= -(-tau // epsilon) <= 3
        assert {row[0] for row in as_rows(world, Random(seed))} == set(world)


def test_worlds_come_in_all_kinds():
    rng = Random(0)
    worlds = [random_world(rng, epsilon=4) for _ in range(500)]
    samples = [[sample for own in world.values() for sample in own] for world in worlds]

    def epochs(own):
        return sorted({t // 4 for t, _, _ in own})

    def some(worlds):
        return sum(map(bool, worlds)) >= 10

    assert some(min(pooled)[0] < 0 <= max(pooled)[0] for pooled in samples)
    assert some(min(x for _, x, _ in pooled) < 0 for pooled in samples)
    assert some(all(len(own) == 1 for own in world.values()) for world in worlds)
    assert some(len({frozenset(own) for own in world.values()}) == 1 for world in worlds)
    assert some(len({t for t, _, _ in own}) < len(own) for world in worlds for own in world.values())
    assert some(any(b - a > 1 for a, b in pairwise(epochs(pooled))) for pooled in samples)
    assert some(len(as_rows(world, rng)) > sum(map(len, world.values())) for world in worlds)
    promises = [random_promise(rng) for _ in range(200)]
    assert some(tau % epsilon for _, tau, epsilon in promises)
    assert some(tau % epsilon == 0 for _, tau, epsilon in promises)


@pytest.mark.parametrize("seed", range(60))
def test_the_reference_release_satisfies_every_checker(seed):
    rng = Random(seed)
    world, k, tau, epsilon = random_case(rng)
    if seed % 10 == 0:
        tau = epsilon = None
    release = reference_release(world, k, tau, epsilon, rng)
    if release is None:
        return
    r = 0 if tau is None else -(-tau // epsilon)
    users = list(release.presence)
    assert truthfulness_errors(world, release.records, release.suppressed, epsilon) == []
    assert invariant_errors(release.presence, all_windows(release.presence, r), r, users, k) == []
    for m, hiding_sets in release.hiding_sets.items():
        assert permutation_errors(hiding_sets, pattern_groups(release.presence, m, r, users), k) == []
    assert violations(world, release.records, k, tau, epsilon) == []


def test_harm_done_to_a_release_is_found():
    """Withhold one user's epoch after the fact, in worlds with no cover to spare: guarantee 1 breaks."""
    n_harmed = n_found = 0
    for seed in range(60):
        rng = Random(seed)
        world, k, tau, epsilon = random_case(rng)
        release = reference_release(world, k, tau, epsilon, rng)
        if release is None:
            continue
        user, epoch = rng.choice([(u, e) for u, own in release.presence.items() for e in sorted(own)])
        records = dict(release.records)
        records[user] = [box for box in records[user] if box[0] // epsilon != epoch]
        assert truthfulness_errors(world, records, release.suppressed, epsilon) != []
        n_harmed += 1
        n_found += violations(world, records, k, tau, epsilon) != []
    assert n_found > n_harmed / 3
