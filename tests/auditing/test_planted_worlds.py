"""The planted worlds are what they claim to be, by the oracles alone: good is good, bad is bad, and barely so."""

import pytest

from auditing.planted import COVERAGE_FAULTS, invented_box, reused_hiding_sets
from oracles.attacker import (
    consistent,
    consistent_gap_tolerant,
    interval_starts,
    knowledge,
    truthfulness_errors,
    violations,
)
from oracles.auditor import (
    boxes_without_own_sample,
    candidates,
    interval,
    keyless_violations,
    leakage,
    overlapping_pairs,
    suppressed_samples,
)

EVERY_WORLD = {name: world for name, (world, _) in COVERAGE_FAULTS.items()} | {
    "invented box": invented_box,
    "reused hiding sets": reused_hiding_sets,
}
both_k = pytest.mark.parametrize("k", [2, 3])
every_world = pytest.mark.parametrize("world", EVERY_WORLD.values(), ids=EVERY_WORLD)
every_coverage_fault = pytest.mark.parametrize(
    ("world", "attackers"), COVERAGE_FAULTS.values(), ids=COVERAGE_FAULTS
)


def n_fitting(planted, records, user, a, attacker) -> int:
    known = knowledge(planted.samples, user, a, planted.tau)
    if attacker == "strict":
        return sum(consistent(boxes, known, a, planted.tau) for boxes in records.values())
    return sum(
        consistent_gap_tolerant(boxes, known, a, planted.tau, planted.epsilon) for boxes in records.values()
    )


def fitting_with_samples_known(planted, records) -> list:
    """The number of records that fit in every attack in which something is known."""
    return [
        len(candidates(planted.samples, records, user, [interval(a, planted.tau)]))
        for user in records
        for a in interval_starts(planted.samples, records, planted.tau, planted.epsilon)
        if knowledge(planted.samples, user, a, planted.tau)
    ]


def leakages(planted, records) -> list:
    return [
        leakage(planted.samples, records, user, a, planted.tau, planted.epsilon)
        for user in records
        for a in interval_starts(planted.samples, records, planted.tau, planted.epsilon)
        if knowledge(planted.samples, user, a, planted.tau)
    ]


@both_k
@every_world
def test_the_good_release_keeps_every_promise(world, k):
    samples, good, bad, k_promised, tau, epsilon = world(k)
    assert k_promised == k
    assert good != bad
    assert violations(samples, good, k, tau, epsilon) == []
    assert keyless_violations(samples, list(good.values()), k, tau, epsilon).violations == []
    assert boxes_without_own_sample(samples, good) == []
    assert overlapping_pairs(good) == []
    withheld = {(user, s[0] // epsilon) for user, s in suppressed_samples(samples, good)}
    assert truthfulness_errors(samples, good, withheld, epsilon) == []


@both_k
@every_coverage_fault
def test_the_fault_breaks_attacks_that_exactly_k_records_fitted(world, attackers, k):
    planted = world(k)
    broken = violations(planted.samples, planted.bad_records, k, planted.tau, planted.epsilon)
    assert {violation.attacker for violation in broken} == attackers
    for attacker in attackers:
        barely = [
            violation
            for violation in broken
            if violation.attacker == attacker
            and violation.n_consistent == k - 1
            and n_fitting(planted, planted.good_records, violation.user, violation.a, attacker) == k
        ]
        assert barely


@both_k
@every_coverage_fault
def test_the_fault_shows_without_a_key(world, attackers, k):
    planted = world(k)
    found = keyless_violations(
        planted.samples, list(planted.bad_records.values()), k, planted.tau, planted.epsilon
    )
    assert {violation.attacker for violation in found.violations} == attackers
    assert found.not_checked == set()


@both_k
def test_where_each_fault_shows(k):
    def broken(name):
        planted = COVERAGE_FAULTS[name][0](k)
        found = violations(planted.samples, planted.bad_records, k, planted.tau, planted.epsilon)
        return planted, {violation.user for violation in found}

    crowd_a = {f"A{i}" for i in range(k)}
    last = f"A{k - 1}"
    # Whoever counted on the last A; the last A itself is forgiven.
    assert broken("stale cover")[1] == crowd_a - {last}
    # The last A, whose sample lies outside.
    assert broken("shrunk box")[1] == {last}
    assert broken("border missed")[1] == {last}
    # The absent, and the one who is alone with its sample.
    planted, users = broken("small pattern group")
    assert users == crowd_a
    assert n_fitting(planted, planted.bad_records, last, 2, "strict") == 1
    assert broken("border crossed")[1] == crowd_a
    assert broken("recordless cover")[1] == crowd_a - {last}
    planted, users = broken("swapped records")
    assert users == crowd_a | {f"B{i}" for i in range(k)}
    assert {user for user, _ in boxes_without_own_sample(planted.samples, planted.bad_records)} == {
        "A0",
        "B0",
    }


@both_k
def test_an_invented_box_shows_in_truthfulness_alone(k):
    planted = invented_box(k)
    assert violations(planted.samples, planted.bad_records, k, planted.tau, planted.epsilon) == []
    assert boxes_without_own_sample(planted.samples, planted.bad_records) == [
        ("A0", (8, 15, 0, k - 1, 0, k - 1))
    ]
    assert overlapping_pairs(planted.bad_records) == []
    assert min(fitting_with_samples_known(planted, planted.good_records)) == k
    assert min(fitting_with_samples_known(planted, planted.bad_records)) == k


@both_k
def test_reused_hiding_sets_show_in_leakage_alone(k):
    planted = reused_hiding_sets(k)
    assert violations(planted.samples, planted.bad_records, k, planted.tau, planted.epsilon) == []
    assert boxes_without_own_sample(planted.samples, planted.bad_records) == []
    assert min(fitting_with_samples_known(planted, planted.good_records)) == k
    assert min(fitting_with_samples_known(planted, planted.bad_records)) == k
    assert max(leakages(planted, planted.good_records)) == planted.epsilon
    # Where the interval lies inside the data: the three epochs less tau, all there is.
    inside_the_data = {
        leakage(planted.samples, planted.bad_records, user, a, planted.tau, planted.epsilon)
        for user in planted.samples
        for a in range(3 * planted.epsilon - planted.tau + 1)
    }
    assert inside_the_data == {2 * planted.epsilon}
