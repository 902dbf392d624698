"""Limits on boxes: exact on random worlds, with every guarantee judged by brute force, and the same after resuming."""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from end_to_end.test_guarantees import judge
from end_to_end.test_parts import parts_of
from oracles.casual_worlds import random_case
from oracles.merge import all_partitions, box_cost, slots_of
from oracles.parts import parts_errors
from shoal.core.option_checks import BoxLimits
from shoal.core.options import HidingOptions
from shoal.core.periods import Periods
from shoal.core.promise import Promise
from shoal.core.workers import Workers
from shoal.errors import InputError, NothingLeftError
from shoal.hiding import pipeline
from shoal.hiding.fold import Step
from shoal.hiding.journal import FolderJournal, MemoryJournal
from shoal.hiding.kernels.merge import LimitedCost, strictly
from shoal.hiding.matching.candidates import all_edges, nearest_members
from shoal.hiding.merging import costs_of
from shoal.hiding.pipeline import anonymize_samples
from shoal.hiding.suppression import Marked
from shoal.hiding.window import first_users
from support.pool_cases import ONE, merge, pool_of
from support.random_windows import crowd
from support.release_worlds import World, as_samples, release

ALL = 0.999  # of the samples may be suppressed


def above(box: tuple[int, ...], limits: BoxLimits) -> bool:
    t0, t1, x0, x1, y0, y1 = box
    return max(x1 - x0, y1 - y0) + 1 > limits.cells or t1 - t0 + 1 > limits.slots


def test_merge_is_the_cheapest_of_all_cuts_with_limits() -> None:
    """Boxes above the limits cost a thousand times as much, whether one is needed or not."""
    rng, outcomes = random.Random(1), Counter[str]()
    for _ in range(200):
        trajectories = [
            [
                (rng.randrange(12), rng.randrange(8), rng.choice([0, 0, 1, 9]))
                for _ in range(rng.randint(1, 4))
            ]
            for _ in range(rng.randint(2, 3))
        ]
        limits, weight = (
            BoxLimits(rng.choice([2, 8, 10]), rng.choice([3, 9, 12])),
            rng.choice([1.0, 2.0, 1.5]),
        )
        rule = LimitedCost(weight, *limits, 1000.0)
        costs = {
            boxes: sum(box_cost(box, weight) * (1000 if above(box, limits) else 1) for box in boxes)
            for boxes in all_partitions(slots_of(trajectories), len(trajectories))
        }
        cost, boxes = merge(trajectories, rule)
        assert cost == pytest.approx(min(costs.values()), rel=1e-12)
        assert costs[boxes] == pytest.approx(cost, rel=1e-12)
        within = [each for each in costs if not any(above(box, limits) for box in each)]
        assert (merge_cost_strictly(trajectories, rule) < np.inf) == bool(within)
        outcomes["within"] += bool(within)
        outcomes["changed"] += boxes != merge(trajectories, weight)[1]
    assert outcomes["within"] > 5
    assert outcomes["changed"] > 2


def merge_cost_strictly(trajectories: list[list[tuple[int, int, int]]], rule: LimitedCost) -> float:
    return float(costs_of(pool_of(trajectories), strictly(rule), ONE)[0])


def small_case(rng: random.Random) -> tuple[World, int, int, int, BoxLimits]:
    """A world with limits that are too small for some of its users."""
    world, k, tau, epsilon = random_case(rng)
    return world, k, tau, epsilon, BoxLimits(rng.choice([2, 8, 40, 10**5]), rng.randint(1, epsilon))


@pytest.mark.parametrize("selector", ["matching", "mutual"])
@pytest.mark.parametrize("seed", range(6))
def test_no_box_is_above_its_limits_and_every_guarantee_holds(seed: int, selector: str) -> None:
    rng, outcomes = random.Random(seed), Counter[str]()
    for _ in range(30):
        world, k, tau, epsilon, limits = small_case(rng)
        reuse = rng.choice(["once", "pair", "spaced"])
        try:
            result = release(
                world, k, tau, epsilon, limits=limits, share=ALL, reuse=reuse, selector=selector,
                weight=rng.choice([1.0, 2.0, 1.5]), harden=rng.choice([0, 1, 3]),
            )  # fmt: skip
        except InputError:
            outcomes["refused"] += 1
            continue
        outcomes["published"] += 1
        boxes = [box for boxes in result.records.values() for box in boxes]
        assert not any(above(box, limits) for box in boxes)
        judge(world, k, tau, epsilon, result, reuse, selector)
        told = result.outcome
        assert told.n_suppressed == told.for_promise.samples + told.limits.samples
        outcomes["for limits"] += told.limits.samples > 0
        outcomes["in rounds"] += told.rounds > 1
    assert outcomes["published"] > 5
    assert outcomes["for limits"] > 1


def strollers(rng: random.Random, n_users: int = 14, n_epochs: int = 6) -> World:
    """People about two places, some far out: with a limit somebody has to go."""
    return {
        user: {
            (epoch * 5 + rng.randrange(5), 30 * (user % 2) + rng.randint(0, 9), rng.choice([0, 1, 5]))
            for epoch in range(n_epochs)
            for _ in range(rng.randint(1, 2))
            if rng.random() < 0.9
        }
        or {(0, 0, 0)}
        for user in range(n_users)
    }


@pytest.mark.parametrize("seed", range(6))
def test_with_new_names(seed: int) -> None:
    rng, n_published = random.Random(seed), 0
    for _ in range(6):
        world, borders, limits = strollers(rng), [rng.choice([10, 15, 20])], BoxLimits(12, 4)
        periods = Periods(np.array(borders, np.int64))
        try:
            result = release(world, 2, 5, 5, limits=limits, share=ALL, harden=1, periods=periods)
        except InputError:
            continue
        n_published += 1
        assert not any(above(box, limits) for boxes in result.records.values() for box in boxes)
        assert not parts_errors(world, parts_of(result, borders), borders, 2, 5, 5)
    assert n_published


def test_a_share_that_is_too_small_is_refused_with_one_that_is_enough() -> None:
    rng, limits, seen = random.Random(3), BoxLimits(6, 5), 0
    for _ in range(8):
        world = strollers(rng)
        try:
            enough = release(world, 2, 5, 5, limits=limits, share=ALL)
        except NothingLeftError:
            continue
        if not enough.outcome.n_suppressed:
            continue
        seen += 1
        with pytest.raises(InputError, match="The limits need") as refusal:
            release(world, 2, 5, 5, limits=limits)
        found = re.search(r"give suppress_at_most=?([\d.]+)", str(refusal.value).replace("most ", "most="))
        assert found is not None
        named = float(found[1])
        assert release(world, 2, 5, 5, limits=limits, share=named).records == enough.records
        with pytest.raises(InputError, match="The limits need"):
            release(world, 2, 5, 5, limits=limits, share=max(0.0, named - 0.0002))
    assert seen > 2


class Killed(Exception):  # noqa: N818
    """The process is gone."""


class MortalJournal(FolderJournal):
    """A journal whose process is killed in some round, once so many steps are done in it."""

    def __init__(self, folder: Path, round_killed: int, n_steps: int) -> None:
        super().__init__(folder, {"run": 1})
        self._rounds_left, self._steps_left = round_killed, n_steps

    def append(self, step: Step) -> None:
        if self._rounds_left <= 0 and self._steps_left <= 0:
            raise Killed
        super().append(step)
        self._steps_left -= self._rounds_left <= 0

    def begin_anew(self, marked: Marked) -> None:
        super().begin_anew(marked)
        self._rounds_left -= 1


def test_killed_and_resumed_gives_the_same(tmp_path: Path) -> None:
    """Killed in a round, or between one round and the next, with steps of the last one still about."""
    world, limits = strollers(random.Random(1), 20, 8), BoxLimits(8, 5)
    options, promise, samples = HidingOptions(suppress_at_most=ALL), Promise(2, 5, 5), as_samples(world)

    def run(journal: MemoryJournal | FolderJournal) -> tuple[list[np.ndarray], int]:
        with Workers(1) as workers:
            outcome = anonymize_samples(samples, promise, options, workers, journal=journal, limits=limits)
        return list(outcome.boxes), outcome.limits.samples

    whole, marked = run(MemoryJournal())
    assert marked
    n_killed = 0
    for round_killed in (0, 1, 2):
        for n_steps in (0, 3):
            folder = tmp_path / f"{round_killed}-{n_steps}"
            folder.mkdir()
            try:
                run(MortalJournal(folder, round_killed, n_steps))
            except Killed:
                n_killed += 1
            if round_killed:
                (folder / "step-0000000.npz").touch()  # of the first round, which nobody could clear away
            boxes, again = run(FolderJournal(folder, {"run": 1}))
            assert again == marked
            assert all(np.array_equal(one, other) for one, other in zip(whole, boxes, strict=True))
    assert n_killed > 3


def test_the_final_boxes_are_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """If nobody were blamed, boxes above the limits would be found before anything is published."""
    monkeypatch.setattr(pipeline, "to_blame", lambda *_: {})
    monkeypatch.setattr(pipeline, "out_of_reach", lambda *_: {})
    with pytest.raises(Exception, match="Self-check failed"):
        release(strollers(random.Random(3)), 2, 5, 5, limits=BoxLimits(1, 1), share=ALL)


@pytest.mark.parametrize(("n_users", "cells", "most"), [(40, 2, 1), (60, 30, 4), (300, 40, 3)])
def test_the_search_finds_the_nearest_with_limits(n_users: int, cells: int, most: int) -> None:
    """Against every edge of the complete graph."""
    rng = random.Random(n_users)
    for weight in (1.0, 2.0, 1.5):
        arrays = crowd(rng, n_users, cells, most)
        rule = LimitedCost(weight, max(1, cells // 4), 4, 1024.0)
        with Workers(1) as workers:
            arrays = arrays._replace(weight=rule)
            arrays = arrays._replace(base=costs_of(arrays.pools, rule, workers))
            owners = np.arange(len(arrays.user), dtype=np.int32)
            _, cost = nearest_members(arrays, owners, 3, workers)
            edges = all_edges(arrays, first_users(arrays), workers)
        for owner in owners.tolist():
            wanted = np.sort(edges.cost[edges.owner == owner])[:3]
            found = cost[owner][np.isfinite(cost[owner])]
            assert np.allclose(found, wanted[: len(found)], rtol=1e-12)
            assert len(found) == min(3, len(wanted))
