"""The exact check against the brute-force attacker, violations included, with a key and without."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from auditing.audit_contexts import context_of, damaged
from oracles.attacker import violations
from oracles.auditor import keyless_violations
from oracles.casual_worlds import random_case
from oracles.reference import reference_release
from shoal.auditing.context import AuditContext
from shoal.auditing.coverage.check import Coverage
from shoal.auditing.coverage.whole_file import check_file
from shoal.core.workers import Workers


def checked(context: AuditContext) -> Coverage:
    return check_file(context)


def begins(found: list) -> dict[tuple[int, str, int], set]:
    """Where the intervals begin that leave a user with so many records to an attacker."""
    where: dict[tuple[int, str, int], set] = {}
    for violation in found:
        where.setdefault((violation.user, violation.attacker, violation.n_consistent), set()).add(violation.a)
    return where


def fewest(found: list) -> dict[tuple[int, str], int]:
    """For every user and attacker the smallest number of records left."""
    expected: dict[tuple[int, str], int] = {}
    for violation in found:
        line = (violation.user, violation.attacker)
        expected[line] = min(expected.get(line, violation.n_consistent), violation.n_consistent)
    return expected


@pytest.mark.parametrize("overlaps", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_brute_force(seed: int, overlaps: bool) -> None:
    rng = random.Random(seed)
    broken = excused = 0
    for _ in range(50):
        world, k, tau, epsilon = random_case(rng)
        if rng.random() < 0.15:
            tau = epsilon = None
        release = reference_release(world, k, tau, epsilon, rng)
        if release is None:
            continue
        records = damaged(rng, release.records, overlaps=overlaps)
        users = sorted(world)
        every = violations(world, records, k, tau, epsilon)
        expected = fewest(every)
        coverage = checked(context_of(world, records, k, tau, epsilon))
        if tau is not None:  # a counterexample is one
            where = begins(every)
            assert all(v.begin in where[users[v.user], v.attacker, v.n_records] for v in coverage.worst)
        assert coverage.n_strict + coverage.n_tolerant <= 2 * coverage.n_intervals
        assert {(users[v.user], v.attacker): v.n_records for v in coverage.worst} == expected
        assert coverage.kept == (not expected)
        assert coverage.n_users == len(records)

        keyless = keyless_violations(world, list(records.values()), k, tau, epsilon)
        wanted = fewest([v for v in keyless.violations if v.user not in keyless.not_checked])
        coverage = checked(context_of(world, records, k, tau, epsilon, key=False))
        assert {(users[v.user], v.attacker): v.n_records for v in coverage.worst} == wanted
        assert coverage.n_unchecked == len(keyless.not_checked)
        assert coverage.n_untrue == keyless.n_untrue
        assert coverage.kept == (not wanted and not keyless.n_untrue)
        broken += bool(expected)
        excused += bool(keyless.not_checked)
    assert broken >= 3
    assert overlaps or excused


def test_counts_every_interval_in_which_something_else_is_known() -> None:
    # Two users with one sample each at slot 0, tau 2: nothing, the sample, and nothing again.
    world = {0: {(0, 0, 0)}, 1: {(0, 0, 0)}}
    records = {user: [(0, 0, 0, 0, 0, 0)] for user in world}
    assert checked(context_of(world, records, 2, 2, 2)) == Coverage(2, 6, 0, 0, 0, 0, [])


def test_a_record_counts_once_though_two_of_its_boxes_hold_the_sample() -> None:
    # tau 4: record 0 fits what is known of user 0 (slot 0) unless the interval reaches its box at slot 3 as well.
    world = {0: {(0, 0, 0)}, 1: {(0, 9, 9)}}
    twice = [(0, 0, 0, 0, 0, 0), (0, 1, 0, 0, 0, 0), (3, 3, 5, 5, 5, 5)]
    found = checked(context_of(world, {0: twice, 1: [(0, 0, 9, 9, 9, 9)]}, 2, 4, 4)).worst
    assert {(v.user, v.attacker, v.n_records) for v in found if v.user == 0} == {
        (0, "strict", 1), (0, "gap-tolerant", 0),
    }  # fmt: skip


def test_several_workers_find_the_same() -> None:
    rng = random.Random(1)
    world = {user: {(t, rng.randrange(3), 0) for t in range(rng.randrange(1, 9))} for user in range(300)}
    records = {user: [(t, t, x, x, 0, 0) for t, x, _ in own] for user, own in world.items()}
    context = context_of(world, records, 40, 2, 2)
    alone = checked(context)
    assert not alone.kept
    with Workers(3) as workers:
        assert check_file(replace(context, workers=workers)) == alone
