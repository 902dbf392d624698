"""Windows decided in parts, through a pipe and back, against windows decided whole."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pytest

from shoal.core.options import HidingOptions, Reuse
from shoal.core.promise import Grid, Promise
from shoal.core.samples import Samples, samples_from_columns
from shoal.core.workers import Workers
from shoal.hiding import window_tasks
from shoal.hiding.pipeline import anonymize_samples
from shoal.reading import read_events
from shoal.synthetic import make_city


class Piped:
    """An engine that does tasks here, as if they came through a pipe."""

    def __init__(self, n_tasks: int) -> None:
        self.n_tasks = n_tasks
        self.done = 0

    def map(self, call: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterator[Any]:
        for task in tasks:
            self.done += 1
            yield pickle.loads(pickle.dumps(call(pickle.loads(pickle.dumps(task)))))

    def close(self) -> None:
        pass


@pytest.fixture(scope="module")
def city() -> Samples:
    return read_events(make_city(900, days=2), grid=Grid()).samples


def boxes_of(samples: Samples, promise: Promise, options: HidingOptions, engine: Piped | None) -> Any:
    with Workers(1) as workers:
        return anonymize_samples(samples, promise, options, workers, engine=engine).boxes


@pytest.mark.parametrize("n_tasks", [2, 5, 100])
@pytest.mark.parametrize(
    ("k", "tau", "reuse", "effort"),
    [(2, 30, "once", 2), (2, 45, "pair", 1), (2, 60, "spaced", 1), (3, 30, "once", 1)],
)
def test_parts_decide_what_the_whole_decides(
    city: Samples, n_tasks: int, k: int, tau: int, reuse: str, effort: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(window_tasks, "_SMALLEST", 1)
    options, engine = HidingOptions(reuse=Reuse(reuse), shard_size=40, effort=effort), Piped(n_tasks)
    promise = Promise(k, tau, 30)
    whole = boxes_of(city, promise, options, None)
    assert all(
        np.array_equal(one, other)
        for one, other in zip(whole, boxes_of(city, promise, options, engine), strict=True)
    )
    assert engine.done > 48


@pytest.mark.parametrize("seed", range(12))
def test_parts_of_tiny_worlds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few users over many epochs: partners run out, groups are of k users, some epochs are empty."""
    monkeypatch.setattr(window_tasks, "_SMALLEST", 1)
    rng = np.random.default_rng(seed)
    n, epochs = int(rng.integers(6, 20)), 30
    user, t = rng.integers(0, n, 400), rng.integers(0, 10 * epochs, 400)
    names = np.array([f"u{i:02}" for i in range(n)], object)
    samples = samples_from_columns(names, user, t, *rng.integers(0, 5, (2, 400)))
    promise = Promise(2, random.Random(seed).choice([10, 15, 20]), 10)
    options = HidingOptions(shard_size=3, effort=1 + seed % 3)
    one = boxes_of(samples, promise, options, None)
    other = boxes_of(samples, promise, options, Piped(7))
    assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_a_small_window_is_not_sent_away(city: Samples) -> None:
    engine = Piped(4)
    few = city.user < 100
    samples = samples_from_columns(
        city.users, *(column[few] for column in (city.user, city.t, city.x, city.y))
    )
    boxes_of(samples, Promise(2, 30, 30), HidingOptions(), engine)
    assert engine.done == 0
