"""A budget: never above its share, and decided before any window; guarantees are judged by brute force."""

from __future__ import annotations

import math
import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from end_to_end.test_guarantees import judge
from end_to_end.test_parts import parts_of
from oracles.casual_worlds import random_case
from oracles.parts import parts_errors
from shoal.core.boxes import Boxes
from shoal.core.options import HidingOptions
from shoal.core.periods import Periods
from shoal.core.promise import Grid, Promise
from shoal.core.workers import Workers
from shoal.errors import InputError
from shoal.hiding.budget import PricedPresence, dearest, samples_of_share
from shoal.hiding.fold import Fold
from shoal.hiding.pipeline import Outcome, anonymize_samples
from shoal.reading import read_events
from shoal.synthetic import make_city
from support.release_worlds import release


@pytest.mark.parametrize("selector", ["matching", "mutual"])
@pytest.mark.parametrize("seed", range(6))
def test_random_worlds_keep_every_guarantee_within_the_share(seed: int, selector: str) -> None:
    rng, outcomes = random.Random(900 + seed), Counter[str]()
    for _ in range(30):
        world, k, tau, epsilon = random_case(rng)
        share, reuse = rng.choice([0.1, 0.3, 0.6]), rng.choice(["once", "pair", "spaced"])
        try:
            without = release(world, k, tau, epsilon, reuse=reuse, selector=selector)
            result = release(
                world,
                k,
                tau,
                epsilon,
                reuse=reuse,
                selector=selector,
                share=share,
                harden=rng.choice([0, 1, 3]),
            )
        except InputError:
            outcomes["refused"] += 1
            continue
        judge(world, k, tau, epsilon, result, reuse, selector)
        told = result.outcome
        assert told.n_suppressed <= max(Fraction(str(share)) * told.n_samples, without.outcome.n_suppressed)
        assert told.n_suppressed == told.for_promise.samples + told.budget.samples
        if not told.budget.samples:
            assert told.n_suppressed == without.outcome.n_suppressed
        outcomes["published"] += 1
        outcomes["used"] += told.budget.samples > 0
    assert outcomes["used"] > 2
    assert outcomes["published"] > 8


@pytest.mark.parametrize("seed", range(4))
def test_with_new_names(seed: int) -> None:
    rng, used = random.Random(seed), 0
    for _ in range(6):
        world = {
            user: {
                (t, rng.randrange(9) + (300 if user > 11 else 0), rng.randrange(9))
                for t in range(user % 3, 40, 3)
            }
            for user in range(14)
        }
        borders = [rng.choice([10, 15, 20])]
        periods = Periods(np.array(borders, np.int64))
        result = release(world, 2, 5, 5, share=0.15, harden=1, periods=periods)
        assert not parts_errors(world, parts_of(result, borders), borders, 2, 5, 5)
        used += result.outcome.budget.samples > 0
    assert used


def test_nothing_is_suppressed_in_an_epoch_that_an_earlier_window_contains(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every epoch comes to the fold as it will be published: what a window decides takes nobody out of it."""
    rng, came = random.Random(5), {}
    advance = Fold.advance

    def noted(fold: Fold, newest: object, *, ends_stretch: bool) -> object:
        came[newest.epoch] = set(newest.users.tolist())  # type: ignore[attr-defined]
        return advance(fold, newest, ends_stretch=ends_stretch)  # type: ignore[arg-type]

    monkeypatch.setattr(Fold, "advance", noted)
    used = 0
    for _ in range(10):
        world = {
            user: {(t, rng.randrange(300), 0) for t in range(40) if rng.random() < 0.3} or {(0, 0, 0)}
            for user in range(14)
        }
        came.clear()
        result = release(world, 2, 10, 5, share=0.2)
        used += result.outcome.budget.samples > 0
        for epoch, users in came.items():
            assert users == {user for user, epochs in result.presence.items() if epoch in epochs}
    assert used > 5


def slow_marks(lines: list[tuple[int, int, int, float]], threshold: float) -> set[tuple[int, int]]:
    """Whom a threshold marks, user by user and epoch by epoch."""
    marked: set[tuple[int, int]] = set()
    for user, epoch, _, price in sorted(lines):
        staying = (user, epoch - 1) in marked and price >= 0.7 * threshold
        if price >= threshold or staying:
            marked.add((user, epoch))
    return marked


@pytest.mark.parametrize("seed", range(20))
def test_the_lowest_threshold_that_the_budget_allows(seed: int) -> None:
    rng = random.Random(seed)
    lines = [
        (user, epoch, rng.randint(1, 3), float(rng.choice([1, 2, 3, 4, 6, 8, 9, 10, 12])))
        for user in range(rng.randint(1, 6))
        for epoch in range(9)
        if rng.random() < 0.7
    ]
    if not lines:
        return
    user, epoch, count, price = (np.array(column) for column in zip(*lines, strict=True))
    priced = PricedPresence(epoch, user.astype(np.int32), count.astype(np.int32), price)
    samples = {(line[0], line[1]): line[2] for line in lines}
    for most in (0, 1, 5, 12, 1000):
        found = {(u, e) for e, users in dearest(priced, most).items() for u in users.tolist()}
        levels = [slow_marks(lines, threshold) for threshold in sorted({line[3] for line in lines})]
        fitting = [marked for marked in levels if sum(samples[each] for each in marked) <= most]
        assert found == (fitting[0] if fitting else set())


def test_a_share_is_what_is_written() -> None:
    assert [samples_of_share(share, 100) for share in (0.29, 0.57, 0.01, 0.005, 0.0)] == [29, 57, 1, 0, 0]
    assert 0.29 * 100 < 29
    assert math.floor(0.57 * 100) < 57


def outcome_of(share: float, n_workers: int) -> tuple[Outcome, Boxes]:
    found = read_events(make_city(400, seed=3), grid=Grid.parse())
    with Workers(n_workers) as workers:
        made = anonymize_samples(
            found.store, Promise(2, 30, 30), HidingOptions(suppress_at_most=share), workers
        )
        return made, made.boxes


def test_it_pays_and_does_not_depend_on_workers() -> None:
    (whole, _), (less, boxes), (_, again) = outcome_of(0.0, 2), outcome_of(0.05, 1), outcome_of(0.05, 2)
    assert all(np.array_equal(one, other) for one, other in zip(boxes, again, strict=True))
    assert 0.04 < less.n_suppressed / less.n_samples <= 0.05
    cost = [made.box_sizes.cost / made.n_boxes for made in (whole, less)]
    assert cost[1] < 0.9 * cost[0]
