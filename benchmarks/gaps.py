"""How far the chosen hiding sets are from exact optima, on windows small enough to solve exactly."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from ortools.graph.python.min_cost_flow import SimpleMinCostFlow

from shoal.core.arrays import Int32s
from shoal.core.options import Reuse
from shoal.core.promise import Promise
from shoal.core.samples import Samples
from shoal.core.workers import Workers
from shoal.hiding.epochs import LiveEpoch, Timeline
from shoal.hiding.kernels.window import WindowArrays
from shoal.hiding.matching.assignment import Edges, cheapest_permutation
from shoal.hiding.matching.candidates import all_edges
from shoal.hiding.matching.permutations import choose_hiding_sets
from shoal.hiding.merging import costs_of, with_members
from shoal.hiding.reuse import History
from shoal.hiding.window import build_window, member_rows


def window_of(samples: Samples, share_of_day: float, workers: Workers, *, joint: bool = True) -> WindowArrays:
    """Two neighbouring half hours as a window; ``joint``: after the window before it was decided, as in a fold."""
    timeline = Timeline(samples, Promise(2, 30, 30))
    first = int(timeline.epochs[int(share_of_day * len(timeline.epochs))])
    parts = [timeline.slice(epoch) for epoch in (first - 1, first, first + 1)]
    rank = np.arange(samples.n_users, dtype=np.int32)
    before, *live = [LiveEpoch(part, part.raw) for part in parts]
    if joint:
        arrays = build_window([before, live[0]], samples.n_users, rank, 1.0, workers)
        found = choose_hiding_sets(0, arrays, 2, History(samples.n_users, Reuse.ONCE, 1).rule(0), workers)
        member = np.full(samples.n_users, -1, np.int64)
        member[found.owners] = found.members[:, 0]
        rows = np.searchsorted(live[0].slice.users, member[live[0].slice.users])
        live[0] = live[0]._replace(pools=with_members(live[0].pools, live[0].slice.raw, rows, workers))
    return build_window(live, samples.n_users, rank, 1.0, workers)


def gap_to_complete_graph(samples: Samples) -> Iterator[str]:
    """k = 2: the sparse assignment against the one on all pairs, group by group."""
    with Workers(2) as workers:
        for share in (0.25, 0.45, 0.8):
            arrays = window_of(samples, share, workers)
            history = History(samples.n_users, Reuse.ONCE, 1)
            chosen = arrays.place[choose_hiding_sets(0, arrays, 2, history.rule(0), workers).members]
            for first in np.unique(arrays.first):
                n = int(arrays.last[first] - first)
                edges = all_edges(arrays, np.array([first], np.int32), workers)
                price = np.full((n, n), np.inf)
                price[edges.owner - first, edges.member - first] = edges.cost
                best = cheapest_permutation(n, Edges(edges.owner - first, edges.member - first, edges.cost))
                ours = price[np.arange(n), chosen[first : first + n, 0] - first].mean()
                exact = price[np.arange(n), best].mean()
                yield f"{n} users: {ours:.2f} against {exact:.2f} ({100 * (ours / exact - 1):+.2f} %)"


def gaps_to_flow(samples: Samples, largest: int = 200) -> Iterator[str]:
    """k > 2: what the hiding sets of both cost pairwise, which the flow minimizes, and once they are merged."""
    with Workers(2) as workers:
        for share in (0.3, 0.5, 0.8):
            arrays = window_of(samples, share, workers, joint=False)
            keep = arrays.user[arrays.first == 0][:largest]
            arrays = _restricted(samples, share, keep, workers)
            edges = all_edges(arrays, np.zeros(1, np.int32), workers)
            n = len(arrays.user)
            price = np.full((n, n), np.inf)
            price[edges.owner, edges.member] = edges.cost
            for k in (3, 5):
                history = History(samples.n_users, Reuse.ONCE, 1)
                ours = arrays.place[choose_hiding_sets(0, arrays, k, history.rule(0), workers).members]
                flow = cheapest_factor(n, edges, k)
                pairwise = [price[np.arange(n)[:, None], sets].sum() for sets in (ours, flow)]
                merged = [_merged_cost(arrays, sets, workers) for sets in (ours, flow)]
                yield (
                    f"{n} users, k {k}: pairwise {100 * (pairwise[0] / pairwise[1] - 1):+.1f} %,"
                    f" merged {100 * (merged[0] / merged[1] - 1):+.1f} %"
                )


def cheapest_factor(n: int, edges: Edges, k: int) -> Int32s:
    """The hiding sets of least total pairwise cost: a line of k - 1 members per user."""
    flow = SimpleMinCostFlow()
    ones = np.ones(len(edges.owner), np.int64)
    arcs = flow.add_arcs_with_capacity_and_unit_cost(
        edges.owner, edges.member + n, ones, np.rint(edges.cost).astype(np.int64)
    )
    supply = np.concatenate([np.full(n, k - 1), np.full(n, 1 - k)])
    flow.set_nodes_supplies(np.arange(2 * n), supply)
    if flow.solve() != flow.OPTIMAL:
        raise RuntimeError("no factor: the graph is complete, so this cannot be")
    used = flow.flows(arcs) > 0
    order = np.argsort(edges.owner[used], kind="stable")
    return edges.member[used][order].reshape(n, k - 1)


def _restricted(samples: Samples, share: float, keep: Int32s, workers: Workers) -> WindowArrays:
    kept = np.isin(samples.user, keep)
    fewer = Samples(samples.users, samples.user[kept], samples.t[kept], samples.x[kept], samples.y[kept])
    timeline = Timeline(samples, Promise(2, 30, 30))
    first = int(timeline.epochs[int(share * len(timeline.epochs))])
    parts = [Timeline(fewer, Promise(2, 30, 30)).slice(epoch) for epoch in (first, first + 1)]
    live = [LiveEpoch(part, part.raw) for part in parts if len(part.users)]
    return build_window(live, samples.n_users, np.arange(samples.n_users, dtype=np.int32), 1.0, workers)


def _merged_cost(arrays: WindowArrays, members: Int32s, workers: Workers) -> float:
    pools = arrays.pools
    for column in range(members.shape[1]):
        pools = with_members(pools, arrays.raw, member_rows(arrays, members[:, column]), workers)
    return float(costs_of(pools, arrays.weight, workers).sum())
