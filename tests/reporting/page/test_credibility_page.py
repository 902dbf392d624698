"""The page of ``shoal credibility``, and what its figures are drawn with."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pyarrow as pa
import pytest

import shoal
from shoal.reporting.figures.credibility import FIGURES, REAL, SERIES, Dataset, draw_rhythm
from shoal.reporting.figures.svg import WIDTH, Panel, log_ticks
from shoal.reporting.page.credibility import credibility_page, figure_style
from shoal.synthetic.credibility.bands import TOPICS
from shoal.synthetic.credibility.verdict import Credibility

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def found() -> Credibility:
    return shoal.assess(shoal.make_city(150, 8, seed=1), real=shoal.make_city(120, 3, seed=2))


@pytest.fixture(scope="module")
def poor() -> Credibility:
    """A hundred users, each twice a day at one place: most curves have no points."""
    rows = [(f"u{user}", 1_704_067_200 + 43_200 * half) for user in range(100) for half in range(3)]
    users, times = zip(*rows, strict=True)
    return shoal.assess(pa.table({"user": users, "time": times, "x": [0.0] * 300, "y": [0.0] * 300}))


def test_page_is_self_contained(found: Credibility) -> None:
    html = credibility_page(found)
    assert html.lower().startswith("<!doctype html>")
    assert not re.search(
        r"https?:|//[a-z]|<script|<link|<iframe|@import|url\(|\bsrc=|\bhref=", html, re.IGNORECASE
    )
    assert "prefers-color-scheme: dark" in html
    assert 'name="viewport"' in html
    assert not re.search(r"\b(nan|inf|None)\b", re.sub(r"<style>.*</style>", "", html, flags=re.DOTALL))


def test_page_tells_everything(found: Credibility) -> None:
    html = credibility_page(found, real_name="some real people")
    for topic in TOPICS:
        assert f"<h2>{topic.title}</h2>" in html
    for check in found.checks:
        assert html.count(f"<td>{check.band.title}</td>") == 2
        assert check.band.low == pytest.approx(float(f"{check.band.low:.3g}"))
    n_outside = sum(check.outside for check in found.checks)
    assert html.count('class="outside">outside') == 2 * n_outside
    assert html.count("some real people") > len(TOPICS)
    assert "some real people" not in credibility_page(
        Credibility(found.measures, found.checks, None, []), real_name="some real people"
    )


@pytest.mark.parametrize("topic", [*FIGURES, "weekend"])
@pytest.mark.parametrize("kind", ["found", "poor"])
def test_figures_are_drawn_inside_their_frame(topic: str, kind: str, request: pytest.FixtureRequest) -> None:
    found: Credibility = request.getfixturevalue(kind)
    datasets = [Dataset("these", SERIES[0], found.measures)]
    if found.real is not None:
        datasets.append(Dataset("those", REAL, found.real))
    figure = draw_rhythm(datasets, weekend=True) if topic == "weekend" else FIGURES[topic](datasets)
    text = figure.panel.svg_file(figure.description, figure_style())
    assert not re.search(r"\b(nan|inf|None)\b", text)
    root = ElementTree.fromstring(text)
    assert figure.description in [title.text for title in root.iter(f"{SVG}title")]
    for line in root.iter(f"{SVG}polyline"):
        for x in re.findall(r"([-\d.]+),", line.get("points", "")):
            assert (
                -1e-6 <= float(x) - figure.panel.left <= figure.panel.inner_width + 0.1
                or line.get("class") == "law"
            )
    for words in root.iter(f"{SVG}text"):
        if words.get("x"):
            assert 0 <= float(words.get("x", "")) <= WIDTH
            assert 0 <= float(words.get("y", "")) <= figure.panel.height


def test_logarithmic_axes() -> None:
    panel = Panel((1, 1000), (0.01, 100), log_x=True, log_y=True)
    assert panel.x(10) - panel.x(1) == pytest.approx(panel.inner_width / 3)
    assert panel.x(1000) - panel.x(100) == pytest.approx(panel.inner_width / 3)
    assert panel.y(1) == pytest.approx((panel.y(0.01) + panel.y(100)) / 2)


def test_points_that_a_logarithm_does_not_have_are_left_out() -> None:
    panel = Panel((1, 10), (1, 10), log_x=True, log_y=True)
    panel.line([0, 1, 10, 5], [1, 1, 10, 0], "law")
    (points,) = re.findall(r'polyline class="law" points="([^"]*)"', panel.svg("a line"))
    assert points == f"{panel.x(1):.1f},{panel.y(1):.1f} {panel.x(10):.1f},{panel.y(10):.1f}"


def test_ticks_at_powers_of_ten() -> None:
    assert log_ticks(0.05, 200) == [(0.1, "0.1"), (1.0, "1"), (10.0, "10"), (100.0, "100")]
    assert [label for _, label in log_ticks(1e-6, 1)] == ["10⁻⁶", "10⁻⁵", "10⁻⁴", "0.001", "0.01", "0.1", "1"]
    assert [label for _, label in log_ticks(1e-9, 1e9)] == [
        "10⁻⁹",
        "10⁻⁶",
        "0.001",
        "1",
        "1,000",
        "10⁶",
        "10⁹",
    ]
    assert log_ticks(2, 5) == []


def test_a_long_legend_takes_several_rows_above_the_axes() -> None:
    bare, long = Panel((0, 1), (0, 1)), Panel((0, 1), (0, 1), legend=[("series1", "a" * 30)] * 3)
    assert long.height - bare.height == long.top - bare.top > 40
    assert long.inner_height == bare.inner_height
    assert long.svg("").count('class="legend"') == 3
