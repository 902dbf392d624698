"""The exact check in chunks of time finds exactly what it finds at once, wherever time is cut and whoever does it."""

from __future__ import annotations

import pickle
import random
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import pairwise
from multiprocessing import get_context

import numpy as np
import pytest

from auditing.audit_contexts import HOUR, context_of, damaged
from auditing.planted import COVERAGE_FAULTS, invented_box
from oracles.casual_worlds import random_case
from oracles.reference import reference_release
from shoal.auditing.context import AuditContext
from shoal.auditing.coverage import chunks
from shoal.auditing.coverage.check import Coverage, check_parts
from shoal.auditing.coverage.chunks import Chunk, ChunkFindings, time_borders
from shoal.auditing.coverage.whole_file import check_file, evidence_of
from shoal.auditing.truthfulness import UntruthCounts, check_truthfulness
from shoal.core.promise import Promise
from shoal.core.workers import Workers
from shoal.core.zones import Zone
from shoal.storage.box_store import open_box_store


def at_once(context: AuditContext) -> tuple[Coverage, UntruthCounts]:
    found = check_file(context)
    truth = check_truthfulness(replace(context, grid=HOUR, zone=Zone("UTC")))
    return found, UntruthCounts(truth.n_empty_boxes, truth.n_overlapping_boxes, truth.suppressed.n_suppressed)


def in_chunks(context: AuditContext, borders: list[int], run=map) -> tuple[Coverage, UntruthCounts]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(chunks, "time_borders", lambda *_: np.array(borders, np.int64))
        with open_box_store(np.array(borders[::2], np.int64), None) as boxes:
            boxes.add(context.published.records.boxes)
            return check_parts(evidence_of(context, boxes), context.promise, context.workers, run=run)


def span(context: AuditContext) -> tuple[int, int]:
    """The first and last begin of an interval."""
    begin, end = context.span
    return begin - (context.promise.tau or 0), end


def random_borders(rng: random.Random, context: AuditContext) -> list[int]:
    """Anywhere, at every slot, or every so many slots; sometimes none."""
    earliest, latest = span(context)
    slots = range(earliest + 1, latest + 1)
    if rng.random() < 0.3:
        return list(slots)[:: rng.randint(1, 5)]
    return sorted(rng.sample(slots, min(len(slots), rng.randint(0, 6))))


def random_records(rng: random.Random, world: dict) -> dict:
    """Boxes around some samples, none of them the work of any method: most knowledge fits few records."""
    records = {}
    for user, own in world.items():
        boxes = [
            (t - rng.randint(0, 2), t + rng.randint(0, 3), x - rng.randint(0, 1), x + rng.randint(0, 1), y, y)
            for t, x, y in own
            if rng.random() < 0.8
        ]
        if boxes and rng.random() < 0.9:
            records[user] = boxes
    return records


def random_context(rng: random.Random) -> AuditContext | None:
    world, k, tau, epsilon = random_case(rng)
    whole = rng.random() < 0.1
    tau_or_none, epsilon_or_none = (None, None) if whole else (tau, epsilon)
    if rng.random() < 0.3:
        records = random_records(rng, world)
        return context_of(world, records, k, tau_or_none, epsilon_or_none) if records else None
    release = reference_release(world, k, tau_or_none, epsilon_or_none, rng)
    if release is None:
        return None
    records = damaged(rng, release.records, overlaps=rng.random() < 0.3)
    return context_of(world, records, k, tau_or_none, epsilon_or_none)


@pytest.mark.parametrize("seed", range(6))
def test_chunks_find_what_is_found_at_once(seed: int) -> None:
    rng = random.Random(seed)
    broken = spanning = untrue = lacking = 0
    for _ in range(400):
        context = random_context(rng)
        if context is None:
            continue
        expected = at_once(context)
        borders = random_borders(rng, context)
        assert in_chunks(context, borders) == expected
        coverage, untruths = expected
        broken += not coverage.kept
        spanning += bool(borders) and coverage.n_strict + coverage.n_tolerant > 0
        untrue += bool(untruths.n_empty_boxes or untruths.n_overlapping_boxes)
        lacking += bool((context.published.own < 0).any())
    assert min(broken, spanning, untrue, lacking) >= 10


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize(
    "world",
    [*(world for world, _ in COVERAGE_FAULTS.values()), invented_box],
    ids=lambda world: world.__name__,
)
def test_planted_faults_are_found_wherever_time_is_cut(world, k: int) -> None:
    planted = world(k)
    for records in (planted.good_records, planted.bad_records):
        context = context_of(planted.samples, records, planted.k, planted.tau, planted.epsilon)
        expected = at_once(context)
        earliest, latest = span(context)
        for border in range(earliest + 1, latest + 1):
            assert in_chunks(context, [border]) == expected
        for length in range(1, 9):
            assert in_chunks(context, list(range(earliest + 1, latest + 1, length))) == expected


def test_a_violation_that_spans_many_chunks_counts_once() -> None:
    # User 0 is alone with an absence of 100 slots; user 1 has a box every other slot, so that its record never fits.
    world = {0: {(0, 0, 0), (100, 0, 0)}, 1: {(t, 9, 9) for t in range(0, 101, 2)}}
    records = {user: [(t, t, x, x, y, y) for t, x, y in own] for user, own in world.items()}
    context = context_of(world, records, 2, 2, 2)
    coverage, _ = expected = at_once(context)
    assert {(v.user, v.attacker) for v in coverage.worst} >= {(0, "strict"), (0, "gap-tolerant")}
    for borders in (list(range(-1, 103)), [10, 20, 90], [98, 99, 100], [0, 1, 2]):
        assert in_chunks(context, borders) == expected


def test_one_who_is_absent_is_checked_in_chunks_without_anything() -> None:
    """Twenty slots of silence between two crowds; cut so that some chunks have neither samples nor boxes."""
    world = {user: {(t, user, 0) for t in (0, 1, 25, 26)} for user in range(3)}
    records = {user: [(0, 1, 0, 2, 0, 0), (25, 26, 0, 2, 0, 0)] for user in world}
    context = context_of(world, records, 3, 2, 2)
    expected = at_once(context)
    assert expected[0].kept
    assert expected[0].n_intervals > 0
    assert in_chunks(context, [5, 10, 15, 20]) == expected


def test_several_threads_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.auditing.coverage.violations._USERS_A_STEP", 70)
    rng = random.Random(3)
    world = {user: {(t, rng.randrange(3), 0) for t in range(rng.randrange(1, 9))} for user in range(300)}
    records = {user: [(t, t, x, x, 0, 0) for t, x, _ in own] for user, own in world.items()}
    context = context_of(world, records, 40, 2, 2)
    expected = at_once(context)
    assert not expected[0].kept
    assert in_chunks(context, [1, 4], run=None) == expected
    with Workers(3) as workers:
        assert in_chunks(replace(context, workers=workers), [1, 4], run=None) == expected


def through_bytes(call, parts):
    """As if each chunk went to another machine and its findings came back."""
    for part in parts:
        yield pickle.loads(pickle.dumps(call(pickle.loads(pickle.dumps(part)))))


def test_chunks_travel() -> None:
    rng = random.Random(5)
    contexts = [context for context in (random_context(rng) for _ in range(12)) if context is not None]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as elsewhere:
        for context in contexts:
            borders, expected = random_borders(rng, context)[:5], at_once(context)
            assert in_chunks(context, borders, run=elsewhere.map) == expected
            assert in_chunks(context, borders, run=through_bytes) == expected


def test_chunks_are_made_as_they_are_asked_for() -> None:
    asked: list[str] = []

    def one_by_one(call, parts):
        for part in parts:
            asked.append("made")
            yield call(part)
            asked.append("done")

    rng = random.Random(8)
    context = next(
        context for context in iter(lambda: random_context(rng), 0) if context and not context.promise.whole
    )
    in_chunks(context, [span(context)[1] - 1, span(context)[1]], run=one_by_one)
    assert asked == ["made", "done"] * 3


def test_findings_are_compact() -> None:
    """A thousand users without fault take a bit each to tell of."""
    world = {user: {(t, 0, 0) for t in range(4)} for user in range(1000)}
    records = {user: [(0, 3, 0, 0, 0, 0)] for user in world}
    context = context_of(world, records, 5, 4, 4)
    sizes: list[int] = []

    def weighed(call, parts):
        for part in parts:
            assert isinstance(part, Chunk)
            found = call(part)
            assert isinstance(found, ChunkFindings)
            sizes.append(len(pickle.dumps(found)))
            yield found

    coverage, _ = in_chunks(context, [0, 2], run=weighed)
    assert coverage.kept
    assert len(sizes) == 3
    assert max(sizes) < 2500


def test_the_convenient_entry_takes_a_run_as_well() -> None:
    rng = random.Random(13)
    for _ in range(20):
        context = random_context(rng)
        if context is not None:
            assert check_file(context, run=map) == check_file(context)


def test_chunks_hold_as_many_samples_as_they_may_and_are_longer_than_tau() -> None:
    rng = random.Random(21)
    for _ in range(200):
        world, k, tau, epsilon = random_case(rng)
        store = context_of(world, {0: [(0, 0, 0, 0, 0, 0)]}, k, tau, epsilon).store
        most, unit = rng.randint(1, 60), -(-tau // epsilon) * epsilon
        borders = time_borders(store, Promise(k, tau, epsilon), most).tolist()
        assert all(border % unit == 0 for border in borders)
        edges = [-(10**9), *borders, 10**9]
        for begin, end in pairwise(edges):
            rows = len(store.between(begin, end + tau).t)
            units = len(np.unique(store.between(begin, end).t // unit))
            assert units == 1 or rows <= most
            if end < 10**9:  # the next unit would not have fitted
                further = int(store.slots[store.slots >= end][0]) // unit * unit + unit
                later = store.slots[store.slots >= further]
                reach = int(later[0]) // unit * unit + tau if len(later) else 10**9
                assert len(store.between(begin, reach).t) > most
    assert not len(time_borders(store, Promise(2, None, None), 1))
