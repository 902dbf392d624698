"""An audit names the file that it is about."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shoal
from shoal.auditing.audited_file import AuditedFile, describe_file
from shoal.core.boxes import Boxes
from shoal.core.promise import Grid
from shoal.core.zones import Zone
from support.run_command import in_metres

DAY = 1440  # slots


def described(published: Any, t0: int, t1: int, zone: str = "UTC") -> AuditedFile:
    """Of two boxes, one from slot t0 on and one up to slot t1."""
    zeros = np.zeros(2, np.int32)
    boxes = Boxes(zeros, np.array([t0, t1]), np.array([t0, t1]), zeros, zeros, zeros, zeros)
    return describe_file(published, boxes, Grid(), Zone(zone))


def test_name_checksum_and_date(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    path.write_bytes(b"boxes")
    for published in (path, str(path)):
        file = described(published, 0, DAY)
        assert (file.name, file.sha256) == ("out.parquet", hashlib.sha256(b"boxes").hexdigest())
        assert file.version == version("shoal")
        assert file.audited == datetime.now(UTC).date().isoformat()
    assert str(tmp_path) not in str(file)  # a folder's name is nobody's business
    path.write_bytes(b"boxes, changed")
    assert described(path, 0, DAY).sha256 != file.sha256


def test_the_period_is_that_of_the_boxes_on_the_clock_of_the_audit() -> None:
    assert described(None, 0, DAY - 1).period == "1970-01-01"
    assert described(None, 0, DAY).period == "1970-01-01 to 1970-01-02"
    assert described(None, 16 * 60, DAY, "Asia/Tokyo").period == "1970-01-02"
    assert described(None, -1, 0).period == "1969-12-31 to 1970-01-01"
    assert described(None, 0, 10**13).last == f"day {10**13 // DAY}"


def test_in_words() -> None:
    file = AuditedFile("out.parquet", "ab", "2024-01-01", "2024-01-07", "2024-02-01", "0.2.0")
    assert file.in_words() == (
        "out.parquet, 2024-01-01 to 2024-01-07; audited on 2024-02-01 with shoal 0.2.0"
    )
    assert file._replace(name=None, sha256=None).in_words().startswith("a table in memory, 2024-01-01 to")


@pytest.mark.parametrize("in_memory", [False, True])
def test_every_audit_says_of_which_file_it_is(tmp_path: Path, in_memory: bool) -> None:
    output = tmp_path / "out.csv"
    published = shoal.anonymize(in_metres(), k=2, tau="30min", epsilon="30min", output=output)
    audit = shoal.audit(in_metres(), published if in_memory else output, attacks=10)
    told = audit.to_dict()["file"]
    assert told["first"] == "2023-11-14"
    expected = None if in_memory else hashlib.sha256(output.read_bytes()).hexdigest()
    assert told["sha256"] == expected
