"""Millions of boxes in a journal on disk are published in the memory of a few buckets."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet
import pytest

import shoal

N_STEPS, N_USERS, PER_USER = 160, 25_000, 2  # eight million boxes
HELD = 36 * N_STEPS * N_USERS * PER_USER  # bytes that all of them take

WRITE = """
import sys
from pathlib import Path
import numpy as np
from shoal.core.boxes import Boxes
from shoal.hiding.fold import Step
from shoal.hiding.hardening import no_witnesses
from shoal.hiding.journal import FolderJournal
from shoal.publishing import tables
from shoal.publishing.record_names import NamedBoxes
from shoal.core.promise import Grid
from shoal.storage import box_sorting

folder, n_steps, n_users, per_user = Path(sys.argv[1]), *map(int, sys.argv[2:])
box_sorting._BUCKET, tables._ROWS_AT_A_TIME = 250_000, 100_000
rng = np.random.default_rng(0)
(folder / "journal").mkdir()
journal = FolderJournal(folder / "journal", {})
owner = np.repeat(np.arange(n_users, dtype=np.int32), per_user)
for step in range(n_steps):
    t0 = step * 60 + np.tile(np.arange(per_user) * 20, n_users).astype(np.int64)
    x, y = rng.integers(0, 5_000, (2, len(owner)), np.int32)
    journal.append(Step((), Boxes(owner, t0, t0 + 9, x, x + 20, y, y + 20), no_witnesses()))

def peak():
    # Not getrusage: a process begins with the peak of the one that started it.
    return 1024 * int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])

class Parts:
    def __iter__(self):
        return (step.boxes for step in journal)

named = NamedBoxes(Parts(), np.full(n_users, n_steps * per_user))
before = peak()
for spill in (folder / "sorting", None):
    with (folder / "out.parquet").open("wb") as file:
        tables.write_published(file, ".parquet", named, Grid(), None, {}, spill)
    print(peak() - before)
"""


def test_memory_does_not_hold_what_the_files_hold(tmp_path: Path) -> None:
    if not Path("/proc/self/status").exists():
        pytest.skip("needs /proc to tell how much memory was used")
    done = subprocess.run(
        [sys.executable, "-c", WRITE, str(tmp_path), *map(str, (N_STEPS, N_USERS, PER_USER))],
        env={**os.environ, "PYTHONPATH": str(Path(shoal.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=True,
    )
    from_files, from_memory = map(int, done.stdout.split())
    written = pyarrow.parquet.ParquetFile(tmp_path / "out.parquet")
    assert written.metadata.num_rows == N_STEPS * N_USERS * PER_USER
    assert {path.name for path in tmp_path.iterdir()} == {"journal", "out.parquet"}
    assert from_files < HELD / 2
    assert from_memory > HELD  # so that the figure means something
