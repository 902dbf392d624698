"""Make every preset in full and hold it to the paper's table of datasets: python benchmarks/presets.py [preset ...]"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet
from pyproj import Geod
from scipy.spatial import ConvexHull

from shoal.synthetic.region.presets import PRESETS


def main() -> None:
    """A row per preset: what the paper has, what was made, how long it took and how much memory."""
    print(
        "| preset | surface (km2) | antennas | users | samples per user and hour | samples | time | memory |"
    )
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[1:] or PRESETS:
            print(_row(name, Path(folder) / f"{name}.parquet"), flush=True)


def _row(name: str, output: Path) -> str:
    preset = PRESETS[name]
    began = time.perf_counter()
    command = [sys.executable, "-m", "shoal", "synth", name, "-o", str(output)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"shoal synth {name} failed")
    seconds, peak_mb = time.perf_counter() - began, usage.ru_maxrss / 1_000
    users, samples, positions = _counted(output)
    output.unlink()
    figures = (
        (preset.surface_km2, _surface_km2(positions)),
        (preset.antennas, len(positions)),
        (preset.users, users),
        (preset.samples_per_hour, samples / (users * 24 * preset.days)),
    )
    cells = [_beside(wanted, made) for wanted, made in figures]
    return f"| {name} | {' | '.join(cells)} | {samples:,} | {seconds:.0f} s | {peak_mb:,.0f} MB |"


def _beside(wanted: float, made: float) -> str:
    shown = f"{made:,.0f}" if made > 10 else f"{made:.3f}"
    return f"{wanted:,} / {shown} ({made / wanted - 1:+.1%})"


def _counted(events: Path) -> tuple[int, int, np.ndarray]:
    """Users, samples, distinct positions; a row group at a time."""
    users: set[str] = set()
    samples, positions = 0, np.empty((0, 2))
    file = pyarrow.parquet.ParquetFile(events)
    for number in range(file.num_row_groups):
        table = file.read_row_group(number)
        users.update(table["user"].unique().to_pylist())
        samples += table.num_rows
        here = np.stack([table["lon"].to_numpy(), table["lat"].to_numpy()], axis=1)
        positions = np.unique(np.concatenate([positions, here]), axis=0)
    return len(users), samples, positions


def _surface_km2(positions: np.ndarray) -> float:
    """Of the convex hull, on the ellipsoid."""
    corners = positions[ConvexHull(positions).vertices]
    area, _ = Geod(ellps="WGS84").polygon_area_perimeter(corners[:, 0], corners[:, 1])
    return abs(area) / 1e6


if __name__ == "__main__":
    main()
