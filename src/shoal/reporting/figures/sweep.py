"""Figures of sweeps and plans, for papers and screens."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from shoal.core.formatting import duration_of_minutes
from shoal.core.options import SelectorName
from shoal.errors import InputError
from shoal.evaluate.measuring import WEEK_H, Hour, Measured
from shoal.evaluate.plan.forecasting import Forecast
from shoal.evaluate.plan.planning import Plan
from shoal.evaluate.sweep import Sweep
from shoal.evaluate.sweep_points import EPSILON, HOURS, TAU, K
from shoal.reporting.figures import matplotlib_style
from shoal.reporting.figures.matplotlib_style import Plot
from shoal.storage.files import AtomicFiles

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

_NAMES = {TAU: "tau = epsilon", K: "k", EPSILON: "epsilon"}
_NUMBERS = (".parquet", ".csv")
_APART = 1.25  # between selectors, where one point is all there is
_SUPPRESSED = "suppressed samples, %"
_PRECISION = {"space": ("longer_side_km", "longer side of a box, km"), "time": ("time_min", "time, min")}
_HOURLY = {
    "space": ("longer_side_km_mean", 1, "mean longer side, km"),
    "time": ("time_min_mean", 1, "mean time, min"),
    "suppressed": ("suppressed_share", 100, _SUPPRESSED),
}  # column, factor, name of the axis
QUANTITIES = tuple(_HOURLY)
_PRECISION_OF_THE_PAPER = {
    **_PRECISION,
    "space": ("width_plus_height_km", "width + height\n(as in the paper), km"),
}
_HOURLY_OF_THE_PAPER = {
    **_HOURLY,
    "space": ("width_plus_height_km_mean", 1, "mean width + height\n(as in the paper), km"),
}


def write_sweep(sweep: Sweep, folder: Path, *, as_in_paper: bool = False) -> list[Path]:
    """All files of a sweep: numbers as Parquet and CSV, figures as SVG and PNG; together or not at all.

    Those of an earlier sweep that this one does not replace go away. ``as_in_paper``: as draw_sweep() says.
    """
    tables = {"sweep": sweep.to_arrow()}
    if sweep.hours:
        tables["hours"] = sweep.hours_to_arrow()
    with matplotlib_style.house_style(), AtomicFiles() as files:
        figures = draw_sweep(sweep, as_in_paper=as_in_paper)
        folder.mkdir(exist_ok=True)
        for name, table in tables.items():
            with files.open(folder / f"{name}.parquet") as file:
                pa.parquet.write_table(table, file)
            with files.open(folder / f"{name}.csv") as file:
                pa.csv.write_csv(table, file)
        for name, plot in figures.items():
            for suffix in matplotlib_style.SUFFIXES:
                with files.open(folder / f"{name}{suffix}") as file:
                    matplotlib_style.save(plot, suffix, file)
    written = [
        *(folder / f"{name}{suffix}" for name in tables for suffix in _NUMBERS),
        *(folder / f"{name}{suffix}" for name in figures for suffix in matplotlib_style.SUFFIXES),
    ]
    for path in _possible(folder):
        if path not in written:
            path.unlink(missing_ok=True)
    return written


def _possible(folder: Path) -> list[Path]:
    """Every file that a sweep can write."""
    figures = (f"{axis}-{quantity}" for axis in (*_NAMES, HOURS) for quantity in QUANTITIES)
    return [
        *(folder / f"{name}{suffix}" for name in ("sweep", "hours") for suffix in _NUMBERS),
        *(folder / f"{name}{suffix}" for name in figures for suffix in matplotlib_style.SUFFIXES),
    ]


def draw_sweep(sweep: Sweep, *, as_in_paper: bool = False) -> dict[str, Plot]:
    """Space, time and suppression over each axis, laid out, by the names of their files.

    Space is the longer side of boxes; ``as_in_paper`` draws their width plus height instead, to be held beside the
    paper's figures.
    """
    plots = {
        f"{axis}-{quantity}": plot
        for axis in sweep.plan.by_axis
        for quantity in QUANTITIES
        if (plot := draw_quantity(sweep, axis, quantity, as_in_paper=as_in_paper)) is not None
    }
    for plot in plots.values():
        matplotlib_style.lay_out(plot.figure)
    return plots


def draw_quantity(sweep: Sweep, axis: str, quantity: str, *, as_in_paper: bool = False) -> Plot | None:
    """Space, time or what is suppressed over one axis; None over the hours of a week that were not measured.

    Who saves or shows the figure lays it out.
    """
    precision, hourly = (
        (_PRECISION_OF_THE_PAPER, _HOURLY_OF_THE_PAPER) if as_in_paper else (_PRECISION, _HOURLY)
    )
    if axis == HOURS:
        if not sweep.hours:
            return None
        return _draw_hours(sweep, *hourly[quantity])
    if quantity in precision:
        return _draw_precision(sweep, axis, *precision[quantity])
    return _draw_suppressed(sweep, axis)


# ---- versus tau, k, epsilon ---------------------------------------------------------------------------------------


def _draw_precision(sweep: Sweep, axis: str, column: str, title: str) -> Plot:
    """The mean, the median, and the quartiles as a band around it, as the paper draws them."""
    series = _series(sweep, axis)
    figure, axes = matplotlib_style.new_plot(matplotlib_style.COLUMN_IN)
    for number, rows in enumerate(series.values()):
        style = matplotlib_style.style_of(number)
        at = _positions(rows, axis, number, len(series))
        mean, low, median, high = (
            [getattr(row, f"{column}_{which}") for row in rows] for which in ("mean", "q25", "median", "q75")
        )
        matplotlib_style.band(axes, at, low, high, style)
        matplotlib_style.thin_line(axes, at, mean, style)
        matplotlib_style.line(axes, at, median, style)
    matplotlib_style.from_zero(axes, title)
    _name_positions(axes, series, axis)
    matplotlib_style.legend_above(figure, _keys(_with_levels(series)), matplotlib_style.kinds())
    return Plot(figure, f"Mean, median and quartiles: {' '.join(title.split())}, over {_NAMES[axis]}.")


def _draw_suppressed(sweep: Sweep, axis: str) -> Plot:
    series = _series(sweep, axis)
    figure, axes = matplotlib_style.new_plot(matplotlib_style.COLUMN_IN)
    for number, rows in enumerate(series.values()):
        at = _positions(rows, axis, number, len(series))
        matplotlib_style.line(
            axes, at, [100 * row.suppressed_share for row in rows], matplotlib_style.style_of(number)
        )
    matplotlib_style.from_zero(axes, _SUPPRESSED)
    _name_positions(axes, series, axis)
    matplotlib_style.legend_above(figure, _keys(_with_levels(series)))
    return Plot(figure, f"Share of the samples that are suppressed, over {_NAMES[axis]}.")


def _series(sweep: Sweep, axis: str) -> dict[str, list[Measured]]:
    """The rows of an axis by selector, in order."""
    series: dict[str, list[Measured]] = {}
    for point in sweep.plan.by_axis[axis]:
        series.setdefault(point.selector, []).append(sweep.measured[point])
    return series


def _position(row: Measured, axis: str) -> float:
    return {TAU: row.tau_min, K: float(row.k), EPSILON: row.epsilon_min}[axis]


def _positions(rows: list[Measured], axis: str, number: int, of: int) -> list[float]:
    """Where to draw the rows of a selector: a little beside those of others where one point is all there is."""
    aside = _APART ** (number - (of - 1) / 2) if len(rows) == 1 else 1.0
    return [aside * _position(row, axis) for row in rows]


def _name_positions(axes: Axes, series: dict[str, list[Measured]], axis: str) -> None:
    rows = next(iter(series.values()))
    at = [_position(row, axis) for row in rows]
    labels = [
        str(row.k) if axis == K else duration_of_minutes(value) for row, value in zip(rows, at, strict=True)
    ]
    k, tau = rows[0].k, duration_of_minutes(rows[0].tau_min)
    names = {TAU: f"τ = ε  (k = {k})", K: f"k  (τ = ε = {tau})", EPSILON: f"ε  (k = {k}, τ = {tau})"}
    matplotlib_style.log_axis(axes, at, labels, names[axis])


# ---- over a week --------------------------------------------------------------------------------------------------


def _draw_hours(sweep: Sweep, column: str, factor: int, title: str) -> Plot:
    """The hours of a week, as means; an hour of which nothing is known is a gap."""
    series: dict[str, list[Hour]] = {}
    for row in sweep.hours:
        series.setdefault(row.selector, []).append(row)
    figure, axes = matplotlib_style.new_plot(matplotlib_style.PAGE_IN)
    for number, rows in enumerate(series.values()):
        values = [math.nan] * WEEK_H
        for row in rows:
            values[row.hour_of_week] = factor * getattr(row, column)
        matplotlib_style.fine_line(
            axes, [hour + 0.5 for hour in range(WEEK_H)], values, matplotlib_style.style_of(number)
        )
    matplotlib_style.from_zero(axes, title)
    days = [row.hour_of_week // 24 for row in sweep.hours]
    middle = sweep.measured[sweep.plan.middle[0]]
    constants = f"(k = {middle.k}, τ = ε = {duration_of_minutes(middle.tau_min)})"
    matplotlib_style.day_axis(axes, min(days), max(days), f"hour of the week  {constants}")
    matplotlib_style.legend_above(figure, [*_keys(_with_levels(series)), matplotlib_style.night()])
    return Plot(figure, f"{' '.join(title.split()).capitalize()}, over the hours of a week.")


def _with_levels(series: Mapping[str, Sequence[Measured | Hour]]) -> list[str]:
    """The selectors; the one that can be hardened with the levels that its rows have."""
    levels = {name: sorted({row.harden for row in rows}) for name, rows in series.items()}
    return [
        f"{name}, level {'/'.join(map(str, found))}" if name == SelectorName.MATCHING else name
        for name, found in levels.items()
    ]


def _keys(series: Iterable[str]) -> list[Artist]:
    """The selectors, for a legend."""
    return [
        matplotlib_style.key(matplotlib_style.style_of(number), name) for number, name in enumerate(series)
    ]


def check_figure(path: Path) -> None:
    """Refuse a figure of a kind that is not drawn."""
    if path.suffix.lower() not in matplotlib_style.SUFFIXES:
        raise InputError(
            f"The figure must end in one of {', '.join(matplotlib_style.SUFFIXES)},"
            f" found {path.suffix or 'none'!r}: rename it."
        )


def write_plan(plan: Plan, path: Path) -> None:
    """The figure as SVG or PNG; whole or not at all."""
    with matplotlib_style.house_style(), AtomicFiles() as files:
        plot = draw_plan(plan)
        matplotlib_style.lay_out(plot.figure)
        with files.open(path) as file:
            matplotlib_style.save(plot, path.suffix.lower(), file)


def draw_plan(plan: Plan) -> Plot:
    """Median space over tau, a line for each k and epsilon."""
    figure, axes = matplotlib_style.new_plot(matplotlib_style.COLUMN_IN)
    keys = []
    for number, (name, rows) in enumerate(_by_k(plan.forecasts).items()):
        style = matplotlib_style.style_of(number)
        matplotlib_style.line(
            axes, [row.tau_min for row in rows], [row.longer_side_km_median for row in rows], style
        )
        keys.append(matplotlib_style.key(style, name))
    matplotlib_style.from_zero(axes, "median longer side of a box, km")
    taus = sorted({row.tau_min for row in plan.forecasts})
    matplotlib_style.log_axis(axes, taus, list(map(duration_of_minutes, taus)), "tau")
    matplotlib_style.legend_above(figure, *(keys[begin : begin + 3] for begin in range(0, len(keys), 3)))
    return Plot(figure, "Median longer side of boxes that is forecast, over tau, for every k and epsilon.")


def _by_k(forecasts: list[Forecast]) -> dict[str, list[Forecast]]:
    """The forecasts by k, and by epsilon where there are several."""
    several = len({row.epsilon_min for row in forecasts}) > 1
    series: dict[str, list[Forecast]] = {}
    for row in sorted(forecasts, key=lambda row: (row.epsilon_min, row.k, row.tau_min)):
        epsilon = f", epsilon {duration_of_minutes(row.epsilon_min)}" if several else ""
        series.setdefault(f"k {row.k}{epsilon}", []).append(row)
    return series
