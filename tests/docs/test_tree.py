"""The house stays in order: one meaning for a class name, files of one idea, references that resolve."""

from __future__ import annotations

import ast
import re
from collections import defaultdict

import pytest

from support.paths import PROJECT

SOURCES = sorted((PROJECT / "src" / "shoal").rglob("*.py"))


def test_a_class_name_has_one_meaning() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(path.name)
    assert len(homes) > 200
    assert {name: where for name, where in homes.items() if len(where) > 1} == {}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_a_file_holds_one_idea(path: object) -> None:
    assert len(path.read_text().splitlines()) <= 600  # type: ignore[attr-defined]


def test_every_package_says_what_is_inside_and_names_files_that_exist() -> None:
    package = PROJECT / "src" / "shoal"
    for path in SOURCES:
        if path.name == "__init__.py":
            said = ast.get_docstring(ast.parse(path.read_text()))
            assert said, path
            for name in re.findall(r"[\w/]+\.py", said):
                assert (path.parent / name).exists() or (package / name).exists(), f"{path}: {name}"


def test_nothing_refers_to_a_design_that_readers_do_not_have() -> None:
    pages = [
        path for folder in ("src", "tests", "benchmarks", "docs") for path in (PROJECT / folder).rglob("*.*")
    ]
    for path in pages:
        if path.suffix in (".py", ".md") and path.name != "test_tree.py":
            assert not re.search(r"\bdesign \d", path.read_text(encoding="utf-8")), path
