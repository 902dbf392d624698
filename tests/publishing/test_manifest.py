"""The manifest tells what a recipient needs, and nothing that came from few people."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal.core.disclosure import public_count
from shoal.reading.summary import choices_together
from support.run_command import anonymize, city, write

KEYS = {
    "format", "promise", "grid", "reading", "parameters", "counts", "suppression", "granularity", "guarantees",
    "relaxations", "members", "verified", "versions",
}  # fmt: skip
NO_COUNTS = ("format", "promise", "grid", "reading", "parameters", "versions", "granularity", "verified")


def numbers(content: Any) -> Iterator[float]:
    """Every number in a manifest that counts something (parameters and versions do not)."""
    if isinstance(content, dict):
        for name, value in content.items():
            if name not in (
                "format",
                "promise",
                "grid",
                "reading",
                "parameters",
                "versions",
                "granularity",
                "verified",
            ):
                yield from numbers(value)
    elif isinstance(content, str):
        yield from (float(word) for word in content.replace(":", " ").split() if word.isdigit())
    elif content is not None:
        yield float(content)


def release(
    tmp_path: Path, table: pa.Table, *options: object, k: int = 2
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Manifest and summary of a release."""
    events, output, summary = (
        write(table, tmp_path / "raw.csv"),
        tmp_path / "out.parquet",
        tmp_path / "s.json",
    )
    done = anonymize(events, output, "--json", summary, "--force", *options, k=k)
    assert done.code == 0, done.err
    return json.loads(Path(f"{output}.manifest.json").read_text()), json.loads(summary.read_text())


def assert_safe(manifest: dict[str, Any], summary: dict[str, Any], k: int) -> None:
    for number in numbers(manifest):
        assert number == 0 or number >= k or number != int(number), f"{number} in {manifest}"
    text = json.dumps(manifest)
    assert "raw" not in text
    assert "tmp" not in text
    in_the_file = {summary.get(name) for name in ("records", "boxes")}
    told = set(numbers(manifest)) - in_the_file
    for name in ("users", "samples", "rows", "duplicates", "suppressed_samples", "suppressed_rare_presence"):
        assert not summary.get(name) or summary[name] not in told, name


def test_keys(tmp_path: Path) -> None:
    manifest, summary = release(tmp_path, city())
    assert set(manifest) == KEYS
    assert manifest["counts"] == {"records": 60, "boxes": summary["boxes"], "rows_dropped": {}}
    assert set(manifest["suppression"]) == {"share_of_samples", "users_without_record"}
    assert manifest["granularity"]["longer_side_km"] == summary["longer_side_km"]
    assert manifest["verified"] is summary["verified"] is True
    assert_safe(manifest, summary, 2)


def sparse(users: int, comers: int, epochs: int) -> pa.Table:
    """Users who are all there in every epoch, and comers who come once each, alone and on another day."""
    rows = [(f"u{user}", 1800 * epoch + 60 * user) for user in range(users) for epoch in range(epochs)]
    rows += [(f"c{comer}", 1800 * 48 * (comer + 1)) for comer in range(comers)]
    return pa.table(
        {
            "user": [user for user, _ in rows],
            "time": [1_700_001_000 + second for _, second in rows],
            "x": [50.0 + 100 * (second % 7) for _, second in rows],
            "y": [50.0 + 100 * (second % 5) for _, second in rows],
        }
    )


@pytest.mark.parametrize(("k", "comers"), [(2, 2), (2, 9), (3, 3), (5, 6)])
def test_few_recordless_users_are_not_counted(k: int, comers: int, tmp_path: Path) -> None:
    manifest, summary = release(tmp_path, sparse(12, comers, 6), k=k)
    assert summary["suppressed_users"] == comers
    assert manifest["suppression"]["users_without_record"] == "fewer than 10"
    assert manifest["suppression"]["share_of_samples"] == "some, of fewer than 10 users"
    assert_safe(manifest, summary, k)


def test_many_suppressed_samples_are_a_share_alone(tmp_path: Path) -> None:
    manifest, summary = release(tmp_path, sparse(12, 11, 11))
    assert summary["suppressed_samples"] == summary["suppressed_users"] == 11
    assert manifest["suppression"] == {"share_of_samples": 0.077, "users_without_record": 11}
    assert manifest["counts"].keys() == {"records", "boxes", "rows_dropped"}


def lonely(nights: dict[str, int]) -> pa.Table:
    """Forty users by day, and some of them alone at night, each in an hour of another day, with so many samples."""
    rows = [(f"u{user}", 1800 * epoch + 60 * (user % 30)) for user in range(40) for epoch in range(4)]
    for day, (user, samples) in enumerate(nights.items()):
        rows += [(user, 86_400 * (day + 1) + 60 * minute) for minute in range(samples)]
    return pa.table(
        {
            "user": [user for user, _ in rows],
            "time": [1_700_001_000 + second for _, second in rows],
            "x": [50.0] * len(rows),
            "y": [50.0] * len(rows),
        }
    )


def test_many_suppressed_samples_of_one_user_are_not_told(tmp_path: Path) -> None:
    """Fifteen samples of one user, of two or of nine are told alike; of ten users they are a share."""
    few = [{"u0": 15}, {"u1": 12, "u2": 3}, {f"u{user}": 2 for user in range(9)}]
    told = []
    for nights in few:
        manifest, summary = release(tmp_path, lonely(nights))
        assert summary["suppressed_samples"] == sum(nights.values())
        told.append(manifest["suppression"])
    assert told == [{"share_of_samples": "some, of fewer than 10 users", "users_without_record": 0}] * 3
    manifest, _ = release(tmp_path, lonely({f"u{user}": 2 for user in range(10)}))
    assert manifest["suppression"]["share_of_samples"] == pytest.approx(0.112)


@pytest.mark.parametrize("k", [2, 4, 30])
def test_no_small_count_of_any_kind(k: int) -> None:
    """Whatever small counts a run ends with, the manifest says the same."""
    made = shoal.anonymize(sparse(31, 0, 3), k=k, tau="30min", epsilon="30min")
    manifests = set()
    for small in range(1, k):
        outcome = replace(
            made.outcome,
            recordless_users=small,
            recordless_samples=small,
            epoch_suppressed_samples=0,
            relaxations=small,
        )
        outcome = replace(outcome, n_users=outcome.n_users + small, n_samples=outcome.n_samples + small)
        read_summary = replace(made.events.read_summary, dropped={"missing time": small})
        manifest = replace(
            made, outcome=outcome, events=replace(made.events, read_summary=read_summary)
        ).manifest
        assert_safe(manifest, {"records": 31, "boxes": made.outcome.boxes.n_boxes}, k)
        manifests.add(json.dumps(manifest))
    assert len(manifests) == 1


def test_which_option_left_rows_out_is_not_told() -> None:
    dropped = {"missing user": 3, "excluded user": 4, "outside --bbox": 30}
    assert choices_together(dropped) == {"missing user": 3, "left out by choice": 34}
    assert choices_together({"missing user": 3}) == {"missing user": 3}


def test_dropped_rows_are_not_counted_one_by_one(tmp_path: Path) -> None:
    table = sparse(12, 0, 4)
    x = ["" if row == 7 else value for row, value in enumerate(table["x"].to_pylist())]
    manifest, summary = release(tmp_path, table.set_column(2, "x", pa.array([str(value) for value in x])))
    assert summary["rows_dropped"] == {"missing position": 1}
    assert manifest["counts"]["rows_dropped"] == {"missing position": "fewer than 10"}
    assert_safe(manifest, summary, 2)


def test_relaxations_are_told_in_the_guarantees(tmp_path: Path) -> None:
    manifest, summary = release(tmp_path, sparse(4, 0, 12))
    assert summary["relaxations"] >= 10
    members = manifest["members"]
    assert members == public_count(summary["hiding_members"], 2)
    assert manifest["relaxations"] >= summary["relaxations"]
    assert manifest["guarantees"] == {
        "coverage": "given",
        "matching": "given",
        "knowing_the_method": "not given: whoever knows the method, and links windows, may be left with one record;"
        " made rarer (harden 1)",
        "one_window": f"weakened: k kept; epsilon not: up to {manifest['relaxations']:,} of about {members:,} members"
        " had to serve again",
    }
