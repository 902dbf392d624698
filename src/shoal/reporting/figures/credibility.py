"""Figures of the statistics by which data are credible: one curve per dataset, laws and bands beside them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from shoal.reporting.figures.svg import Legend, Panel, log_ticks, round_ticks
from shoal.synthetic.credibility.activity_statistics import FIT_FROM, FIT_TO
from shoal.synthetic.credibility.bands import BANDS, Band
from shoal.synthetic.credibility.measures import Measures
from shoal.synthetic.credibility.mobility_statistics import CUTOFF_KM, FIT_FROM_H, LEAST_KM, OFFSET_KM, RANKS
from shoal.synthetic.credibility.traces import Curve
from shoal.synthetic.credibility.unicity import POINTS

REAL = "real"
SERIES = tuple(f"series{number}" for number in range(1, 7))  # as many as can be told apart
_LEFT = 62
_LARGEST_RANK = 100


class Dataset(NamedTuple):
    """A name, how its curves are drawn, and what was measured."""

    name: str
    css: str
    measures: Measures


class Drawing(NamedTuple):
    """A drawing and its description for those who cannot see it."""

    panel: Panel
    description: str


Datasets = Sequence[Dataset]


def draw_activity(datasets: Datasets) -> Drawing:
    """Share of the users with at least so many samples per hour."""
    curves = [dataset.measures.activity.at_least for dataset in datasets]
    panel = _panel(datasets, curves, [("strip", "band of the mean")])
    _upright(panel, _band("samples_per_user_hour"))
    panel.x_axis(_ticks(*panel.x_range), "samples per hour")
    panel.y_axis(_ticks(*panel.y_range), "share of users with at least so many")
    _lines(panel, datasets, curves)
    return Drawing(panel, "Share of users with at least so many samples per hour, on logarithmic axes.")


def draw_gaps(datasets: Datasets) -> Drawing:
    """Density of the gaps, by the user's mean gap."""
    datasets = [dataset for dataset in datasets if dataset.measures.gaps.exponent is not None]
    curves = [dataset.measures.gaps.rescaled for dataset in datasets]
    panel = _panel(datasets, curves, [("law", "exponent 0.9"), ("strip", "band of the exponent")])
    band = _band("gap_exponent")
    anchor = _height_at(curves, FIT_TO)
    _wedge(panel, (FIT_TO, FIT_FROM), anchor, (-band.low, -(band.high or 0)))
    _power_law(panel, (FIT_FROM, FIT_TO), (FIT_TO, anchor), -0.9)
    panel.x_axis(_ticks(*panel.x_range), "time to the next sample, by the user's mean")
    panel.y_axis(_ticks(*panel.y_range), "probability density")
    _lines(panel, datasets, curves)
    return Drawing(panel, "Density of the times between samples by the user's mean, on logarithmic axes.")


def draw_rhythm(datasets: Datasets, *, weekend: bool = False) -> Drawing:
    """Share of a day's samples in each hour, of all days or of weekends."""
    shown, curves = [], []
    for dataset in datasets:
        rhythm = dataset.measures.rhythm
        shares = rhythm.weekend if weekend else rhythm.all_days
        if shares is not None:
            shown.append(dataset)
            curves.append(Curve(np.arange(24, dtype=np.float64) + 0.5, 100 * shares))
    top = 1.08 * max((float(curve.y.max()) for curve in curves), default=1.0)
    panel = Panel(
        (0, 24), (0, top), left=_LEFT, legend=_legend(shown, [("strip", "quietest hour lies here")])
    )
    band = _band("trough_hour")
    panel.box((band.low, (band.high or band.low) + 1), panel.y_range, "strip")
    panel.x_axis([(float(hour), f"{hour}:00") for hour in range(0, 25, 4)], "hour of the clock")
    panel.y_axis(
        round_ticks(*panel.y_range), "% of the samples, weekends" if weekend else "% of the samples, all days"
    )
    _lines(panel, shown, curves)
    return Drawing(panel, f"Samples by the hour of the day, {'weekends' if weekend else 'all days'}.")


def draw_radius(datasets: Datasets) -> Drawing:
    """Density of the radii of gyration, with the law for countries."""
    curves = [dataset.measures.radius.density for dataset in datasets]
    panel = _panel(datasets, curves, [("law", "González 2008 (a country)")])
    r = np.geomspace(LEAST_KM, panel.x_range[1], 120)
    law = (r + OFFSET_KM) ** -1.65 * np.exp(-r / CUTOFF_KM)
    per_log = np.gradient(np.log(r)) * r
    panel.line(r.tolist(), (law / (law * per_log).sum()).tolist(), "law")
    panel.x_axis(_ticks(*panel.x_range), "radius of gyration, km")
    panel.y_axis(_ticks(*panel.y_range), "share of users per km")
    _lines(panel, datasets, curves)
    return Drawing(panel, "Density of the users' radii of gyration, on logarithmic axes.")


def draw_visits(datasets: Datasets) -> Drawing:
    """Share of a user's samples by the rank of the place."""
    datasets = [dataset for dataset in datasets if len(dataset.measures.visits.frequency.x)]
    curves = [
        Curve(*(axis[:_LARGEST_RANK] for axis in dataset.measures.visits.frequency)) for dataset in datasets
    ]
    panel = _panel(datasets, curves, [("law", "exponent 1.2"), ("strip", "band of the exponent")])
    band = _band("visit_exponent")
    anchor = _height_at(curves, 1.0)
    _wedge(panel, (1.0, float(RANKS)), anchor, (-band.low, -(band.high or 0)))
    _power_law(panel, (1.0, float(RANKS)), (1.0, anchor), -1.2)
    panel.x_axis(_in_between(*panel.x_range), "rank of the place")
    panel.y_axis(_ticks(*panel.y_range), "share of the user's samples")
    _lines(panel, datasets, curves)
    return Drawing(panel, "Share of a user's samples at the places of each rank, on logarithmic axes.")


def draw_exploration(datasets: Datasets) -> Drawing:
    """Mean number of distinct places after a while."""
    curves = [dataset.measures.exploration.places for dataset in datasets]
    panel = _panel(datasets, curves, [("law", "exponent 0.6"), ("strip", "band of the exponent")])
    longest = max(float(curve.x[-1]) for curve in curves)
    if longest > FIT_FROM_H:
        band = _band("places_exponent")
        anchor = _height_at(curves, FIT_FROM_H)
        _wedge(panel, (FIT_FROM_H, longest), anchor, (band.low, band.high or 0))
        _power_law(panel, (FIT_FROM_H, longest), (FIT_FROM_H, anchor), 0.6)
    hours = [(1, "1 h"), (5, "5 h"), (24, "1 day"), (96, "4 days"), (336, "14 days"), (1_440, "60 days")]
    panel.x_axis([tick for tick in hours if tick[0] <= longest], "time since the data begin")
    panel.y_axis(_in_between(*panel.y_range), "distinct places, mean")
    _lines(panel, datasets, curves)
    return Drawing(panel, "Mean number of distinct places after so many hours, on logarithmic axes.")


def draw_unicity(datasets: Datasets) -> Drawing:
    """Share of users whom so many points fit alone."""
    curves = [dataset.measures.unicity.by_points for dataset in datasets]
    panel = Panel((0.7, 5.3), (0, 1.04), left=_LEFT, legend=_legend(datasets, [("strip", "band")]))
    panel.box((POINTS - 0.12, POINTS + 0.12), (_band("unicity").low, 1.0), "strip")
    panel.x_axis([(float(n), str(n)) for n in range(1, 6)], "points known (hour and place)")
    panel.y_axis(round_ticks(0, 1, most=5), "share of users they fit alone")
    _lines(panel, datasets, curves)
    return Drawing(panel, "Share of users whom one to five of their points fit alone.")


def draw_load(datasets: Datasets) -> Drawing:
    """Share of the samples at the busiest antennas."""
    curves = [Curve(100 * axis.x, 100 * axis.y) for axis in (each.measures.load.busiest for each in datasets)]
    panel = Panel(
        (0, 100), (0, 104), left=_LEFT, legend=_legend(datasets, [("law", "even"), ("strip", "band")])
    )
    countries = {dataset.measures.setting.is_country for dataset in datasets if dataset.css != REAL}
    for country in sorted(countries):
        band = _band("busiest_tenth", country=country)
        at = 10.0 + (1.2 if country else -1.2) * (len(countries) - 1)
        panel.box((at - 1, at + 1), (100 * band.low, 100 * (band.high or 1)), "strip")
    panel.line([0, 100], [0, 100], "law")
    panel.x_axis(round_ticks(0, 100, most=5), "busiest antennas, % of them")
    panel.y_axis(round_ticks(0, 100, most=5), "% of the samples")
    _lines(panel, datasets, curves)
    return Drawing(panel, "Share of the samples at the busiest share of the antennas.")


FIGURES: dict[str, Callable[[Datasets], Drawing]] = {
    "activity": draw_activity,
    "gaps": draw_gaps,
    "rhythm": draw_rhythm,
    "radius": draw_radius,
    "visits": draw_visits,
    "exploration": draw_exploration,
    "unicity": draw_unicity,
    "load": draw_load,
}  # by topic


def _band(name: str, *, country: bool = False) -> Band:
    kinds = (None, "country" if country else "city")
    return next(band for band in BANDS if band.name == name and band.only in kinds)


def _legend(datasets: Datasets, more: list[tuple[str, str]]) -> Legend:
    return [*((dataset.css, dataset.name) for dataset in datasets), *more]


def _panel(datasets: Datasets, curves: Sequence[Curve], more: list[tuple[str, str]]) -> Panel:
    """A panel with logarithmic axes that hold all curves."""
    x_range, y_range = (_span(axis) for axis in zip(*curves, strict=True)) if curves else ((1, 10), (1, 10))
    return Panel(x_range, y_range, left=_LEFT, log_x=True, log_y=True, legend=_legend(datasets, more))


def _span(axes: Sequence[np.ndarray[tuple[int], np.dtype[np.float64]]]) -> tuple[float, float]:
    values = np.concatenate(axes)
    values = values[values > 0]
    if len(values) == 0:
        return 1.0, 10.0
    low, high = float(values.min()) / 1.15, float(values.max()) * 1.15
    return (low, high) if high > 1.5 * low else (low / 2, high * 2)


def _lines(panel: Panel, datasets: Datasets, curves: Sequence[Curve]) -> None:
    """Curves of the datasets, the real one on top."""
    for dataset, curve in sorted(zip(datasets, curves, strict=True), key=lambda pair: pair[0].css == REAL):
        panel.line(curve.x.tolist(), curve.y.tolist(), dataset.css)


def _height_at(curves: Sequence[Curve], x: float) -> float:
    """Geometric mean of the curves at x."""
    heights = [
        float(np.interp(math.log(x), np.log(curve.x), np.log(np.maximum(curve.y, 1e-300))))
        for curve in curves
        if len(curve.x)
    ]
    return math.exp(sum(heights) / len(heights)) if heights else 1.0


def _power_law(panel: Panel, span: tuple[float, float], through: tuple[float, float], slope: float) -> None:
    x, y = through
    panel.line(span, [y * (end / x) ** slope for end in span], "law")


def _wedge(panel: Panel, span: tuple[float, float], height: float, slopes: tuple[float, float]) -> None:
    """What power laws of slopes in a band cover, all beginning at the same point."""
    begin, end = span
    ends = [height * (end / begin) ** slope for slope in slopes]
    panel.area([begin, end, end], [height, *ends], "strip")


def _upright(panel: Panel, band: Band) -> None:
    panel.box((band.low, band.high or panel.x_range[1]), panel.y_range, "strip")


def _ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Powers of ten, and more where there are too few of them."""
    powers = log_ticks(low, high)
    return powers if len(powers) > 1 else _in_between(low, high)


def _in_between(low: float, high: float) -> list[tuple[float, str]]:
    """Ticks at 1, 2 and 5 of every power of ten, for short logarithmic axes."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
    return [(tick, f"{tick:,g}") for tick in ticks if low <= tick <= high]
