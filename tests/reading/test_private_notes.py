"""Private notes are read as they were written; damaged ones are refused in one line that repeats nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reading.refusals import refusal
from shoal.core.options import ReadingOptions
from shoal.core.promise import Grid
from shoal.reading import private_notes_beside, read_private_notes

CODE = "ab" * 32
CANARIES = ("canary", "9000", CODE)


def content(**changes: Any) -> dict[str, Any]:
    reading = {**ReadingOptions().to_dict(), "exclude_users": ["canary"], "bbox": "0,0,9000,9000"}
    return {
        "format": 1,
        "shoal": "0.2.0",
        "grid": {"cell_m": 100.0, "step_s": 60, "crs": None},
        "reading": reading,
        "events": {"key": CODE, "hmac_sha256": CODE},
        "published": {"sha256": CODE},
        **changes,
    }


def written(folder: Path, notes: Any) -> Path:
    path = folder / "key.csv.private.json"
    path.write_text(notes if isinstance(notes, str) else json.dumps(notes))
    return path


def test_as_written(tmp_path: Path) -> None:
    notes = read_private_notes(written(tmp_path, content()))
    assert notes.grid == Grid(100.0, 60)
    assert notes.reading == ReadingOptions(exclude_users=["canary"], bbox="0,0,9000,9000")
    assert (notes.code_key, notes.code, notes.published) == (bytes.fromhex(CODE), CODE, CODE)

    assert (notes.evidence, dict(notes.dropped)) == (None, {})  # notes of older versions have neither
    more = content(evidence={"sha256": CODE}, rows_dropped={"outside --bbox": 3})
    notes = read_private_notes(written(tmp_path, more))
    assert (notes.evidence, dict(notes.dropped)) == (CODE, {"outside --bbox": 3})


READING = content()["reading"]


def test_notes_of_the_first_version_are_read_as_it_read(tmp_path: Path) -> None:
    """It knew no other signs of a missing user than an empty cell, and no patterns of times or queries."""
    old = {
        name: value for name, value in READING.items() if name not in ("time_format", "missing_user", "query")
    }
    notes = read_private_notes(written(tmp_path, content(reading=old)))
    assert notes.reading == ReadingOptions(exclude_users=["canary"], bbox="0,0,9000,9000", missing_user="")
    assert not notes.reading.missing_users


@pytest.mark.parametrize(
    "spoilt",
    [
        "", "[]", "{", "[" * 100_000, "null", content(grid=None), content(grid={"cell_m": -1, "step_s": 60}),
        content(reading=[]), content(reading={}), content(reading={**READING, "more": 1}),
        content(reading={**READING, "bbox": "canary"}), content(reading={**READING, "min_days_active": "x"}),
        content(events={}), content(events={"key": CODE, "hmac_sha256": "ab"}),
        content(events={"key": "x", "hmac_sha256": CODE}), content(published={"sha256": 5}), content(published=[]),
        content(evidence={}), content(evidence={"sha256": "x"}), content(rows_dropped=[]),
        content(rows_dropped={"a": "b"}),
    ],
)  # fmt: skip
def test_damaged(spoilt: Any, tmp_path: Path) -> None:
    path = written(tmp_path, spoilt)
    assert "cannot be used" in refusal(lambda: read_private_notes(path), CANARIES)


@pytest.mark.parametrize("other", [2, "1", None])
def test_another_format(other: object, tmp_path: Path) -> None:
    path = written(tmp_path, content(format=other))
    assert f"must be of format 1, found {other!r}" in refusal(lambda: read_private_notes(path), CANARIES)


def test_found_beside_a_key(tmp_path: Path) -> None:
    key = tmp_path / "key.csv"
    assert private_notes_beside(key) is None
    path = written(tmp_path, content())
    assert private_notes_beside(key) == private_notes_beside(str(key)) == path
    assert private_notes_beside(None) is private_notes_beside({}) is None
