"""Full consistency: groups of k who hide each other, against the exact optimum and under every reuse rule."""

from __future__ import annotations

import random
from collections.abc import Iterable
from functools import partial

import numpy as np
import pytest

from oracles.rings import cheapest_rings
from shoal.core.compiled import jit
from shoal.core.options import Reuse
from shoal.core.promise import Promise
from shoal.core.workers import Workers
from shoal.errors import UnfinishedError
from shoal.hiding.epochs import LiveEpoch, Timeline
from shoal.hiding.kernels.rings import EdgePenalties, make_room, ring_cost, ring_reuse
from shoal.hiding.kernels.window import WindowArrays
from shoal.hiding.matching.assignment import Edges
from shoal.hiding.merging import costs_of, with_members
from shoal.hiding.mutual.candidates import edge_penalties
from shoal.hiding.mutual.selector import choose_mutual
from shoal.hiding.reuse import History
from shoal.hiding.window import HidingSets, build_window, member_rows
from support.release_worlds import World, as_samples, release

NO_EDGES = Edges(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))


@pytest.fixture(scope="module")
def workers() -> Workers:
    return Workers(1)


@jit
def price_of(
    arrays: WindowArrays, penalties: EdgePenalties, ring: np.ndarray, width: int
) -> tuple[int, float]:
    scratch = make_room(arrays, width)
    return ring_reuse(penalties, ring, width), ring_cost(arrays, penalties, ring, width, np.inf, scratch)


def price_in_order(
    arrays: WindowArrays, penalties: EdgePenalties, width: int, ring: tuple[int, ...]
) -> tuple[int, float]:
    return price_of(arrays, penalties, np.array(ring, np.int32), width)


def village(rng: random.Random, n: int) -> World:
    """People who are all there in two half hours, on few places: many equal costs."""
    places = rng.choice([3, 12, 60])
    return {
        user: {
            (epoch * 30 + rng.randrange(30), rng.randrange(places), rng.randrange(places))
            for epoch in range(2)
            for _ in range(rng.randint(1, 3))
        }
        for user in range(n)
    }


def window(world: World, workers: Workers) -> WindowArrays:
    timeline = Timeline(as_samples(world), Promise(2, 30, 30))
    live = [LiveEpoch(part, part.raw) for part in (timeline.slice(0), timeline.slice(1))]
    return build_window(live, len(world), np.arange(len(world), dtype=np.int32), 1.0, workers)


def with_past(
    arrays: WindowArrays, k: int, n_windows: int, reuse: Reuse, workers: Workers
) -> tuple[History, WindowArrays]:
    """The window after a few others with the same people, whose members are in the records already."""
    history = History(len(arrays.place), reuse, 1)
    for number in range(n_windows):
        found = choose_mutual(number, arrays, k, history.rule(number), workers)
        history.append(number, found.owners, found.members)
        if number == n_windows - 1:
            arrays = joined(arrays, found, workers)
    return history, arrays


def joined(arrays: WindowArrays, found: HidingSets, workers: Workers) -> WindowArrays:
    pools = arrays.pools
    for column in range(found.members.shape[1]):
        member = arrays.place[found.members[:, column]]
        pools = with_members(pools, arrays.raw, member_rows(arrays, member), workers)
    return arrays._replace(pools=pools, base=costs_of(pools, arrays.weight, workers))


def is_mutual(sets: dict[int, set[int]], users: Iterable[int]) -> bool:
    return all(user in sets[member] for user in users for member in sets[user])


def rings_in(sets: dict[int, set[int]]) -> list[set[int]]:
    """Users who are connected by hiding each other."""
    rings: list[set[int]] = []
    for user, members in sets.items():
        touching = [ring for ring in rings if ring & (members | {user})]
        rings = [ring for ring in rings if ring not in touching]
        rings.append(set().union(members, {user}, *touching))
    return rings


@pytest.mark.parametrize("k", [2, 3, 4])
def test_near_the_exact_optimum(k: int, workers: Workers) -> None:
    """Groups of up to 10 users, fresh or with a past: nearly always the least reuse, then within 1 % of the cost."""
    rng = random.Random(k)
    ours_total = best_total = 0.0
    cases, more_reuse = 40, 0
    for _ in range(cases):
        n = rng.randint(k, 9 if k == 4 else 10)
        past = rng.choice([0, 0, 1, 2, 4])
        history, arrays = with_past(
            window(village(rng, n), workers), k, past, rng.choice(list(Reuse)), workers
        )
        found = choose_mutual(past, arrays, k, history.rule(past), workers)
        rule = history.rule(past, np.empty((n, 0), np.int32))
        penalties = edge_penalties(past, arrays, rule, NO_EDGES, np.zeros(0))
        best = cheapest_rings(n, k, partial(price_in_order, arrays, penalties, k - 1))
        cost = costs_of(joined(arrays, found, workers).pools, 1.0, workers).sum()
        reuse = reuse_of(arrays, penalties, found)
        assert reuse > best[0] or cost >= best[1] - 1e-6
        if reuse == best[0]:
            ours_total, best_total = ours_total + cost, best_total + best[1]
        more_reuse += reuse > best[0]
    assert ours_total <= 1.01 * best_total
    assert more_reuse <= cases / 20


def reuse_of(arrays: WindowArrays, penalties: EdgePenalties, chosen: HidingSets) -> int:
    found = {
        (owner, int(penalties.member[entry])): int(penalties.reuse[entry])
        for owner in range(len(arrays.user))
        for entry in range(penalties.ptr[owner], penalties.ptr[owner + 1])
    }
    members = arrays.place[chosen.members]
    return sum(found.get((owner, int(j)), 0) for owner, line in enumerate(members) for j in line)


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("more", [0, 1, 2, 5])
def test_all_groups_but_one_are_mutual(k: int, more: int) -> None:
    rng = random.Random(more)
    for n in (k + more, 2 * k - 1, 3 * k + more, 40 + more):
        world = {user: {(0, rng.randrange(30), rng.randrange(30))} for user in range(n)}
        sets = release(world, k, 5, 5, selector="mutual").hiding_sets[0]
        rings = rings_in(sets)
        assert sorted(map(len, rings)) == [k] * (n // k - 1) + [k + n % k]
        assert all(is_mutual(sets, ring) for ring in rings if len(ring) == k)
        assert all(len(members) == k - 1 for members in sets.values())


@pytest.mark.parametrize("n", [4, 6, 8, 9])
def test_partners_are_reused_only_when_they_run_out(n: int, workers: Workers) -> None:
    """k = 2: with nobody hidden twice, half of the windows that there could be at most are always possible."""
    arrays = window(village(random.Random(n), n), workers)
    history = History(n, Reuse.ONCE, 1)
    for number in range(n // 2):
        found = choose_mutual(number, arrays, 2, history.rule(number), workers)
        assert not found.relaxed.any()
        history.append(number, found.owners, found.members)
    for number in range(n // 2, 2 * n):
        found = choose_mutual(number, arrays, 2, history.rule(number), workers)
        history.append(number, found.owners, found.members)
    assert found.relaxed.any()


def test_spaced_partners_may_return(workers: Workers) -> None:
    arrays = window(village(random.Random(0), 8), workers)
    history = History(8, Reuse.SPACED, 1)
    for number in range(12):
        found = choose_mutual(number, arrays, 2, history.rule(number), workers)
        assert not found.relaxed.any()
        history.append(number, found.owners, found.members)


def test_a_group_of_fewer_than_k_stops_the_run(workers: Workers) -> None:
    arrays = window(village(random.Random(0), 4), workers)
    with pytest.raises(UnfinishedError, match="fewer than k"):
        choose_mutual(0, arrays, 5, History(4, Reuse.ONCE, 1).rule(0), workers)
