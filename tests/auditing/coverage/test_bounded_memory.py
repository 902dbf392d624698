"""The exact check of many days takes no more memory than that of a few."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

pytest.importorskip("resource")

USERS, DAY, EPOCH, EVERY = 1500, 1440, 30, 6  # slots of a minute; a sample of everybody every six of them

CHECK = f"""
import sys
from pathlib import Path
import numpy as np
from shoal.storage.sample_store import FileColumn, SampleStore
from shoal.auditing.coverage import chunks
from shoal.storage.box_store import open_box_store
from shoal.auditing.coverage.check import PartsEvidence, check_parts
from shoal.core.periods import ONE_PERIOD
from shoal.core.workers import Workers
from shoal.core.promise import Grid, Promise
from shoal.reading import PublishedRows, tables

chunks.MOST_SAMPLES, tables.BATCH_ROWS = 100_000, 50_000  # less than two days have
folder, days = Path(sys.argv[1]), int(sys.argv[2])
slots = np.arange(0, days * {DAY}, {EVERY})
first = np.arange(len(slots) + 1) * {USERS}
columns = (FileColumn(folder / name) for name in ("user", "x", "y"))
samples = SampleStore(np.arange({USERS}).astype(object), slots, first, *columns)
promise = Promise(2, {EPOCH}, {EPOCH})
with Workers(1) as workers, open_box_store(chunks.bucket_borders(samples, promise), folder) as boxes:
    for batch in PublishedRows(folder / "published.parquet", grid=Grid()).batches():
        boxes.add(batch)
    evidence = PartsEvidence(samples, boxes, np.arange({USERS}), np.zeros({USERS}, np.int64), ONE_PERIOD)
    coverage, untruths = check_parts(evidence, promise, workers)
assert coverage.kept and coverage.n_intervals > days * {USERS}, coverage
assert untruths == (0, 0, 0), untruths
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
"""


def write_city(folder: Path, days: int) -> None:
    """Pairs of users side by side, who hide each other all the time; both in files."""
    n_slots = days * DAY // EVERY
    user = np.tile(np.arange(USERS, dtype=np.int32), n_slots)
    user.tofile(folder / "user")
    user.tofile(folder / "x")
    np.zeros(len(user), np.int32).tofile(folder / "y")
    begin = np.arange(0, days * DAY, EPOCH) * 60_000
    schema = pa.schema(
        [("record", pa.string()), *((name, pa.timestamp("ms", "UTC")) for name in ("t_start", "t_end"))]
        + [(name, pa.float64()) for name in ("x_min", "x_max", "y_min", "y_max")]
    )
    with pa.parquet.ParquetWriter(folder / "published.parquet", schema) as writer:
        for record in range(USERS):
            x = record // 2 * 200.0
            edges = [np.full(len(begin), edge) for edge in (x, x + 200.0, 0.0, 100.0)]
            times = [pa.array(at, schema.field("t_start").type) for at in (begin, begin + EPOCH * 60_000)]
            names = pa.array([f"r{record:06d}"] * len(begin))
            writer.write_table(pa.table([names, *times, *edges], schema=schema))


def peak_kilobytes(folder: Path, days: int) -> int:
    folder.mkdir()
    write_city(folder, days)
    done = subprocess.run(
        [sys.executable, "-c", CHECK, str(folder), str(days)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout) // (1024 if sys.platform == "darwin" else 1)


def test_memory_does_not_grow_with_the_days(tmp_path: Path) -> None:
    peak_kilobytes(tmp_path / "first", 1)  # compiles, which takes memory as well
    few, many = (
        min(peak_kilobytes(tmp_path / f"{days}-{turn}", days) for turn in range(3)) for days in (2, 8)
    )  # peaks of the same differ by 20 MB, as memory is given back sooner or later
    data = 6 * USERS * (DAY // EVERY * 20 + DAY // EPOCH * 36) // 1024  # of the days between, held once
    assert many - few < data / 2  # all at once it would grow by three times the data
