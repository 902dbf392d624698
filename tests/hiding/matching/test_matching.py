"""The hiding sets of a window against exact optima on the complete graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from oracles.pick import cheapest_factor_lp
from shoal.core.options import HidingOptions, Reuse
from shoal.core.promise import Grid, Promise
from shoal.core.samples import Samples
from shoal.core.workers import Workers
from shoal.errors import UnfinishedError
from shoal.hiding import selector
from shoal.hiding.epochs import LiveEpoch, Timeline
from shoal.hiding.kernels.window import WindowArrays
from shoal.hiding.matching.assignment import Edges, cheapest_permutation
from shoal.hiding.matching.candidates import all_edges
from shoal.hiding.matching.permutations import choose_hiding_sets
from shoal.hiding.merging import costs_of, with_members
from shoal.hiding.pipeline import anonymize_samples
from shoal.hiding.reuse import History
from shoal.hiding.window import build_window, member_rows
from shoal.reading import read_events
from shoal.synthetic import make_city


@pytest.fixture(scope="module")
def city() -> Samples:
    return read_events(make_city(3000), grid=Grid()).samples


@pytest.fixture(scope="module")
def workers() -> Workers:
    return Workers(2)


def window(samples: Samples, number: int, workers: Workers, most_users: int | None = None) -> WindowArrays:
    """Half hours ``number`` and ``number + 1`` of the day; with ``most_users`` only people present in both."""
    timeline = Timeline(samples, Promise(2, 30, 30))
    first = int(timeline.epochs[number])
    parts = [timeline.slice(first), timeline.slice(first + 1)]
    if most_users is not None:
        both = np.intersect1d(parts[0].users, parts[1].users)[:most_users]
        parts = [part.restricted(np.isin(part.users, both)) for part in parts]
    rank = np.arange(samples.n_users, dtype=np.int32)
    return build_window([LiveEpoch(part, part.raw) for part in parts], samples.n_users, rank, 1.0, workers)


def fresh(samples: Samples) -> History:
    return History(samples.n_users, Reuse.ONCE, 1)


def first_member(history: History, user: int) -> int:
    past = history.rule(0).past
    return int(past.member[past.first[user]])


@pytest.mark.parametrize("number", [16, 24, 38])
def test_candidates_reach_the_optimum_of_the_complete_graph(
    city: Samples, workers: Workers, number: int
) -> None:
    """Within 2 % of the assignment on all pairs, group by group."""
    arrays = window(city, number, workers)
    chosen = arrays.place[choose_hiding_sets(0, arrays, 2, fresh(city).rule(0), workers).members[:, 0]]
    for first in np.unique(arrays.first):
        n = int(arrays.last[first] - first)
        edges = all_edges(arrays, np.array([first], np.int32), workers)
        price = np.full((n, n), np.inf)
        price[edges.owner - first, edges.member - first] = edges.cost
        best = cheapest_permutation(n, Edges(edges.owner - first, edges.member - first, edges.cost))
        ours = price[np.arange(n), chosen[first : first + n] - first].sum()
        assert ours <= 1.02 * price[np.arange(n), best].sum()


@pytest.mark.parametrize("number", [16, 24, 38])
@pytest.mark.parametrize("k", [3, 5])
def test_joint_assignments_beat_the_exact_flow_once_merged(
    city: Samples, workers: Workers, number: int, k: int
) -> None:
    """The flow is optimal for pairwise costs, but what is published are merges; its sets cost more there."""
    arrays = window(city, number, workers, most_users=200)
    n = len(arrays.user)
    edges = all_edges(arrays, np.zeros(1, np.int32), workers)
    price: list[list[float | None]] = [[None] * n for _ in range(n)]
    for owner, member, cost in zip(*(column.tolist() for column in edges), strict=True):
        price[owner][member] = cost
    optimum = cheapest_factor_lp(price, k)
    assert optimum is not None
    flow = np.array([sorted(members) for members in optimum[1]], np.int32)
    ours = arrays.place[choose_hiding_sets(0, arrays, k, fresh(city).rule(0), workers).members]
    pairwise = sum(price[i][j] or 0.0 for i, members in enumerate(ours.tolist()) for j in members)
    assert optimum[0] <= pairwise <= 1.6 * optimum[0]
    assert merged_cost(arrays, ours, workers) < merged_cost(arrays, flow, workers)


def merged_cost(arrays: WindowArrays, members: np.ndarray, workers: Workers) -> float:
    pools = arrays.pools
    for column in range(members.shape[1]):
        pools = with_members(pools, arrays.raw, member_rows(arrays, members[:, column]), workers)
    return float(costs_of(pools, arrays.weight, workers).sum())


def test_partners_are_reused_only_when_they_run_out(city: Samples, workers: Workers) -> None:
    """Five people who always come and go together have four windows of fresh partners each, k = 2."""
    arrays = window(city, 24, workers, most_users=5)
    history = fresh(city)
    for number in range(4):
        found = choose_hiding_sets(number, arrays, 2, history.rule(number), workers)
        assert not found.relaxed.any()
        history.append(number, found.owners, found.members)
    fifth = choose_hiding_sets(4, arrays, 2, history.rule(4), workers)
    assert fifth.relaxed.all()
    first_partner = {int(user): first_member(history, int(user)) for user in fifth.owners}
    assert {
        int(user): int(member) for user, member in zip(fifth.owners, fifth.members[:, 0], strict=True)
    } == (first_partner), "the member that served longest ago serves again"


def test_spaced_partners_may_return(city: Samples, workers: Workers) -> None:
    arrays = window(city, 24, workers, most_users=5)
    history = History(city.n_users, Reuse.SPACED, 1)
    for number in range(12):
        found = choose_hiding_sets(number, arrays, 2, history.rule(number), workers)
        assert not found.relaxed.any()
        history.append(number, found.owners, found.members)


def test_a_group_of_fewer_than_k_stops_the_run(city: Samples, workers: Workers) -> None:
    with pytest.raises(UnfinishedError, match="fewer than k"):
        choose_hiding_sets(0, window(city, 24, workers, most_users=4), 5, fresh(city).rule(0), workers)


def test_outliers_who_share_their_nearest_find_other_partners(workers: Workers) -> None:
    """Forty people far out have the same 16 nearest in town: not everybody can be served among these."""
    rng = np.random.default_rng(0)
    town = np.stack([np.zeros(60), rng.integers(0, 30, 60), rng.integers(0, 30, 60)], axis=1)
    far = np.array([[0, 10_000 * np.cos(a), 10_000 * np.sin(a)] for a in np.linspace(0, 6.2, 40)])
    rows = np.concatenate([town, far]).astype(np.int64)
    users = np.array([f"{i:03d}" for i in range(100)], object)
    samples = Samples(users, np.arange(100, dtype=np.int32), rows[:, 0], *rows[:, 1:].astype(np.int32).T)
    part = Timeline(samples, Promise(2, 30, 30)).slice(0)
    arrays = build_window([LiveEpoch(part, part.raw)], 100, np.arange(100, dtype=np.int32), 1.0, workers)
    found = choose_hiding_sets(0, arrays, 2, History(100, Reuse.ONCE, 1).rule(0), workers)
    assert sorted(found.members[:, 0].tolist()) == sorted(found.owners.tolist())
    assert not found.relaxed.any()


def test_joint_costs_beat_pairwise_ones(
    city: Samples, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Owners who remember whom they hold already publish smaller boxes: a fifth less on this city."""
    promise, options = Promise(2, 30, 30), HidingOptions()
    joint = anonymize_samples(city, promise, options, workers).boxes.cost().sum()

    def forgetful(epochs: list[LiveEpoch], *rest: Any) -> WindowArrays:
        return build_window([live._replace(pools=live.slice.raw) for live in epochs], *rest)

    monkeypatch.setattr(selector, "build_window", forgetful)
    pairwise = anonymize_samples(city, promise, options, workers).boxes.cost().sum()
    assert joint < 0.85 * pairwise
