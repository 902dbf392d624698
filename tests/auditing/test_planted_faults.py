"""The audit finds every planted fault, on data where exactly k records fit, and passes the release without it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from auditing.audit_contexts import context_of
from auditing.planted import COVERAGE_FAULTS, Planted, invented_box, reused_hiding_sets, swapped_records
from oracles.auditor import leakage as leakage_by_hand
from shoal.auditing.attacks.inference import attack_leakage
from shoal.auditing.auditor import run_audit
from shoal.auditing.kernels.fits import find_leaks
from shoal.auditing.result import Audit
from shoal.auditing.victims import knowledge_of
from shoal.core.progress import SilentProgress

both_k = pytest.mark.parametrize("k", [2, 3])


def audited(planted: Planted, records: dict, *, key: bool = True) -> Audit:
    context = context_of(
        planted.samples, records, planted.k, planted.tau, planted.epsilon, key=key, n_attacks=400
    )
    return run_audit(context, [], SilentProgress())


@both_k
@pytest.mark.parametrize(("world", "attackers"), COVERAGE_FAULTS.values(), ids=COVERAGE_FAULTS)
def test_a_fault_in_coverage_is_found(world: Any, attackers: Any, k: int) -> None:
    planted = world(k)
    for key in (True, False):
        good = audited(planted, planted.good_records, key=key)
        assert good.kept
        assert good.coverage.n_unchecked == 0
    bad = audited(planted, planted.bad_records)
    assert not bad.kept
    assert {violation.attacker for violation in bad.coverage.worst} == set(attackers)
    assert bad.coverage.worst[0].n_records < k
    # At least one attack falls from exactly k to k - 1: an audit that is off by one would pass it.
    assert k - 1 in {violation.n_records for violation in bad.coverage.worst}
    assert not audited(planted, planted.bad_records, key=False).kept


@both_k
def test_an_invented_box_is_found_though_k_records_fit(k: int) -> None:
    planted = invented_box(k)
    good, bad = (audited(planted, records) for records in (planted.good_records, planted.bad_records))
    assert not good.failed
    assert bad.coverage.kept
    assert not bad.kept
    assert bad.truthfulness is not None
    assert bad.truthfulness.n_empty_boxes == 1
    assert bad.truthfulness.n_overlapping_boxes == 0
    keyless = audited(planted, planted.bad_records, key=False)
    assert keyless.truthfulness is None
    assert keyless.to_dict()["truthfulness"] == "not checked: no key"


@both_k
def test_swapped_records_are_untrue_as_well(k: int) -> None:
    planted = swapped_records(k)
    bad = audited(planted, planted.bad_records).truthfulness
    assert bad is not None
    assert bad.n_empty_boxes == 4
    assert bad.suppressed.n_suppressed == 4


@both_k
def test_boxes_that_overlap_are_found(k: int) -> None:
    planted = invented_box(k)
    records = {user: list(boxes) for user, boxes in planted.good_records.items()}
    user = next(iter(records))
    records[user].append(records[user][0])
    found = audited(planted, records)
    assert found.coverage.kept
    assert not found.kept
    assert found.truthfulness is not None
    assert found.truthfulness.n_overlapping_boxes == 1


@both_k
def test_reused_hiding_sets_show_in_leakage(k: int) -> None:
    planted = reused_hiding_sets(k)
    share, largest = {}, {}
    for name, records in (("good", planted.good_records), ("bad", planted.bad_records)):
        context = context_of(planted.samples, records, planted.k, planted.tau, planted.epsilon, n_attacks=400)
        leakage = attack_leakage(context)
        above = next(found for found in leakage.measures if found.measure == "above_epsilon")
        assert not isinstance(above.published, str)
        assert leakage.spread is not None
        share[name], largest[name] = above.published.value, leakage.spread.largest
    assert share["good"] == 0
    assert largest["good"] <= planted.epsilon
    assert share["bad"] > 0.5
    assert largest["bad"] >= 2 * planted.epsilon


@both_k
def test_leakage_of_a_reused_hiding_set_is_counted_in_slots(k: int) -> None:
    planted = reused_hiding_sets(k)
    samples, records, _, _, tau, epsilon = planted._replace(good_records=planted.bad_records)
    context = context_of(samples, records, k, tau, epsilon)
    users = sorted(samples)
    attacks = [
        (user, a) for user in users for a in range(-2, 10) if any(a <= s[0] < a + tau for s in samples[user])
    ]
    knowledge = knowledge_of(
        context,
        np.array([users.index(user) for user, _ in attacks]),
        np.array([[a] for _, a in attacks]),
        tau,
    )
    fits = context.fits(context.published, knowledge)
    leaked = np.empty(len(attacks), np.int64)
    find_leaks(
        context.trajectories, context.published.index, knowledge, fits, epsilon, 0, len(attacks), leaked
    )
    assert leaked.tolist() == [
        leakage_by_hand(samples, records, user, a, tau, epsilon) for user, a in attacks
    ]
