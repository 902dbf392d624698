"""New names on small worlds, judged by brute force over every part, every interval and every border."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from oracles.casual_worlds import random_case
from oracles.parts import matchings_errors, parts_errors
from shoal.auditing.box_index import AttackedRecords, records_among, trajectories_among
from shoal.auditing.coverage.chunks import bucket_borders
from shoal.auditing.coverage.parts import PartsEvidence, check_parts
from shoal.core.boxes import Boxes
from shoal.core.periods import Periods
from shoal.core.promise import Promise
from shoal.core.workers import Workers
from shoal.errors import InputError, ShoalError
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
