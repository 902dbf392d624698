"""Nearest members and edges against merges computed one by one."""

from __future__ import annotations

import random

import numpy as np
import pytest

from oracles.casual_worlds import random_world
from shoal.core.options import Reuse
from shoal.core.promise import Promise
from shoal.core.workers import Workers
from shoal.hiding.epochs import LiveEpoch, Timeline
from shoal.hiding.kernels.window import WindowArrays
from shoal.hiding.matching.assignment import Edges
from shoal.hiding.matching.candidates import build_search_tree, nearest_edges, with_nearest
from shoal.hiding.reuse import History
from shoal.hiding.window import build_window
from support.pool_cases import merge
from support.release_worlds import as_samples

Grouped = tuple[WindowArrays, dict[int, dict[int, list[tuple[int, int, int]]]]]


def random_window(rng: random.Random, workers: Workers, weight: float) -> Grouped:
    """Two epochs of a random world as a window, and each user's samples by epoch."""
    epsilon = rng.choice([2, 5, 10])
    world = random_world(rng, epsilon)
    samples = as_samples(world)
    timeline = Timeline(samples, Promise(2, epsilon, epsilon))
    first = int(rng.choice(timeline.epochs.tolist()))
    live = [
        LiveEpoch(part, part.raw)
        for part in (timeline.slice(first), timeline.slice(first + 1))
        if len(part.users)
    ]
    arrays = build_window(live, samples.n_users, np.arange(samples.n_users, dtype=np.int32), weight, workers)
    by_epoch: dict[int, dict[int, list[tuple[int, int, int]]]] = {}
    for user, own in world.items():
        for sample in own:
            by_epoch.setdefault(user, {}).setdefault(sample[0] // epsilon, []).append(sample)
    wanted = {part.slice.epoch for part in live}
    return arrays, {
        user: {epoch: own for epoch, own in epochs.items() if epoch in wanted}
        for user, epochs in by_epoch.items()
    }


def slow_edge_cost(
    samples: dict[int, dict[int, list[tuple[int, int, int]]]], i: int, j: int, p: float
) -> float:
    return sum(merge([samples[i][epoch], samples[j][epoch]], p)[0] for epoch in samples[i])


@pytest.mark.parametrize("n_workers", [1, 2])
@pytest.mark.parametrize("weight", [1.0, 2.0])
def test_nearest_members_are_the_cheapest_of_the_group(n_workers: int, weight: float) -> None:
    rng = random.Random(11 * n_workers)
    with Workers(n_workers) as workers:
        for _ in range(40):
            arrays, samples = random_window(rng, workers, weight)
            n, width = len(arrays.user), rng.choice([1, 3, 16])
            rule = History(int(arrays.user.max()) + 1, Reuse.ONCE, 1).rule(0, np.empty((n, 0), np.int32))
            edges = nearest_edges(arrays, build_search_tree(arrays), rule, width, workers)
            found = {
                (int(arrays.user[i]), int(arrays.user[j])): cost
                for i, j, cost in zip(edges.owner, edges.member, edges.cost, strict=True)
            }
            for (i, j), cost in found.items():
                assert cost == slow_edge_cost(samples, i, j, weight)
            for place, user in enumerate(arrays.user.tolist()):
                group = arrays.user[arrays.first[place] : arrays.last[place]].tolist()
                assert all(set(samples[user]) == set(samples[other]) for other in group)
                costs = sorted(
                    slow_edge_cost(samples, user, other, weight) for other in group if other != user
                )
                mine = sorted(cost for (i, _), cost in found.items() if i == user)
                assert mine[: min(width, len(costs))] == costs[:width]


def test_forbidden_members_are_not_found() -> None:
    rng = random.Random(4)
    with Workers(1) as workers:
        arrays, _ = random_window(rng, workers, 1.0)
        while arrays.last[0] - arrays.first[0] < 4:
            arrays, _ = random_window(rng, workers, 1.0)
        users, n = arrays.user, len(arrays.user)
        history = History(int(users.max()) + 1, Reuse.ONCE, 1)
        history.append(0, users[:1], users[1:2].reshape(1, 1))
        picked = np.full((n, 1), -1, np.int32)
        picked[0, 0] = 2
        rule = history.rule(1, picked)
        edges = nearest_edges(arrays, build_search_tree(arrays), rule, 16, workers)
        members = set(edges.member[edges.owner == 0].tolist())
        assert members == set(range(arrays.first[0], arrays.last[0])) - {0, 1, 2}
        assert 0 in edges.member[edges.owner == 1]  # the pair is ordered: it may serve the other way round


def test_edges_found_at_once_are_those_found_owner_by_owner() -> None:
    rng = random.Random(9)
    with Workers(2) as workers:
        for _ in range(40):
            arrays, _ = random_window(rng, workers, 1.0)
            n, width = len(arrays.user), rng.choice([1, 2, 5])
            history = History(int(arrays.user.max()) + 1, Reuse.ONCE, 1)
            history.append(0, arrays.user, np.roll(arrays.user, 1).reshape(n, 1))
            rule, tree = history.rule(1, np.empty((n, 0), np.int32)), build_search_tree(arrays)
            slowly = Edges(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))
            for owner in rng.sample(range(n), n):
                slowly = with_nearest(slowly, arrays, tree, rule, np.array([owner], np.int32), width, workers)
            at_once = nearest_edges(arrays, tree, rule, width, workers)
            assert (np.diff(at_once.owner) >= 0).all()
            assert len(at_once.owner) == len(slowly.owner)
            assert set(zip(*(column.tolist() for column in at_once), strict=True)) == set(
                zip(*(column.tolist() for column in slowly), strict=True)
            )
