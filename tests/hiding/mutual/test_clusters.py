"""Over whole trajectories the records of a cluster are identical: against the exact optimum, and on random worlds."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache

import numpy as np
import pytest

from oracles.merge import quadratic_merge_cost
from oracles.parts import matchings_errors, parts_errors
from oracles.rings import cheapest_clusters
from shoal.core.compiled import jit
from shoal.core.options import Reuse
from shoal.core.periods import ONE_PERIOD, Periods
from shoal.core.promise import Promise
from shoal.core.workers import Workers
from shoal.errors import InputError, UnfinishedError
from shoal.hiding.epochs import LiveEpoch, Timeline
from shoal.hiding.kernels.clusters import UserClusters, make_cluster_room, write_cluster
from shoal.hiding.kernels.pools import Slots
from shoal.hiding.kernels.window import WindowArrays
from shoal.hiding.merging import with_members
from shoal.hiding.mutual import clusters as clusters_module
from shoal.hiding.mutual.clusters import choose_clusters, find_clusters
from shoal.hiding.reuse import History
from shoal.hiding.window import HidingSets, build_window
from support.release_worlds import Release, World, as_samples, release
from support.whole_worlds import some_world, village

CASES_PER_SEED = 40


def window(world: World, workers: Workers) -> WindowArrays:
    part = Timeline(as_samples(world), Promise(2, None, None)).slice(0)
    order = np.arange(len(world), dtype=np.int32)
    return build_window([LiveEpoch(part, part.raw)], len(world), order, 1.0, workers)


def found_in(arrays: WindowArrays, k: int, workers: Workers) -> UserClusters:
    return find_clusters(0, arrays, k, History(len(arrays.place), Reuse.ONCE, 0).rule(0), workers)


def records_by_period(
    result: Release, borders: list[int]
) -> dict[int, dict[int, tuple[tuple[int, ...], ...]]]:
    """What everybody's part of each period is."""
    found: dict[int, dict[int, tuple[tuple[int, ...], ...]]] = {}
    for user, boxes in result.records.items():
        for box in sorted(boxes):
            period = sum(border <= box[0] for border in borders)
            found.setdefault(period, {})[user] = (*found.get(period, {}).get(user, ()), box)
    return found


def check_identical(result: Release, k: int, borders: list[int]) -> None:
    """Everybody's hiding set, with itself, is a cluster of k to 2k - 1 users whose parts are the same."""
    records = records_by_period(result, borders)
    assert sorted(records) == sorted(result.hiding_sets)
    for period, sets in result.hiding_sets.items():
        assert sets.keys() == records[period].keys()
        for user, members in sets.items():
            cluster = members | {user}
            assert k <= len(cluster) < 2 * k, "size"
            assert all(sets[member] | {member} == cluster for member in members), "mutual"
            assert len({records[period][member] for member in cluster}) == 1, "identical"


@pytest.mark.parametrize("seed", range(6))
def test_records_of_a_cluster_are_identical(seed: int) -> None:
    """Random worlds, with and without periods; guarantees 1 and 3 are those of the oracle."""
    rng, outcomes = random.Random(9000 + seed), Counter[str]()
    for _ in range(CASES_PER_SEED):
        world, k, borders = some_world(rng)
        periods = Periods(np.array(borders, np.int64)) if borders else ONE_PERIOD
        weight = rng.choice([1.0, 1.0, 2.0])
        try:
            result = release(world, k, None, None, selector="mutual", periods=periods, weight=weight)
        except InputError:
            continue
        check_identical(result, k, borders)
        parts = [
            (user, period, list(boxes))
            for period, records in records_by_period(result, borders).items()
            for user, boxes in records.items()
        ]
        assert parts_errors(world, parts, borders, k, None, None) == [], f"{world=} {k=} {borders=}"
        assert matchings_errors(world, parts, borders, k, None, None) == []
        sizes = {len(members) + 1 for sets in result.hiding_sets.values() for members in sets.values()}
        outcomes["larger than k"] += max(sizes) > k
        outcomes["several periods"] += len(result.hiding_sets) > 1
        assert result.outcome.n_members == sum(
            len(members) for sets in result.hiding_sets.values() for members in sets.values()
        )
    assert outcomes["larger than k"] > CASES_PER_SEED / 5
    assert outcomes["several periods"] > CASES_PER_SEED / 10


def test_a_ring_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """UserClusters of four where k = 3, in which everybody has only the next two, as in longer rings of a window."""
    k = 3

    def in_rings(arrays: WindowArrays, clusters: UserClusters) -> HidingSets:
        sets = np.empty((len(arrays.user), k - 1), np.int32)
        for users in (line[:size] for line, size in zip(clusters.member, clusters.size, strict=True)):
            for step in range(1, k):
                sets[users, step - 1] = arrays.user[np.roll(users, -step)]
        n = len(arrays.user)
        return HidingSets(arrays.user, sets, np.zeros(n, np.int32), np.zeros(n, np.uint8))

    world = {user: {(user, 5 * user, 0), (30 - user, 0, user)} for user in range(8)}
    check_identical(release(world, k, None, None, selector="mutual"), k, [])
    monkeypatch.setattr(clusters_module, "hiding_sets_of", in_rings)
    with pytest.raises(AssertionError, match="mutual"):
        check_identical(release(world, k, None, None, selector="mutual"), k, [])


@pytest.mark.parametrize("k", [2, 3, 4])
def test_near_the_exact_optimum(k: int) -> None:
    """Groups of up to 9 users, any remainder among them."""
    rng = random.Random(k)
    ours_total = best_total = 0.0
    with Workers(1) as workers:
        for _ in range(40):
            n = rng.randint(k, 9)
            world = village(rng, n)
            arrays = window(world, workers)
            found = found_in(arrays, k, workers)

            @cache
            def record_cost(users: tuple[int, ...], world: World = world) -> float:
                return float(quadratic_merge_cost([sorted(world[user]) for user in users]))

            ours = float((found.size * found.cost).sum())
            for users, size, cost in zip(found.member.tolist(), found.size.tolist(), found.cost, strict=True):
                assert cost == record_cost(tuple(sorted(arrays.user[users[:size]].tolist())))
            best = cheapest_clusters(n, k, record_cost)
            assert ours >= best - 1e-6
            ours_total, best_total = ours_total + ours, best_total + best
    assert ours_total <= 1.02 * best_total


@jit
def pool_of(arrays: WindowArrays, users: np.ndarray, without: int) -> Slots:
    room = make_cluster_room(arrays, len(users))
    write_cluster(arrays, users, without, room)
    return room.pool.slot[: room.pool.ptr[1]].copy()


@pytest.mark.parametrize("size", range(1, 12))
def test_pools_united_two_by_two_are_those_united_one_by_one(size: int) -> None:
    rng = random.Random(size)
    with Workers(1) as workers:
        arrays = window(village(rng, 12), workers)
        users = np.array(rng.sample(range(12), size), np.int32)
        for without in [-1, *(users.tolist() if size > 1 else [])]:
            first, *others = (user for user in users.tolist() if user != without)
            pools = arrays.raw
            for other in others:
                rows = np.full(len(arrays.user), -1, np.int64)
                rows[arrays.row[first, 0]] = arrays.row[other, 0]
                pools = with_members(pools, arrays.raw, rows, workers)
            row = arrays.row[first, 0]
            expected = pools.slot[pools.ptr[row] : pools.ptr[row + 1]]
            assert pool_of(arrays, users, without).tolist() == expected.tolist()


def test_the_same_for_any_number_of_workers_and_in_shards() -> None:
    rng = random.Random(1)
    world = {
        user: {(rng.randrange(60), rng.randrange(40), rng.randrange(40)) for _ in range(3)}
        for user in range(150)
    }
    for shard_size in (150, 40):
        one = release(world, 4, None, None, selector="mutual", shard_size=shard_size)
        other = release(world, 4, None, None, selector="mutual", shard_size=shard_size, workers=3)
        assert one.records == other.records
        check_identical(one, 4, [])


def test_a_group_of_fewer_than_k_stops_the_run() -> None:
    with Workers(1) as workers:
        arrays = window(village(random.Random(0), 4), workers)
        with pytest.raises(UnfinishedError, match="fewer than k"):
            choose_clusters(0, arrays, 5, History(4, Reuse.ONCE, 0).rule(0), workers)
