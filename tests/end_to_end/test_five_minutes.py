"""From a dirty file to a report, by nothing but the commands that the terminal names (docs/five-minutes.md)."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from support.dirty_file import write_dirty_file
from support.run_command import run


def command_in(out: str) -> list[str]:
    """The first command that a run names, as a shell would read it."""
    lines = out.replace("\\\n", "").splitlines()
    return shlex.split(next(line for line in lines if line.startswith("  shoal ")))


def test_the_terminal_leads_from_a_dirty_file_to_a_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_dirty_file(Path("calls.csv"), users=120)
    words, ran = ["shoal", "check", "calls.csv"], []
    while True:
        done = run(*words[1:], *(("--attacks", 20, "--tolerance", 1) if words[1] == "report" else ()))
        ran.append(words[1])
        assert done.code == 0, done.err
        if words[1] == "report":
            break
        words = command_in(done.out)
    assert ran == ["check", "plan", "anonymize", "report"]
    for name in ("published.parquet", "published.parquet.manifest.json", "key.parquet", "report.html"):
        assert Path(name).stat().st_size > 500
