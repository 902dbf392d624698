"""Forecasts of a release: a few stretches are folded, or everything, and the figures scaled to a full run."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from shoal.core.arrays import Int64s
from shoal.core.box_sizes import BoxSizes, box_sizes_of
from shoal.core.boxes import Boxes, concatenate
from shoal.core.options import HARDEN_MOST_REACH, HidingOptions
from shoal.core.promise import Grid, Promise
from shoal.core.workers import Workers
from shoal.errors import NothingLeftError
from shoal.evaluate.plan.presumed_history import PresumedHistory
from shoal.evaluate.plan.stretches import Census, TrialStretch
from shoal.evaluate.sweep_points import Point
from shoal.hiding.epochs import Timeline
from shoal.hiding.fold import Fold, Step
from shoal.hiding.pipeline import anonymize_samples, open_selector
from shoal.hiding.selector import HidingSetup
from shoal.hiding.suppression import Presence
from shoal.storage.sample_store import SampleStore
from shoal.utility import precision_of

_MEDIAN = 0.53  # share of the boxes of stretches below the median of a full run: measured, docs/plan.md
_MORE_HARDENED = 0.018  # of it where records become witnesses
_MORE_LEAKING = (
    0.018  # of it with k 2, for each epoch of tau but one: in stretches nobody is avoided as leaking
)
_MOST_MEDIAN = 0.6
_PARTS = 1_000  # into which a box is cut, so that it can count by a weight
_ELSEWHERE_S = 1.1e-5  # processor seconds to read, sort, write and check a sample: docs/plan.md
_FIXED_BYTES = 500e6  # the process, its libraries and one bucket
_TWICE = 2  # what is held for a moment, or not given back, beside what is counted: measured, docs/plan.md
_HELPED = (
    64  # entries of a user beside the presumed ones: members in stretches, and victims it is a witness of
)
_PUBLISHED_EPOCHS = 120  # the most epochs whose boxes are kept, and for which k: hiding/leakage/
_REMEMBERING_K = 2


class Trial(NamedTuple):
    """What was measured on everything, or on weighted stretches: boxes, members, seconds to hide all samples.

    views: what each stretch showed, not weighted; empty where everything was tried.
    """

    box_sizes: BoxSizes
    n_boxes: float
    n_members: float
    relaxations: float
    seconds: float
    processor_seconds: float
    views: list[BoxSizes]


class Forecast(NamedTuple):
    """What a full run at one point would give. NaN where nothing would be left.

    ``harden`` is the level of hardening. ``seconds`` are of this machine with as many workers; ``sampled`` says whether
    it was estimated from stretches, ``n_stretches`` from how many.
    """

    k: int
    tau_min: float
    epsilon_min: float
    harden: int
    longer_side_km_median: float
    time_min_median: float
    suppressed_share: float
    reused_share: float
    n_boxes: int
    seconds: float
    processor_seconds: float
    memory_bytes: int
    sampled: bool
    n_stretches: int


def try_stretches(
    store: SampleStore,
    point: Point,
    presence: Presence | None,
    stretches: list[TrialStretch],
    past: PresumedHistory,
    census: Census,
    hiding: HidingOptions,
    workers: Workers,
) -> Trial:
    """Fold the stretches, by time, after a presumed history; without ``presence`` nobody is suppressed."""
    timeline = Timeline(store, point.promise)
    setup = HidingSetup(store.n_users, point.promise, hiding, workers)
    fold = Fold(setup, timeline, open_selector(setup))
    box_sizes, views = box_sizes_of(concatenate([])), []
    n_members = relaxations = seconds = processor = 0.0
    fold.reserve_history(_entries(past, stretches[-1].first, store.n_users, point.k))
    done = census.first_epoch
    for stretch in stretches:
        epochs = stretch.epochs(timeline.reach + hiding.effort - 1)
        for window in range(done, epochs.start):
            owners, members = past[window]
            fold.assume_served(window, owners, members[:, : point.k - 1])
        done = epochs.stop - timeline.reach
        steps = [_advance(fold, timeline, presence, epoch) for epoch in epochs[:-1]]
        began, spent = time.perf_counter(), time.process_time()
        steps.append(_advance(fold, timeline, presence, epochs[-1]))
        took, used = time.perf_counter() - began, time.process_time() - spent
        fold.skip_epochs()
        # Only the last step finds records as full, and as many windows to link, as in a full run.
        stands_for = stretch.samples / max(1, census.of(stretch.counted))
        seconds, processor = seconds + took * stands_for, processor + used * stands_for
        # Fewer windows than epochs become final; each stands for one epoch.
        decided = [window.hiding_sets for step in steps for window in step.windows]
        weight = stretch.samples / max(1.0, census.of(epochs) * len(decided) / len(epochs))
        n_members += weight * sum(each.n_members for each in decided)
        relaxations += weight * sum(int(each.relaxed.sum()) for each in decided)
        boxes = concatenate([step.boxes for step in steps])
        counted = (boxes.t0 >= stretch.first * point.epsilon) & (boxes.t0 < stretch.end * point.epsilon)
        boxes = Boxes._make(column[counted] for column in boxes)
        views.append(box_sizes_of(boxes))
        box_sizes = box_sizes.plus(views[-1].times(round(_PARTS * stands_for)))
    return Trial(box_sizes, box_sizes.n_boxes / _PARTS, n_members, relaxations, seconds, processor, views)


def _entries(past: PresumedHistory, until: int, n_users: int, k: int) -> Int64s:
    """How many members every user may have had in windows before one."""
    windows = np.zeros(n_users, np.int64)
    for window, (owners, _) in past.items():
        if window < until:
            windows[owners] += 1
    return windows * (k - 1) + _HELPED


def _advance(fold: Fold, timeline: Timeline, presence: Presence | None, epoch: int) -> Step:
    part = timeline.slice(epoch)
    return fold.advance(part if presence is None else presence.of(part), ends_stretch=False)


def nothing() -> Trial:
    """The trial of a release in which everything would have to be suppressed."""
    return Trial(box_sizes_of(concatenate([])), 0.0, 0.0, 0.0, 0.0, 0.0, [])


def try_everything(
    store: SampleStore, promise: Promise, hiding: HidingOptions, workers: Workers
) -> tuple[Trial, float]:
    """Make the release itself: its trial, and the share of samples it suppresses."""
    spent = time.process_time()
    try:
        outcome = anonymize_samples(store, promise, hiding, workers)
    except NothingLeftError:
        return nothing(), 1.0
    used = time.process_time() - spent
    measured = (
        outcome.box_sizes,
        outcome.n_boxes,
        outcome.n_members,
        outcome.relaxations,
        outcome.seconds,
        used,
    )
    trial = Trial(*measured, views=[])
    return trial, outcome.n_suppressed / outcome.n_samples


def forecast(
    trial: Trial, suppressed_share: float, point: Point, store: SampleStore, census: Census, grid: Grid,
    hiding: HidingOptions, n_workers: int, *, n_stretches: int,
) -> Forecast:  # fmt: skip
    """What a run from end to end would give, from a trial."""
    minutes, unknown = grid.step_s / 60, float("nan")
    level = _level(point, hiding) if n_stretches else 0.5
    found = precision_of(trial.box_sizes, grid) if trial.box_sizes.n_boxes else None
    return Forecast(
        k=point.k,
        tau_min=point.tau * minutes,
        epsilon_min=point.epsilon * minutes,
        harden=hiding.hardened_where_possible(point.promise).harden or 0,
        longer_side_km_median=unknown
        if found is None
        else trial.box_sizes.longer_side.quantile(level, grid.cell_m / 1000),
        time_min_median=unknown if found is None else found.time_minutes.median,
        suppressed_share=suppressed_share,
        reused_share=trial.relaxations / trial.n_members if trial.n_members else 0.0,
        n_boxes=round(trial.n_boxes),
        seconds=trial.seconds + elsewhere_s(store, n_workers),
        processor_seconds=trial.processor_seconds + elsewhere_s(store),
        memory_bytes=round(_memory(point, store, census, trial.n_members)),
        sampled=n_stretches > 0,
        n_stretches=n_stretches,
    )


def elsewhere_s(store: SampleStore, n_workers: int = 1) -> float:
    """Seconds that a run spends on anything but hiding."""
    return len(store) * _ELSEWHERE_S / min(n_workers, 2)


def _level(point: Point, hiding: HidingOptions) -> float:
    """The share of the boxes of stretches that are below the median of a full run."""
    reach = point.promise.reach
    more = _MORE_HARDENED if hiding.harden and reach <= HARDEN_MOST_REACH else 0.0
    more += _MORE_LEAKING * (reach - 1) if point.k == _REMEMBERING_K else 0.0
    return min(_MEDIAN + more, _MOST_MEDIAN)


def _memory(point: Point, store: SampleStore, census: Census, n_members: float) -> float:
    """The table of docs/scaling.md, in bytes."""
    live = point.promise.reach + 1
    remembered = _PUBLISHED_EPOCHS if point.k == _REMEMBERING_K else 0
    counted = (
        200 * store.n_users
        + 100 * _most(census, live) * (1 + live * (point.k - 1))
        + 80 * _most(census, remembered)
        + 14 * n_members
    )
    return _FIXED_BYTES + _TWICE * counted


def _most(census: Census, n_epochs: int) -> int:
    """The most samples in so many epochs in a row."""
    behind = np.concatenate([np.zeros(1, np.int64), np.cumsum(census.samples)])
    n = min(n_epochs, len(census.samples))
    return int((behind[n:] - behind[: len(behind) - n]).max())
