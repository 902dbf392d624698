"""A release gives the same tables whether its boxes are in memory or in the file to which it was written."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shoal
from shoal.errors import InputError
from shoal.publishing.release import Draft
from shoal.publishing.tables import SUFFIXES
from shoal.storage.spill import BOXES, DiskSpillFile
from support.run_command import anonymize, boxes_in, city, left_in, read_table, records_of, write

HALF_HOURS: dict[str, Any] = {"k": 2, "tau": "30min", "epsilon": "30min"}


@pytest.fixture(autouse=True)
def small_buckets(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that files are sorted in files, and written in several batches."""
    monkeypatch.setattr("shoal.storage.box_sorting._BUCKET", 50)
    monkeypatch.setattr("shoal.publishing.tables._ROWS_AT_A_TIME", 120)


def known_names(n: int) -> Any:
    """In another order than the users."""
    return np.array([f"r{(7 * row + 3) % n:03d}" for row in range(n)])


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_tables_from_memory_and_from_the_file(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.publishing.record_names._fresh_names", known_names)
    monkeypatch.chdir(tmp_path)
    memory = shoal.anonymize(city(), **HALF_HOURS)
    file = shoal.anonymize(city(), **HALF_HOURS, output=f"out{suffix}")
    monkeypatch.chdir("/")  # where it was written is known all the same
    assert left_in(tmp_path) == {f"out{suffix}", f"out{suffix}.manifest.json"}
    assert memory.summary["boxes"] > 3 * 120
    assert file.to_arrow().equals(memory.to_arrow())
    assert file.to_arrow().schema.equals(memory.to_arrow().schema, check_metadata=True)
    assert file.key().equals(memory.key())
    assert file.to_pandas().equals(memory.to_pandas())
    assert file.manifest == memory.manifest
    took = {"seconds": 0, "compile_seconds": 0}
    assert {**file.summary, **took} == {**memory.summary, **took}
    for one, other in zip(file.outcome.boxes, memory.outcome.boxes, strict=True):
        assert one.dtype == other.dtype
        assert np.array_equal(one, other)
    assert records_of(read_table(tmp_path / f"out{suffix}")) == records_of(memory.to_arrow())


def test_buckets_lie_in_the_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that ends while they fill goes on, and neither leaves them behind."""
    events, output = write(city(), tmp_path / "events.parquet"), tmp_path / "out.parquet"
    expected = shoal.anonymize(city(), **HALF_HOURS)
    turns = iter(range(1000))
    append = DiskSpillFile.append

    def failing(self: DiskSpillFile, arrays: Any) -> None:
        if self._path.parent.name == "sorting" and next(turns) == 3:
            assert {path.name for path in (tmp_path / "out.parquet.checkpoint" / "sorting").iterdir()}
            with BOXES.explain_errors():
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        append(self, arrays)

    monkeypatch.setattr(DiskSpillFile, "append", failing)
    done = anonymize(events, output)
    assert (done.code, done.out) == (3, "")
    assert done.err == (
        "shoal: Could not write the checkpoint (No space left on device): nothing was published;"
        " make room or mend that, then go on with --resume.\n"
    )
    assert {name for name in left_in(tmp_path) if "checkpoint" not in name} == {"events.parquet"}
    assert not (tmp_path / "out.parquet.checkpoint" / "sorting").exists()
    (tmp_path / "out.parquet.checkpoint" / "sorting").mkdir()
    (tmp_path / "out.parquet.checkpoint" / "sorting" / "bucket-0000000.spill").write_bytes(b"killed")
    assert anonymize(events, output, "--resume").code == 0
    assert left_in(tmp_path) == {"events.parquet", "out.parquet", "out.parquet.manifest.json"}
    assert boxes_in(output) == records_of(expected.to_arrow())


def test_a_file_that_is_gone_or_another(tmp_path: Path) -> None:
    output = tmp_path / "out.csv"
    release = shoal.anonymize(city(), **HALF_HOURS, output=output)
    shoal.anonymize(city(), **HALF_HOURS, output=output, force=True)
    with pytest.raises(
        InputError, match=r"^out\.csv is no longer the file to which this release was written"
    ):
        release.to_arrow()
    output.unlink()
    with pytest.raises(InputError, match="No file or folder"):
        release.to_arrow()
    assert release.manifest["counts"]["boxes"] == release.summary["boxes"] > 0
    assert len(release.key()) == 60


def test_steps_that_change_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events, output = write(city(), tmp_path / "events.parquet"), tmp_path / "out.parquet"
    key_table = Draft.key_table

    def harm(self: Draft) -> Any:
        (tmp_path / "out.parquet.checkpoint" / "step-0000007.npz").write_bytes(b"torn")
        return key_table(self)

    monkeypatch.setattr(Draft, "key_table", harm)
    done = anonymize(events, output, "--key-out", tmp_path / "key.csv")
    assert done.code == 3
    assert done.err == (
        "shoal: Files of the checkpoint were changed or removed while they were in use: begin again.\n"
    )
