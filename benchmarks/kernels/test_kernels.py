"""Kernels, each on a window of a synthetic city at noon: python -m pytest --benchmark-only benchmarks/kernels."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))

from gaps import window_of

import shoal
from shoal.core.options import Reuse
from shoal.core.promise import Grid
from shoal.core.workers import Workers
from shoal.hiding.kernels.edge_cost import edge_costs
from shoal.hiding.kernels.merge import merge_boxes, merge_costs
from shoal.hiding.kernels.nearest import nearest
from shoal.hiding.kernels.window import order_near
from shoal.hiding.matching.assignment import cheapest_permutations
from shoal.hiding.matching.candidates import build_search_tree, nearest_edges
from shoal.hiding.reuse import History
from shoal.reading import read_events


@pytest.fixture(scope="module")
def window():
    samples = read_events(shoal.make_city(12_000), grid=Grid()).samples
    with Workers(1) as workers:
        yield window_of(samples, 0.5, workers), History(samples.n_users, Reuse.ONCE, 1).rule(0), workers


def test_nearest(benchmark, window) -> None:
    arrays, rule, _ = window
    n, tree = len(arrays.user), build_search_tree(arrays)
    out = np.empty((n, 16), np.int32), np.empty((n, 16)), np.empty(n, np.int64)
    benchmark(nearest, arrays, tree, rule, np.arange(n, dtype=np.int32), 0, n, *out)


def test_edge_costs(benchmark, window) -> None:
    arrays, rule, workers = window
    edges = nearest_edges(arrays, build_search_tree(arrays), rule, 16, workers)
    cost = np.empty(len(edges.owner))
    benchmark(edge_costs, arrays, edges.owner, edges.member, 0, len(cost), cost)


def test_assignment(benchmark, window) -> None:
    arrays, rule, workers = window
    edges = nearest_edges(arrays, build_search_tree(arrays), rule, 16, workers)
    first = np.unique(arrays.first)
    benchmark(cheapest_permutations, edges, len(arrays.user), first, arrays.last[first], workers)


def test_plant_tree(benchmark, window) -> None:
    benchmark(build_search_tree, window[0])


def test_order_near(benchmark, window) -> None:
    arrays = window[0]
    first = int(arrays.first[np.argmax(arrays.last - arrays.first)])
    order = np.arange(len(arrays.user))
    benchmark(order_near, arrays.row, arrays.raw, first, int(arrays.last[first]), order)


def test_merge_costs(benchmark, window) -> None:
    pools = window[0].pools
    costs = np.empty(len(pools.ptr) - 1)
    benchmark(merge_costs, pools, 1.0, 0, len(costs), costs)


def test_merge_boxes(benchmark, window) -> None:
    pools = window[0].pools
    count, box = np.empty(len(pools.ptr) - 1, np.int64), np.empty((len(pools.slot), 6), np.int32)
    benchmark(merge_boxes, pools, 1.0, 0, len(count), count, box)
