"""The docs as a site: every page is there, every link leads somewhere, nothing comes from outside."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

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


def test_links_lead_somewhere_and_nothing_is_loaded(site: ModuleType, tmp_path: Path) -> None:
    written = site.build(tmp_path)
    docs = {path.stem for path in (ROOT / "docs").rglob("*.md")}
    assert docs <= {path.stem for path in written}
    for page in written:
        html = page.read_text(encoding="utf-8")
        assert not re.search(r"<script|<link|@import|url\(", html)
        for link in re.findall(r'(?:href|src)="([^"]+)"', html):
            if re.match(r"\w+:", link):
                continue
            path, _, anchor = link.partition("#")
            there = (page.parent / path) if path else page
            assert there.exists(), f"{page.name}: {link}"
            assert not anchor or f'id="{anchor}"' in there.read_text(encoding="utf-8"), f"{page.name}: {link}"
        assert not re.search(r'src="\w+:', html)
