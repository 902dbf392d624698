"""What a notebook shows of a result: a verdict, tables and a small figure, in light and dark, and nothing else."""

from __future__ import annotations

import colorsys
import dataclasses
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

import shoal
from reporting.page.browser import Page, open_browser
from shoal.auditing.attack_names import named_figures
from shoal.auditing.exposures import active_times
from shoal.auditing.rating import Rating
from shoal.core.formatting import percent, short
from shoal.errors import ParameterError
from support.run_command import city, shrink_boxes

HALF_HOURS: dict[str, Any] = {"k": 2, "tau": "30min", "epsilon": "30min"}
VOID = {"meta", "br", "hr", "img", "input", "link"}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    events = city(users=120)
    output = tmp_path_factory.mktemp("notebook") / "out.parquet"
    published = shoal.anonymize(events, **HALF_HOURS)
    published.write(output)
    broken = shrink_boxes(output, output.with_name("broken.parquet"), most=60)
    return {
        "published": published,
        "unverified": shoal.anonymize(events, k=3, whole=True, verify=False),
        "audit": shoal.audit(events, published, key=published.key(), attacks=60),
        "broken": shoal.audit(events, broken, attacks=60, **HALF_HOURS),
        "plan": shoal.plan(events, ks=[2, 3], taus=["30min", "1h"]),
        "one point": shoal.plan(events, ks=[2], taus=["30min"]),
        "sweep": shoal.sweep(
            events,
            over=["tau", "k", "hours"],
            taus=["30min", "1h"],
            ks=[2, 3],
            selectors=["matching", "mutual"],
        ),
        "compare": shoal.compare(events, ks=[2], tuples=3, whole_users=20),
        "credibility": shoal.assess(events),
        "check": shoal.check(events),
        "no users": shoal.check(events.drop_columns("user")),
    }


class Cells(HTMLParser):
    """Rows of all tables, chips, list items, figures; and whether every element that is opened is closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.chips: list[str] = []
        self.notes: list[str] = []
        self.open: list[str] = []
        self.tags: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            assert not name.startswith("on"), name
            assert name not in ("src", "href"), (tag, value)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag == "span":
            self.chips.append("")
        if tag == "li":
            self.notes.append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data
        if "span" in self.open:
            self.chips[-1] += data
        if "li" in self.open:
            self.notes[-1] += data


def cells(result: Any) -> Cells:
    return Cells(result._repr_html_())


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ").strip()


def test_cards_are_whole_elements_that_load_nothing(results: dict[str, Any]) -> None:
    for name, result in results.items():
        html = result._repr_html_()
        found = Cells(html)
        assert not {"script", "iframe", "img", "link"} & set(found.tags), name
        assert "http" not in html.replace("http://www.w3.org", ""), name
        assert len(html) < 40_000, name
        rules = re.search(r"<style>(.*?)</style>", html, re.DOTALL)
        assert rules is not None
        selectors = [part for block in re.findall(r"([^{}]+)\{", rules[1]) for part in block.split(",")]
        assert all(
            part.strip().startswith(".shoal-result") for part in selectors
        )  # no other cell changes its look


def test_a_release(results: dict[str, Any]) -> None:
    published = results["published"]
    found = cells(published)
    told = {row[0]: plain(row[1]) for row in found.rows}
    space = published.manifest["granularity"]["longer_side_km"]
    assert found.chips == ["verified"]
    assert told["Promise"] == "k = 2, tau = 30 min, epsilon = 30 min"
    assert told["Space (longer side)"].startswith(f"median {short(space['median'])} km, half of the boxes")
    assert "svg" in found.tags
    assert cells(results["unverified"]).chips == ["not verified"]
    assert any("group of 3" in note for note in cells(results["unverified"]).notes)


def test_exact_counts_of_few_people_are_not_shown() -> None:
    """What the manifest keeps back, a notebook that is sent around keeps back as well."""
    published = shoal.anonymize(city(users=120), k=3, tau="2h", epsilon="30min")
    exact, told = (
        published.summary["suppressed_samples"],
        published.manifest["suppression"]["share_of_samples"],
    )
    assert exact > 0
    rows = {row[0]: plain(row[1]) for row in cells(published).rows}
    assert rows["Suppressed"].startswith(told if isinstance(told, str) else percent(told))
    assert str(exact) not in rows["Suppressed"]


def test_a_first_look(results: dict[str, Any]) -> None:
    found = cells(results["check"])
    told = {row[0]: plain(row[1]) for row in found.rows}
    assert found.chips[0] == "usable"
    assert told["Users"].startswith("120, with")
    assert told["Columns"] == "user: user, time: time, lat: lat, lon: lon"
    assert [plain(note) for note in found.notes] == [plain(call) for call in results["check"].next]
    assert found.notes[1].startswith("shoal.anonymize(events, k=2")
    assert ["user", "time", "lat", "lon", "read as"] in found.rows
    unusable = cells(results["no users"])
    assert unusable.chips == ["not usable", "problem"]
    assert any("columns={'user': ...}" in row[1] for row in unusable.rows if len(row) == 2)
    assert unusable.notes == ["shoal.check(events, columns={'user': 'NAME'})"]


def texts_of(figure: Figure) -> list[Text]:
    """Every text that is drawn; matplotlib keeps labels of ticks beyond an axis, which are not."""
    texts = [text for legend in figure.legends for text in legend.get_texts()]
    for axes in figure.axes:
        texts += [axes.xaxis.label, axes.yaxis.label, *axes.texts]
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            texts += [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    return [text for text in texts if text.get_visible() and text.get_text()]


def inside(figure: Figure) -> bool:
    """Whether every text of a figure lies in it."""
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in texts_of(figure)]
    width, height = figure.bbox.width, figure.bbox.height
    assert len(boxes) > 5
    return all(box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height for box in boxes)


def test_no_label_of_a_figure_is_cut_off(results: dict[str, Any]) -> None:
    sweep = results["sweep"]
    drawn = {
        "published": results["published"].plot(),
        "plan": results["plan"].plot(),
        "one point": results["one point"].plot(),
        **{
            f"{over} {what}": sweep.plot(over=over, what=what)
            for over in ("tau", "k", "hours")
            for what in ("space", "time", "suppressed")
        },
    }
    assert [name for name, figure in drawn.items() if not inside(figure)] == []


def test_colours_are_those_that_a_caption_names(results: dict[str, Any]) -> None:
    html = results["audit"]._repr_html_()
    caption = re.search(r"<figcaption>(.*?)</figcaption>", html)
    assert caption is not None
    named = re.search(r"raw data \((\w+)\), the file \((\w+)\)", caption[1])
    assert named is not None
    hue = {"orange": (0.02, 0.12), "blue": (0.53, 0.63)}
    for number, name in ((2, named[1]), (1, named[2])):  # before_and_after() draws raw data as dot2
        colour = re.search(rf"\.dot{number}[ ,][^}}]*?fill: #(\w{{6}})", html)
        assert colour is not None
        parts = [int(colour[1][place : place + 2], 16) / 255 for place in (0, 2, 4)]
        low, high = hue[name]
        assert low < colorsys.rgb_to_hsv(*parts)[0] < high, (number, name)


def test_the_figure_shows_what_the_sentence_tells(results: dict[str, Any]) -> None:
    """Of all epochs and of exact times the exposure tells the worse; so does the figure."""
    audit = results["audit"]
    (said,) = [each for each in named_figures(audit) if each[1] is active_times(audit)]
    assert said[0].words in audit._repr_html_().replace("\N{NO-BREAK SPACE}", " ")
    lower = [
        each._replace(published=each.published._replace(value=0.5))
        if (each.attack, each.variant) == ("times", "all") and not isinstance(each.published, str)
        else each
        for each in audit.figures
    ]
    other = dataclasses.replace(audit, figures=lower)
    assert active_times(other).variant != active_times(audit).variant
    (said,) = [each for each in named_figures(other) if each[1] is active_times(other)]
    assert said[0].words in other._repr_html_().replace("\N{NO-BREAK SPACE}", " ")


def test_an_audit(results: dict[str, Any]) -> None:
    audit = results["audit"]
    found = cells(audit)
    states = [str(judged.state) for judged in audit.guarantees]
    ratings = [str(exposure.rating) for exposure in audit.verdict.exposures]
    assert found.chips == ["kept", f"risk {audit.verdict.rating}", *states, *ratings]
    assert [plain(row[1]) for row in found.rows[3:]] == [each.sentence for each in audit.verdict.exposures]
    assert audit.verdict.rating is Rating.HIGH
    assert "shoal-bad" in audit._repr_html_()
    assert "rename_every" in " ".join(found.notes)


def test_a_broken_promise_looks_like_one(results: dict[str, Any]) -> None:
    html = results["broken"]._repr_html_()
    assert "BROKEN" in html
    assert cells(results["broken"]).chips[0] == "not kept"
    assert 'shoal-chip shoal-bad">not kept' in html


def test_a_plan(results: dict[str, Any]) -> None:
    plan = results["plan"]
    found = cells(plan)
    head, *rows = found.rows
    assert head[:3] == ["k", "tau", "epsilon"]
    for row, forecast in zip(rows, plan.forecasts, strict=False):
        assert [row[0], plain(row[3])] == [str(forecast.k), short(forecast.longer_side_km_median)]
    assert "svg" in found.tags
    assert "svg" not in cells(results["one point"]).tags  # a point is no curve


def test_a_sweep(results: dict[str, Any]) -> None:
    found = cells(results["sweep"])
    assert [row[:3] for row in found.rows[1:]] == [
        [row.selector, str(row.harden), str(row.k)] for row in results["sweep"].measured.values()
    ]
    assert results["sweep"]._repr_html_().count("<figure>") == 2


def test_a_comparison_and_credibility(results: dict[str, Any]) -> None:
    compared = cells(results["compare"])
    assert [row[0] for row in compared.rows if row[0] != "method"] == [
        row.method for row in results["compare"].rows
    ]
    found = results["credibility"]
    assert [row[0] for row in cells(found).rows[1:]] == [check.band.title for check in found.checks]


def test_nothing_left_is_no_figure(results: dict[str, Any]) -> None:
    """A point of which nothing would be left has no precision."""
    plan = results["plan"]
    nothing = plan.forecasts[0]._replace(
        n_boxes=0, longer_side_km_median=float("nan"), time_min_median=float("nan"), suppressed_share=1.0
    )
    empty = plan._replace(forecasts=[nothing] * 2)
    assert [row[3] for row in cells(empty).rows[1:3]] == ["-", "-"]
    assert "nan" not in empty._repr_html_()
    some = plan._replace(forecasts=[nothing, *plan.forecasts[1:]])
    assert "nan" not in some._repr_html_()


# ---- tables and figures ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["plan", "sweep", "compare"])
def test_tables(name: str, results: dict[str, Any]) -> None:
    frame, table = results[name].to_pandas(), results[name].to_arrow()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == table.column_names
    assert len(frame) == table.num_rows > 0


@pytest.mark.parametrize(
    ("library", "method"), [("pandas", "to_pandas"), ("polars", "to_polars"), ("geopandas", "to_geopandas")]
)
def test_a_library_that_is_missing(
    library: str, method: str, results: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    for name in ("published", "plan", "sweep", "compare"):
        if hasattr(results[name], method):
            with pytest.raises(shoal.InputError) as refused:
                getattr(results[name], method)()
            assert re.fullmatch(
                rf"{method}\(\) needs {library}, which is not installed: pip install {library}, or take to_\w+\(\)\.",
                str(refused.value),
            )
            assert refused.value.__suppress_context__


def test_all_of_this_works_without_pandas_and_polars(tmp_path: Path) -> None:
    """In a process of its own: what was imported before would hide it."""
    script = """
import sys, json

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pandas", "polars", "geopandas", "IPython"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Missing())
import shoal
events = shoal.make_city(60, seed=1)
published = shoal.anonymize(events, k=2, tau="30min", epsilon="30min", progress=True)
audit = shoal.audit(events, published, key=published.key(), attacks=10)
print(json.dumps([len(published._repr_html_()), len(audit._repr_html_())]))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert min(json.loads(done.stdout)) > 2_000


def test_plots(results: dict[str, Any]) -> None:
    figures = {
        "published": results["published"].plot(),
        "plan": results["plan"].plot(),
        "sweep": results["sweep"].plot(),
        "other": results["sweep"].plot(over="k", what="suppressed"),
        "hours": results["sweep"].plot("hours", "time"),
    }
    for name, figure in figures.items():
        assert isinstance(figure, Figure), name
        content, size = figure._repr_png_()  # type: ignore[attr-defined]
        assert content.startswith(b"\x89PNG"), name
        assert size["width"] > size["height"] > 100
    assert figures["sweep"].axes[0].get_xlabel().startswith("τ = ε")
    assert figures["other"].axes[0].get_ylabel() == "suppressed samples, %"
    published = results["published"]
    for axes, sizes, unit in zip(
        figures["published"].axes,
        (published.outcome.box_sizes.longer_side, published.outcome.box_sizes.slots),
        (0.1, 1.0),
        strict=True,
    ):
        x, y = axes.lines[0].get_data()
        for at, share in zip(x, y, strict=True):
            assert share == pytest.approx(
                100 * sizes.frequency[sizes.value * unit <= at + 1e-9].sum() / sizes.total
            )


def test_plots_leave_pyplot_alone(results: dict[str, Any]) -> None:
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    before = dict(mpl.rcParams)
    results["plan"].plot()
    assert plt.get_fignums() == []
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"over": "epsilon"}, "over must be one of tau, k, hours, got 'epsilon'"),
        ({"what": "cost"}, "what must be one of space, time, suppressed, got 'cost'"),
    ],
)
def test_what_a_sweep_cannot_draw(wrong: dict[str, str], words: str, results: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=words):
        results["sweep"].plot(**wrong)


# ---- in a browser ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_cards_fit_and_can_be_read(theme: str, results: dict[str, Any], tmp_path: Path) -> None:
    """On the paper of JupyterLab's themes: nothing sticks out, and text has a contrast of 4.5 to 1."""
    paper, ink = {"light": ("#ffffff", "#000000"), "dark": ("#111111", "#ffffff")}[theme]
    style = f"background: {paper}; color: {ink}; font: 13px sans-serif; margin: 8px"
    body = "".join(result._repr_html_() for result in results.values())
    page_path = tmp_path / "page.html"
    page_path.write_text(
        f'<!doctype html><meta charset="utf-8"><body style="{style}">{body}', encoding="utf-8"
    )
    with open_browser() as browser:
        for width in (420, 1000):
            page = Page(browser, page_path, width=width, theme=theme)
            assert not page.overflows
            assert page.complaints == []
            assert page.outside == []
        colours = page.tab.evaluate(
            "[...document.querySelectorAll('.shoal-chip')].map(e => [getComputedStyle(e).color,"
            " getComputedStyle(e).backgroundColor])"
        )
        series = page.tab.evaluate(
            "[...document.querySelectorAll('.shoal-result svg circle')].map(e => getComputedStyle(e).fill)"
        )
    assert all(contrast(*pair) >= 4.5 for pair in colours)
    assert all(contrast(fill, paper) >= 3 for fill in series)


def contrast(one: str, other: str) -> float:
    """The contrast of two colours as WCAG 2 defines it."""
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    digits = (
        [int(colour[place : place + 2], 16) for place in (1, 3, 5)]
        if colour.startswith("#")
        else [int(part) for part in re.findall(r"\d+", colour)[:3]]
    )
    linear = [
        part / 255 / 12.92 if part / 255 <= 0.04045 else ((part / 255 + 0.055) / 1.055) ** 2.4
        for part in digits
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
