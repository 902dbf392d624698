"""The report: what its words say of releases that keep, break, relax and suppress, and what a public one must not."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from report.outline import Outline
from report.releases import Release, make_release
from shoal.reporting import write_report


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return make_release(tmp_path_factory.mktemp("release"))


def page_of(release: Release, path: Path, **options: object) -> tuple[str, str]:
    """The page, and its words."""
    write_report(release.events, release.published, path, attacks=100, **options)
    html = path.read_text()
    outline = Outline()
    outline.feed(re.sub(r"<script.*?</script>", "", html, flags=re.S))
    outline.close()
    assert outline.open == []
    return html, " ".join(" ".join(outline.text).split())


def test_a_release_that_keeps_its_promise(release: Release, tmp_path: Path) -> None:
    html, words = page_of(release, tmp_path / "report.html", key=release.key)
    assert "Watch anyone for 30 minutes: at least 2 records fit." in words
    assert "KEPT: whoever knows everything" in words
    assert "Internal: shows raw data" in words
    for title in (
        "Three questions of the law",
        "Attacks, before and after",
        "What the data are still good for",
        "The cliff",
        "How it was made",
    ):
        assert title in words
    assert not re.search(r"(?:src|href)=[\"']", html)
    assert "http" not in html.replace("http://www.w3.org/2000/svg", "")
    assert len(html) < 6_000_000
    assert (tmp_path / "report.html").stat().st_mode & 0o077 == 0


def test_a_broken_promise_is_the_first_thing_told(release: Release, tmp_path: Path) -> None:
    options = {"key": release.key, "k": 5, "tau": "30min", "epsilon": "30min"}
    _, words = page_of(release, tmp_path / "report.html", **options)
    assert "The promise is broken: do not publish this file." in words
    assert "BROKEN:" in words
    assert "at least 5 records fit." not in words.split("What was promised")[0]
    assert words.index("BROKEN:") < words.index("What was published")
    audit = write_report(
        release.events, release.published, tmp_path / "sheet.html", public=True, attacks=50, **options
    )
    assert not audit.kept
    assert not (tmp_path / "sheet.html").exists()


def test_what_is_suppressed_is_told_and_drawn(tmp_path: Path) -> None:
    sparse = make_release(tmp_path, users=40, k=3, tau="2h")
    _, words = page_of(sparse, tmp_path / "report.html", key=sparse.key)
    assert "could hide each other" in words
    assert "By how active users are" in words
    assert "Nothing: every sample" not in words


def test_what_was_relaxed_is_told(release: Release, tmp_path: Path) -> None:
    manifest = Path(f"{release.published}.manifest.json")
    content = json.loads(manifest.read_text())
    copy = tmp_path / "published.parquet"
    copy.write_bytes(release.published.read_bytes())
    Path(f"{copy}.manifest.json").write_text(json.dumps({**content, "relaxations": 7}))
    _, words = page_of(release._replace(published=copy), tmp_path / "report.html")
    assert "so that 7 times somebody had to be hidden by the same person again" in words


def test_without_a_key(release: Release, tmp_path: Path) -> None:
    _, words = page_of(release, tmp_path / "report.html")
    assert "KEPT, as far as can be checked without a key" in words
    assert "can only be told with the key" in words


def test_a_public_page_holds_nothing_raw(release: Release, tmp_path: Path) -> None:
    html, words = page_of(release, tmp_path / "sheet.html", key=release.key, public=True)
    assert "May be published with the data" in words
    assert "Internal" not in words
    assert 'id="people"' not in html
    assert 'id="map"' not in html
    events = pq.read_table(release.events).to_pydict()
    for user in set(events["user"]):
        assert not re.search(rf"\b{re.escape(str(user))}\b", words)
    for axis in ("lat", "lon"):
        for value in set(np.round(events[axis], 4)):
            assert f"{value:.4f}" not in html
    boxes = pq.read_table(release.key).to_pydict()
    assert not any(name in html for name in boxes["record"])


def test_a_page_that_is_there_is_kept(release: Release, tmp_path: Path) -> None:
    from shoal.errors import InputError

    page = tmp_path / "report.html"
    page.write_text("mine")
    with pytest.raises(InputError, match="exists already"):
        write_report(release.events, release.published, page)
    assert page.read_text() == "mine"
