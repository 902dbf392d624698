"""Figures in files, for papers: matplotlib's objects, without its global state and without a screen."""

# ruff: noqa: E402 (matplotlib speaks while it is imported: it must be silenced before)

from __future__ import annotations

import io
import logging
import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import IO, Any, Literal, NamedTuple

# A font cache that is built once, or a home that cannot be written, is nothing that a user of ours has to hear about.
logging.getLogger("matplotlib").setLevel(logging.ERROR)

import matplotlib.style
from matplotlib import rcParams
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.textpath import TextPath
from matplotlib.ticker import NullLocator

SUFFIXES = (".svg", ".png")
COLUMN_IN = (3.5, 2.6)  # width and height of a figure in one of two columns, in inches
PAGE_IN = (7.16, 2.4)  # across both
INK, SOFT, SHADE = "#1a1a1a", "#6b6b6b", "#eef0f4"
NIGHT_H = (2, 6)  # before and after midnight
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DPI = 200
_SCREEN_DPI = 130  # so that text of 8 points is read as easily as that around it
_MARGIN_IN = 0.03
_BAND_ALPHA = 0.16
_TEXT_PT = 8.0
_TICK_PT = 7.0
_AXIS_PT = 0.84 * 72 * COLUMN_IN[0]  # length of the axis below a column's figure, about
_BETWEEN_PT = 2.0  # least space between labels

_STYLE = {
    "axes.axisbelow": True,
    "axes.edgecolor": SOFT,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.labelcolor": INK,
    "axes.labelsize": _TEXT_PT,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same everywhere
    "font.size": _TEXT_PT,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "legend.columnspacing": 1.4,
    "legend.fontsize": _TEXT_PT,
    "legend.frameon": False,
    "legend.handlelength": 2.6,
    "svg.fonttype": "path",  # letters as shapes: they fit where they were laid out, whatever fonts a reader has
    "svg.hashsalt": "shoal",  # the same figure, the same bytes
    "text.color": INK,
    "xtick.color": SOFT,
    "xtick.labelcolor": INK,
    "xtick.labelsize": _TICK_PT,
    "ytick.color": SOFT,
    "ytick.labelcolor": INK,
    "ytick.labelsize": _TICK_PT,
}


class Series(NamedTuple):
    """How one series is told from the others: by colour, by marker and by line, so that any one of them suffices."""

    colour: str
    marker: str
    line: Literal["-", "--", "-."]


# Colours: Okabe and Ito, "Color universal design" (2008), of different lightness.
SERIES = (Series("#0072b2", "o", "-"), Series("#d55e00", "s", "--"), Series("#009e73", "^", "-."))


class Plot(NamedTuple):
    """A figure and its description for those who cannot see it."""

    figure: Figure
    description: str


def house_style() -> AbstractContextManager[None]:
    """Draw and save inside of it: our style over matplotlib's defaults, whatever a user has set."""
    return matplotlib.style.context(["default", _STYLE])


def lay_out(figure: Figure) -> None:
    """Give every text its place, once for all formats: a figure that does it itself does so twice for each of them."""
    ConstrainedLayoutEngine(h_pad=_MARGIN_IN, w_pad=_MARGIN_IN).execute(figure)


def keep_tick_sizes(figure: Figure) -> None:
    """Have a figure keep the size of its tick labels where it is drawn in another style than ours.

    How many ticks an axis gets goes by that size: with others than it was laid out for, a label may lie outside.
    """
    for axes in figure.axes:
        axes.tick_params(axis="x", labelsize=rcParams["xtick.labelsize"])
        axes.tick_params(axis="y", labelsize=rcParams["ytick.labelsize"])


def save(plot: Plot, suffix: str, file: IO[bytes]) -> None:
    """As SVG or PNG; no date, no version and no name of data in it."""
    nameless = {"Date": None, "Creator": None} if suffix == ".svg" else {"Software": None}
    plot.figure.savefig(
        file, format=suffix[1:], dpi=_DPI, facecolor="white", metadata={"Title": plot.description, **nameless}
    )


class ShownFigure(Figure):
    """A figure that a notebook shows at the end of a cell, although pyplot knows nothing of it."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        file = io.BytesIO()
        self.savefig(file, format="png", dpi=_DPI, facecolor="white")
        width, height = (round(_SCREEN_DPI * inches) for inches in self.get_size_inches())
        return file.getvalue(), {"width": width, "height": height}


def new_figure(size_in: tuple[float, float]) -> Figure:
    """An empty figure without axes."""
    return ShownFigure(figsize=size_in)


def new_plot(size_in: tuple[float, float]) -> tuple[Figure, Axes]:
    """An empty figure with one pair of axes."""
    figure = new_figure(size_in)
    return figure, figure.add_subplot()


def style_of(number: int) -> Series:
    """The style of the first, second, ... series; begins anew where there are more than can be told apart."""
    return SERIES[number % len(SERIES)]


# ---- what is drawn -------------------------------------------------------------------------------------------------


def line(axes: Axes, x: Sequence[float], y: Sequence[float], style: Series) -> None:
    """What matters most: thick, with filled markers."""
    _line(axes, x, y, style, linewidth=1.4, markersize=3.8)


def thin_line(axes: Axes, x: Sequence[float], y: Sequence[float], style: Series) -> None:
    """What stands beside it: thin, with open markers."""
    _line(axes, x, y, style, linewidth=0.6, markersize=3.6, markerfacecolor="white", markeredgewidth=0.7)


def fine_line(axes: Axes, x: Sequence[float], y: Sequence[float], style: Series) -> None:
    """Many points, with small markers, so that one between gaps is seen; gaps are NaN."""
    _line(axes, x, y, style, linewidth=0.9, markersize=1.8)


def _line(axes: Axes, x: Sequence[float], y: Sequence[float], style: Series, **how: Any) -> None:
    axes.plot(
        x, y, color=style.colour, marker=style.marker, linestyle=style.line, clip_on=False, zorder=3, **how
    )


def band(axes: Axes, x: Sequence[float], low: Sequence[float], high: Sequence[float], style: Series) -> None:
    """The area between two lines; that of a single point has some width, too."""
    if len(x) == 1:
        x, low, high = [x[0] / 1.06, x[0] * 1.06], [*low, *low], [*high, *high]
    axes.fill_between(x, low, high, color=style.colour, alpha=_BAND_ALPHA, linewidth=0)
    for edge in (low, high):
        axes.plot(x, edge, color=style.colour, alpha=0.5, linewidth=0.4, linestyle=style.line)


# ---- legends ------------------------------------------------------------------------------------------------------


def key(style: Series, name: str) -> Artist:
    """A series in a legend."""
    colour, marker, dashes = style
    return Line2D([], [], color=colour, marker=marker, linestyle=dashes, markersize=3.8, label=name)


def kinds() -> list[Artist]:
    """What thick lines, thin ones and bands are."""
    return [
        Line2D([], [], color=SOFT, linewidth=1.4, marker="o", markersize=3.8, label="median"),
        Line2D(
            [], [], color=SOFT, linewidth=0.6, marker="o", markersize=3.6, mfc="white", mew=0.7, label="mean"
        ),
        Patch(facecolor=SOFT, alpha=2 * _BAND_ALPHA, linewidth=0, label="quartiles"),
    ]


def night() -> Artist:
    """What the shade over days is."""
    before, after = NIGHT_H
    return Patch(
        facecolor=SHADE, edgecolor=SOFT, linewidth=0.3, label=f"night ({24 - before}:00 to {after}:00)"
    )


def legend_above(figure: Figure, *rows: Sequence[Artist]) -> None:
    """A legend above the axes, row by row."""
    columns = max(map(len, rows))
    blank = Line2D([], [], linestyle="none", label=" ")
    padded = [[*row, *[blank] * (columns - len(row))] for row in rows]
    by_column = [row[column] for column in range(columns) for row in padded]  # as matplotlib fills a legend
    figure.legend(handles=by_column, loc="outside upper center", ncols=columns, borderaxespad=0.2)


# ---- axes ---------------------------------------------------------------------------------------------------------


def log_axis(axes: Axes, at: Sequence[float], labels: Sequence[str], name: str) -> None:
    """A logarithmic axis with ticks at these positions, ascending; where labels would overlap, some are left out."""
    low, high = (at[0] / 1.08, at[-1] * 1.08) if len(at) > 1 else (at[0] / 2, at[0] * 2)
    axes.set_xscale("log", base=2)
    axes.set_xlim(low, high)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(at, _spaced(at, labels, (low, high)))
    axes.set_xlabel(name)


def _spaced(at: Sequence[float], labels: Sequence[str], ends: tuple[float, float]) -> list[str]:
    """The labels, empty where one would touch the last that is there."""
    shown: list[str] = []
    free_from = -math.inf
    for value, label in zip(at, labels, strict=True):
        middle = _AXIS_PT * math.log(value / ends[0]) / math.log(ends[1] / ends[0])
        half = TextPath((0, 0), label, size=_TICK_PT).get_extents().width / 2
        fits = middle - half >= free_from
        shown.append(label if fits else "")
        free_from = middle + half + _BETWEEN_PT if fits else free_from
    return shown


def from_zero(axes: Axes, name: str) -> None:
    """A vertical axis from nothing to a little above what is drawn."""
    top = max(axes.dataLim.y1, 0.0)
    axes.set_ylim(0.0, 1.06 * top if math.isfinite(top) and top > 0 else 1.0)
    axes.set_ylabel(name)


def day_axis(axes: Axes, first_day: int, last_day: int, name: str) -> None:
    """Hours of the week along whole days: each day's name, its hours, a thin line between days, nights shaded."""
    days = range(first_day, last_day + 1)
    begin, end = 24 * first_day, 24 * (last_day + 1)
    for midnight in range(begin, end + 1, 24):
        evening, morning = midnight - NIGHT_H[0], midnight + NIGHT_H[1]
        axes.axvspan(max(begin, evening), min(end, morning), color=SHADE, linewidth=0, zorder=0)
        axes.axvline(midnight, color=SOFT, linewidth=0.4, zorder=0.5)
    hours = [24 * day + hour for day in days for hour in (6, 12, 18)]
    axes.set_xticks(hours, [str(hour % 24) for hour in hours], minor=True)
    axes.set_xticks([24 * day + 12 for day in days], [_DAYS[day] for day in days])
    axes.tick_params(axis="x", which="minor", labelsize=_TICK_PT - 1)
    axes.tick_params(axis="x", which="major", length=0, pad=12)
    axes.xaxis.remove_overlapping_locs = False  # 12 stands above the day's name
    axes.set_xlim(begin, end)
    axes.set_xlabel(name)
