"""The docs as a site: every page is there, every link leads somewhere, nothing comes from outside, search finds."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from reporting.page.browser import Page, open_browser
from support.paths import PROJECT

ROOT = PROJECT


@pytest.fixture(scope="module")
def site() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_builder", ROOT / "tools/site.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def built(site: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("site")
    site.build(folder)
    return folder


def pages_of(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.html"))


def test_links_lead_somewhere_and_nothing_is_loaded(built: Path) -> None:
    docs = {path.stem for path in (ROOT / "docs").rglob("*.md")}
    assert docs <= {path.stem for path in pages_of(built)}
    for page in pages_of(built):
        html = page.read_text(encoding="utf-8")
        assert not re.search(r"<link|@import|url\(", html)
        (script,) = re.findall(r"<script[^>]*>", html)
        assert re.search(r' src="(\.\./)*search\.js" ', script)
        for link in re.findall(r'(?:href|src)="([^"]+)"', html):
            if re.match(r"\w+:", link):
                continue
            path, _, anchor = link.partition("#")
            there = (page.parent / path) if path else page
            assert there.exists(), f"{page.name}: {link}"
            assert not anchor or f'id="{anchor}"' in there.read_text(encoding="utf-8"), f"{page.name}: {link}"
        assert not re.search(r'src="\w+:', html)


def test_no_two_headings_of_a_page_have_one_anchor(built: Path) -> None:
    for page in pages_of(built):
        anchors = re.findall(r' id="([^"]+)"', page.read_text(encoding="utf-8"))
        assert len(anchors) == len(set(anchors)), page.name


# ---- groups --------------------------------------------------------------------------------------------------------


def test_every_page_is_in_one_group(site: ModuleType, built: Path) -> None:
    groups = site.grouped()
    assert list(groups) == ["Getting started", "Using shoal", "Reference", "Decisions"]
    assert all(groups.values())
    pages = [page for group in groups.values() for page in group]
    assert len(pages) == len(set(pages)) == len(pages_of(built))
    assert groups["Getting started"][0].name == "README.md"
    assert {page.parent.name for page in groups["Decisions"]} == {"decisions"}
    for name, stems in site.GROUPS.items():  # whoever renames a page is told
        assert [page.stem for page in groups[name]][: len(stems)] == list(stems)


def test_navigation_names_the_groups_and_marks_the_page(built: Path) -> None:
    for page in (built / "docs/report.html", built / "docs/decisions/0017-the-tree.html"):
        html = page.read_text(encoding="utf-8")
        nav = html.split("<nav")[1].split("</nav>")[0]
        groups = re.findall(r"<details( open)?><summary>(.*?)</summary>(.*?)</details>", nav, re.S)
        is_decision = page.parent.name == "decisions"
        assert [name for opened, name, _ in groups if not opened] == ([] if is_decision else ["Decisions"])
        marked = [name for _, name, links in groups if "aria-current" in links]
        assert marked == ["Decisions" if is_decision else "Using shoal"]


# ---- search --------------------------------------------------------------------------------------------------------


def index_of(built: Path) -> list[list[str]]:
    """What the search knows."""
    line = (built / "search.js").read_text(encoding="utf-8").splitlines()[0]
    found: list[list[str]] = json.loads(line.removeprefix("const SECTIONS = ").removesuffix(";"))
    return found


def test_the_index_holds_every_section_and_its_words(built: Path) -> None:
    index = index_of(built)
    for address, page, heading, text in index:
        path, _, anchor = address.partition("#")
        html = (built / path).read_text(encoding="utf-8")
        assert f'id="{anchor}"' in html
        assert heading
        assert page
        assert text or re.search(rf'id="{re.escape(anchor)}">.*?</h\d>\s*<(h\d|/main)', html, re.S)
        assert not re.search(r"</\w+>|&\w+;", f"{heading} {text}")
    told = {address for address, *_ in index}
    for page in pages_of(built):
        content = page.read_text(encoding="utf-8").split("<main>")[1].split("</main>")[0]
        for anchor in re.findall(r'<h\d id="([^"]+)"', content):
            assert f"{page.relative_to(built).as_posix()}#{anchor}" in told
    report = " ".join(text for address, _, _, text in index if address.startswith("docs/report.html"))
    assert "report.html#privacy opens that tab" in report  # without the marks of code


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with open_browser() as chromium:
        yield chromium


@pytest.mark.parametrize("start", ["index.html", "docs/report.html", "docs/decisions/0017-the-tree.html"])
def test_the_search_finds_from_every_folder(browser: Any, built: Path, start: str) -> None:
    page = Page(browser, built / start, width=1280, theme="light")
    page.tab.keyboard.press("/")
    page.tab.keyboard.type("Opinion 05/2014")
    titles = page.tab.locator("#found strong").all_inner_texts()
    assert titles
    meant = [
        f"{name}: {heading}" if name != heading else name
        for _, name, heading, text in index_of(built)
        if all(
            re.search(rf"(?<![^\W_]){word}", f"{name} {heading} {text}", re.I)
            for word in ("opinion", "05/2014")
        )
    ]
    assert sorted(titles) == sorted(meant)
    page.tab.keyboard.press("Enter")
    page.tab.wait_for_url("**#*")
    assert page.tab.url.startswith(built.as_uri())
    assert page.tab.locator(f"[id='{page.tab.url.partition('#')[2]}']").is_visible()
    assert page.complaints == []
    assert all(url.startswith(built.as_uri()) for url in page.outside)


def test_titles_come_first_and_what_is_not_there_is_said(browser: Any, built: Path) -> None:
    page = Page(browser, built / "index.html", width=390, theme="dark")
    page.tab.fill("#search input", "glossary")
    assert page.tab.locator("#found strong").first.inner_text() == "Glossary"
    page.tab.fill("#search input", "zebrafish")
    assert page.tab.inner_text("#found").startswith("Nothing found")
    page.tab.fill("#search input", "glossary zebrafish")
    assert page.tab.inner_text("#found").startswith("Nothing found")
    page.tab.fill("#search input", "lossary")  # inside of words nothing is looked for
    assert page.tab.inner_text("#found").startswith("Nothing found")
    page.tab.fill("#search input", "<b>promise</b>")
    assert page.tab.locator("#found b").count() == 0
    page.tab.keyboard.press("Escape")
    assert not page.tab.is_visible("#found")
    assert not page.overflows
    assert page.complaints == []


def test_without_javascript_no_dead_search_is_shown(browser: Any, built: Path) -> None:
    tab = browser.new_context(java_script_enabled=False).new_page()
    tab.goto((built / "index.html").as_uri())
    assert not tab.is_visible("#search")
    assert tab.is_visible("nav")
