"""A release that version 0.1.0 made, with its manifest of format 1 and its key, can still be audited."""

from __future__ import annotations

import json
from pathlib import Path

import shoal
from support.paths import PROJECT
from support.run_command import audit

FOLDER = PROJECT / "tests" / "data" / "release-0.1"


def test_its_promise_is_taken_from_the_manifest_and_weakened_as_it_admits() -> None:
    manifest = json.loads((FOLDER / "published.csv.manifest.json").read_text())
    assert (manifest["format"], manifest["versions"]["shoal"]) == (1, "0.1.0")
    found = shoal.audit(
        FOLDER / "events.csv", FOLDER / "published.csv", key=FOLDER / "key.csv", attacks=50, workers=1
    )
    assert not found.coverage.worst
    assert (found.failed, found.only_weakened) == (True, True)  # its 24 people hide with the same ones again
    assert found.guarantees.one_window.share == 170 / 333
    assert (found.promise.k, found.promise.tau, found.promise.epsilon) == (2, 60, 30)
    assert found.counts.records == manifest["counts"]["records"]


def test_the_command_reads_it(tmp_path: Path) -> None:
    done = audit(
        FOLDER / "events.csv", FOLDER / "published.csv", "--key", FOLDER / "key.csv", "--attacks", 20
    )
    assert done.code == 1, done.err
    assert done.out.startswith(
        "Verdict       WEAKENED: guarantee 1 KEPT, 2 weakened (up to 51.1 % of members"
    )
    assert not list(tmp_path.iterdir())
