"""The docs as a small site: python tools/site.py FOLDER

Every page of the repository as HTML, with the report's style sheets and a list of pages beside it. Nothing is loaded
from outside, and nothing is needed to build it but what shoal needs (markdown-it comes with rich).
"""

from __future__ import annotations

import re
import shutil
import sys
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt

from shoal.reporting.page import page_environment

ROOT = Path(__file__).resolve().parent.parent
_PAGES = ("*.md", "docs/*.md", "docs/decisions/*.md", "benchmarks/*.md")
_ORDER = (
    "README",
    "promise",
    "tour",
    "how-it-works",
    "check",
    "plan",
    "report",
    "recipients",
    "audit",
    "formats",
)
_STYLE = """
body { display: grid; grid-template-columns: minmax(11rem, 15rem) minmax(0, 1fr); }
nav { grid-column: 1; grid-row: 1; padding: 2.2rem 1rem; border-right: 1px solid var(--line); font-size: .95rem; }
nav a { display: block; padding: .15rem 0; color: var(--ink); text-decoration: none; }
nav a[aria-current] { color: var(--own); font-weight: 640; }
main { grid-column: 2; grid-row: 1; margin: 0; max-width: 60rem; }
.all { display: none; } h2 { margin-top: 2rem; } h3 { margin-top: 1.4rem; }
a { color: var(--own); } img { max-width: 100%; height: auto; background: #fff; }
pre { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .8rem; overflow-x: auto; }
code { font-size: .92em; } :not(pre) > code { overflow-wrap: anywhere; }
.wide { margin-bottom: 1rem; } .wide { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0;
  border-bottom: 1px solid var(--line); }
blockquote { margin-left: 0; padding-left: 1rem; border-left: 4px solid var(--line); }
@media (max-width: 760px) { body { display: block; } .all { display: block; margin: 0 0 1rem; }
  nav { border: 0; border-top: 1px solid var(--line); padding-top: 1rem; } }
"""


def pages() -> list[Path]:
    """The pages in the order in which one reads them: the first ones, the others, then the decisions."""
    found = [path for pattern in _PAGES for path in sorted(ROOT.glob(pattern))]
    rank = {name: place for place, name in enumerate(_ORDER)}
    return sorted(
        found, key=lambda page: (page.parent.name == "decisions", rank.get(page.stem, len(rank)), page.stem)
    )


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
    html = re.sub(r"<h([1-6])>(.*?)</h\1>", _heading, html, flags=re.DOTALL)
    return html.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")


def _link(match: re.Match[str]) -> str:
    folder, readme, name, anchor = match.groups()
    return f'href="{folder}{"index" if readme else name}.html{anchor or ""}"'


def _heading(match: re.Match[str]) -> str:
    level, words = match.groups()
    plain = re.sub(r"<[^>]+>", "", words).replace("&amp;", "&").lower()
    anchor = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
    return f'<h{level} id="{escape(anchor)}">{words}</h{level}>'


def build(folder: Path) -> list[Path]:
    """Write the site; returns its pages."""
    environment = page_environment()
    style = "".join(environment.get_template(name).render() for name in ("themes.css", "page.css")) + _STYLE
    written = []
    for page in pages():
        path = folder / target(page)
        up = "../" * target(page).count("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        links = "".join(
            f'<a href="{up}{target(other)}"{" aria-current=page" if other == page else ""}>{escape(title(other))}</a>'
            for other in pages()
        )
        path.write_text(
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{escape(title(page))}</title>'
            f'<style>{style}</style></head><body><main><p class="all"><a href="#pages">All pages</a></p>'
            f"{rendered(page)}</main>"
            f'<nav id="pages">{links}</nav></body></html>\n',
            encoding="utf-8",
        )
        written.append(path)
    pictures = [path for path in (ROOT / "docs").rglob("*") if path.suffix in (".svg", ".png")]
    for extra in (*pictures, ROOT / "LICENSE"):
        place = folder / extra.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(extra, place)
    return written


if __name__ == "__main__":
    site = build(Path(sys.argv[1]))
    print(f"{len(site)} pages. Look at {Path(sys.argv[1]) / 'index.html'}")
