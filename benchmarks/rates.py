"""How fast the kernels are."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from gaps import window_of

from shoal.core.samples import Samples
from shoal.core.workers import Workers
from shoal.hiding.matching.candidates import all_edges, nearest_costs


def pair_costs_per_second(samples: Samples) -> Iterator[str]:
    """Exact costs of all pairs of a group, then the nearest of everybody with pairs spared by the bound."""
    for count in (1, 2):
        with Workers(count) as workers:
            arrays = window_of(samples, 0.8, workers, joint=False)
            group = np.zeros(1, np.int32)
            all_edges(arrays, group, workers)
            began = time.perf_counter()
            edges = all_edges(arrays, group, workers)
            seconds = time.perf_counter() - began
            yield f"{count} workers: {len(edges.cost) / seconds / 1e6:.2f} M exact edges a second"
            pairs = int(((arrays.last - arrays.first) - 1).sum())
            nearest_costs(arrays, 16, workers)
            began = time.perf_counter()
            nearest_costs(arrays, 16, workers)
            seconds = time.perf_counter() - began
            yield f"{count} workers: {pairs / seconds / 1e6:.1f} M pairs a second in the search for 16 nearest"
