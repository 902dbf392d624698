"""A release that is written after the fact is the one that anonymize() would have written."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shoal
from shoal.errors import InputError, UnfinishedError
from shoal.publishing import outputs
from shoal.publishing.tables import SUFFIXES
from shoal.reading import read_published
from support.run_command import boxes_in, city, in_metres, left_in, read_table, records_of, write

HALF_HOURS: dict[str, Any] = {"k": 2, "tau": "30min", "epsilon": "30min", "cell": "200m", "step": "2min"}


def known_names(n: int) -> Any:
    return np.array([f"r{(7 * row + 3) % n:03d}" for row in range(n)])


@pytest.fixture(scope="module")
def release() -> shoal.Published:
    return shoal.anonymize(city(), **HALF_HOURS)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_files_are_those_of_a_run_with_output(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.publishing.record_names._fresh_names", known_names)
    memory = shoal.anonymize(city(), **HALF_HOURS)
    there, after = (tmp_path / name for name in ("there", "after"))
    there.mkdir()
    after.mkdir()
    shoal.anonymize(
        city(),
        **HALF_HOURS,
        output=there / f"out{suffix}",
        key_out=there / "key.csv",
        summary_out=there / "s.json",
    )
    memory.write(after / f"out{suffix}", key_out=str(after / "key.csv"), summary_out=after / "s.json")
    assert left_in(after) == left_in(there)
    differing = {"s.json", "key.csv.private.json"}  # seconds; a fresh key for the code of the events
    for name in left_in(there) - differing:
        assert (after / name).read_bytes() == (there / name).read_bytes(), name
    for name in left_in(there):
        assert stat.S_IMODE((after / name).stat().st_mode) == stat.S_IMODE((there / name).stat().st_mode), (
            name
        )
    notes = [json.loads((folder / "key.csv.private.json").read_text()) for folder in (there, after)]
    for each in notes:
        del each["events"]
    assert notes[0] == notes[1]
    found = read_published(after / f"out{suffix}")
    assert (found.grid.cell_m, found.grid.step_s) == (200.0, 120)  # told by the files themselves
    audit = shoal.audit(city(), after / f"out{suffix}", key=after / "key.csv", attacks=20)
    assert audit.events_checked.status == "same"
    assert audit.coverage.kept


def test_the_file_alone(release: shoal.Published, tmp_path: Path) -> None:
    release.write(tmp_path / "out.csv")
    assert left_in(tmp_path) == {"out.csv", "out.csv.manifest.json"}
    assert boxes_in(tmp_path / "out.csv") == records_of(release.to_arrow())
    assert json.loads((tmp_path / "out.csv.manifest.json").read_text()) == release.manifest
    release.write(tmp_path / "other.parquet", key_out=tmp_path / "key.parquet", evidence=False)
    assert read_table(tmp_path / "key.parquet").equals(release.key())
    assert "key.parquet.evidence.parquet" not in left_in(tmp_path)


def test_a_release_that_was_written_can_be_written_again(tmp_path: Path) -> None:
    made = shoal.anonymize(city(), **HALF_HOURS, output=tmp_path / "out.parquet")
    made.write(tmp_path / "out.csv")
    made.write(tmp_path / "out.parquet", force=True)  # the very file that it is read from
    for name in ("out.csv", "out.parquet"):
        assert boxes_in(tmp_path / name) == records_of(made.to_arrow())
    with pytest.raises(
        InputError, match=r"^This release was made for out\.parquet, .* give key_out where it is"
    ):
        made.write(tmp_path / "again.csv", key_out=tmp_path / "key.csv")
    assert not any("key" in name or "again" in name for name in left_in(tmp_path))


def test_refusals_are_those_of_anonymize(tmp_path: Path) -> None:
    events = write(in_metres(), tmp_path / "events.csv")
    made = shoal.anonymize(events, **HALF_HOURS)
    (tmp_path / "there.csv").write_text("mine")
    before = left_in(tmp_path)
    for wrong, words in (
        ({"path": "out.txt"}, "must end in one of"),
        ({"path": "there.csv"}, r"exists already: add force=True"),
        ({"path": "events.csv", "force": True}, "would overwrite or join the input"),
        ({"path": "no/out.csv"}, "does not exist"),
        ({"path": "out.geojson"}, r"^The release gives positions in metres .* cannot place on the map"),
        ({"path": "out.csv", "key_out": "key.txt"}, "The key must end in"),
        ({"path": "out.csv", "key_out": "out.csv"}, "must be different files"),
    ):
        paths = {name: value if value is True else tmp_path / str(value) for name, value in wrong.items()}
        with pytest.raises(InputError, match=words):
            made.write(**paths)
        assert left_in(tmp_path) == before
    (tmp_path / "out.csv.checkpoint").mkdir()
    with pytest.raises(InputError, match="checkpoint of an unfinished run"):
        made.write(tmp_path / "out.csv")


def test_all_files_appear_or_none(
    release: shoal.Published, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(outputs, "write_evidence", full)
    with pytest.raises(
        UnfinishedError, match=r"nothing was published; make room or mend that, then write again\.$"
    ):
        release.write(tmp_path / "out.parquet", key_out=tmp_path / "key.csv")
    assert left_in(tmp_path) == set()


def test_what_was_written_is_read_back(
    release: shoal.Published, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: the file holds other boxes, or other names, than the release."""
    real = outputs.write_published
    named = release.named
    larger = dataclasses.replace(release.events.grid, step_s=release.events.grid.step_s * 2)
    for wrong in ({"grid": larger}, {"named": type(named)(named._pieces, named._sizes)}):

        def elsewhere(file: Any, suffix: str, boxes: Any, grid: Any, *rest: Any, wrong: Any = wrong) -> None:
            real(file, suffix, wrong.get("named", boxes), wrong.get("grid", grid), *rest)

        monkeypatch.setattr(outputs, "write_published", elsewhere)
        with pytest.raises(UnfinishedError, match="what was written is not the release"):
            release.write(tmp_path / "out.parquet")
        assert left_in(tmp_path) == set()
