"""The report in a real browser: the tabs, the theme and the slider, at phone and desktop widths."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from reporting.page.browser import Page, open_browser
from reporting.releases import make_release
from reporting.town import alone, by_day, publish
from shoal.reporting import write_report
from support.run_command import shrink_boxes

TABS = ("verdict", "precision", "privacy", "utility", "people", "details")


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


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("broken")
    release = make_release(folder)
    promise = {"k": 4, "tau": "30min", "epsilon": "30min"}
    write_report(
        release.events, release.published, folder / "report.html", key=release.key, attacks=20, **promise
    )
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
    page.tab.keyboard.press("Home")
    assert page.tab.is_visible("#verdict")
    page.tab.keyboard.press("End")
    assert page.tab.is_visible("#details")


# ---- addresses of tabs ---------------------------------------------------------------------------------------------


def shown(page: Page) -> list[str]:
    """The tabs that are seen."""
    return [name for name in TABS if page.tab.is_visible(f"#{name}")]


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", TABS)
def test_an_address_opens_its_tab(browser: Any, report: Path, name: str, width: int) -> None:
    page = Page(browser, report, width=width, theme="light", at=f"#{name}")
    assert shown(page) == [name]
    assert page.tab.get_attribute(f"#tab-{name}", "aria-selected") == "true"
    assert page.tab.locator(f"#tab-{name}").bounding_box()["y"] >= 0  # the tabs are in sight
    at_end = page.tab.evaluate("scrollY + innerHeight >= document.documentElement.scrollHeight - 2")
    assert page.tab.locator(f"#{name}").bounding_box()["y"] < 300 or at_end  # and below them what they open
    assert page.complaints == []


def test_a_click_changes_the_address_and_the_back_button_goes_back(browser: Any, report: Path) -> None:
    page = Page(browser, report, width=1000, theme="light")
    for name in ("privacy", "people", "verdict"):
        page.tab.click(f"#tab-{name}")
        assert page.tab.url == f"{report.as_uri()}#{name}"
    page.tab.click("#tab-verdict")  # once more, and no step of the way
    for name in ("people", "privacy"):
        page.tab.go_back()
        assert page.tab.url == f"{report.as_uri()}#{name}"
        assert shown(page) == [name]
    page.tab.go_back()
    assert page.tab.url == report.as_uri()
    assert shown(page) == ["verdict"]
    page.tab.go_forward()
    assert shown(page) == ["privacy"]
    assert page.outside == []


def test_keys_change_the_address_in_one_step(browser: Any, report: Path) -> None:
    page = Page(browser, report, width=1000, theme="light")
    page.tab.click("#tab-precision")
    page.tab.keyboard.press("ArrowRight")
    page.tab.keyboard.press("ArrowRight")
    assert page.tab.url.endswith("#utility")
    page.tab.go_back()
    assert shown(page) == ["verdict"]
    page.tab.focus("#tab-verdict")
    page.tab.keyboard.press("Tab")
    assert page.tab.evaluate("document.activeElement.role") != "tab"  # one stop for all tabs


def test_an_address_that_is_none_opens_the_first_tab(browser: Any, report: Path) -> None:
    page = Page(browser, report, width=1000, theme="light", at="#nowhere")
    assert shown(page) == ["verdict"]
    page.tab.evaluate("location.hash = 'utility'")
    page.tab.wait_for_selector("#utility", state="visible")
    assert shown(page) == ["utility"]


@pytest.mark.parametrize("width", [390, 1280])
def test_a_click_does_not_scroll(browser: Any, report: Path, width: int) -> None:
    page = Page(browser, report, width=width, theme="light")
    page.tab.locator("#tab-privacy").scroll_into_view_if_needed()
    before = page.tab.evaluate("scrollY")
    page.tab.click("#tab-privacy")
    assert page.tab.evaluate("scrollY") == before


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
    page.tab.click("#tab-people")
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


def test_only_boxes_of_the_chosen_time_are_drawn(browser: Any, report: Path) -> None:
    page = Page(browser, report, width=1000, theme="light")
    page.tab.click("#tab-people")
    told = json.loads(page.tab.locator("#people-data").text_content())
    all_day = 0
    for number, person in enumerate(told["people"][:2]):
        page.tab.select_option("#who", str(number))
        for value, (begin, _, shown, *_) in list(enumerate(person["moments"]))[::2]:
            page.tab.locator("#when").fill(str(value))
            end = begin + told["length"]
            lanes = {"own": person["own"]} | {f"record{i + 1}": record for i, record in enumerate(shown)}
            meant = {
                css: sum(box[1] > begin and box[0] < end for box in person["boxes"][str(record)])
                for css, record in lanes.items()
            }
            css = page.tab.evaluate("[...document.querySelectorAll('#map rect')].map(e => e.classList[1])")
            assert {name: css.count(name) for name in lanes} == meant
            assert len(css) == sum(meant.values())
            seen = sum(begin <= t < end for t, _, _ in person["samples"])
            assert page.tab.locator("#map .sample.seen").count() == seen
            all_day = max(all_day, len(person["boxes"][str(person["own"])]) - meant["own"])
    assert all_day > 3


@pytest.mark.parametrize("width", [390, 1280])
def test_no_box_is_cut_off_and_those_that_are_hidden_are_told(browser: Any, report: Path, width: int) -> None:
    page = Page(browser, report, width=width, theme="light")
    page.tab.click("#tab-people")
    told = json.loads(page.tab.locator("#people-data").text_content())
    words = set()
    for number, person in enumerate(told["people"]):
        page.tab.select_option("#who", str(number))
        for value, (begin, _, others, *_) in list(enumerate(person["moments"]))[::3]:
            page.tab.locator("#when").fill(str(value))
            outside = page.tab.evaluate(
                """(() => { const {width, height} = document.getElementById('map').viewBox.baseVal;
                const marks = document.querySelectorAll('#map rect, #map .sample, #map text');
                const drawn = [...marks].map(e => e.getBBox());
                return drawn.filter(b => b.x < 0 || b.y < 0 || b.x + b.width > width || b.y + b.height > height).length;
                })()"""
            )
            assert outside == 0
            end = begin + told["length"]
            drawn = [
                box
                for record in [*reversed(others), person["own"]]
                for box in person["boxes"][str(record)]
                if box[1] > begin and box[0] < end
            ]
            n_under = sum(any(holds(over, box) for over in drawn[i + 1 :]) for i, box in enumerate(drawn))
            said = page.tab.inner_text("#overlaps")
            assert said.startswith(f"{len(drawn)} box{'' if len(drawn) == 1 else 'es'} ")
            if len(drawn) > 1:
                lie = {0: "none lies", 1: "1 lies"}.get(n_under, f"{n_under} lie")
                assert said.endswith(f"; {lie} wholly under another.")
            words.add(n_under)
    assert len(words) > 2


def holds(over: list[int], box: list[int]) -> bool:
    """Whether a box is hidden by another."""
    return over[2] <= box[2] and over[3] >= box[3] and over[4] <= box[4] and over[5] >= box[5]


def test_the_people_are_on_the_same_ground_as_the_other_maps(browser: Any, report: Path) -> None:
    """A coordinate that is written on the map is that many km from the corner of the maps of squares."""
    page = Page(browser, report, width=1280, theme="light")
    page.tab.click("#tab-people")
    told = json.loads(page.tab.locator("#people-data").text_content())
    x_km, at_x = page.tab.evaluate(
        """(() => { const ticks = [...document.querySelectorAll('#map text[text-anchor=middle]')];
        return [ticks.map(e => Number(e.textContent)), ticks.map(e => Number(e.getAttribute('x')))]; })()"""
    )
    assert len(x_km) >= 2
    per_km = (at_x[-1] - at_x[0]) / (x_km[-1] - x_km[0])
    begin = told["people"][0]["moments"][int(page.tab.input_value("#when"))][0]
    seen = [s for s in told["people"][0]["samples"] if begin <= s[0] < begin + told["length"]]
    drawn = page.tab.evaluate(
        "[...document.querySelectorAll('#map .sample.seen')].map(e => Number(e.getAttribute('cx')))"
    )
    km = sorted((s[1] + 0.5 - told["corner"][0]) * told["cell_km"] for s in seen)
    assert sorted(x_km[0] + (x - at_x[0]) / per_km for x in drawn) == pytest.approx(km, abs=0.1)
    assert all(0 <= value <= 100 for value in km)


def test_too_few_records_are_marked(browser: Any, broken: Path) -> None:
    """A release with k = 2 that is held to k = 4: some times leave fewer, some do not."""
    page = Page(browser, broken, width=1000, theme="light")
    page.tab.click("#tab-people")
    told = json.loads(page.tab.locator("#people-data").text_content())
    marked = set()
    for number, person in enumerate(told["people"][:2]):
        page.tab.select_option("#who", str(number))
        for value, (_, n_fit, *_, own_fits) in list(enumerate(person["moments"]))[::2]:
            page.tab.locator("#when").fill(str(value))
            few = n_fit < 4 and own_fits
            assert page.tab.locator("#fits.broken").count() == few
            words = page.tab.inner_text("#fits")
            assert f"{n_fit:,}" in words
            assert ("That is fewer than 4." in words) == few
            marked.add(few)
    assert marked == {True, False}


def test_the_slider_tells_where_something_was_seen(browser: Any, report: Path) -> None:
    page = Page(browser, report, width=1000, theme="light")
    page.tab.click("#tab-people")
    told = json.loads(page.tab.locator("#people-data").text_content())
    person = told["people"][0]
    seen = [
        value
        for value, (begin, *_) in enumerate(person["moments"])
        if any(begin <= t < begin + told["length"] for t, _, _ in person["samples"])
    ]
    assert 1 < len(seen) < len(person["moments"])
    assert page.tab.locator("#seen-at i").count() == len(seen)
    page.tab.locator("#when").fill("0")
    stops = []
    while page.tab.locator("#later").is_enabled():
        page.tab.click("#later")
        stops.append(int(page.tab.input_value("#when")))
    assert stops == [value for value in seen if value > 0]
    page.tab.click("#earlier")
    assert int(page.tab.input_value("#when")) == seen[-2]
    spoken = page.tab.get_attribute("#when", "aria-valuetext") or ""
    assert page.tab.inner_text("#time") in spoken
    assert "what was seen" in spoken


def test_where_nothing_was_seen_records_are_counted_as_well(browser: Any, report: Path) -> None:
    page = Page(browser, report, width=1000, theme="light")
    page.tab.click("#tab-people")
    told = json.loads(page.tab.locator("#people-data").text_content())
    moments, samples = told["people"][0]["moments"], told["people"][0]["samples"]
    empty = [
        value
        for value, (begin, *_) in enumerate(moments)
        if not any(begin <= t < begin + told["length"] for t, _, _ in samples)
    ]
    page.tab.locator("#when").fill(str(empty[len(empty) // 2]))
    n_fit = moments[empty[len(empty) // 2]][1]
    assert page.tab.inner_text("#fits").startswith(f"Nothing was seen in this time; {n_fit} records fit that")


def test_whole_trajectories_have_no_slider(browser: Any, tmp_path: Path) -> None:
    release = make_release(tmp_path, users=60, days=2, whole=True)
    write_report(release.events, release.published, tmp_path / "report.html", key=release.key, attacks=20)
    page = Page(browser, tmp_path / "report.html", width=1000, theme="light")
    page.tab.click("#tab-people")
    assert not page.tab.is_visible("#when")
    assert not page.tab.is_visible("#later")
    assert page.tab.inner_text("#time").startswith("day 1, ")
    assert "to day 2, " in page.tab.inner_text("#time")
    told = json.loads(page.tab.locator("#people-data").text_content())
    for number, person in enumerate(told["people"]):
        page.tab.select_option("#who", str(number))
        assert page.tab.locator("#map .sample.seen").count() == len(person["samples"])
    assert page.complaints == []


def test_nothing_is_dead_without_javascript(browser: Any, report: Path) -> None:
    tab = browser.new_context(java_script_enabled=False).new_page()
    tab.goto(report.as_uri())
    assert all(tab.is_visible(f"#{name}") for name in TABS)
    for control in ("#theme", "[role=tablist]", "#when", "#later", "#fits", "#map", "#lanes"):
        assert not tab.is_visible(control)
    assert "needs JavaScript" in tab.inner_text("#people")


def test_labels_of_an_axis_do_not_overlap_its_name(browser: Any, report: Path) -> None:
    page = Page(browser, report, width=390, theme="light")
    for name in ("precision", "privacy", "utility"):
        page.tab.click(f"#tab-{name}")
        apart = page.tab.evaluate(
            """[...document.querySelectorAll('figure > svg')].flatMap(svg => {
              const name = svg.querySelector('text.name[transform]');
              if (!name || !svg.getBoundingClientRect().width) return [];
              const right = name.getBoundingClientRect().right;
              const labels = [...svg.querySelectorAll('text.tick[text-anchor=end]')];
              return labels.map(e => e.getBoundingClientRect().left - right);
            })"""
        )
        assert apart
        assert min(apart) >= 0


def test_everybody_can_be_looked_at(browser: Any, report: Path) -> None:
    page = Page(browser, report, width=1000, theme="light")
    page.tab.click("#tab-people")
    n = page.tab.locator("#who option").count()
    drawings = set()
    for number in range(n):
        page.tab.select_option("#who", str(number))
        drawings.add(page.tab.inner_html("#map"))
        assert page.tab.locator("#map .sample.seen").count() >= 1
        assert page.tab.locator("#map .box").count() >= 1
    assert len(drawings) == n > 1


@pytest.fixture(scope="module")
def datasheet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A datasheet on which only some samples were suppressed, of few users; its file has a long name."""
    folder = tmp_path_factory.mktemp("datasheet")
    made = publish(folder, [*by_day(), *alone("user-003", 3)])
    published = made.published.rename(folder / f"{'a_release_of_the_spring_' * 3}v2.parquet")
    Path(f"{made.published}.manifest.json").rename(f"{published}.manifest.json")
    write_report(made.events, published, folder / "sheet.html", key=made.key, attacks=60, public=True)
    return folder / "sheet.html"


@pytest.mark.parametrize("width", [390, 1280])
def test_cards_and_headings_hold_their_words(browser: Any, datasheet: Path, report: Path, width: int) -> None:
    for path in (datasheet, report):
        page = Page(browser, path, width=width, theme="light")
        assert not page.overflows
        cards = ".facts div, .facts dt, .facts dd, .facts small, h1, h2, .headline, .kind, .file, .verdict"
        wider = f"[...document.querySelectorAll('{cards}')].filter(e => e.scrollWidth > e.clientWidth + 1"
        assert page.tab.evaluate(f"{wider} && getComputedStyle(e).display !== 'inline').length") == 0
        lines = page.tab.evaluate(
            """[...document.querySelectorAll('.facts dd')].map(e => { const r = document.createRange();
            r.selectNodeContents(e.firstChild); return new Set([...r.getClientRects()].map(b => b.top)).size; })"""
        )
        assert set(lines) == {1}  # the figure of a card stands on one line
        heads = "[...document.querySelectorAll('.facts dt')].map(e => Math.round(e.clientHeight / parseFloat("
        lines = page.tab.evaluate(f"{heads}getComputedStyle(e).lineHeight)))")
        assert set(lines) == {1}, "and so does its heading"
    text = Page(browser, datasheet, width=width, theme="light").tab.inner_text(".facts")
    assert "some\nof the samples, of fewer than 10 users" in text


def test_a_datasheet_has_a_title(browser: Any, datasheet: Path) -> None:
    page = Page(browser, datasheet, width=1280, theme="light")
    title = page.tab.inner_text("h1")
    assert title == f"Datasheet: {'a_release_of_the_spring_' * 3}v2.parquet, 2024-03-04"
    assert page.tab.title() == f"{title}; k = 2, 1 hour"
    assert page.tab.locator("h1").count() == 1


def test_everything_is_printed(browser: Any, report: Path) -> None:
    page = Page(browser, report, width=1000, theme="dark")
    page.tab.emulate_media(media="print")
    assert all(page.tab.is_visible(f"#{name}") for name in TABS)
    assert not page.tab.is_visible("#theme")
    assert page.background == "rgb(255, 255, 255)"


def test_paper_has_no_buttons_and_cuts_nothing_in_two(browser: Any, report: Path) -> None:
    page = Page(browser, report, width=794, theme="dark", at="#people")
    page.tab.emulate_media(media="print")
    for control in ("button", "[role=tab]", "select", "input"):
        assert not any(each.is_visible() for each in page.tab.locator(control).all())
    style = "e => [getComputedStyle(e).breakInside, getComputedStyle(e).breakAfter]"
    for whole in ("figure", ".pair", ".facts", "tr", "p", "li", ".key"):
        assert all(each.evaluate(style)[0] == "avoid" for each in page.tab.locator(whole).all()), whole
    for heading in ("h2", "h3", "thead"):
        assert all(each.evaluate(style)[1] == "avoid" for each in page.tab.locator(heading).all()), heading
    heads = page.tab.evaluate(
        "[...document.querySelectorAll('table:not(.settings)')].map(e => e.tHead ? e.tHead.rows.length : 0)"
    )
    assert set(heads) == {1}  # which is said again on the next sheet
    sheet_px = (297 - 15 - 18) / 25.4 * 96
    heights = page.tab.evaluate(
        "[...document.querySelectorAll('figure > svg')].map(e => e.getBoundingClientRect().height)"
    )
    assert max(heights) < 0.75 * sheet_px  # there is room for the words that belong to a figure
    assert min(heights) > 100
    assert page.tab.evaluate(
        "getComputedStyle(document.querySelector('#time'), '::before').content"
    ).startswith('"Person 1')
    page.tab.emulate_media(media="screen")
    assert (
        page.tab.evaluate("getComputedStyle(document.querySelector('#time'), '::before').content") == "none"
    )


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
    page.tab.click("#tab-people")
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


# ---- what matters, at a glance -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rated(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Pages about a weakened file, a broken one and a mislabelled one, and one without its key."""
    folder = tmp_path_factory.mktemp("rated")
    pages = {}
    for name, options in (
        ("weakened", {"users": 60, "k": 5, "tau": "1h", "epsilon": "10min"}),
        ("mislabelled", {"users": 40}),
    ):
        (folder / name).mkdir()
        release = make_release(folder / name, **options)
        if name == "mislabelled":
            manifest = Path(f"{release.published}.manifest.json")
            content = json.loads(manifest.read_text())
            manifest.write_text(json.dumps({**content, "promise": {**content["promise"], "k": 5}}))
        pages[name] = folder / f"{name}.html"
        write_report(release.events, release.published, pages[name], key=release.key, attacks=40)
    release = make_release(folder, users=60)
    pages["unknown"] = folder / "unknown.html"
    write_report(release.events, release.published, pages["unknown"], attacks=40)
    broken = shrink_boxes(release.published, folder / "broken.parquet", most=200)
    pages["broken"] = folder / "broken.html"
    write_report(release.events, broken, pages["broken"], key=release.key, attacks=40)
    return pages


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", ["weakened", "mislabelled", "unknown", "broken"])
def test_ratings_are_read_without_scrolling_sideways(
    browser: Any, rated: dict[str, Path], name: str, width: int, theme: str
) -> None:
    page = Page(browser, rated[name], width=width, theme=theme)
    assert not page.overflows
    words = page.tab.locator(".exposures .rating").all_inner_texts()
    assert len(words) == (8 if name == "weakened" else 7)  # two of its few records are the same
    assert set(words) <= {"low", "moderate", "high", "not checked"}
    assert ("not checked" in words) == (name == "unknown")
    for rating in page.tab.locator(".rating").all():
        style = rating.evaluate("e => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor]")
        assert contrast(*style) >= 4.5
    assert page.complaints == []


def contrast(*colours: str) -> float:
    """How well two colours can be told from each other, from 1 to 21 (WCAG 2.2); text needs 4.5."""
    lights = []
    for colour in colours:
        parts = [int(part) / 255 for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        lights.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(lights) + 0.05) / (min(lights) + 0.05)


def test_every_rating_can_be_read_in_both_themes(browser: Any, report: Path) -> None:
    for theme in ("light", "dark"):
        page = Page(browser, report, width=1000, theme=theme)
        seen = set()
        for css in ("low", "moderate", "high", "unknown"):
            style = page.tab.evaluate(
                "css => { const e = document.createElement('span'); e.className = 'rating ' + css;"
                " document.body.append(e); const s = getComputedStyle(e); return [s.color, s.backgroundColor]; }",
                css,
            )
            assert contrast(*style) >= 4.5
            seen.add(tuple(style))
        assert len(seen) == 4


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("weakened", "at least 5 records fit, but guarantee 2 is weakened: "),
        ("mislabelled", "The manifest is not true of this file: do not publish this file."),
        ("broken", "The promise is broken: do not publish this file."),
        ("unknown", "Watch anyone for 30 minutes: at least 2 records fit"),
    ],
)
def test_the_title_says_what_kind_of_file_it_is(
    browser: Any, rated: dict[str, Path], name: str, words: str
) -> None:
    page = Page(browser, rated[name], width=1280, theme="light")
    assert words in page.tab.inner_text(".headline").replace("\N{NO-BREAK SPACE}", " ")
