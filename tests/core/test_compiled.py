"""Compiled code that does not count its arrays must not hand any out, and none of it may outlive its source."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

import numpy as np
import pytest
from numba.core.errors import TypingError

import shoal
from shoal.core.arrays import Int32s
from shoal.core.compiled import compiled_sources, jit_inline, jit_no_arrays, source_digest


@pytest.mark.parametrize("decorator", [jit_inline, jit_no_arrays])
def test_a_function_that_returns_arrays_is_refused(decorator) -> None:
    def part(values: Int32s) -> Int32s:
        return values[1:]

    with pytest.raises(TypeError, match="part returns Int32s: compile it with jit or jit_inline_allocating"):
        decorator(part)


def test_a_function_that_makes_arrays_is_refused() -> None:
    with pytest.raises(TypingError):
        makes_an_array(3)


@jit_no_arrays
def makes_an_array(n: int) -> int:
    return len(np.empty(n))


PACKAGE = Path(shoal.__file__).parent
# Types of arrays, which compiled code names in annotations only; reprs, which it never calls; where it is kept.
UNCOMPILED = {"shoal.core.arrays", "shoal.core.reprs", "shoal.core.code_cache"}
DRIVER = PACKAGE / "core" / "compiling.py"  # calls the compiler, and has no compiled code of its own


@pytest.fixture(scope="module")
def copied_package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("package") / "shoal"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def uses_the_compiler(source: str) -> bool:
    """Whether a file imports numba or the module that owns its flags, in any of the ways Python has."""
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module or ''}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        if any({"numba", "compiled"} & set(name.split(".")) for name in names):
            return True
    return False


@pytest.mark.parametrize(
    "line",
    [
        "from shoal.core.compiled import jit",
        "from shoal.core.compiled import (jit,)",
        "from shoal.core import compiled",
        "from shoal.core import arrays, compiled as flags",
        "import shoal.core.compiled as flags",
        "from .compiled import jit",
        "from ..core import compiled",
        "import numba",
        "import numba.typed",
        "from numba import njit",
    ],
)
def test_no_way_to_import_the_compiler_escapes_the_digest(line: str, copied_package: Path) -> None:
    sneaky = copied_package / "utility" / "sneaky.py"
    before = source_digest(copied_package)
    sneaky.write_text(f"import numpy\n{line}\n")
    try:
        assert uses_the_compiler(sneaky.read_text())
        assert sneaky in compiled_sources(copied_package)
        assert source_digest(copied_package) != before
    finally:
        sneaky.unlink()


def test_every_file_that_uses_the_compiler_is_in_the_digest() -> None:
    expected = {path for path in PACKAGE.rglob("*.py") if uses_the_compiler(path.read_text())}
    assert set(compiled_sources(PACKAGE)) == expected - {DRIVER}
    assert "jit" not in DRIVER.read_text()
    assert len(expected) > 25


@pytest.mark.parametrize("source", compiled_sources(PACKAGE), ids=lambda path: path.stem)
def test_touching_any_compiled_file_changes_the_digest(source: Path, copied_package: Path) -> None:
    before = source_digest(copied_package)
    copy = copied_package / source.relative_to(PACKAGE)
    original = copy.read_text()
    copy.write_text(original + "\n")
    try:
        assert source_digest(copied_package) != before
    finally:
        copy.write_text(original)


@pytest.mark.parametrize("source", compiled_sources(PACKAGE), ids=lambda path: path.stem)
def test_compiled_code_takes_nothing_from_a_file_outside_the_digest(source: Path) -> None:
    """A constant from elsewhere would be frozen into machine code that does not go when it changes."""
    digested = {
        ".".join(("shoal", *path.relative_to(PACKAGE).with_suffix("").parts))
        for path in compiled_sources(PACKAGE)
    }
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("shoal"):
            assert node.module in digested | UNCOMPILED
        if isinstance(node, ast.Import):
            assert not any(alias.name.startswith("shoal") for alias in node.names)
