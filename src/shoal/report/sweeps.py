"""A sweep as figures and tables in a folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from shoal.atomic import AtomicFiles
from shoal.evaluate.measuring import WEEK_H, Measured
from shoal.evaluate.points import EPSILON, HOURS, TAU, K
from shoal.evaluate.sweep import Sweep
from shoal.report.credibility import figure_style
from shoal.report.curves import SERIES, Figure
from shoal.report.drawing import Panel, Ticks, round_ticks
from shoal.wording import duration

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_QUARTILES = tuple(f"quartiles{number}" for number in (1, 2))
_NAMES = {TAU: "tau = epsilon", K: "k", EPSILON: "epsilon"}
_LEFT = 54


def write_sweep(sweep: Sweep, folder: Path) -> list[Path]:
    """All files of a sweep: numbers as Parquet and CSV, figures as SVG; together or not at all."""
    tables = {"sweep": sweep.to_arrow()}
    if sweep.hours:
        tables["hours"] = sweep.hours_to_arrow()
    figures = draw_sweep(sweep)
    folder.mkdir(exist_ok=True)
    with AtomicFiles() as files:
        for name, table in tables.items():
            with files.open(folder / f"{name}.parquet") as file:
                pa.parquet.write_table(table, file)
            with files.open(folder / f"{name}.csv") as file:
                pa.csv.write_csv(table, file)
        for name, figure in figures.items():
            with files.open(folder / f"{name}.svg") as file:
                file.write(figure.panel.svg_file(figure.description, figure_style()).encode())
    return [
        *(folder / f"{name}{suffix}" for name in tables for suffix in (".parquet", ".csv")),
        *(folder / f"{name}.svg" for name in figures),
    ]


def draw_sweep(sweep: Sweep) -> dict[str, Figure]:
    """Space, time and suppression over each axis."""
    figures: dict[str, Figure] = {}
    for axis in sweep.plan.by_axis:
        if axis == HOURS:
            figures |= _draw_hours(sweep)
        else:
            for quantity, draw in _QUANTITIES.items():
                figures[f"{axis}-{quantity}"] = draw(sweep, axis)
    return figures


def _draw_space(sweep: Sweep, axis: str) -> Figure:
    return _draw_precision(sweep, axis, "space_km", "space (x span + y span), km")


def _draw_time(sweep: Sweep, axis: str) -> Figure:
    return _draw_precision(sweep, axis, "time_min", "time, min")


def _draw_precision(sweep: Sweep, axis: str, column: str, title: str) -> Figure:
    """The median as a line, the quartiles as an area around it."""
    series = _series(sweep, axis)
    top = max(getattr(row, f"{column}_q75") for rows in series.values() for row in rows)
    legend = [
        entry
        for number, name in enumerate(series)
        for entry in ((SERIES[number], f"{name}, median"), (_QUARTILES[number], "quartiles"))
    ]
    panel = _panel(series, axis, (0.0, 1.08 * top or 1.0), legend)
    for number, rows in enumerate(series.values()):
        at = [_position(row, axis) for row in rows]
        low, middle, high = (
            [getattr(row, f"{column}_{q}") for row in rows] for q in ("q25", "median", "q75")
        )
        panel.area([*at, *reversed(at)], [*low, *reversed(high)], _QUARTILES[number])
        panel.line(at, middle, SERIES[number])
    panel.y_axis(round_ticks(*panel.y_range), title)
    return Figure(panel, f"Median and quartiles of the precision in {title} over {_NAMES[axis]}.")


def _draw_suppressed(sweep: Sweep, axis: str) -> Figure:
    series = _series(sweep, axis)
    top = max(row.suppressed_share for rows in series.values() for row in rows)
    legend = [(SERIES[number], name) for number, name in enumerate(series)]
    panel = _panel(series, axis, (0.0, 108 * top or 1.0), legend)
    for number, rows in enumerate(series.values()):
        panel.line(
            [_position(row, axis) for row in rows],
            [100 * row.suppressed_share for row in rows],
            SERIES[number],
        )
    panel.y_axis(round_ticks(*panel.y_range), "suppressed samples, %")
    return Figure(panel, f"Share of the samples that are suppressed, over {_NAMES[axis]}.")


_QUANTITIES: dict[str, Callable[[Sweep, str], Figure]] = {
    "space": _draw_space,
    "time": _draw_time,
    "suppressed": _draw_suppressed,
}


def _draw_hours(sweep: Sweep) -> dict[str, Figure]:
    """The hours of a week, as means."""
    titles = {
        "space_km_mean": ("space", "mean space (x span + y span), km", 1.0),
        "time_min_mean": ("time", "mean time, min", 1.0),
        "suppressed_share": ("suppressed", "suppressed samples, %", 100.0),
    }
    selectors = list(dict.fromkeys(row.selector for row in sweep.hours))
    figures = {}
    for column, (name, title, factor) in titles.items():
        values = [factor * getattr(row, column) for row in sweep.hours]
        top = max((value for value in values if value == value), default=0.0)
        panel = Panel(
            (0, WEEK_H),
            (0.0, 1.08 * top or 1.0),
            left=_LEFT,
            legend=[(SERIES[number], selector) for number, selector in enumerate(selectors)],
        )
        for number, selector in enumerate(selectors):
            rows = [row for row in sweep.hours if row.selector == selector and row.n_boxes]
            panel.line(
                [row.hour_of_week + 0.5 for row in rows],
                [factor * getattr(row, column) for row in rows],
                SERIES[number],
            )
        panel.x_axis([(24.0 * number, day) for number, day in enumerate(_DAYS)], "hour of the week")
        panel.y_axis(round_ticks(*panel.y_range), title)
        figures[f"hours-{name}"] = Figure(panel, f"{title}, over the hours of a week.")
    return figures


def _series(sweep: Sweep, axis: str) -> dict[str, list[Measured]]:
    """The rows of an axis by selector, in order."""
    series: dict[str, list[Measured]] = {}
    for point in sweep.plan.by_axis[axis]:
        series.setdefault(point.selector, []).append(sweep.measured[point])
    return series


def _position(row: Measured, axis: str) -> float:
    return {TAU: row.tau_min, K: float(row.k), EPSILON: row.epsilon_min}[axis]


def _panel(
    series: dict[str, list[Measured]],
    axis: str,
    y_range: tuple[float, float],
    legend: Sequence[tuple[str, str]],
) -> Panel:
    at = sorted({_position(row, axis) for rows in series.values() for row in rows})
    low, high = at[0] / 1.1, at[-1] * 1.1
    panel = Panel((low, high), y_range, left=_LEFT, log_x=True, legend=legend)
    panel.x_axis(_axis_ticks(at, axis), _NAMES[axis])
    return panel


def _axis_ticks(at: Sequence[float], axis: str) -> Ticks:
    if axis == K:
        return [(value, f"{value:.0f}") for value in at]
    return [(value, duration(round(60 * value))) for value in at]
