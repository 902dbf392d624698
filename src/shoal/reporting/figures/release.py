"""The figures of the report, as inline SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from shoal.auditing.measures import Measure
from shoal.core.arrays import Floats
from shoal.core.proportions import Proportion
from shoal.reporting.facts.precision import DAY_HOURS, Area, Hourly
from shoal.reporting.facts.usefulness import Crowd, FlowEnd
from shoal.reporting.figures.svg import Panel, left_of, round_ticks

SHADES = 7
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_ROW, _FLOW_ROW = 44, 28

Points = Sequence[tuple[float, float]]  # in km from the corner of the map


def precision_histogram(
    values: Floats, finest: float, quartiles: dict[str, float], name: str, unit: str
) -> str:
    """How many boxes are how large, with the median marked; the largest are counted in the last bar.

    Values are multiples of ``finest``, and so are the bars' widths: otherwise some would hold fewer values than others.
    """
    reach = max(float(np.quantile(values, 0.97)), quartiles["median"] * 1.2) if len(values) else finest
    width = max(round(reach / 30 / finest), 1) * finest
    top = math.ceil(reach / width) * width
    edges = np.arange(round(top / width) + 1) * width + finest / 2
    top = float(edges[-1])
    counts, _ = np.histogram(np.minimum(values, top), edges)
    shares = 100 * counts / max(len(values), 1)
    highest = float(shares.max(initial=1.0)) * 1.18
    shown = round_ticks(0, highest, 5)
    panel = Panel((0, top), (0, highest), height=280, left=left_of(shown))
    panel.y_axis(shown, "% of boxes")
    for i, share in enumerate(shares):
        panel.box((edges[i] + 0.06 * width, edges[i + 1] - 0.06 * width), (0, float(share)), "bar")
    ticks = [tick for tick in round_ticks(0, top) if tick[0] < 0.93 * top]
    panel.x_axis([*ticks, (top, f"≥ {top:,.0f}")], name, grid=False)
    median = quartiles["median"]
    panel.mark(median, f"median {median:,.3g} {unit}")
    return panel.svg(f"{name} of the boxes; half of them have at most {median:,.3g} {unit}.")


def hours(hourly: Hourly, zone: str) -> tuple[str, str]:
    """Median longer side and duration over the hours of the week, or of the day, on the clock of a zone."""
    return (
        _over_hours(hourly.km, zone, "median longer side, km", "Median longer side of boxes by the hour."),
        _over_hours(
            hourly.minutes, zone, "median duration, minutes", "Median duration of boxes by the hour."
        ),
    )


def _over_hours(values: Floats, zone: str, name: str, description: str) -> str:
    top = float(np.nanmax(values, initial=0.0)) * 1.1 or 1.0
    ticks = round_ticks(0, top, 5)
    panel = Panel((0, len(values)), (0, top), height=240, left=left_of(ticks))
    panel.y_axis(ticks, name)
    if len(values) == DAY_HOURS:
        panel.x_axis([(float(hour), f"{hour}") for hour in range(0, 25, 4)], f"hour of the day, {zone}")
    else:
        days = [(24.0 * day + 12, label) for day, label in enumerate(_DAYS)]
        panel.x_axis(days, f"hour of the week, {zone}", grid=False)
        for day in range(1, 7):
            panel.line([24.0 * day] * 2, [0, top], "grid")
    for begin, end in _runs(~np.isnan(values)):
        middles = [hour + 0.5 for hour in range(begin, end)]
        if len(middles) == 1:
            panel.dot(middles[0], float(values[begin]), "dot1", 2.5)
        panel.line(middles, values[begin:end].tolist(), "series1")
    return panel.svg(description)


def _runs(there: np.typing.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Where stretches of True begin and end."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], there, [False]]).astype(np.int8)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def shade_limits(area: Area) -> list[float]:
    """What divides the shades of the map: quantiles of the squares, rounded."""
    values = [square.km for square in area.squares]
    if not values:
        return []
    quantiles = np.quantile(values, [i / SHADES for i in range(1, SHADES)])
    return sorted({float(f"{value:.2g}") for value in quantiles})


def area_map(area: Area, sites: Points = ()) -> str:
    """Squares of the region, darker where boxes are larger."""
    limits = shade_limits(area)
    panel = _map_panel(area.width, area.height, area.side, height=420)
    for square in area.squares:
        shade = int(np.searchsorted(limits, square.km, side="right"))
        panel.box((square.x, square.x + area.side), (square.y, square.y + area.side), f"shade{shade}")
    _draw_sites(panel, sites)
    return panel.svg("Median longer side of the boxes in each square of the region.")


def suppressed(shares: Sequence[float | None], names: Sequence[str], axis: str, description: str) -> str:
    """Share suppressed in each of some parts of the data; None: it may not be told, a short line instead of a bar."""
    told = [100 * share for share in shares if share is not None]
    top = max(max(told, default=0.0) * 1.12, 0.1)
    ticks = round_ticks(0, top, 5)
    panel = Panel((0, len(shares)), (0, top), height=240, left=left_of(ticks))
    panel.y_axis(ticks, "% suppressed")
    for i, share in enumerate(shares):
        if share is None:
            panel.box((i + 0.25, i + 0.75), (0.03 * top, 0.045 * top), "untold")
        else:
            panel.box((i + 0.1, i + 0.9), (0, 100 * share), "bar lost")
    every = -(-len(names) // 8)
    panel.x_axis([(i + 0.5, name) for i, name in enumerate(names) if i % every == 0], axis, grid=False)
    return panel.svg(description)


def before_and_after(lines: Sequence[tuple[str, Measure]]) -> str:
    """A row for each attack: its name, then raw data and below them the published file with intervals, and guessing."""
    panel = Panel((-2, 102), (0, len(lines)), height=64 + _ROW * len(lines), left=14)
    panel.x_axis([(float(x), f"{x} %") for x in range(0, 101, 25)], "of attacks")
    for place, (name, figure) in enumerate(lines):
        below = float(len(lines) - place - 1)
        y = below + 0.32
        panel.line([-2, 102], [below, below], "grid")
        panel.words(panel.x(0), panel.y(y + 0.34), name, "lane")
        if figure.guessing is not None:
            panel.box(
                (100 * figure.guessing - 0.3, 100 * figure.guessing + 0.3), (y - 0.22, y + 0.22), "guessing"
            )
        for number, share, at in ((2, figure.raw, y + 0.12), (1, figure.published, y - 0.12)):
            if isinstance(share, Proportion):
                span = (100 * share.low, 100 * share.high)
                panel.box(span, (at - 0.04, at + 0.04), f"whisker{number}", least=2)
                panel.dot(100 * share.value, at, f"dot{number}", 4.4)
    return panel.svg("How often attacks succeed on the raw data and on the published file.")


def cliff(points: Sequence[tuple[str, Measure]], axis: str, achieved: str, description: str) -> str:
    """How often something is achieved as the attacker knows more: raw data and the file, with intervals."""
    panel = Panel(
        (-0.25, len(points) - 0.75),
        (0, 104),
        height=270,
        legend=(("series2", "raw data"), ("series1", "published")),
    )
    panel.y_axis([(float(y), f"{y}") for y in range(0, 101, 25)], f"% {achieved}")
    panel.x_axis([(float(i), name) for i, (name, _) in enumerate(points)], axis, grid=False)
    for number, side in ((2, "raw"), (1, "published")):
        shares = [(float(i), getattr(figure, side)) for i, (_, figure) in enumerate(points)]
        known = [(x, share) for x, share in shares if isinstance(share, Proportion)]
        panel.line([x for x, _ in known], [100 * share.value for _, share in known], f"series{number}")
        for x, share in known:
            span = (100 * share.low, 100 * share.high)
            panel.box((x, x), span, f"whisker{number}", least=2)
            panel.dot(x, 100 * share.value, f"dot{number}", 3.4)
    return panel.svg(description)


def crowd_limits(crowds: tuple[Crowd, Crowd]) -> list[float]:
    """What divides the shades of people, from the weakest: 1, 3, 10, 30, ... up to the most people in a square."""
    limits = [10.0**power * factor for power in range(-2, 7) for factor in (1, 3)]
    most = max((float(each.people.max(initial=0.0)) for each in crowds), default=0.0)
    below = [limit for limit in limits if limit < most]
    return below[-(SHADES - 1) :]


def crowd(
    crowds: tuple[Crowd, Crowd],
    side: float,
    across: tuple[int, int],
    which: int,
    description: str,
    sites: Points = (),
) -> str:
    """People in squares, in shades that are the same for both sides."""
    limits = crowd_limits(crowds)
    panel = _map_panel(side * across[0], side * across[1], side, height=400)
    for i, j, people in zip(*(column.tolist() for column in crowds[which]), strict=True):
        shade = int(np.searchsorted(limits, people, side="right"))
        panel.box((i * side, (i + 1) * side), (j * side, (j + 1) * side), f"shade{shade}")
    _draw_sites(panel, sites)
    return panel.svg(description)


def _draw_sites(panel: Panel, sites: Points) -> None:
    for x, y in sites:
        panel.dot(x, y, "site", 1.4)


def _map_panel(width: float, height_km: float, side: float, *, height: int) -> Panel:
    """An empty map of so many km: one scale both ways, axes in km, a bar beside which the size of squares stands."""
    panel = Panel((0, 1), (0, 1), height=height, rows_above=1)
    unit = 1.04 * max(width / panel.inner_width, height_km / panel.inner_height)
    half_x, half_y = unit * panel.inner_width / 2, unit * panel.inner_height / 2
    panel.x_range = (width / 2 - half_x, width / 2 + half_x)
    panel.y_range = (height_km / 2 - half_y, height_km / 2 + half_y)
    panel.y_axis(round_ticks(*panel.y_range), "km, south to north")
    panel.x_axis(round_ticks(*panel.x_range), "km, west to east")
    (first, _), (second, _), *_ = round_ticks(*panel.x_range)
    panel.scale_bar(second - first, f"squares of {side:g} km; {second - first:g} km")
    return panel


def distributions(radii: tuple[Floats, Floats]) -> str:
    """Cumulative distributions of the radius of gyration, raw (where it may be shown) and published."""
    lines = [
        (css, name, each)
        for css, name, each in zip(("series2", "series1"), ("raw data", "published"), radii, strict=True)
        if len(each)
    ]
    top = max(float(each[int(0.97 * len(each))]) for *_, each in lines) or 1.0
    panel = Panel((0, top), (0, 104), height=270, legend=[(css, name) for css, name, _ in lines])
    panel.y_axis([(float(y), f"{y}") for y in range(0, 101, 25)], "% of people, at most")
    panel.x_axis(round_ticks(0, top), "radius of gyration, km", grid=False)
    for css, _, each in lines:
        inside = each <= top
        panel.line(each[inside].tolist(), np.linspace(0, 100, len(each))[inside].tolist(), css)
    sides = " and ".join(name.removesuffix(" data") for _, name, _ in lines)
    return panel.svg(f"How far people move about: radius of gyration, {sides}.")


def strongest_flows(
    trips: tuple[Floats, Floats], ends: Sequence[tuple[FlowEnd, FlowEnd]], side: float
) -> str:
    """Trips of the strongest flows, raw and as the boxes tell them, each named by its squares on the maps."""
    n, top = len(trips[0]), float(max(each.max(initial=1.0) for each in trips)) * 1.08
    rows = [
        (n - i - 0.5, f"{_square_name(origin, side)} → {_square_name(destination, side)}")
        for i, (origin, destination) in enumerate(ends)
    ]
    panel = Panel(
        (0, top),
        (0, n),
        height=60 + _FLOW_ROW * n,
        left=left_of(rows),
        legend=(("strip raw-bar", "raw data"), ("strip told-bar", "published")),
    )
    panel.x_axis(round_ticks(0, top, 5), "trips")
    panel.y_axis(rows, "from square → to square", grid=False)
    for i, (y, _) in enumerate(rows):
        panel.box((0, float(trips[0][i])), (y + 0.02, y + 0.36), "raw-bar")
        panel.box((0, float(trips[1][i])), (y - 0.36, y - 0.02), "told-bar")
    return panel.svg("Trips of the strongest flows, raw and published.")


def _square_name(square: FlowEnd, side: float) -> str:
    """A square by its south-west corner, in km as on the maps."""
    return "outside" if square is None else f"{square[0] * side:g} | {square[1] * side:g}"
