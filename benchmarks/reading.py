"""Read 20 million rows from Parquet (or CSV) and print seconds and peak memory.

    python benchmarks/reading.py [--rows 20000000] [--users 100000] [--case NAME|all]

The cases many and manytext have 2 million users, whole numbers and text, whatever --users says.
Each case reads in a process of its own, so that its peak memory is its own; the file is written beforehand.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

CASES = ("antennas", "text", "many", "manytext", "metres", "gps", "csv")
MANY_USERS = 2_000_000
PART = 1_000_000


def table(case: str, rows: int, users: int, rng: np.random.Generator) -> pa.Table:
    """Some rows: users at random, times within 30 days, 5,000 antennas (or positions of their own)."""
    user = rng.integers(0, users, rows)
    when = rng.integers(1_700_000_000, 1_700_000_000 + 30 * 86_400, rows)
    antennas = np.random.default_rng(1)
    lat, lon = antennas.uniform(43, 50, 5_000).round(5), antennas.uniform(-1, 7, 5_000).round(5)
    at = rng.integers(0, 5_000, rows)
    columns = {"user": pa.array(user), "time": pa.array(when * 1_000_000).cast(pa.timestamp("us", tz="UTC"))}
    if case in ("text", "manytext", "csv"):
        columns["user"] = pa.array(np.char.add("subscriber-", user.astype(str)))
    if case == "csv":
        columns["time"] = columns["time"].cast(pa.timestamp("s"))
    if case == "metres":
        return pa.table(columns | {"x": lat[at] * 1e4, "y": lon[at] * 1e4})
    if case == "gps":
        return pa.table(columns | {"lat": rng.uniform(48, 49, rows), "lon": rng.uniform(2, 3, rows)})
    return pa.table(columns | {"lat": lat[at], "lon": lon[at]})


def write(case: str, path: Path, rows: int, users: int) -> None:
    """Write the file of a case, a million rows at a time."""
    rng = np.random.default_rng(0)
    parts = (table(case, min(PART, rows - start), users, rng) for start in range(0, rows, PART))
    first = next(parts)
    writer = pa.csv.CSVWriter if case == "csv" else pq.ParquetWriter
    with writer(path, first.schema) as file:
        file.write_table(first)
        for part in parts:
            file.write_table(part)


def read(path: Path, threads: int) -> None:
    """Read the file and print seconds and peak memory of this process."""
    from shoal.core.promise import Grid
    from shoal.reading import read_events

    before, busy_before = time.perf_counter(), time.process_time()
    events = read_events(path, grid=Grid(), threads=threads)
    seconds, busy = time.perf_counter() - before, time.process_time() - busy_before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    samples = events.samples
    print(
        f"{events.read_summary.rows_read:,} rows, {samples.n_users:,} users, {len(samples):,} samples:",
        end=" ",
    )
    print(f"{seconds:.1f} s ({busy:.1f} s of processors), peak {peak:.2f} GiB")


def main() -> None:
    """Parse options; write and read each case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--users", type=int, default=100_000)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--case", choices=(*CASES, "all"), default="all")
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read:
        read(options.read, options.threads)
        return
    for case in CASES if options.case == "all" else (options.case,):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / ("events.csv" if case == "csv" else "events.parquet")
            users = MANY_USERS if case.startswith("many") else options.users
            write(case, path, options.rows, users)
            print(f"{case:9}", end=" ", flush=True)
            again = [sys.executable, __file__, "--read", str(path), "--threads", str(options.threads)]
            subprocess.run(again, check=True)


if __name__ == "__main__":
    main()
