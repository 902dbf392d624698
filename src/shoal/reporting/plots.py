"""What plot() of a result gives: figures of matplotlib, which can be changed and saved. ``core/showing.py`` looks this
module up."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from matplotlib.figure import Figure

from shoal.core.box_sizes import BoxSizes
from shoal.core.checks import told
from shoal.core.promise import Grid
from shoal.errors import ParameterError
from shoal.evaluate.plan.planning import Plan
from shoal.evaluate.sweep import Sweep
from shoal.evaluate.sweep_points import HOURS
from shoal.publishing.release import Published
from shoal.reporting.figures import matplotlib_style
from shoal.reporting.figures.matplotlib_style import Plot
from shoal.reporting.figures.small import LONGER_SIDE, share_up_to
from shoal.reporting.figures.sweep import QUANTITIES, draw_plan, draw_quantity

_DURATION = "duration of a box, minutes"


def plot_of(result: object, **choices: Any) -> Figure:
    """A result as a figure of matplotlib, in the style of our figures; pyplot and its global state are left alone."""
    with matplotlib_style.house_style():
        plot = _plot(result, **choices)
        matplotlib_style.keep_tick_sizes(plot.figure)
        matplotlib_style.lay_out(plot.figure)
    return plot.figure


@singledispatch
def _plot(result: object) -> Plot:
    raise TypeError(f"no figure of {type(result).__name__}")


@_plot.register
def _plot_release(release: Published) -> Plot:
    return draw_box_sizes(release.outcome.box_sizes, release.events.grid)


@_plot.register
def _plot_plan(plan: Plan) -> Plot:
    return draw_plan(plan)


@_plot.register
def _plot_sweep(sweep: Sweep, over: str | None = None, what: str = "space") -> Plot:
    axes = [axis for axis in sweep.plan.by_axis if axis != HOURS or sweep.hours]
    over = axes[0] if over is None and axes else over
    for name, value, known in (("over", over, axes), ("what", what, QUANTITIES)):
        if value not in known:
            raise ParameterError(f"{name} must be one of {', '.join(known) or 'none'}, got {told(value)}.")
    plot = draw_quantity(sweep, str(over), what)
    if plot is None:
        raise ParameterError("over must name what varied, got hours, of which there are none.")
    return plot


def draw_box_sizes(sizes: BoxSizes, grid: Grid) -> Plot:
    """Which share of the boxes is at most so large, in space and in time."""
    figure = matplotlib_style.new_figure(matplotlib_style.PAGE_IN)
    units = ((sizes.longer_side, grid.cell_m / 1000, LONGER_SIDE), (sizes.slots, grid.step_s / 60, _DURATION))
    for axes, (counted, unit, name) in zip(figure.subplots(1, 2, sharey=True), units, strict=True):
        x, y = share_up_to(counted, unit)
        axes.plot(x, y, color=matplotlib_style.SERIES[0].colour, linewidth=1.4)
        median = counted.quantile(0.5, unit)
        axes.axvline(median, color=matplotlib_style.SOFT, linewidth=0.8, linestyle="--")
        axes.annotate(f"median {median:,.3g}", (median, 4), (4, 0), textcoords="offset points")
        axes.set_xlim(0, float(x[-1]))
        axes.set_xlabel(name)
    figure.axes[0].set_ylim(0, 104)
    figure.axes[0].set_ylabel("% of boxes, at most")
    return Plot(figure, "Which share of the boxes is at most so large, in space and in time.")
