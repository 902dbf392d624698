"""The figures of the report, read back from what is drawn: values, and which series has which colour."""

from __future__ import annotations

import re

import numpy as np
import pytest

from reporting.figures.drawn import Drawn
from shoal.auditing.measures import Measure
from shoal.core.proportions import Proportion
from shoal.reporting.facts.precision import Area, Hourly, Square
from shoal.reporting.facts.usefulness import Crowd
from shoal.reporting.figures import release

RAW, PUBLISHED = "2", "1"  # the colours of the page


def attack(raw: float, published: float, guessing: float | None = None) -> Measure:
    """A figure with intervals of different widths."""
    return Measure(
        "attack",
        "",
        "success",
        Proportion(published, published - 0.04, published + 0.06, 100),
        Proportion(raw, raw - 0.02, raw + 0.03, 100),
        guessing,
    )


def test_the_bars_of_a_histogram_count_the_boxes() -> None:
    rng = np.random.default_rng(1)
    values = rng.integers(1, 80, 1000) * 0.2
    quartiles = {"median": float(np.median(values))}
    drawn = Drawn(release.precision_histogram(values, 0.2, quartiles, "longer side of a box, km", "km"))
    bars = drawn.boxes("bar")
    assert len(bars) > 10
    assert sum(bar.y1 for bar in bars) == pytest.approx(100, abs=0.8)
    for bar in bars[:-1]:
        meant = 100 * np.mean((values > bar.x0) & (values < bar.x1))
        assert bar.y1 - bar.y0 == pytest.approx(meant, abs=0.1)
    assert bars[-1].y1 == pytest.approx(100 * np.mean(values > bars[-1].x0), abs=0.1)


def test_medians_stand_over_their_hours() -> None:
    km = np.full(24, np.nan)
    km[[3, 4, 5, 20]] = 2.0, 8.0, 4.0, 6.0
    in_space, in_time = release.hours(Hourly(km, 10 * km), "Asia/Tokyo")
    for svg, factor in ((in_space, 1), (in_time, 10)):
        drawn = Drawn(svg)
        told = {round(drawn.x(x), 1): drawn.y(y) for x, y in drawn.dots("dot1")}
        lines = [line for line in drawn.root.iter("polyline") if line.get("class") == "series1"]
        for line in lines:
            for x, y in (point.split(",") for point in (line.get("points") or "").split()):
                told[round(drawn.x(float(x)), 1)] = drawn.y(float(y))
        meant = {3.5: 2.0 * factor, 4.5: 8.0 * factor, 5.5: 4.0 * factor, 20.5: 6.0 * factor}
        assert told == pytest.approx(meant, rel=0.02)
        assert "hour of the day, Asia/Tokyo" in svg


def test_squares_stand_where_they_are() -> None:
    """A region twice as wide as high, darker to the east: nothing is mirrored or turned."""
    squares = [Square(2.0 * i, 2.0 * j, 1.0 + i, 5, 3) for i in range(6) for j in range(3)]
    area = Area(2.0, 12.0, 6.0, squares)
    drawn = Drawn(release.area_map(area))
    found = {}
    for shade in range(release.SHADES):
        for box in drawn.boxes(f"shade{shade}"):
            assert (box.x1 - box.x0, box.y1 - box.y0) == pytest.approx((2, 2), abs=0.1)
            found[round(box.x0), round(box.y0)] = shade
    assert set(found) == {(2 * i, 2 * j) for i in range(6) for j in range(3)}
    limits = release.shade_limits(area)
    for (x, _), shade in found.items():
        assert shade == sum(limit <= 1.0 + x / 2 for limit in limits)


def test_each_side_of_a_crowd_has_its_own_map() -> None:
    raw = Crowd(np.array([0, 3]), np.array([0, 1]), np.array([5.0, 0.5]))
    told = Crowd(np.array([1]), np.array([2]), np.array([2.0]))
    places = []
    for which in (0, 1):
        drawn = Drawn(release.crowd((raw, told), 2.0, (4, 3), which, "People."))
        boxes = [box for shade in range(release.SHADES) for box in drawn.boxes(f"shade{shade}")]
        places.append({(round(box.x0 / 2), round(box.y0 / 2)) for box in boxes})
    assert places == [{(0, 0), (3, 1)}, {(1, 2)}]


@pytest.mark.parametrize(("across", "side"), [((25, 10), 2.0), ((5, 35), 5.0), ((5, 5), 1.0)])
def test_a_map_says_its_squares_and_its_bar_is_as_long_as_it_says(
    across: tuple[int, int], side: float
) -> None:
    one = Crowd(np.array([0, across[0] - 1]), np.array([0, across[1] - 1]), np.array([1.0, 2.0]))
    svg = release.crowd((one, one), side, across, 0, "People.")
    drawn = Drawn(svg)
    ((said, km),) = re.findall(r">squares of ([\d.]+) km; ([\d.]+) km<", svg)
    assert float(said) == side
    lines = [line for line in drawn.root.iter("line") if line.get("class") == "scale-bar"]
    bar = max(float(line.get("x2", "0")) - float(line.get("x1", "0")) for line in lines)
    assert drawn.x(bar) - drawn.x(0) == pytest.approx(float(km), rel=0.01)
    assert all(0 < float(line.get(end, "0")) < 480 for line in lines for end in ("x1", "x2"))
    boxes = [box for shade in range(release.SHADES) for box in drawn.boxes(f"shade{shade}")]
    inner = next(drawn.root.iter("svg")).find("svg")
    assert inner is not None
    x, y, width, height = (float(number) for number in inner.get("viewBox", "").split())
    for box in boxes:  # none is cut off at the border of the map
        assert drawn.x(x) <= box.x0 < box.x1 <= drawn.x(x + width)
        assert drawn.y(y + height) <= box.y0 < box.y1 <= drawn.y(y)


def test_sites_are_points_on_a_map() -> None:
    area = Area(2.0, 20.0, 10.0, [Square(0.0, 0.0, 1.0, 5, 3)])
    sites = [(1.5, 2.5), (19.0, 9.0)]
    drawn = Drawn(release.area_map(area, sites))
    assert [(drawn.x(x), drawn.y(y)) for x, y in drawn.dots("site")] == [
        pytest.approx(site, abs=0.1) for site in sites
    ]
    assert Drawn(release.area_map(area)).dots("site") == []


def test_flows_are_named_by_their_squares() -> None:
    trips = np.array([40.0, 10.0, 5.0]), np.array([4.0, 8.0, 0.0])
    ends = [((3, 4), (3, 5)), ((10, 0), (2, 7)), (None, (1, 1))]
    drawn = Drawn(release.strongest_flows(trips, ends, 2.0))
    names = ["6 | 8 → 6 | 10", "20 | 0 → 4 | 14", "outside → 2 | 2"]
    heights = [drawn.place(name)[1] - 4.5 for name in names]
    assert heights == sorted(heights)  # the strongest on top
    drawn._y = (0.0, 1.0)  # in drawing units
    for css, side in (("raw-bar", 0), ("told-bar", 1)):
        bars = drawn.boxes(css)
        assert [bar.x1 - bar.x0 for bar in bars] == pytest.approx(trips[side].tolist(), abs=0.2)
        for bar, height in zip(bars, heights, strict=True):
            assert abs((bar.y0 + bar.y1) / 2 - height) < 8


def test_attacks_have_the_colour_of_their_side() -> None:
    lines = [
        ("knows one interval", attack(0.9, 0.4, 0.1)),
        ("knows the method", attack(0.8, 0.3)),
        ("knows a place", attack(0.2, 0.6)),
    ]
    drawn = Drawn(release.before_and_after(lines))
    for number, (name, figure) in enumerate(lines):
        for side, share in ((RAW, figure.raw), (PUBLISHED, figure.published)):
            assert isinstance(share, Proportion)
            x, y = drawn.dots(f"dot{side}")[number]
            assert drawn.x(x) == pytest.approx(100 * share.value, abs=0.3)
            assert 4 < y - drawn.place(name)[1] < 24  # below its name, and above the next
            whisker = whiskers(drawn, side)[number]
            assert whisker[:2] == pytest.approx((100 * share.low, 100 * share.high), abs=0.3)
            assert whisker[2] == pytest.approx(y, abs=1)
    assert len(whiskers(drawn, RAW)) == len(whiskers(drawn, PUBLISHED)) == 3


def whiskers(drawn: Drawn, side: str) -> list[tuple[float, float, float]]:
    """From where to where lying intervals go, and at which height."""
    found = []
    for rect in drawn.root.iter("rect"):
        if rect.get("class") == f"whisker{side}":
            x, y, width, height = (float(rect.get(name, "0")) for name in ("x", "y", "width", "height"))
            found.append((drawn.x(x), drawn.x(x + width), y + height / 2))
    return found


def test_what_could_not_be_measured_is_not_drawn() -> None:
    figure = attack(0.9, 0.4)._replace(published="not checked: no key")
    drawn = Drawn(release.before_and_after([("knows one interval", figure)]))
    assert drawn.dots("dot1") == []
    assert whiskers(drawn, PUBLISHED) == []
    assert len(drawn.dots("dot2")) == 1


def test_the_cliff_has_a_curve_for_each_side() -> None:
    points = [("1", attack(0.5, 0.1)), ("2", attack(0.8, 0.3)), ("4", attack(0.95, 0.7))]
    drawn = Drawn(release.cliff(points, "samples known", "right record picked", "The cliff."))
    for side, values in ((RAW, (50, 80, 95)), (PUBLISHED, (10, 30, 70))):
        line = drawn.line(f"series{side}")
        assert [drawn.y(y) for _, y in line] == pytest.approx(values, abs=0.3)
        assert drawn.dots(f"dot{side}") == line
        for place, (x, _) in zip(("1", "2", "4"), line, strict=True):
            assert x == pytest.approx(drawn.place(place)[0], abs=0.1)
        low, high = (2, 3) if side == RAW else (4, 6)
        spans = drawn.boxes(f"whisker{side}")
        assert [span.y0 for span in spans] == pytest.approx([value - low for value in values], abs=0.3)
        assert [span.y1 for span in spans] == pytest.approx([value + high for value in values], abs=0.3)


@pytest.mark.parametrize("most", [0.0008, 0.02, 0.5, 1.0])
def test_bars_of_what_was_suppressed(most: float) -> None:
    shares = [most / 4, most, None, 0.0]
    svg = release.suppressed(shares, list("abcd"), "users", "Suppressed.")
    bars = [round(bar.y1 - bar.y0, 4) for bar in upright(Drawn(svg), "bar lost")]
    assert bars == pytest.approx([25 * most, 100 * most, 0], abs=0.01 * 100 * most)


def upright(drawn: Drawn, css: str) -> list:
    """Bars above an axis without numbers."""
    drawn._x = (0.0, 1.0)
    return drawn.boxes(css)


@pytest.mark.parametrize("most", [0.0008, 0.001, 0.02, 0.5, 1.0])
def test_labels_leave_room_for_the_name_of_the_axis(most: float) -> None:
    """On a phone a letter is about 8 units wide, and the name stands up to 20 units from the left."""
    drawn = Drawn(release.suppressed([most, most / 3], list("ab"), "users", "Suppressed."))
    labels = [text for text in drawn.root.iter("text") if text.get("text-anchor") == "end"]
    assert labels
    for label in labels:
        assert float(label.get("x", "0")) - 8 * len(label.text or "") >= 20
