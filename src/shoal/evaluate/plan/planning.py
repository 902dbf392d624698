"""``shoal.plan``: what releases under several promises would cost, estimated from a few stretches of time."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import pyarrow as pa

from shoal.core.box_sizes import BoxSizes
from shoal.core.checks import check_workers
from shoal.core.compiling import make_ready
from shoal.core.evaluation_options import GridKeywords, PlanKeywords, PlanOptions, grid_among
from shoal.core.formatting import counted, duration
from shoal.core.option_checks import check_epsilon
from shoal.core.optional import as_pandas
from shoal.core.options import (
    HARDEN_DEFAULT,
    HidingKeywords,
    HidingOptions,
    ReadingKeywords,
    ReadingOptions,
    SelectorName,
)
from shoal.core.period_text import spell_period
from shoal.core.progress import Progress, listening
from shoal.core.promise import Duration, Grid
from shoal.core.settings import take_options
from shoal.core.showing import html_of, plot_of
from shoal.core.workers import Workers
from shoal.core.zones import Zone
from shoal.errors import ParameterError
from shoal.evaluate.plan.forecasting import Forecast, Trial, forecast, nothing, try_everything, try_stretches
from shoal.evaluate.plan.presumed_history import (
    EpochPlaces,
    PresumedHistory,
    places_of_epoch,
    presume_history,
)
from shoal.evaluate.plan.recommending import recommend_promise
from shoal.evaluate.plan.stretches import (
    Census,
    StretchBudget,
    TrialStretch,
    most_representative,
    share_budget,
    take_census,
)
from shoal.evaluate.plan.whole_parts import WholeParts, forecast_whole_parts
from shoal.evaluate.sweep_points import Point
from shoal.hiding.epochs import Timeline
from shoal.hiding.pipeline import check_population, find_presence_within, open_selector, rehearsal_of
from shoal.hiding.selector import HidingSetup
from shoal.hiding.suppression import Presence
from shoal.reading import is_stream, read_events
from shoal.storage.sample_store import SampleStore
from shoal.utility.read_share import PeriodOutlook, outlook_on_periods, recommend_period

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_POINTS = 27
_PER_S = 14_000  # samples that get one member in a processor second: docs/scaling.md
_SHORT_S = 40  # processor seconds within which everything is tried, not a few stretches
_HIDING_S = 116  # processor seconds that all stretches of all points may take together
_WHOLE_S = 30  # processor seconds that whole parts may take
_DAY_S = 86_400


class Budget(NamedTuple):
    """How many processor seconds to spend: on trying everything, else on stretches; and on whole parts."""

    everything_s: float = _SHORT_S
    stretches_s: float = _HIDING_S
    whole_parts_s: float = _WHOLE_S


class Recommended(NamedTuple):
    """A promise to choose, as options; rename_every: None where new names would change nothing."""

    k: int
    tau: str
    epsilon: str
    rename_every: str | None


class Plan(NamedTuple):
    """What releases would cost: a forecast per point, by epsilon, tau and k; and an outlook for every period after
    which names may change. A notebook shows it as a table and a figure.

    Attributes
    ----------
    forecasts : list of Forecast
        Precision, suppression, time and memory at each point.
    n_samples, n_users : int
        How much was read.
    warnings : list of str
        What was left out, and what looks wrong with the events.
    periods : list of PeriodOutlook
        What new names every so often leave to be read.
    whole_parts : WholeParts or None
        What hiding whole parts of such a period would give with the largest k, where that can be tried.
    grid : Grid
        The finest resolution.
    harden : int
        The level of hardening, where a promise can be hardened.

    Examples
    --------
    >>> import shoal
    >>> plan = shoal.plan(shoal.make_city(100, seed=1), ks=[2], taus=["30min"])
    >>> plan.to_pandas()[["k", "tau_min", "epsilon_min"]].to_dict("records")
    [{'k': 2, 'tau_min': 30.0, 'epsilon_min': 30.0}]
    >>> figure = plan.plot()
    """

    forecasts: list[Forecast]
    n_samples: int
    n_users: int
    warnings: list[str]
    periods: list[PeriodOutlook]
    whole_parts: WholeParts | None = None
    grid: Grid = Grid()
    harden: int = HARDEN_DEFAULT

    def __repr__(self) -> str:
        return f"<Plan: {counted(len(self.forecasts), 'forecast')}; .to_arrow() has the figures>"

    def _repr_html_(self) -> str:
        return html_of(self)

    def to_arrow(self) -> pa.Table:
        """A row per point."""
        return pa.Table.from_pylist([row._asdict() for row in self.forecasts])

    def to_pandas(self) -> Any:
        """A row per point, as a pandas data frame."""
        return as_pandas(self.to_arrow())

    @property
    def recommended(self) -> Recommended | None:
        """The one promise to choose, and how often to change names; None where everything would be suppressed."""
        row, period = recommend_promise(self.forecasts), recommend_period(self.periods)
        if row is None:
            return None
        tau, epsilon = (spell_period(round(60 * minutes)) for minutes in (row.tau_min, row.epsilon_min))
        return Recommended(row.k, tau, epsilon, None if period is None else period.rename_every)

    def plot(self) -> Figure:
        """Median longer side of boxes over tau, a line for each k and epsilon."""
        return plot_of(self)

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON: what is unknown is None."""
        return {
            "version": version("shoal"),
            "cell_m": self.grid.cell_m,
            "step_s": self.grid.step_s,
            "harden": self.harden,
            "n_samples": self.n_samples,
            "n_users": self.n_users,
            "forecasts": [_known(row._asdict()) for row in self.forecasts],
            "periods": [
                {"rename_every": each.rename_every, "read_share": each.read_share} for each in self.periods
            ],
            "whole_parts": None if self.whole_parts is None else _known(self.whole_parts._asdict()),
            "recommended": None if self.recommended is None else self.recommended._asdict(),
        }


def _known(figures: dict[str, Any]) -> dict[str, Any]:
    return {name: None if value != value else value for name, value in figures.items()}


class _PlanArguments(PlanKeywords, GridKeywords, HidingKeywords, ReadingKeywords, total=False):
    """Options of plan(): PlanOptions, the grid, HidingOptions but for NOT_EVALUATED, and ReadingOptions."""


def plan(
    events: Any,
    *,
    workers: int | None = None,
    config: str | Path | None = None,
    progress: Progress | bool | None = None,
    **options: Unpack[_PlanArguments],
) -> Plan:
    """Forecast precision, suppression, time and memory of a release for every k, tau and epsilon that divides it.

    ``ks`` (2, 3, 5), ``taus`` ("30min", "1h", "2h") and ``epsilons`` ("30min") say of which; ``cell`` (100m) and
    ``step`` (1min) are the finest resolution.

    All users of a few stretches of time are hidden, and what that gives stands for the hours that are alike; where
    everything can be hidden in no time, it is. Who would be suppressed is found for all of the time. Nothing is
    published. docs/plan.md says how far to trust it.

    Parameters
    ----------
    events : path or table
        As in anonymize().
    workers : int, optional
        How many threads; all cores unless given.
    config : path, optional
        A file of settings for all options that are not given.
    progress : bool or Progress, optional
        True for a bar, in notebooks and in terminals; or an object that is told of stages and steps.
    **options
        All that is listed below; ``space_weight``, ``reuse``, ``harden``, ``seed``, and how events are read, as in
        anonymize().

    Other Parameters
    ----------------
    ks : sequence of int
        Values of k; 2, 3 and 5 unless given.
    taus, epsilons : sequence of str or timedelta
        Values of tau ("30min", "1h" and "2h" unless given) and epsilon ("30min"); pairs of which epsilon does not
        divide tau are left out.
    cell, step : str
        The finest resolution, as in anonymize().

    Returns
    -------
    Plan
        A forecast per point, and what new names would leave to be read.

    Raises
    ------
    ParameterError
        A value makes no promise, or there are more than 27 points.
    InputError
        The events cannot be used as they are.

    Examples
    --------
    >>> import shoal
    >>> plan = shoal.plan(shoal.make_city(100, seed=1), ks=[2, 3], taus=["30min"])
    >>> [(row.k, round(row.longer_side_km_median, 1)) for row in plan.forecasts]
    [(2, 14.0), (3, 21.4)]
    """
    given = take_options("plan", options, config)
    reading = ReadingOptions.from_keywords(given)
    grid, wanted = grid_among(given), PlanOptions.from_keywords(given)
    points = points_of(wanted.ks, wanted.taus, wanted.epsilons, grid)
    hiding = HidingOptions.from_keywords(given)
    if hiding.harden is None:
        hiding = replace(hiding, harden=HARDEN_DEFAULT)
    n_workers = check_workers(workers)
    with (
        listening(progress) as told,
        tempfile.TemporaryDirectory(prefix="shoal-plan-") as aside,
        Workers(n_workers) as threads,
    ):
        told.stage("reading")
        spill = Path(aside) if isinstance(events, str | os.PathLike) or is_stream(events) else None
        found = read_events(events, grid=grid, options=reading, threads=n_workers, spill=spill)
        check_population(found.store.n_users, max(point.k for point in points))
        make_ready([rehearsal_of(hiding)], n_workers, told)
        store, budget, zone = found.store, Budget(), Zone(found.timezone)
        forecasts = forecast_points(store, points, hiding, threads, grid, budget, told)
        warnings = [*_told_left_out(wanted.taus, wanted.epsilons, grid), *found.read_summary.all_warnings]
        shortest = min(points, key=lambda point: point.tau)
        outlooks = outlook_on_periods(store, shortest.promise, grid, zone)
        whole_parts = forecast_whole_parts(
            store, max(wanted.ks), outlooks, hiding, threads, grid, zone, budget.whole_parts_s, told
        )
        return Plan(
            forecasts, len(store), store.n_users, warnings, outlooks, whole_parts, grid, hiding.harden or 0
        )


def points_of(
    ks: Sequence[int], taus: Sequence[Duration], epsilons: Sequence[Duration], grid: Grid
) -> list[Point]:
    """Every k with every tau and every epsilon that divides it, each once; by epsilon, tau and k.

    An epsilon that divides none of the taus is refused.
    """
    for name, values in (("ks", ks), ("taus", taus), ("epsilons", epsilons)):
        if not values:
            raise ParameterError(f"{name} must name at least one value, got none.")
    tau_slots, epsilon_slots = _lengths(taus, "tau", grid), _lengths(epsilons, "epsilon", grid)
    every = [
        Point(SelectorName.MATCHING, k, tau, epsilon)
        for epsilon in epsilon_slots
        for tau in tau_slots
        for k in sorted(set(ks))
    ]
    points = [point for point in every if point.promise.epsilon_divides_tau]
    used = {point.epsilon for point in points}
    for point in every:
        if point.epsilon not in used:
            check_epsilon(point.promise, grid)
    if len(points) > MOST_POINTS:
        raise ParameterError(
            f"ks, taus and epsilons must make at most {MOST_POINTS} points, got {len(points):,}: give fewer."
        )
    return points


def _lengths(durations: Sequence[Duration], name: str, grid: Grid) -> list[int]:
    return sorted({grid.slots(length, name) for length in durations})


def _told_left_out(taus: Sequence[Duration], epsilons: Sequence[Duration], grid: Grid) -> list[str]:
    """A line on the pairs of which no point is made, if there are any."""
    pairs = [
        f"{duration(epsilon * grid.step_s)} with tau {duration(tau * grid.step_s)}"
        for epsilon in _lengths(epsilons, "epsilon", grid)
        for tau in _lengths(taus, "tau", grid)
        if tau % epsilon
    ]
    return [f"Left out, since epsilon must divide tau: epsilon {', '.join(pairs)}."] if pairs else []


def forecast_points(
    store: SampleStore,
    points: Sequence[Point],
    hiding: HidingOptions,
    workers: Workers,
    grid: Grid,
    budget: Budget,
    progress: Progress,
) -> list[Forecast]:
    """A forecast for every point; points of an epsilon are tried on the same hours, as far as they are cheap enough."""
    everything = sum(len(store) * (point.k - 1) for point in points) / _PER_S <= budget.everything_s
    forecasts = {}
    for epsilon in sorted({point.epsilon for point in points}):
        alike = [point for point in points if point.epsilon == epsilon]
        census = take_census(store, epsilon)
        share_s = 0.0 if everything else budget.stretches_s * len(alike) / len(points)
        epochs_a_day = _DAY_S / (epsilon * grid.step_s)
        shares = (
            share_budget(alike, census, share_s, epochs_a_day, hiding.seed)
            if share_s
            else StretchBudget([], {})
        )
        trials = _Trials(store, shares, census, hiding, workers, progress)
        for point, (trial, suppressed) in trials.of(alike).items():
            forecasts[point] = forecast(
                trial,
                suppressed,
                point,
                store,
                census,
                grid,
                hiding,
                workers.count,
                n_stretches=len(trial.views),
            )
    return [forecasts[point] for point in points]


class _Trials(NamedTuple):
    """Tries the points of one epsilon, on all samples or on stretches."""

    store: SampleStore
    shares: StretchBudget
    census: Census
    hiding: HidingOptions
    workers: Workers
    progress: Progress

    def of(self, points: Sequence[Point]) -> dict[Point, tuple[Trial, float]]:
        """The trial of every point, and the share it suppresses. Points that see all stretches come first."""
        tried: dict[Point, tuple[Trial, float]] = {}
        if not self.shares.stretches:
            return {point: self._try_everything(point) for point in points}
        presences = self._presences(points)
        epoch_places = self._epoch_places(points[0])
        views: list[list[BoxSizes]] = []
        for tau in sorted({point.tau for point in points}):
            same = sorted(point for point in points if point.tau == tau)
            most = max(point.k for point in same)
            past = presume_history(
                epoch_places, self.store.n_users, same[0].promise.reach, most, self.hiding.seed
            )
            for point in same:
                stretches = self._stretches(point, views)
                if not stretches:
                    tried[point] = self._try_everything(point)
                    continue
                tried[point] = self._try(point, presences[point], past, stretches)
                seen = tried[point][0].views
                if len(seen) == len(self.shares.stretches):
                    views.append(seen)
        return tried

    def _stretches(self, point: Point, views: list[list[BoxSizes]]) -> list[TrialStretch]:
        """The stretches that a point is tried on, given what other points showed on all of them."""
        every, number = self.shares
        return most_representative(every, views, self.census, number[point], point.promise.reach)

    def _presences(self, points: Sequence[Point]) -> dict[Point, Presence | None]:
        """Who would be published when; None where nobody is ever suppressed.

        A pattern over a longer tau contains those over a shorter one. So where a longer tau and a larger k suppress
        nothing, enough people share every pattern here as well.
        """
        found: dict[Point, Presence | None] = {}
        for point in sorted(points, key=lambda point: (point.tau, point.k), reverse=True):
            free = [
                other for other, presence in found.items() if presence is None or not presence.n_suppressed
            ]
            if not self.hiding.suppress_at_most and any(
                other.k >= point.k and other.tau >= point.tau for other in free
            ):
                found[point] = None
                continue
            timeline = Timeline(self.store, point.promise)
            setup = HidingSetup(self.store.n_users, point.promise, self.hiding, self.workers)
            found[point], _ = find_presence_within(
                self.hiding.suppress_at_most, setup, timeline, open_selector(setup), self.progress
            )
        return found

    def _epoch_places(self, point: Point) -> dict[int, EpochPlaces]:
        """Who is where in every epoch up to the last stretch."""
        timeline = Timeline(self.store, point.promise)
        epochs = range(self.census.first_epoch, self.shares.stretches[-1].end)
        return {epoch: places_of_epoch(timeline.slice(epoch)) for epoch in epochs}

    def _try_everything(self, point: Point) -> tuple[Trial, float]:
        self.progress.stage(f"trying k {point.k}")
        return try_everything(self.store, point.promise, self.hiding, self.workers)

    def _try(
        self, point: Point, presence: Presence | None, past: PresumedHistory, stretches: list[TrialStretch]
    ) -> tuple[Trial, float]:
        store, _, census, hiding, workers, progress = self
        if presence is not None and presence.nothing_left:
            return nothing(), 1.0
        progress.stage(f"trying k {point.k}")
        trial = try_stretches(store, point, presence, stretches, past, census, hiding, workers)
        return trial, 0.0 if presence is None else presence.n_suppressed / len(store)
