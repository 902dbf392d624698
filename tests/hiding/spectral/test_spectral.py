"""The paper's own selector, stage by stage, against plain versions of its algorithm."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from oracles.casual_worlds import random_case
from oracles.merge import brute_force_merge
from oracles.spectral import greedy_cycles, kte_hide, lineages
from shoal.core.options import HidingOptions
from shoal.core.promise import Promise
from shoal.core.workers import Workers
from shoal.hiding import window
from shoal.hiding.epochs import LiveEpoch, Timeline
from shoal.hiding.kernels.cycles import find_cycles
from shoal.hiding.kernels.window import WindowArrays
from shoal.hiding.selector import HidingSetup
from shoal.hiding.spectral import selector
from shoal.hiding.spectral.clustering import Scale, cluster, costs_to, pairwise_costs, self_tuning_affinity
from shoal.hiding.spectral.selector import (
    ABSENT,
    by_lineage,
    cluster_epochs,
    cluster_histories,
    decide_all_windows,
)
from shoal.hiding.window import build_window
from support.release_worlds import World, as_samples

ALONE = Workers(1)


def window_of(world: World, epsilon: int, epochs: list[int], weight: float = 1.0) -> WindowArrays:
    """Some epochs of a world as the search wants them."""
    timeline = Timeline(as_samples(world), Promise(2, epsilon, epsilon))
    live = [LiveEpoch(part, part.raw) for part in map(timeline.slice, epochs)]
    return build_window(live, len(world), np.arange(len(world), dtype=np.int32), weight, ALONE)


@pytest.mark.parametrize("seed", range(10))
def test_pairwise_costs_against_brute_force(seed: int) -> None:
    rng = random.Random(seed)
    world = {
        user: {(rng.randrange(6), rng.randint(-9, 9), rng.randint(-9, 9)) for _ in range(rng.randint(1, 4))}
        for user in range(6)
    }
    weight = rng.choice([1.0, 2.0])
    arrays = window_of(world, 6, [0], weight)
    costs = pairwise_costs(arrays, np.arange(6, dtype=np.int32))
    to_two = costs_to(arrays, np.array([1, 4], np.int32))
    for i, j in ((i, j) for i in range(6) for j in range(6) if i != j):
        pair = [sorted(world[int(arrays.user[user])]) for user in (i, j)]
        assert costs[i, j] == brute_force_merge(pair, weight)[0]
    assert np.array_equal(to_two, costs[:, [1, 4]])
    assert not costs.diagonal().any()


def test_affinity_is_scaled_by_the_seventh_neighbour() -> None:
    rng = np.random.default_rng(0)
    points = rng.integers(1, 50, 12)
    costs = (np.abs(points[:, None] - points) + 3.0) * (1 - np.eye(12))
    scale = [sorted(line)[7] for line in costs.tolist()]
    wanted = [[np.exp(-(costs[i, j] ** 2) / (scale[i] * scale[j])) for j in range(12)] for i in range(12)]
    assert np.allclose(self_tuning_affinity(costs), wanted)


def towns(n_towns: int, users_each: int, seed: int) -> tuple[World, list[int]]:
    """Towns far apart, and which of them each user is in."""
    rng = random.Random(seed)
    town = [user % n_towns for user in range(n_towns * users_each)]
    return {
        user: {
            (rng.randrange(30), 1000 * place + rng.randrange(20), rng.randrange(20))
            for _ in range(rng.randint(1, 3))
        }
        for user, place in enumerate(town)
    }, town


@pytest.mark.parametrize(
    "scale", [Scale(), Scale(exact=10, representatives=(200, 200), landmarks=16)], ids=["exact", "kasp"]
)
@pytest.mark.parametrize("seed", range(3))
def test_towns_far_apart_are_recovered(scale: Scale, seed: int) -> None:
    world, town = towns(20, 20, seed)
    arrays = window_of(world, 30, [0])
    label = cluster(arrays, seed, scale)
    assert adjusted_rand_score(np.array(town)[arrays.user], label) == 1.0


def test_about_as_many_clusters_as_the_root_of_the_users() -> None:
    world, _ = towns(1, 150, 0)
    for scale in (Scale(), Scale(exact=10, representatives=(60, 60))):
        assert 10 <= len(np.unique(cluster(window_of(world, 30, [0]), 0, scale))) <= 12


def test_users_who_cannot_be_told_apart() -> None:
    world = {user: {(0, 5, 5)} for user in range(40)}
    for scale in (Scale(), Scale(exact=10, representatives=(20, 20))):
        label = cluster(window_of(world, 5, [0]), 0, scale)
        assert len(label) == 40


def test_absence_is_a_cluster_of_its_own() -> None:
    # 0, 1: both epochs; 2, 3: first only; 4: second only. One place, so that clusters tell nothing else.
    world: World = {user: {(0, 0, 0)} for user in range(4)} | {4: {(5, 0, 0)}}
    world[0].add((5, 0, 0))
    world[1].add((6, 0, 0))
    arrays = window_of(world, 5, [0, 1])
    live = [(np.array([0, 1, 2, 3]), np.zeros(4, np.int32)), (np.array([0, 1, 4]), np.zeros(3, np.int32))]
    history = cluster_histories(arrays, live)
    told = {int(user): line for user, line in zip(arrays.user, history.tolist(), strict=True)}
    assert told == {0: [0, 0], 1: [0, 0], 2: [0, ABSENT], 3: [0, ABSENT], 4: [ABSENT, 0]}
    grouped, bounds = by_lineage(arrays, history)
    groups = [sorted(grouped.user[a:b].tolist()) for a, b in pairwise(bounds)]
    assert sorted(groups) == [[0, 1], [2, 3], [4]]
    assert all(grouped.place[user] == place for place, user in enumerate(grouped.user))
    clusters = {0: dict.fromkeys(range(4), 0), 1: dict.fromkeys([0, 1, 4], 0)}
    assert sorted(lineages(clusters, [0, 1])) == sorted(groups)


@pytest.mark.parametrize("seed", range(120))
def test_cycles_equal_the_literal_search(seed: int) -> None:
    rng = random.Random(seed)
    n, n_cycles = rng.randint(2, 6), rng.randint(1, 3)
    cost = np.array([[rng.randint(1, 9) for _ in range(n)] for _ in range(n)], float)
    allowed = np.array([[i != j and rng.random() < 0.8 for j in range(n)] for i in range(n)])
    parent = np.full((n, n_cycles), -1, np.int32)
    found = find_cycles(cost, allowed, n_cycles, 10**9, parent) if n > n_cycles else False
    wanted = greedy_cycles(range(n), lambda i, j: cost[i, j], lambda j, i: bool(allowed[j, i]), n_cycles)
    assert found == (wanted is not None)
    if wanted is not None:
        assert dict(enumerate(parent.tolist())) == wanted


@pytest.mark.parametrize("n_cycles", [1, 2, 4])
def test_cycles_of_a_large_group(n_cycles: int) -> None:
    rng = np.random.default_rng(n_cycles)
    n = 60
    allowed = rng.random((n, n)) < 0.6
    np.fill_diagonal(allowed, False)
    parent = np.full((n, n_cycles), -1, np.int32)
    assert find_cycles(rng.random((n, n)), allowed, n_cycles, selector.PATIENCE, parent)
    for cycle in parent.T:
        here, met = 0, set()
        while here not in met:
            met.add(here)
            assert allowed[cycle[here], here]
            here = int(cycle[here])
        assert len(met) == n
    assert all(len(set(line)) == n_cycles for line in parent.tolist())


def test_patience_has_an_end() -> None:
    allowed = np.ones((12, 12), np.bool_)
    allowed[:, 0] = False  # nobody may close the cycle
    parent = np.full((12, 1), -1, np.int32)
    assert not find_cycles(np.ones((12, 12)), allowed, 1, 1000, parent)


def clusters_by_user(timeline: Timeline, clusters: dict[int, Any]) -> dict[int, dict[int, int]]:
    return {
        epoch: dict(zip(timeline.slice(epoch).users.tolist(), labels.tolist(), strict=True))
        for epoch, labels in clusters.items()
    }


@pytest.mark.parametrize("seed", range(12))
def test_a_run_equals_the_literal_algorithm(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Same clusters, same costs: the same hiding sets, and the same groups suppressed, exactly those that fail."""
    monkeypatch.setattr(selector, "PATIENCE", 10**9)
    monkeypatch.setattr(window, "order_near", lambda *_: None)  # order: by rank alone
    rng = random.Random(seed)
    n_suppressed = n_hidden = 0
    for _ in range(12):
        world, k, tau, epsilon = random_case(rng)
        if len(world) > 9:
            continue
        samples = as_samples(world)
        promise = Promise(k, tau, epsilon)
        timeline, setup = Timeline(samples, promise), HidingSetup(len(world), promise, HidingOptions(), ALONE)
        clusters = cluster_epochs(timeline, setup, lambda: None)
        found = decide_all_windows(timeline, setup, clusters, lambda: None, repair=False)
        rank = np.random.default_rng(0).permutation(len(world))

        def cost(i: int, j: int, epochs: list[int], world: World = world, epsilon: int = epsilon) -> float:
            apart = [
                [sorted(s for s in world[user] if s[0] // epsilon == epoch) for user in (i, j)]
                for epoch in epochs
            ]
            return sum(brute_force_merge(pair)[0] for pair in apart if all(pair))

        wanted, suppressed = kte_hide(
            clusters_by_user(timeline, clusters), cost, k, timeline.reach, rank.__getitem__
        )
        published = {
            (user, epoch)
            for epoch in timeline.epochs.tolist()
            for user in found.presence.of(timeline.slice(epoch)).users.tolist()
        }
        present = {(user, t // epsilon) for user, own in world.items() for t, _, _ in own}
        hiding_sets = {
            first: {
                owner: set(members)
                for owner, members in zip(sets.owners.tolist(), sets.members.tolist(), strict=True)
            }
            for first, sets in found.hiding_sets.items()
        }
        assert hiding_sets == {first: sets for first, sets in wanted.items() if first in hiding_sets}
        assert not any(sets for first, sets in wanted.items() if first not in hiding_sets)
        assert present - published == suppressed
        n_suppressed += len(suppressed)
        n_hidden += sum(map(len, wanted.values()))
    assert n_suppressed > 0
    assert n_hidden > 0
