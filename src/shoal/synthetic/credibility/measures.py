"""All statistics of one dataset."""

from __future__ import annotations

from typing import NamedTuple

from shoal.synthetic.credibility.activity_statistics import (
    Activity,
    Gaps,
    Load,
    Rhythm,
    measure_activity,
    measure_gaps,
    measure_load,
    measure_rhythm,
)
from shoal.synthetic.credibility.mobility_statistics import (
    Exploration,
    Radius,
    Visits,
    measure_exploration,
    measure_radius,
    measure_visits,
)
from shoal.synthetic.credibility.traces import Traces
from shoal.synthetic.credibility.unicity import Unicity, measure_unicity


class Setting(NamedTuple):
    """How large the data are and of what kind: some statistics need many days, others a whole country."""

    n_users: int
    n_samples: int
    n_places: int
    n_days: float
    resolution_s: int
    width_km: float
    is_country: bool


class Measures(NamedTuple):
    """Everything that is measured; computed once, then judged, written and drawn."""

    setting: Setting
    activity: Activity
    gaps: Gaps
    rhythm: Rhythm
    radius: Radius
    visits: Visits
    exploration: Exploration
    unicity: Unicity
    load: Load


def measure(traces: Traces, seed: int = 0) -> Measures:
    """Compute every statistic; ``seed`` chooses whose points are taken for the unicity."""
    setting = Setting(
        traces.n_users,
        len(traces.user),
        traces.n_places,
        traces.n_days,
        traces.resolution_s,
        traces.width_km,
        traces.is_country,
    )
    return Measures(
        setting,
        measure_activity(traces),
        measure_gaps(traces),
        measure_rhythm(traces),
        measure_radius(traces),
        measure_visits(traces),
        measure_exploration(traces),
        measure_unicity(traces, seed),
        measure_load(traces),
    )
