"""New names on small worlds, judged by brute force over every part, every interval and every border."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from oracles.casual_worlds import random_case
from oracles.parts import matchings_errors, parts_errors
from shoal.auditing.coverage.check import PartsEvidence, check_parts
from shoal.auditing.coverage.chunks import bucket_borders
from shoal.core.boxes import Boxes
from shoal.core.periods import Periods
from shoal.core.promise import Promise
from shoal.core.workers import Workers
from shoal.errors import InputError, NothingLeftError
from shoal.storage.box_store import open_box_store
from shoal.storage.sample_store import store_of
from support.release_worlds import Release, World, as_samples, release

CASES_PER_SEED = 30
Part = tuple[int, int, list[tuple[int, ...]]]


def some_borders(rng: random.Random, world: World, epsilon: int) -> list[int]:
    """Borders at any epochs within the data, none to all of them."""
    epochs = sorted({t // epsilon for own in world.values() for t, _, _ in own})
    inside = range(epochs[0] + 1, epochs[-1] + 1)
    chosen = rng.sample(inside, rng.randint(0, min(len(inside), 3))) if rng.random() < 0.8 else inside
    return sorted(epoch * epsilon for epoch in chosen)


def parts_of(result: Release, borders: list[int]) -> list[Part]:
    parts: dict[tuple[int, int], list[tuple[int, ...]]] = {}
    for user, boxes in result.records.items():
        for box in boxes:
            parts.setdefault((user, sum(border <= box[0] for border in borders)), []).append(box)
    return [(user, period, boxes) for (user, period), boxes in sorted(parts.items())]


@pytest.mark.parametrize("selector", ["matching", "mutual"])
@pytest.mark.parametrize("seed", range(12))
def test_random_worlds_keep_the_promise_of_every_part(selector: str, seed: int) -> None:
    rng, outcomes = random.Random(7000 + seed), Counter[str]()
    for _ in range(CASES_PER_SEED):
        world, k, tau, epsilon = random_case(rng)
        borders = some_borders(rng, world, epsilon)
        try:
            periods = Periods(np.array(borders, np.int64))
            result = release(world, k, tau, epsilon, selector=selector, harden=0, periods=periods)
        except InputError:
            outcomes["refused"] += 1
            continue
        parts = parts_of(result, borders)
        context = f"{world=} {k=} {tau=} {epsilon=} {borders=}"
        assert parts_errors(world, parts, borders, k, tau, epsilon) == [], context
        assert matchings_errors(world, parts, borders, k, tau, epsilon) == [], context
        assert result.outcome.n_records == len(parts)
        outcomes["several periods"] += len({period for _, period, _ in parts}) > 1
        outcomes["suppressed"] += bool(result.suppressed)
    assert outcomes["several periods"] > CASES_PER_SEED / 5
    assert outcomes["suppressed"] > CASES_PER_SEED / 10


def sparse_world(rng: random.Random) -> tuple[World, int, int, int, list[int]]:
    """A few people who come and go, over several short periods: some lose all that they have of a period."""
    k, epsilon = rng.choice([2, 2, 3]), rng.choice([1, 2])
    n_epochs, every = rng.randint(6, 12), rng.randint(2, 4)
    density = rng.choice([0.2, 0.35, 0.5])
    world = {
        user: {
            (epoch * epsilon + rng.randrange(epsilon), rng.randrange(6), rng.randrange(6))
            for epoch in range(n_epochs)
            if rng.random() < density
        }
        for user in range(rng.randint(2 * k, 3 * k + 5))
    }
    world = {user: own for user, own in world.items() if own}
    first = min(t for own in world.values() for t, _, _ in own) // epsilon
    borders = [epoch * epsilon for epoch in range(every, n_epochs, every) if epoch > first]
    return world, k, epsilon * rng.choice([1, 2]), epsilon, borders


@pytest.mark.parametrize("seed", range(4))
def test_who_loses_a_whole_part_covers_nobody_there(seed: int) -> None:
    rng, outcomes = random.Random(7300 + seed), Counter[str]()
    for _ in range(40):
        world, k, tau, epsilon, borders = sparse_world(rng)
        try:
            periods = Periods(np.array(borders, np.int64))
            result = release(world, k, tau, epsilon, harden=0, periods=periods)
        except (InputError, NothingLeftError):
            outcomes["refused"] += 1
            continue
        parts = parts_of(result, borders)
        errors = parts_errors(world, parts, borders, k, tau, epsilon)
        assert errors == [], f"{world=} {k=} {tau=} {epsilon=} {borders=}"
        there = {
            (user, sum(border <= t for border in borders)) for user, own in world.items() for t, _, _ in own
        }
        lost = there - {(user, period) for user, period, _ in parts}
        people = {user for user, _, _ in parts}
        outcomes["lost early"] += any(user in people and period < len(borders) for user, period in lost)
    assert outcomes["lost early"] > 5


@pytest.mark.parametrize("seed", range(4))
def test_whole_parts_are_hidden_in_every_period(seed: int) -> None:
    rng, several = random.Random(7100 + seed), 0
    for _ in range(CASES_PER_SEED):
        world, k, _, epsilon = random_case(rng)
        borders = some_borders(rng, world, epsilon)
        try:
            periods = Periods(np.array(borders, np.int64))
            result = release(
                world, k, None, None, selector=rng.choice(["matching", "mutual"]), periods=periods
            )
        except InputError:
            continue
        parts = parts_of(result, borders)
        assert parts_errors(world, parts, borders, k, None, None) == [], f"{world=} {k=} {borders=}"
        assert matchings_errors(world, parts, borders, k, None, None) == []
        several += len(borders) > 0
    assert several > CASES_PER_SEED / 4


def checked(world: World, parts: list[Part], borders: list[int], k: int, tau: int, epsilon: int) -> set[str]:
    """What the exact check finds of some parts: the attackers against whom guarantee 1 does not hold."""
    samples, promise = store_of(as_samples(world)), Promise(k, tau, epsilon)
    users = sorted(world)
    rows = [(number, *box) for number, (_, _, boxes) in enumerate(parts) for box in boxes]
    columns = np.array(rows, np.int64).reshape(-1, 7).T
    boxes = Boxes(columns[0].astype(np.int32), columns[1], columns[2], *columns[3:].astype(np.int32))
    user = np.array([users.index(user) for user, _, _ in parts], np.int64)
    period = np.array([period for _, period, _ in parts], np.int64)
    with open_box_store(bucket_borders(samples, promise), None) as store, Workers(1) as alone:
        store.add(boxes)
        evidence = PartsEvidence(samples, store, user, period, Periods(np.array(borders, np.int64)))
        coverage, _ = check_parts(evidence, promise, alone)
    return {name for name, n in (("strict", coverage.n_strict), ("tolerant", coverage.n_tolerant)) if n}


def spoilt(rng: random.Random, parts: list[Part]) -> list[Part]:
    """Parts of which one or two lost or got a box, or whose box shrank."""
    copied = [(user, period, list(boxes)) for user, period, boxes in parts]
    for _ in range(rng.randint(1, 2)):
        _, _, boxes = rng.choice(copied)
        place = rng.randrange(len(boxes))
        t0, t1, x0, x1, y0, y1 = boxes[place]
        if rng.random() < 0.5 and len(boxes) > 1:
            del boxes[place]
        else:
            boxes[place] = (t0, t1, x0, x0, y0, y1) if rng.random() < 0.5 else (t0, t0, x0, x1, y0, y1)
    return copied


@pytest.mark.parametrize("seed", range(6))
def test_the_exact_check_agrees_with_brute_force(seed: int) -> None:
    """Releases and spoilt ones: within periods and across borders, for both attackers."""
    rng, outcomes = random.Random(7200 + seed), Counter[str]()
    for _ in range(CASES_PER_SEED):
        world, k, tau, epsilon = random_case(rng)
        borders = some_borders(rng, world, epsilon)
        try:
            result = release(world, k, tau, epsilon, periods=Periods(np.array(borders, np.int64)))
        except InputError:
            continue
        parts = parts_of(result, borders)
        assert checked(world, parts, borders, k, tau, epsilon) == set()
        bad = spoilt(rng, parts)
        errors = parts_errors(world, bad, borders, k, tau, epsilon)
        kinds = {error.split(":")[0] for error in errors}
        expected = {kind.split()[1] for kind in kinds if kind.startswith(("coverage", "across"))}
        assert checked(world, bad, borders, k, tau, epsilon) == expected, (
            f"{world=} {bad=} {borders=} {errors=}"
        )
        outcomes.update(kinds)
    assert outcomes["coverage strict"] > 2
    assert outcomes["across strict"] > 0


def test_the_lone_absent_part_is_not_left_alone() -> None:
    """Border at 06:00; six people are there all the time, v until 06:00 and from 11:00 on: v's part would be the only
    one without a box before. Others are suppressed with it, or v."""
    world = {user: {(hour, user % 2, 0) for hour in range(18)} for user in range(6)}
    world[6] = {(hour, 0, 0) for hour in (*range(6), *range(11, 18))}
    result = release(world, 2, 2, 1, periods=Periods(np.array([6])))
    parts = parts_of(result, [6])
    assert parts_errors(world, parts, [6], 2, 2, 1) == []
    assert result.outcome.n_suppressed > 0
    lone = [
        (user, period, [(t, t, 0, 1, 0, 0) for t, *_ in sorted(own) if (t >= 6) == bool(period)])
        for user, own in world.items()
        for period in (0, 1)
    ]
    assert {error.split(":")[0] for error in parts_errors(world, lone, [6], 2, 2, 1)} >= {"coverage strict"}
    assert "strict" in checked(world, lone, [6], 2, 2, 1)


def test_who_served_in_an_earlier_period_may_serve_again() -> None:
    """Four people over many hours: without borders partners run out, with a border every three hours they do not."""
    world = {user: {(hour, user, 0) for hour in range(24)} for user in range(8)}
    never = release(world, 2, 1, 1)
    often = release(world, 2, 1, 1, periods=Periods(np.arange(3, 24, 3)))
    assert never.outcome.relaxations > 0
    assert often.outcome.relaxations == 0
    for begin in range(0, 24, 3):  # windows that touch a period, those across its borders among them
        served = [
            (owner, member)
            for window, sets in often.hiding_sets.items()
            if window + 1 >= begin and window < begin + 3
            for owner, members in sets.items()
            for member in members
        ]
        assert len(served) == len(set(served))
