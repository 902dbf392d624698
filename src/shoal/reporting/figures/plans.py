"""A plan as a figure."""

from __future__ import annotations

from pathlib import Path

from shoal.core.formatting import duration
from shoal.errors import InputError
from shoal.evaluate.plan.forecasting import Forecast
from shoal.evaluate.plan.planning import Plan
from shoal.reporting.figures import matplotlib_style
from shoal.reporting.figures.matplotlib_style import Plot
from shoal.storage.files import AtomicFiles


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
    for number, (name, rows) in enumerate(_series(plan.forecasts).items()):
        style = matplotlib_style.style_of(number)
        matplotlib_style.line(
            axes, [row.tau_min for row in rows], [row.space_km_median for row in rows], style
        )
        keys.append(matplotlib_style.key(style, name))
    matplotlib_style.from_zero(axes, "median space (x span + y span), km")
    taus = sorted({row.tau_min for row in plan.forecasts})
    matplotlib_style.log_axis(axes, taus, [duration(round(60 * tau)) for tau in taus], "tau")
    matplotlib_style.legend_above(figure, *(keys[begin : begin + 3] for begin in range(0, len(keys), 3)))
    return Plot(figure, "Median precision in space that is foretold, over tau, for every k and epsilon.")


def _series(forecasts: list[Forecast]) -> dict[str, list[Forecast]]:
    """The forecasts by k, and by epsilon where there are several."""
    several = len({row.epsilon_min for row in forecasts}) > 1
    series: dict[str, list[Forecast]] = {}
    for row in sorted(forecasts, key=lambda row: (row.epsilon_min, row.k, row.tau_min)):
        epsilon = f", epsilon {duration(round(60 * row.epsilon_min))}" if several else ""
        series.setdefault(f"k {row.k}{epsilon}", []).append(row)
    return series
