"""The glossary stays short, and what it says about the code is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from support.paths import PROJECT

PAGE = PROJECT / "docs/glossary.md"
PACKAGE = PROJECT / "src/shoal"
LINES = PAGE.read_text(encoding="utf-8").splitlines()
ROWS = [line.strip("| ").split(" | ") for line in LINES if line.startswith("| ") and " | " in line][1:]


def classes(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.ClassDef)}


def test_it_fits_on_a_page() -> None:
    assert len(LINES) <= 40
    assert len(ROWS) >= 25


def test_no_word_has_two_meanings() -> None:
    words = [word.strip() for row in ROWS for word in re.split(r"[,:]", row[0])]
    assert len(words) == len(set(words))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_files_and_classes_exist(row: list[str]) -> None:
    _, _, where = row
    places = re.findall(r"`([\w/]+(?:\.py|/))`", where)
    assert places, "no file or folder"
    for place in places:
        assert (PACKAGE / place).exists(), place
    named = re.findall(r"`([A-Z]\w+)`", where)
    assert set(named) <= {
        name for place in places if place.endswith(".py") for name in classes(PACKAGE / place)
    }
    assert not set(re.findall(r"`([^`]+)`", where)) - {*places, *named}, "neither a place nor a class"


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/how-it-works.md"])
def test_pages_lead_to_it(page: str) -> None:
    assert "glossary.md)" in (PROJECT / page).read_text(encoding="utf-8")
