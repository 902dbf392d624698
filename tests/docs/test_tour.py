"""The tour of docs/tour.md: every block runs, and prints what stands below it."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

from support.paths import PROJECT

PAGE = PROJECT / "docs/tour.md"
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


def printed(code: str, known: dict[str, Any]) -> str:
    """What a block prints, in the world that earlier ones made."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(code, known)
    return out.getvalue()


def test_every_block_prints_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    known: dict[str, Any] = {}
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert len(blocks) == 10
    for code, expected in blocks:
        assert printed(code, known) == expected, code
    assert {path.name for path in tmp_path.iterdir()} == {"report.html", "datasheet.html"}
