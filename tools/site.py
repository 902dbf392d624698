"""The docs as a small site: python tools/site.py FOLDER

Every page of the repository as HTML, with the report's style sheets, a list of pages in groups beside it, and a search
over all sections, which works from a folder as well. Nothing is loaded from outside, and nothing is needed to build it
but what shoal needs (markdown-it comes with rich).
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections import Counter
from html import escape, unescape
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt

from shoal.reporting.page import page_environment

ROOT = Path(__file__).resolve().parent.parent
SEARCH = "search.js"
_PAGES = ("*.md", "docs/*.md", "docs/decisions/*.md", "benchmarks/*.md")
_REFERENCE, _DECISIONS = "Reference", "Decisions"
GROUPS = {
    "Getting started": ("README", "five-minutes", "promise", "tour", "how-it-works", "glossary"),
    "Using shoal": (
        "check", "plan", "formats", "audit", "report", "new-names", "hardening", "scaling", "synthetic", "recipients",
    ),
    _REFERENCE: ("attacks", "frontier", "names-frontier", "baselines", "reproduction", "credibility", "results"),
    _DECISIONS: (),
}  # fmt: skip
_STYLE = """
body { display: grid; grid-template-columns: minmax(12rem, 16rem) minmax(0, 1fr); grid-template-rows: auto 1fr; }
.bar { grid-column: 1 / 3; position: sticky; top: 0; z-index: 1; display: flex; gap: 1rem; align-items: center;
  padding: .6rem 1rem; background: var(--paper); border-bottom: 1px solid var(--line); }
.bar > a { font-weight: 650; text-decoration: none; }
#search { position: relative; flex: 1; max-width: 34rem; }
#search input { width: 100%; font: inherit; font-size: .95rem; color: inherit; background: var(--card);
  border: 1px solid var(--line); border-radius: 8px; padding: .35rem .7rem; }
#search input:focus-visible { outline: 2px solid var(--own); outline-offset: 1px; }
#found { position: absolute; left: 0; right: 0; top: calc(100% + .3rem); margin: 0; padding: .3rem; list-style: none;
  max-height: 75vh; overflow-y: auto; background: var(--paper); border: 1px solid var(--line); border-radius: 10px;
  box-shadow: 0 8px 24px rgb(0 0 0 / 18%); font-size: .92rem; }
#found a { display: block; padding: .4rem .6rem; border-radius: 7px; color: var(--ink); text-decoration: none; }
#found a:hover, #found a:focus, #found a.chosen { background: var(--card); outline: none; }
#found strong, #found span { display: block; overflow-wrap: anywhere; } #found span { color: var(--soft); }
#found .soft { padding: .3rem .6rem; }
nav { grid-column: 1; grid-row: 2; position: sticky; top: 3.4rem; max-height: calc(100vh - 3.4rem); overflow-y: auto;
  padding: 1.2rem 1rem 2rem; border-right: 1px solid var(--line); font-size: .93rem; }
nav details { margin-bottom: .9rem; } nav summary { cursor: pointer; font-weight: 640; margin-bottom: .2rem; }
nav a { display: block; padding: .15rem 0 .15rem .9rem; color: var(--ink); text-decoration: none; }
nav a[aria-current] { color: var(--own); font-weight: 640; }
main { grid-column: 2; grid-row: 2; margin: 0; max-width: 60rem; width: 100%; }
main :is(h1, h2, h3, h4, h5, h6) { scroll-margin-top: 4.2rem; }
.all { display: none; } h2 { margin-top: 2rem; } h3 { margin-top: 1.4rem; }
a { color: var(--own); } img { max-width: 100%; height: auto; background: #fff; }
pre { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .8rem; overflow-x: auto; }
code { font-size: .92em; } :not(pre) > code { overflow-wrap: anywhere; }
.wide { margin-bottom: 1rem; overflow-x: auto; }
table { border-collapse: collapse; }
th, td { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0;
  border-bottom: 1px solid var(--line); }
blockquote { margin-left: 0; padding-left: 1rem; border-left: 4px solid var(--line); }
@media (max-width: 760px) { body { display: block; } .all { display: block; margin: 0 0 1rem; }
  nav { position: static; max-height: none; border: 0; border-top: 1px solid var(--line); } }
@media print { .bar, nav, .all { display: none; } body { display: block; font-size: 10pt; }
  main { max-width: none; padding: 0; } h1, h2, h3 { break-after: avoid; } pre, tr, img { break-inside: avoid; }
  pre { white-space: pre-wrap; } .wide { overflow: visible; } table { font-size: 8.5pt; } }
"""


class Section(NamedTuple):
    """A heading with what stands below it, as the search finds it; ``address`` is from the top of the site."""

    address: str
    page: str
    heading: str
    text: str


def pages() -> list[Path]:
    """The pages, group by group, in the order in which one reads them."""
    return [page for group in grouped().values() for page in group]


def grouped() -> dict[str, list[Path]]:
    """The pages of each group; those that no group names are for reference."""
    found = [path for pattern in _PAGES for path in sorted(ROOT.glob(pattern))]
    groups: dict[str, list[Path]] = {name: [] for name in GROUPS}
    for page in found:
        groups[_group_of(page)].append(page)
    for name, order in GROUPS.items():
        rank = {stem: place for place, stem in enumerate(order)}
        groups[name].sort(key=lambda page: (rank.get(page.stem, len(rank)), page.stem))
    return groups


def _group_of(page: Path) -> str:
    if page.parent.name == "decisions":
        return _DECISIONS
    return next((name for name, stems in GROUPS.items() if page.stem in stems), _REFERENCE)


def target(page: Path) -> str:
    """Where a page goes, from the top of the site."""
    return (
        "index.html" if page.name == "README.md" else page.relative_to(ROOT).with_suffix(".html").as_posix()
    )


def title(page: Path) -> str:
    """Its first heading."""
    return next(
        line[2:].strip() for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("# ")
    )


def rendered(page: Path) -> str:
    """The content: links between pages lead to pages, headings can be linked to, tables scroll."""
    html = MarkdownIt("commonmark", {"html": False}).enable("table").render(page.read_text(encoding="utf-8"))
    html = re.sub(r'href="((?!\w+:)[^"#]*?)(?:(README)|([\w-]+))\.md(#[^"]*)?"', _link, html)
    html = _with_anchors(html)
    return html.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")


def _link(match: re.Match[str]) -> str:
    folder, readme, name, anchor = match.groups()
    return f'href="{folder}{"index" if readme else name}.html{anchor or ""}"'


def _with_anchors(html: str) -> str:
    """Headings with the anchors that GitHub gives them: the second of a name ends in -1, the third in -2."""
    seen: Counter[str] = Counter()

    def heading(match: re.Match[str]) -> str:
        level, words = match.groups()
        anchor = re.sub(r"[^\w\- ]", "", _plain(words).lower()).replace(" ", "-")
        number, seen[anchor] = seen[anchor], seen[anchor] + 1
        return f'<h{level} id="{escape(anchor)}{f"-{number}" if number else ""}">{words}</h{level}>'

    return re.sub(r"<h([1-6])>(.*?)</h\1>", heading, html, flags=re.DOTALL)


def _plain(html: str) -> str:
    """The words of some HTML."""
    return " ".join(
        unescape(re.sub(r"<[^>]+>", " ", re.sub(r"</?(?:code|em|strong|a)\b[^>]*>", "", html))).split()
    )


def sections(page: Path) -> list[Section]:
    """The sections of a page for the search; what stands above the first heading is nobody's."""
    parts = re.split(r'<h[1-6] id="([^"]*)">(.*?)</h[1-6]>', rendered(page), flags=re.DOTALL)
    return [
        Section(
            f"{target(page)}#{unescape(anchor)}", title(page).replace("`", ""), _plain(words), _plain(text)
        )
        for anchor, words, text in zip(parts[1::3], parts[2::3], parts[3::3], strict=True)
    ]


def _navigation(page: Path, up: str) -> str:
    """All pages in their groups; that of decisions is closed unless one is read."""
    parts = []
    for name, group in grouped().items():
        links = "".join(
            f'<a href="{up}{target(other)}"{" aria-current=page" if other == page else ""}>{escape(title(other))}</a>'
            for other in group
        )
        is_open = name != _DECISIONS or page in group
        parts.append(f"<details{' open' if is_open else ''}><summary>{name}</summary>{links}</details>")
    return f'<nav id="pages" aria-label="Pages">{"".join(parts)}</nav>'


def _document(page: Path, style: str) -> str:
    up = "../" * target(page).count("/")
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{escape(title(page))}</title>'
        f'<style>{style}</style></head><body><div class="bar"><a href="{up}index.html">shoal</a>'
        '<form id="search" role="search" hidden><input type="search" placeholder="Search the docs ( / )"'
        ' aria-label="Search the docs" autocomplete="off"><ul id="found" hidden></ul></form></div>'
        f'<main><p class="all"><a href="#pages">All pages</a></p>{rendered(page)}</main>'
        f'{_navigation(page, up)}<script src="{up}{SEARCH}" data-up="{up}" defer></script></body></html>\n'
    )


def _search_script() -> str:
    """The index of all sections, and what searches it: one plain script, which a page opened from a folder may load."""
    index = json.dumps([section for page in pages() for section in sections(page)], ensure_ascii=False)
    return f"const SECTIONS = {index};\n{(ROOT / 'tools/site.js').read_text(encoding='utf-8')}"


def build(folder: Path) -> list[Path]:
    """Write the site; returns its pages."""
    environment = page_environment()
    style = "".join(environment.get_template(name).render() for name in ("themes.css", "page.css")) + _STYLE
    written = []
    for page in pages():
        path = folder / target(page)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_document(page, style), encoding="utf-8")
        written.append(path)
    (folder / SEARCH).write_text(_search_script(), encoding="utf-8")
    pictures = [path for path in (ROOT / "docs").rglob("*") if path.suffix in (".svg", ".png")]
    for extra in (*pictures, ROOT / "LICENSE"):
        place = folder / extra.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(extra, place)
    return written


if __name__ == "__main__":
    site = build(Path(sys.argv[1]))
    print(f"{len(site)} pages. Look at {Path(sys.argv[1]) / 'index.html'}")
