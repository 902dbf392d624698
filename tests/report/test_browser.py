"""The report in a real browser: the tabs, the theme and the slider, at phone and desktop widths."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from report.browser import Page, open_browser
from report.releases import make_release
from shoal.reporting import write_report

TABS = ("verdict", "precision", "privacy", "utility", "people-panel", "details")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with open_browser() as chromium:
        yield chromium


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    release = make_release(folder)
    write_report(release.events, release.published, folder / "report.html", key=release.key, attacks=100)
    return folder / "report.html"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_opens_without_complaint_at_any_width(browser: Any, report: Path, width: int, theme: str) -> None:
    page = Page(browser, report, width=width, theme=theme)
    for name in TABS:
        page.tab.click(f"#tab-{name}")
        assert not page.overflows
        assert [tab for tab in TABS if page.tab.is_visible(f"#{tab}")] == [name]
    assert page.complaints == []
    assert page.outside == []


def test_the_arrow_keys_change_tabs(browser: Any, report: Path) -> None:
    page = Page(browser, report, width=1000, theme="light")
    page.tab.focus("#tab-verdict")
    page.tab.keyboard.press("ArrowRight")
    assert page.tab.is_visible("#precision")
    page.tab.keyboard.press("ArrowLeft")
    page.tab.keyboard.press("ArrowLeft")
    assert page.tab.is_visible("#details")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_theme_changes_and_changes_back(browser: Any, report: Path, theme: str) -> None:
    page = Page(browser, report, width=1000, theme=theme)
    before = page.background
    page.tab.click("#theme")
    assert page.background != before
    page.tab.click("#theme")
    assert page.background == before


def test_the_slider_goes_through_the_day(browser: Any, report: Path) -> None:
    page = Page(browser, report, width=1000, theme="light")
    page.tab.click("#tab-people-panel")
    times, drawings, words = set(), set(), set()
    for value in range(0, int(page.tab.get_attribute("#when", "max") or 0) + 1):
        page.tab.locator("#when").fill(str(value))
        times.add(page.tab.inner_text("#time"))
        drawings.add(page.tab.inner_html("#map"))
        words.add(page.tab.inner_text("#fits"))
    assert len(times) == value + 1 > 20
    assert len(drawings) > 5
    assert any("records fit what was seen" in line for line in words)
    assert not page.tab.locator("#fits.broken").count()


def test_everybody_can_be_looked_at(browser: Any, report: Path) -> None:
    page = Page(browser, report, width=1000, theme="light")
    page.tab.click("#tab-people-panel")
    n = page.tab.locator("#who option").count()
    drawings = set()
    for number in range(n):
        page.tab.select_option("#who", str(number))
        drawings.add(page.tab.inner_html("#map"))
        assert page.tab.locator("#map .sample.seen").count() >= 1
        assert page.tab.locator("#map .box").count() >= 1
    assert len(drawings) == n > 1


def test_everything_is_printed(browser: Any, report: Path) -> None:
    page = Page(browser, report, width=1000, theme="dark")
    page.tab.emulate_media(media="print")
    assert all(page.tab.is_visible(f"#{name}") for name in TABS)
    assert not page.tab.is_visible("#theme")
    assert page.background == "rgb(255, 255, 255)"


def test_no_table_is_cut_off_on_a_phone(browser: Any, report: Path) -> None:
    page = Page(browser, report, width=390, theme="light")
    for name in TABS:
        page.tab.click(f"#tab-{name}")
        inner = "[...document.querySelectorAll('.wide')].filter(e => e.offsetParent && e.scrollWidth > e.clientWidth)"
        assert page.tab.evaluate(f"{inner}.length") == 0
        outside = "[...document.querySelectorAll('figure > svg text')].filter(e => e.getBoundingClientRect().width &&"
        assert page.tab.evaluate(f"{outside} e.getBoundingClientRect().left < 0).length") == 0
        assert page.tab.evaluate(f"{outside} e.getBoundingClientRect().right > 390).length") == 0


@pytest.mark.parametrize("width", [390, 1280])
def test_entries_of_a_legend_do_not_overlap(browser: Any, report: Path, width: int) -> None:
    page = Page(browser, report, width=width, theme="light")
    page.tab.click("#tab-privacy")
    boxes = page.tab.evaluate(
        "[...document.querySelectorAll('#privacy text.legend')].map(e => [e.getBoundingClientRect().left,"
        " e.getBoundingClientRect().right, e.getBoundingClientRect().top])"
    )
    assert len(boxes) >= 4
    for one, other in pairwise(boxes):
        assert one[2] != other[2] or one[1] < other[0]


def test_only_records_that_are_drawn_are_in_the_legend(browser: Any, report: Path) -> None:
    page = Page(browser, report, width=1000, theme="light")
    page.tab.click("#tab-people-panel")
    for lane in range(1, 6):
        drawn = page.tab.locator(f"#map .record{lane}").count() > 0
        assert page.tab.locator(f"#lanes .record{lane}").is_visible() == drawn


def test_each_part_begins_a_sheet_of_paper(browser: Any, report: Path) -> None:
    page = Page(browser, report, width=1000, theme="light")
    page.tab.emulate_media(media="print")
    breaks = "[...document.querySelectorAll('[role=tabpanel]')].map(e => getComputedStyle(e).breakBefore)"
    assert page.tab.evaluate(breaks) == ["auto", *["page"] * (len(TABS) - 1)]
    assert page.tab.is_visible("#time")
    sheets = page.tab.pdf(format="A4").count(b"/Type /Page\n")
    assert sheets >= len(TABS)
