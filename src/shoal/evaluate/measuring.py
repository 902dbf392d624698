"""The figures of one release: precision, suppression and time, over all and by the hour of the week."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.auditing.truthfulness import held_samples
from shoal.core.arrays import Floats, Int64s
from shoal.core.options import HidingOptions
from shoal.core.promise import Grid
from shoal.core.samples import Samples
from shoal.core.zones import Zone
from shoal.evaluate.sweep_points import Point
from shoal.hiding.pipeline import Outcome
from shoal.utility import precision_of

WEEK_H = 168
_HOUR_S = 3_600
_MONDAY_H = 72  # 1970-01-01 was a Thursday: so many hours after a Monday's midnight


class Measured(NamedTuple):
    """The figures of one release, a row of the sweep; ``harden`` is the level of hardening it was made with,
    ``effort`` how often each window was decided.

    Width plus height is what the paper's figures show.
    """

    selector: str
    k: int
    tau_min: float
    epsilon_min: float
    harden: int
    effort: int
    n_boxes: int
    suppressed_share: float
    longer_side_km_mean: float
    longer_side_km_q25: float
    longer_side_km_median: float
    longer_side_km_q75: float
    width_plus_height_km_mean: float
    width_plus_height_km_q25: float
    width_plus_height_km_median: float
    width_plus_height_km_q75: float
    time_min_mean: float
    time_min_q25: float
    time_min_median: float
    time_min_q75: float
    cost_per_box: float
    reused_share: float
    seconds: float

    def __repr__(self) -> str:
        promise = f"k {self.k}, tau {self.tau_min:g} min, epsilon {self.epsilon_min:g} min"
        return f"<Measured: {self.selector} {self.harden}, {promise}>"


class Hour(NamedTuple):
    """An hour of the week from Monday's midnight on: mean precision of its boxes, and suppression of its samples."""

    selector: str
    harden: int
    hour_of_week: int
    n_samples: int
    n_boxes: int
    suppressed_share: float
    longer_side_km_mean: float
    width_plus_height_km_mean: float
    time_min_mean: float


def nothing_left(point: Point, hiding: HidingOptions, grid: Grid) -> Measured:
    """The figures of a release in which everything would have to be suppressed."""
    minutes, unknown = grid.step_s / 60, float("nan")
    return Measured(
        selector=point.selector,
        k=point.k,
        tau_min=point.tau * minutes,
        epsilon_min=point.epsilon * minutes,
        harden=hiding.harden or 0,
        effort=hiding.effort,
        n_boxes=0,
        suppressed_share=1.0,
        longer_side_km_mean=unknown,
        longer_side_km_q25=unknown,
        longer_side_km_median=unknown,
        longer_side_km_q75=unknown,
        width_plus_height_km_mean=unknown,
        width_plus_height_km_q25=unknown,
        width_plus_height_km_median=unknown,
        width_plus_height_km_q75=unknown,
        time_min_mean=unknown,
        time_min_q25=unknown,
        time_min_median=unknown,
        time_min_q75=unknown,
        cost_per_box=unknown,
        reused_share=0.0,
        seconds=0.0,
    )


def measure(outcome: Outcome, point: Point, hiding: HidingOptions, grid: Grid) -> Measured:
    """The figures of one release."""
    found = precision_of(outcome.box_sizes, grid)
    minutes = grid.step_s / 60
    return Measured(
        point.selector,
        point.k,
        point.tau * minutes,
        point.epsilon * minutes,
        hiding.harden or 0,
        hiding.effort,
        outcome.n_boxes,
        outcome.n_suppressed / outcome.n_samples,
        *found.longer_side_km,
        *found.width_plus_height_km,
        *found.time_minutes,
        found.cost_per_box,
        outcome.relaxations / outcome.n_members if outcome.n_members else 0.0,
        outcome.seconds,
    )


def measure_hours(
    samples: Samples, outcome: Outcome, hiding: HidingOptions, grid: Grid, zone: Zone
) -> list[Hour]:
    """The hours of the week that have samples; a box counts where it begins."""
    boxes = outcome.boxes
    of_sample = _hour_of_week(samples.t, grid, zone)
    of_box = _hour_of_week(boxes.t0, grid, zone)
    n_samples = np.bincount(of_sample, minlength=WEEK_H)
    n_kept = np.bincount(of_sample[held_samples(samples, boxes)], minlength=WEEK_H)
    n_boxes = np.bincount(of_box, minlength=WEEK_H)
    longer_side, width_plus_height = (
        _means(of_box, cells * np.float64(grid.cell_m / 1000), n_boxes)
        for cells in (boxes.longer_side(), boxes.width_plus_height())
    )
    time = _means(of_box, (boxes.t1 - boxes.t0 + 1) * np.float64(grid.step_s / 60), n_boxes)
    return [
        Hour(
            str(hiding.selector),
            hiding.harden or 0,
            hour,
            int(n_samples[hour]),
            int(n_boxes[hour]),
            float(1 - n_kept[hour] / n_samples[hour]),
            float(longer_side[hour]),
            float(width_plus_height[hour]),
            float(time[hour]),
        )
        for hour in np.flatnonzero(n_samples).tolist()
    ]


def _hour_of_week(t: Int64s, grid: Grid, zone: Zone) -> Int64s:
    return (zone.from_utc(t * grid.step_s) // _HOUR_S + _MONDAY_H) % WEEK_H


def _means(part: Int64s, values: Floats, counts: Int64s) -> Floats:
    """NaN where there is nothing."""
    means = np.full(WEEK_H, np.nan)
    np.divide(np.bincount(part, weights=values, minlength=WEEK_H), counts, out=means, where=counts > 0)
    return means
