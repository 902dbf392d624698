"""The tree of a window: its bounds hold, and the search down the tree finds what looking at everybody finds."""

from __future__ import annotations

import random

import numpy as np
import pytest

from shoal.core.options import Reuse
from shoal.core.workers import Workers
from shoal.hiding.kernels.cost_bounds import BRANCHES, OWN, Tree, add_bounds, write_outline
from shoal.hiding.kernels.nearest import nearest
from shoal.hiding.kernels.window import WindowArrays, order_near
from shoal.hiding.matching.candidates import all_edges, build_search_tree
from shoal.hiding.merging import costs_of, with_members
from shoal.hiding.reuse import History
from shoal.hiding.window import member_rows
from support.random_windows import crowd

ALONE = Workers(1)
ROUNDED = 1 + 1e-12  # sums of roots in another order
CROWDS = [  # users, cells to a side, most samples per epoch: sparse and dense, with ties and without
    (5, 3, 2),
    (40, 2, 1),
    (60, 30, 4),
    (300, 4, 3),
    (300, 200, 6),
    (700, 40, 2),
]


def joined(arrays: WindowArrays, rng: random.Random) -> WindowArrays:
    """The same window when records hold the samples of a random member of their group already."""
    member = np.array(
        [rng.randrange(arrays.first[i], arrays.last[i]) for i in range(len(arrays.user))], np.int32
    )
    member[member == np.arange(len(member))] = -1
    pools = with_members(arrays.pools, arrays.raw, member_rows(arrays, member), ALONE)
    return arrays._replace(pools=pools, base=costs_of(pools, arrays.weight, ALONE))


def users_below(tree: Tree, entry: int, n: int) -> list[int]:
    """The users below an entry of a block: a user, or from n on a block."""
    if entry < n:
        return [entry]
    first, count = tree.first[entry - n], tree.size[entry - n]
    return [user for e in range(first, first + count) for user in users_below(tree, e, n)]


def bounds(arrays: WindowArrays, tree: Tree, owner: int, block: int) -> tuple[np.ndarray, np.ndarray]:
    bound, inexact = np.zeros(BRANCHES), np.zeros(BRANCHES)
    for w in range(arrays.row.shape[1]):
        row = int(arrays.row[owner, w])
        if row >= 0:
            own = np.empty(OWN)
            write_outline(arrays.pools, row, own)
            add_bounds(tree.outline[block, w], own, arrays.base[row], arrays.weight, bound, inexact)
    count = tree.size[block]
    return bound[:count], inexact[:count]


def cost_matrix(arrays: WindowArrays) -> np.ndarray:
    """Every edge priced; inf between groups and for oneself."""
    cost = np.full((len(arrays.user),) * 2, np.inf)
    groups = np.unique(arrays.first)
    edges = all_edges(arrays, groups.astype(np.int32), ALONE)
    cost[edges.owner, edges.member] = edges.cost
    return cost


@pytest.mark.parametrize(("n_users", "side", "most"), CROWDS[:5])
@pytest.mark.parametrize("holding", [False, True])
def test_bounds_never_exceed_the_cost_and_say_when_they_are_it(n_users, side, most, holding) -> None:
    rng = random.Random(n_users + side)
    for _ in range(5 if n_users < 100 else 1):
        arrays = crowd(rng, n_users, side, most)
        arrays = joined(arrays, rng) if holding else arrays
        tree, cost = build_search_tree(arrays), cost_matrix(arrays)
        n, n_exact = len(arrays.user), 0
        for owner in rng.sample(range(n), min(n, 25)):
            for block in range(len(tree.first)):
                entries = range(tree.first[block], tree.first[block] + tree.size[block])
                below = [users_below(tree, entry, n) for entry in entries]
                if not arrays.first[owner] <= below[0][0] < arrays.last[owner]:
                    continue
                bound, inexact = bounds(arrays, tree, owner, block)
                least = np.array([cost[owner, users].min() for users in below])
                assert (bound <= ROUNDED * least).all()
                if tree.first[block] < n:
                    exact = (inexact == 0) & np.isfinite(least)
                    np.testing.assert_array_equal(bound[exact], least[exact])
                    n_exact += int(exact.sum())
        assert n_exact or most > 1


@pytest.mark.parametrize(("n_users", "side", "most"), CROWDS)
@pytest.mark.parametrize("holding", [False, True])
@pytest.mark.parametrize("n_epochs", [1, 2, 3])
def test_the_search_finds_the_cheapest(n_users, side, most, holding, n_epochs) -> None:
    rng = random.Random(n_users + side + n_epochs)
    for _ in range(6 if n_users < 100 else 1):
        arrays = crowd(rng, n_users, side, most, n_epochs)
        arrays = joined(arrays, rng) if holding else arrays
        n, width = len(arrays.user), rng.choice([1, 4, 16])
        history = History(n_users, Reuse.ONCE, 1)
        former = rng.choices(range(n), k=n)
        history.append(0, arrays.user, arrays.user[former].reshape(n, 1))
        picked = np.array(rng.choices(range(-1, n), k=n), np.int32).reshape(n, 1)
        rule = history.rule(1, picked)
        allowed = cost_matrix(arrays)
        allowed[np.arange(n), former] = np.inf
        some = np.flatnonzero(picked[:, 0] >= 0)
        allowed[some, picked[some, 0]] = np.inf
        member, cost = np.empty((n, width), np.int32), np.empty((n, width))
        priced = np.empty(n, np.int64)
        owners = np.array(rng.sample(range(n), n), np.int32)
        nearest(arrays, build_search_tree(arrays), rule, owners, 0, n, member, cost, priced)
        expected = np.sort(allowed, axis=1)[:, :width]
        expected = np.pad(expected, ((0, 0), (0, width - expected.shape[1])), constant_values=np.inf)
        np.testing.assert_array_equal(cost, expected[owners])
        assert ((member >= 0) == np.isfinite(cost)).all()
        line, column = np.nonzero(member >= 0)
        np.testing.assert_array_equal(allowed[owners[line], member[line, column]], cost[line, column])
        assert all(len(set(found[found >= 0].tolist())) == (found >= 0).sum() for found in member)


def test_every_user_is_below_its_group_s_top_once() -> None:
    rng = random.Random(7)
    for n_users in (3, 16, 17, 256, 257, 900):
        arrays = crowd(rng, n_users, 50, 3)
        tree = build_search_tree(arrays)
        for first in np.unique(arrays.first).tolist():
            group = range(first, arrays.last[first])
            assert {tree.top[i] for i in group} == {tree.top[first]}
            assert users_below(tree, len(arrays.user) + tree.top[first], len(arrays.user)) == list(group)


def test_near_users_come_together_and_nobody_is_lost() -> None:
    arrays = crowd(random.Random(3), 700, 400, 1, n_epochs=1)
    first, last = max(
        zip(arrays.first.tolist(), arrays.last.tolist(), strict=True), key=lambda g: g[1] - g[0]
    )
    order = np.arange(len(arrays.user))
    np.random.default_rng(0).shuffle(order[first:last])
    shuffled = order.copy()
    order_near(arrays.row, arrays.raw, first, last, order)
    assert sorted(order.tolist()) == list(range(len(order)))
    np.testing.assert_array_equal(order[:first], shuffled[:first])

    def apart(users: np.ndarray) -> float:
        at = arrays.raw.touch[arrays.row[users, 0]][:, (2, 4)].astype(float)
        return float(np.abs(np.diff(at, axis=0)).sum(axis=1).mean())

    assert apart(order[first:last]) < apart(shuffled[first:last]) / 3


def test_only_a_small_share_of_the_pairs_is_priced() -> None:
    arrays = crowd(random.Random(1), 3000, 400, 2)
    n = len(arrays.user)
    rule = History(3000, Reuse.ONCE, 1).rule(0)
    member, cost, priced = np.empty((n, 16), np.int32), np.empty((n, 16)), np.empty(n, np.int64)
    nearest(arrays, build_search_tree(arrays), rule, np.arange(n, dtype=np.int32), 0, n, member, cost, priced)
    assert priced.sum() < 0.2 * (arrays.last - arrays.first).sum()
