"""Guarantee 3 against exhaustive search: on thousands of small graphs, and on small worlds, faults included."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from auditing.audit_contexts import context_of, damaged
from oracles.casual_worlds import random_case
from oracles.matchings import has_disjoint_matchings, windows, windows_without_matchings
from oracles.reference import reference_release
from shoal.auditing.context import AuditContext
from shoal.auditing.coverage.whole_file import check_file
from shoal.auditing.guarantees import matchings
from shoal.auditing.guarantees.matchings import Matchings, check_matchings
from shoal.auditing.kernels.matchings import Lines, match_people
from shoal.core.workers import Workers
from shoal.reading import HidingEvidence


def lines_of(fits: list[set[int]], n_absent: int = 0) -> Lines:
    """A graph as the kernel takes it; the last ``n_absent`` records fit everybody, and are not listed."""
    listed = [sorted(records - set(range(len(fits) - n_absent, len(fits)))) for records in fits]
    ptr = np.cumsum([0, *map(len, listed)])
    return Lines(ptr, np.array([j for records in listed for j in records], np.int32), n_absent)


def random_fits(rng: random.Random, n: int, n_absent: int) -> list[set[int]]:
    density = rng.choice([0.3, 0.5, 0.7, 0.9])
    always = set(range(n - n_absent, n))
    return [{j for j in range(n) if rng.random() < density} | always for _ in range(n)]


@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_exhaustive_search(seed: int) -> None:
    rng = random.Random(seed)
    answers = []
    for _ in range(1500):
        n, k = rng.randint(2, 5), rng.randint(2, 3)
        n_absent = rng.choice([0, 0, 1, 2]) if n > 2 else 0
        fits = random_fits(rng, n, n_absent)
        wanted = has_disjoint_matchings(fits, k)
        assert (match_people(lines_of(fits, n_absent), k, n) == 0) == wanted, (fits, k, n_absent)
        answers.append(wanted)
    assert 200 < sum(answers) < 1300


@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_another_flow_on_larger_graphs(seed: int) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    rng = random.Random(seed)
    answers = []
    for _ in range(150):
        n, k = rng.randint(6, 40), rng.randint(2, 6)
        n_absent = rng.choice([0, 0, 1, 3])
        degree = rng.randint(k, k + 4)
        fits = [set(rng.sample(range(n), min(n, degree))) | set(range(n - n_absent, n)) for _ in range(n)]
        ends = [(0, 1 + p, k) for p in range(n)] + [(1 + n + j, 1 + 2 * n, k) for j in range(n)]
        ends += [(1 + p, 1 + n + j, 1) for p, records in enumerate(fits) for j in records]
        source, sink, capacity = np.array(ends).T
        graph = sparse.csr_array((capacity.astype(np.int32), (source, sink)), shape=(2 + 2 * n, 2 + 2 * n))
        wanted = sparse.csgraph.maximum_flow(graph, 0, 1 + 2 * n).flow_value == n * k
        assert (match_people(lines_of(fits, n_absent), k, n) == 0) == wanted
        answers.append(wanted)
    assert 20 < sum(answers) < 130


def evidence_of(rng: random.Random, context: AuditContext, epsilon: int | None) -> HidingEvidence:
    """Lines about all kinds of people and records, most of which are not so: they must change nothing."""
    begin, end = context.span
    if epsilon is not None:
        begin = begin // epsilon * epsilon
        end = begin + (context.promise.reach + 1) * epsilon
    users, records = range(context.store.n_users), range(context.published.records.n_records)
    pairs = [(user, record) for user in users for record in records if rng.random() < 0.5]
    user, record = (np.array(column, np.int32) for column in zip(*pairs, strict=True)) if pairs else (
        np.empty(0, np.int32), np.empty(0, np.int32),
    )  # fmt: skip
    times = (np.full(len(user), time, np.int64) for time in (begin, end))
    return HidingEvidence(*times, user, record, np.zeros(len(user), np.bool_))


@pytest.mark.parametrize("few_lines", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_worlds_agree_with_exhaustive_search(
    seed: int, few_lines: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Releases and damaged ones; also where the first lines are too few, and where lines are counted before."""
    if few_lines:
        monkeypatch.setattr(matchings, "_SPARE", -5)
        monkeypatch.setattr(matchings, "_MOST_ROOM", 20)
    rng = random.Random(seed)
    kept = broken = 0
    for _ in range(120):
        world, k, tau, epsilon = random_case(rng)
        world = dict(list(world.items())[:6])
        if rng.random() < 0.15:
            tau = epsilon = None
        release = reference_release(world, k, tau, epsilon, rng)
        if release is None:
            continue
        records = damaged(rng, release.records, overlaps=True) if rng.random() < 0.7 else release.records
        wanted = windows_without_matchings(world, records, k, tau, epsilon)
        context = context_of(world, records, k, tau, epsilon)
        found = check_matchings(context)
        n = len(windows(records, tau, epsilon))
        assert found == Matchings(n, n, len(wanted))
        if records == release.records:
            assert not wanted
        told = evidence_of(rng, context, epsilon)
        assert check_matchings(replace(context, evidence=told)) == found
        keyless = check_matchings(context_of(world, records, k, tau, epsilon, key=False))
        assert keyless == (found if len(records) == len(world) else None)
        kept += not wanted
        broken += bool(wanted)
    assert min(kept, broken) > 10


def three_people() -> tuple[dict, dict]:
    """Each of three people is hidden among two records, but record c fits c alone: nobody else can be matched to it."""
    world = {"a": {(0, 0, 0)}, "b": {(0, 1, 0)}, "c": {(0, 9, 0)}}
    records = {"a": [(0, 0, 0, 9, 0, 0)], "b": [(0, 0, 0, 1, 0, 0)], "c": [(0, 0, 9, 9, 0, 0)]}
    return world, records


def test_three_people_for_whom_guarantee_1_is_kept_and_3_is_not() -> None:
    context = context_of(*three_people(), 2, 4, 4)
    assert check_file(context).kept
    assert check_matchings(context) == Matchings(1, 1, 1)


def test_more_than_there_are_records_is_asked_of_nothing() -> None:
    assert check_matchings(context_of(*three_people(), 10**11, 4, 4)) == Matchings(1, 1, 1)


def test_windows_are_drawn_where_there_are_too_many_and_the_same_for_a_seed() -> None:
    world = {user: {(t, 0, 0) for t in range(40)} for user in range(4)}
    records = {user: [(t, t, 0, 0, 0, 0) for t in range(40)] for user in world}
    records[0] = [(t, t, 0, 0, 0, 0) for t in range(39)]
    context = context_of(world, records, 4, 1, 1)
    every = check_matchings(context)
    assert every == Matchings(39, 39, 0)
    some = check_matchings(context, most_work=400)
    assert some is not None
    assert 1 <= some.n_checked < 39
    assert some == check_matchings(context, most_work=400)


def test_several_workers_find_the_same() -> None:
    rng = random.Random(5)
    world = {user: {(t, rng.randrange(3), 0) for t in range(6)} for user in range(200)}
    records = {
        user: [(t, t, 0, 2 if user % 3 else x, 0, 0) for t, x, _ in own] for user, own in world.items()
    }
    context = context_of(world, records, 40, 2, 2)
    alone = check_matchings(context)
    with Workers(3) as workers:
        assert check_matchings(replace(context, workers=workers)) == alone
