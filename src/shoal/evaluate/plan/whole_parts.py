"""What ``--whole --rename-every`` would give: a period is hidden on its own, so one of them is tried as it would be.

Periods of 6 hours and more are much alike where they have equally many samples; shorter ones differ by the hour, and
are not forecast (docs/plan.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from shoal.core.compiling import make_ready
from shoal.core.options import HidingOptions
from shoal.core.period_text import parse_period
from shoal.core.periods import find_periods
from shoal.core.progress import Progress
from shoal.core.promise import Grid, Promise
from shoal.core.workers import Workers
from shoal.core.zones import Zone
from shoal.evaluate.plan.forecasting import elsewhere_s, try_everything
from shoal.hiding.pipeline import rehearsal_of
from shoal.storage.sample_store import SampleStore
from shoal.utility import precision_of
from shoal.utility.read_share import PeriodOutlook, recommend_period

_LEAST_S = 6 * 3_600  # of a period from which others can be told
_SAMPLE_S = 4.5e-5  # processor seconds for a sample and each of k: measured, docs/plan.md


class WholeParts(NamedTuple):
    """What hiding whole parts would give, with new names every so often; NaN where nothing would be left.

    ``seconds`` are of this machine with as many workers.
    """

    k: int
    rename_every: str
    longer_side_km_median: float
    time_min_median: float
    suppressed_share: float
    seconds: float


class _Lengths(NamedTuple):
    """All periods of one length: the slots at which they begin and, at last, end; and whose samples they hold."""

    rename_every: str
    edges: list[int]
    n_samples: list[int]
    n_people: list[int]

    @property
    def middle(self) -> int:
        """The period with the middle sample if periods are ordered by size: half of the samples lie in larger ones."""
        order = np.argsort(self.n_samples, kind="stable")
        behind = np.cumsum(np.array(self.n_samples)[order])
        return int(order[np.searchsorted(behind, behind[-1] / 2)])

    def suppressed(self, k: int) -> int:
        """Samples of periods with fewer than k people; in others everybody has the same presence pattern."""
        return sum(n for n, people in zip(self.n_samples, self.n_people, strict=True) if people < k)


def forecast_whole_parts(
    store: SampleStore,
    k: int,
    outlooks: Sequence[PeriodOutlook],
    hiding: HidingOptions,
    workers: Workers,
    grid: Grid,
    zone: Zone,
    budget_s: float,
    progress: Progress,
) -> WholeParts | None:
    """A forecast for one k, with new names as often as is recommended, or a shorter or longer period that can be tried.

    None where there is no such period, or it would take more processor seconds than there are.
    """
    for rename_every in _periods_to_try(outlooks):
        lengths = _cut(store, rename_every, grid, zone)
        middle = lengths.middle
        if lengths.n_samples[middle] * k * _SAMPLE_S <= budget_s:
            break
    else:
        return None
    promise = Promise(k, None, None)
    options = hiding.hardened_where_possible(promise)
    make_ready([rehearsal_of(options, promise)], workers.count, progress)
    progress.stage(f"trying k {k} on whole parts")
    trial, _ = try_everything(store.during(*lengths.edges[middle : middle + 2]), promise, options, workers)
    found = precision_of(trial.box_sizes, grid) if trial.box_sizes.n_boxes else None
    stands_for = len(store) / lengths.n_samples[middle]
    return WholeParts(
        k=k,
        rename_every=rename_every,
        longer_side_km_median=float("nan") if found is None else found.longer_side_km.median,
        time_min_median=float("nan") if found is None else found.time_minutes.median,
        suppressed_share=lengths.suppressed(k) / len(store),
        seconds=trial.seconds * stands_for + elsewhere_s(store, workers.count),
    )


def _periods_to_try(outlooks: Sequence[PeriodOutlook]) -> Iterator[str]:
    """The recommended period and shorter ones, longest first, as far as they can be forecast; if it is too short for
    that itself, the shortest that can."""
    chosen = recommend_period(outlooks)
    if chosen is None:
        return
    most_s = max(parse_period(chosen.rename_every) or 0, _LEAST_S)
    for outlook in outlooks[1:]:
        if _LEAST_S <= (parse_period(outlook.rename_every) or 0) <= most_s:
            yield outlook.rename_every


def _cut(store: SampleStore, rename_every: str, grid: Grid, zone: Zone) -> _Lengths:
    first, last = int(store.slots[0]), int(store.slots[-1])
    periods = find_periods(parse_period(rename_every), first, last, Promise(2, None, None), grid, zone)
    edges = [first, *periods.borders.tolist(), last + 1]
    users = [store.between(begin, end).user for begin, end in pairwise(edges)]
    return _Lengths(
        rename_every, edges, [len(each) for each in users], [len(np.unique(each)) for each in users]
    )
