"""Figures of a sweep: ready for a paper, as SVG and PNG, the same bytes every time."""

from __future__ import annotations

import math
import os
import re
import struct
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from shoal.core.evaluation_options import AXES, SweepOptions
from shoal.core.promise import Grid
from shoal.evaluate.measuring import Hour, Measured
from shoal.evaluate.sweep import Sweep
from shoal.evaluate.sweep_points import Point, plan_sweep
from shoal.reporting.figures import matplotlib_style
from shoal.reporting.figures.matplotlib_style import SERIES, house_style
from shoal.reporting.figures.sweep import draw_sweep, write_sweep

SELECTORS = ("matching", "spectral", "mutual")
ONE_POINT = {"taus": ("30min",), "ks": (2,), "epsilons": ("30min",)}
DENSE = {"taus": [f"{minutes}min" for minutes in range(10, 240, 10)], "ks": range(2, 40)}
PRECISION = ("median", "mean", "quartiles")
LONGER_SIDE = tuple(f"longer_side_km_{which}" for which in ("mean", "q25", "median", "q75"))
WORDS = {
    "tau-space": ("longer side of a box, km", "10 min", "20 min", "30 min", "1 h", "2 h", "4 h", *PRECISION),
    "tau-time": ("τ = ε (k = 2)", "time, min", *PRECISION),
    "tau-suppressed": ("τ = ε (k = 2)", "suppressed samples, %"),
    "k-space": ("k (τ = ε = 30 min)", "longer side of a box, km", "2", "3", "5", "8", *PRECISION),
    "k-time": ("k (τ = ε = 30 min)", "time, min", *PRECISION),
    "k-suppressed": ("k (τ = ε = 30 min)", "suppressed samples, %"),
    "epsilon-space": ("ε (k = 2, τ = 30 min)", "10 min", "15 min", "30 min", *PRECISION),
    "epsilon-time": ("ε (k = 2, τ = 30 min)", "time, min", *PRECISION),
    "epsilon-suppressed": ("ε (k = 2, τ = 30 min)", "suppressed samples, %"),
    "hours-space": ("hour of the week (k = 2, τ = ε = 30 min)", "mean longer side, km",
                    "Monday", "Wednesday", "6", "12", "18"),
    "hours-time": ("mean time, min", "Monday", "night (22:00 to 6:00)"),
    "hours-suppressed": ("suppressed samples, %", "Monday", "night (22:00 to 6:00)"),
}  # fmt: skip


def level_of(point: Point) -> int:
    return int(point.selector == "matching" and point.tau <= 2 * point.epsilon)


def measured(point: Point, scale: float) -> Measured:
    cost = scale * (1 + point.k) * math.sqrt(point.tau + point.epsilon)
    return Measured(
        point.selector, point.k, point.tau, point.epsilon, level_of(point), 1, 100, 0.05 * scale,
        cost, 0.5 * cost, 0.8 * cost, 1.2 * cost, 1.8 * cost, 0.9 * cost, 1.4 * cost, 2.1 * cost,
        2 * cost, cost, 1.5 * cost, 2.5 * cost, 7.0, 0.0, 1.0,
    )  # fmt: skip


def hours_of(selector: str, scale: float, days: int = 3) -> list[Hour]:
    """Monday's first hour has no samples; of those after it nothing is published; one later hour stands alone."""
    level = int(selector == "matching")
    return [
        Hour(selector, level, hour, 10, 0, 1.0, math.nan, math.nan, math.nan)
        if hour in (1, 2, 30, 32)
        else Hour(
            selector,
            level,
            hour,
            10,
            5,
            0.1 * scale,
            *(scale * each for each in (2 + hour % 24, 3 + hour % 24, 1 + hour % 5)),
        )
        for hour in range(1, 24 * days)
    ]


def some_sweep(
    selectors: tuple[str, ...] = SELECTORS, over: tuple[str, ...] = AXES, **values: object
) -> Sweep:
    usual = SweepOptions()
    wishes = {"taus": usual.taus, "ks": usual.ks, "epsilons": None} | values
    plan = plan_sweep(over, selectors=selectors, k=2, tau="30min", grid=Grid(), **wishes)
    scales = {name: 1 + number for number, name in enumerate(selectors)}
    hours = [hour for name in selectors for hour in hours_of(name, scales[name])] if "hours" in over else []
    return Sweep(plan, {point: measured(point, scales[point.selector]) for point in plan.points}, hours, [])


def words_in(svg: Path) -> set[str]:
    """Letters are shapes; matplotlib says in comments which ones."""
    comments = re.findall(r"<!--(.*?)-->", svg.read_text(encoding="utf-8"), re.DOTALL)
    return {" ".join(comment.split()) for comment in comments}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("figures") / "out"
    written = write_sweep(some_sweep(), target)
    assert sorted(written) == sorted(target.iterdir())
    return target


# ---- files --------------------------------------------------------------------------------------------------------


def test_every_figure_is_there_twice(folder: Path) -> None:
    assert {path.stem for path in folder.glob("*.svg")} == set(WORDS)
    assert {path.stem for path in folder.glob("*.png")} == set(WORDS)


@pytest.mark.parametrize("name", WORDS)
def test_svg(name: str, folder: Path) -> None:
    svg = folder / f"{name}.svg"
    text = svg.read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    (title,) = root.findall("{http://www.w3.org/2000/svg}title")
    assert title.text
    level = "0/1" if name.startswith("epsilon") else "1"
    assert {*WORDS[name], f"matching, level {level}", *SELECTORS[1:]} <= words_in(svg)
    assert not re.search(r"\b(nan|inf|None)\b", text)
    assert "<text" not in text
    for style in SERIES:
        assert style.colour in text


@pytest.mark.parametrize("name", WORDS)
def test_png(name: str, folder: Path) -> None:
    content = (folder / f"{name}.png").read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", content[16:24])
    inches = matplotlib_style.PAGE_IN if name.startswith("hours") else matplotlib_style.COLUMN_IN
    assert (width, height) == tuple(round(200 * side) for side in inches)
    per_metre = struct.unpack(">I", content[content.index(b"pHYs") + 4 :][:4])[0]
    assert per_metre == pytest.approx(200 / 0.0254, abs=1)


def test_same_bytes_every_time(folder: Path, tmp_path: Path) -> None:
    """Whatever a user has set, and after other figures were drawn."""
    with mpl.rc_context({"font.size": 20, "lines.linewidth": 9, "svg.fonttype": "none", "savefig.dpi": 50}):
        write_sweep(some_sweep(), tmp_path / "again")
        assert mpl.rcParams["font.size"] == 20
    for name in WORDS:
        for suffix in (".svg", ".png"):
            again = (tmp_path / "again" / f"{name}{suffix}").read_bytes()
            assert again == (folder / f"{name}{suffix}").read_bytes(), name
            assert not re.search(rb"matplotlib\.org|Matplotlib v|\b20\d\d-\d\d-\d\d", again), name


def test_nothing_is_said_and_no_screen_is_asked_for(tmp_path: Path) -> None:
    """Not even where matplotlib finds no place for its settings, as for users without a home."""
    no_folder = tmp_path / "file"
    no_folder.touch()
    script = "import sys, shoal.reporting.figures.sweep; print('matplotlib.pyplot' in sys.modules)"
    environment = {**os.environ, "MPLCONFIGDIR": str(no_folder), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("False\n", "")


# ---- what is drawn ------------------------------------------------------------------------------------------------


def draw(sweep: Sweep) -> dict[str, Figure]:
    with house_style():
        drawn = {name: plot.figure for name, plot in draw_sweep(sweep).items()}
        for figure in drawn.values():
            figure.draw_without_rendering()
        return drawn


def lines_of(figure: Figure, colour: str) -> list[Line2D]:
    """The series with markers, not the edges of bands."""
    lines = figure.axes[0].lines
    return [line for line in lines if line.get_color() == colour and line.get_marker() != "None"]


@pytest.fixture(scope="module")
def figures() -> dict[str, Figure]:
    return draw(some_sweep())


def test_numbers_are_those_of_the_sweep(figures: dict[str, Figure]) -> None:
    sweep = some_sweep()
    for number, selector in enumerate(SELECTORS):
        rows = [sweep.measured[point] for point in sweep.plan.by_axis["tau"] if point.selector == selector]
        mean, median = lines_of(figures["tau-time"], SERIES[number].colour)
        assert list(median.get_xdata()) == [10, 20, 30, 60, 120, 240]
        assert list(median.get_ydata()) == [row.time_min_median for row in rows]
        assert list(mean.get_ydata()) == [row.time_min_mean for row in rows]
        band = figures["tau-time"].axes[0].collections[number].get_paths()[0].vertices
        for row in rows:
            here = band[band[:, 0] == row.tau_min][:, 1]
            assert (here.min(), here.max()) == (row.time_min_q25, row.time_min_q75)
        (suppressed,) = lines_of(figures["k-suppressed"], SERIES[number].colour)
        assert set(suppressed.get_ydata()) == {100 * rows[0].suppressed_share}


def test_legends_tell_the_level_of_hardening(figures: dict[str, Figure]) -> None:
    def names(figure: str) -> list[str]:
        return [text.get_text() for text in figures[figure].legends[0].get_texts()]

    for figure in ("tau-space", "k-suppressed", "hours-time"):
        assert {"matching, level 1", "spectral", "mutual"} <= set(names(figure)), figure
    assert "matching, level 0/1" in names("epsilon-space")  # tau is 3 times the shortest epsilon


def test_selectors_are_told_apart_without_colour(figures: dict[str, Figure]) -> None:
    assert len({style.marker for style in SERIES}) == len({style.line for style in SERIES}) == len(SERIES)
    for name, figure in figures.items():
        for style in SERIES:
            for line in lines_of(figure, style.colour):
                assert (line.get_marker(), line.get_linestyle()) == (style.marker, style.line), name


def test_hours_without_boxes_are_gaps_but_their_suppression_is_told() -> None:
    figures = draw(some_sweep(("matching",), over=("hours",)))
    (space,) = lines_of(figures["hours-space"], SERIES[0].colour)
    values = space.get_ydata()
    assert [hour for hour in range(72) if math.isnan(values[hour])] == [0, 1, 2, 30, 32]
    assert values[31] == 2 + 31 % 24
    (suppressed,) = lines_of(figures["hours-suppressed"], SERIES[0].colour)
    assert math.isnan(suppressed.get_ydata()[0])
    assert suppressed.get_ydata()[1] == 100
    assert figures["hours-space"].axes[0].get_xlim() == (0, 72)  # days without samples are not drawn


def test_a_figure_that_is_shown_has_its_labels_in_it() -> None:
    """A notebook draws it in another style than ours: the ticks must be those that it was laid out for."""
    sweep = some_sweep(SELECTORS[:1], ("k",), ks=(2, 3))
    for scale in (0.05 * 1.13**power for power in range(10, 22)):
        rows = {
            point: row._replace(**{name: scale * getattr(row, name) for name in LONGER_SIDE})
            for point, row in sweep.measured.items()
        }
        figure = sweep._replace(measured=rows).plot()
        figure.draw_without_rendering()
        assert figure.axes[0].yaxis.label.get_window_extent().x0 >= 0, scale


@pytest.mark.parametrize("selectors", [SELECTORS[:1], SELECTORS])
@pytest.mark.parametrize("values", [{}, ONE_POINT, DENSE], ids=["usual", "one point", "dense"])
def test_nothing_is_clipped_and_no_labels_overlap(
    values: dict[str, object], selectors: tuple[str, ...]
) -> None:
    for name, figure in draw(some_sweep(selectors, **values)).items():
        (axes,), (legend,) = figure.axes, figure.legends
        texts = [axes.xaxis.label, axes.yaxis.label, *legend.get_texts(), *axes.get_xticklabels(which="both")]
        shown = [text for text in texts if text.get_text().strip()]
        assert len(shown) > 3, name
        for text in shown:
            box = text.get_window_extent()
            assert figure.bbox.x0 <= box.x0 <= box.x1 <= figure.bbox.x1, (name, text)
            assert figure.bbox.y0 <= box.y0 <= box.y1 <= figure.bbox.y1, (name, text)
        boxes = [text.get_window_extent() for text in shown]
        overlapping = [
            (shown[i].get_text(), shown[j].get_text())
            for i in range(len(boxes))
            for j in range(i)
            if boxes[i].overlaps(boxes[j])
        ]
        assert not overlapping, name


def test_one_point_of_three_selectors() -> None:
    for name, figure in draw(some_sweep(over=("tau", "k", "epsilon"), **ONE_POINT)).items():
        axes = figure.axes[0]
        low, high = axes.get_xlim()
        at = {line.get_xdata()[0] for style in SERIES for line in lines_of(figure, style.colour)}
        assert len(at) == 3, name
        assert low < min(at) < max(at) < high
        assert [label.get_text() for label in axes.get_xticklabels()] == ["2" if name[0] == "k" else "30 min"]


def test_nothing_suppressed_at_all() -> None:
    sweep = some_sweep(("matching",), over=("k",))
    none = {point: row._replace(suppressed_share=0.0) for point, row in sweep.measured.items()}
    assert draw(sweep._replace(measured=none))["k-suppressed"].axes[0].get_ylim() == (0, 1)
