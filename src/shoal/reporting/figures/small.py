"""Small figures of results for the cells of notebooks, as inline SVG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from shoal.core.arrays import Floats
from shoal.core.box_sizes import BoxSizes, Histogram
from shoal.core.promise import Grid
from shoal.reporting.figures.svg import Panel, left_of, round_ticks

_HEIGHT = 220
_MOST_SERIES = 6  # that the style sheet tells apart
_TAIL = 0.97  # of the boxes are drawn: a few are many times as large
_MOST_STEPS = 200  # of a curve
LONGER_SIDE = "longer side of a box, km"


def box_size_curve(sizes: BoxSizes, grid: Grid) -> str:
    """Which share of the boxes has a longer side of at most so many km."""
    curve = share_up_to(sizes.longer_side, grid.cell_m / 1000)
    ticks = [(float(share), f"{share}") for share in range(0, 101, 25)]
    panel = Panel((0, float(curve[0][-1])), (0, 104), height=_HEIGHT)
    panel.y_axis(ticks, "% of boxes, at most")
    panel.x_axis(round_ticks(0, float(curve[0][-1])), LONGER_SIDE, grid=False)
    panel.line(curve[0].tolist(), curve[1].tolist(), "series1")
    median = sizes.longer_side.quantile(0.5, grid.cell_m / 1000)
    panel.mark(median, f"median {median:,.3g} km")
    return panel.svg(f"Longer sides of the boxes: half of them have at most {median:,.3g} km.")


def share_up_to(counted: Histogram, unit: float) -> tuple[Floats, Floats]:
    """Sizes from nothing up, and the share of the boxes up to each, in per cent; without the largest."""
    behind = np.cumsum(counted.frequency)
    last = int(np.searchsorted(behind, _TAIL * behind[-1]))
    places = np.unique(np.linspace(0, last, _MOST_STEPS).astype(np.int64))
    x = np.concatenate([[0.0], counted.value[places] * unit])
    y = np.concatenate([[0.0], 100 * behind[places] / behind[-1]])
    return x, y


def lines(
    series: Mapping[str, Sequence[float]], ticks: Sequence[str], x_name: str, y_name: str, description: str
) -> str:
    """A line for each series over positions with names; a value that is unknown (NaN) is a gap."""
    shown = list(series.items())[:_MOST_SERIES]
    known = [value for _, values in shown for value in values if not math.isnan(value)]
    top = 1.08 * max(known, default=0.0) or 1.0
    steps = round_ticks(0, top, 5)
    legend = [(f"series{number}", name) for number, (name, _) in enumerate(shown, 1)]
    panel = Panel(
        (-0.25, len(ticks) - 0.75),
        (0, top),
        height=_HEIGHT,
        left=left_of(steps),
        legend=legend if len(shown) > 1 else (),
    )
    panel.y_axis(steps, y_name)
    panel.x_axis([(float(place), name) for place, name in enumerate(ticks)], x_name, grid=False)
    for number, (_, values) in enumerate(shown, 1):
        points = [(float(place), value) for place, value in enumerate(values) if not math.isnan(value)]
        panel.line([x for x, _ in points], [y for _, y in points], f"series{number}")
        for x, y in points:
            panel.dot(x, y, f"dot{number}", 3.4)
    return panel.svg(description)
