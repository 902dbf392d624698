"""Releases under full consistency: the same on any number of workers and after a kill, and audited like any other."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import shoal
from support.killed_runs import Killed, end_after
from support.run_command import anonymize, audit, boxes_in, city, write

MUTUAL = ("--selector", "mutual")


@pytest.mark.parametrize("k", [2, 3])
def test_the_same_on_any_number_of_workers(k: int) -> None:
    def boxes(workers: int) -> Counter[Any]:
        published = shoal.anonymize(
            city(150), k=k, tau="30min", epsilon="30min", selector="mutual", workers=workers
        )
        return Counter(zip(*(column.tolist() for column in published.outcome.boxes), strict=True))

    assert boxes(1) == boxes(3)


@pytest.mark.parametrize("k", [2, 3])
def test_verified_and_audited(k: int, tmp_path: Path) -> None:
    events, output, key = (
        write(city(150), tmp_path / "events.csv"),
        tmp_path / "out.csv",
        tmp_path / "key.csv",
    )
    assert anonymize(events, output, *MUTUAL, "--key-out", key, k=k).code == 0
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert manifest["parameters"]["selector"] == "mutual"
    assert manifest["verified"] is True
    found = audit(events, output, "--key", key, "--tolerance", 0.1, "--json", "-")
    assert found.code == 0
    assert json.loads(found.out)["kept"]


@pytest.mark.parametrize("k", [2, 3])
def test_a_killed_run_goes_on(k: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events, output = write(city(150), tmp_path / "events.csv"), tmp_path / "out.csv"
    assert anonymize(events, tmp_path / "whole.csv", *MUTUAL, k=k).code == 0
    with monkeypatch.context() as patched:
        end_after(20, patched)
        with pytest.raises(Killed):
            anonymize(events, output, *MUTUAL, k=k)
    other = anonymize(events, output, "--resume", k=k)
    assert other.code == 2
    assert "another" in other.err
    assert anonymize(events, output, *MUTUAL, "--resume", k=k).code == 0
    assert boxes_in(output) == boxes_in(tmp_path / "whole.csv")
