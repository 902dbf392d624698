"""How time and memory grow, as ratios within one run: written to benchmarks/results.md.

    python benchmarks/growth.py [--quick]

Selectors at 3,000 and 12,000 users; 10,000 to 160,000 users; 1 and 2 workers, threads and processes; one to eight days;
shards of several sizes; the share of each stage. Every run is a process of its own. Takes about twenty minutes.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet
from measured import measure

import shoal

RESULTS = Path(__file__).parent / "results.md"


class Cities:
    """Synthetic cities as files, each made once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self, users: int, days: int = 1) -> Path:
        path = self._folder / f"{users}x{days}.parquet"
        if not path.exists():
            pyarrow.parquet.write_table(shoal.make_city(users, days=days), path)
        return path


def table(head: str, rows: list[list[object]]) -> Iterator[str]:
    """Lines of a table in Markdown."""
    columns = head.split("|")
    yield f"| {' | '.join(column.strip() for column in columns)} |"
    yield "|---" * len(columns) + "|"
    for row in rows:
        yield f"| {' | '.join(str(cell) for cell in row)} |"
    yield ""


def exponent(small: dict[str, Any], large: dict[str, Any], figure: str, by: str = "users") -> float:
    """p, if a figure grows like by^p."""
    return math.log(large[figure] / small[figure]) / math.log(large[by] / small[by])


def precision(run: dict[str, Any]) -> list[object]:
    """Suppression, cost and medians of a run."""
    return [
        f"{100 * run['suppressed_share']:.1f} %",
        f"{run['cost_per_box']:.1f}",
        f"{run['longer_side_km']:.1f} km, {run['median_minutes']:.0f} min",
    ]


def selectors(cities: Cities, sizes: list[int]) -> Iterator[str]:
    """Our selector against the paper's."""
    yield "## `matching` against `spectral`"
    yield ""
    rows: list[list[object]] = []
    for users in sizes:
        ours, theirs = (measure(cities(users), selector=name) for name in ("matching", "spectral"))
        for name, run in (("matching", ours), ("spectral", theirs)):
            rows.append([f"{users:,}", name, f"{run['hiding_s']:.1f}", *precision(run)])
        rows.append([f"{users:,}", f"**x {theirs['hiding_s'] / ours['hiding_s']:.1f}**", "", "", "", ""])
    yield from table("users | selector | hiding, s | suppressed | cost per box | median (longer side)", rows)


def growth(cities: Cities, sizes: list[int]) -> Iterator[str]:
    """From a town to a country."""
    runs = [measure(cities(users)) for users in sizes]
    yield "## Growth with the number of users"
    yield ""
    rows: list[list[object]] = [
        [
            f"{run['users']:,}",
            f"{run['samples']:,}",
            f"{run['hiding_s']:.1f}",
            f"{run['seconds']:.1f}",
            f"{run['peak_mb']:.0f}",
            *precision(run),
        ]
        for run in runs
    ]
    yield from table(
        "users | samples | hiding, s | in all, s | peak memory, MB | suppressed | cost per box"
        " | median (longer side)",
        rows,
    )
    for figure, name in (("hiding_s", "Hiding"), ("seconds", "Time in all"), ("peak_mb", "Peak memory")):
        steps = ", ".join(f"{exponent(a, b, figure):.2f}" for a, b in pairwise(runs))
        yield f"- {name} grows like users^{exponent(runs[0], runs[-1], figure):.2f} ({steps} from step to step)."
    yield ""
    yield "Share of each stage at the largest size:"
    yield ""
    largest = runs[-1]
    total = sum(largest["stages"].values())
    yield from table(
        "stage | s | share",
        [[name, f"{value:.1f}", f"{100 * value / total:.0f} %"] for name, value in largest["stages"].items()],
    )


def days(cities: Cities, users: int, lengths: list[int]) -> Iterator[str]:
    """Memory over longer data."""
    runs = [measure(cities(users, length)) for length in lengths]
    yield f"## Growth with the number of days, {users:,} users"
    yield ""
    rows: list[list[object]] = [
        [length, f"{run['samples']:,}", f"{run['seconds']:.1f}", f"{run['peak_mb']:.0f}"]
        for length, run in zip(lengths, runs, strict=True)
    ]
    yield from table("days | samples | in all, s | peak memory, MB", rows)
    more = runs[-1]["peak_mb"] - runs[0]["peak_mb"]
    data = (runs[-1]["samples"] - runs[0]["samples"]) * 60 / 2**20
    yield (
        f"{lengths[-1] - lengths[0]} more days take {more:.0f} MB more; samples and boxes of these, held in memory,"
        f" would take some {data:.0f} MB."
    )
    yield ""


def engines(cities: Cities, users: int) -> Iterator[str]:
    """One worker against two, threads against processes."""
    kinds = (("threads", 1), ("threads", 2), ("processes", 2))
    runs = [measure(cities(users), engine=kind, workers=workers) for kind, workers in kinds]
    yield f"## Workers, {users:,} users"
    yield ""
    rows: list[list[object]] = [
        [
            f"{workers} {kind}",
            f"{run['hiding_s']:.1f}",
            f"x {runs[0]['hiding_s'] / run['hiding_s']:.2f}",
            f"{run['seconds']:.1f}",
            f"{run['peak_mb']:.0f}",
        ]
        for (kind, workers), run in zip(kinds, runs, strict=True)
    ]
    yield from table(
        "workers | hiding, s | against 1 | in all, s | peak memory of the main process, MB", rows
    )


def shards(cities: Cities, users: int, sizes: list[int]) -> Iterator[str]:
    """What smaller shards cost."""
    runs = [measure(cities(users), shard_size=size) for size in (users, *sizes)]
    yield f"## Shards, {users:,} users"
    yield ""
    rows: list[list[object]] = [
        [
            "one" if size == users else f"{size:,}",
            f"{run['hiding_s']:.1f}",
            f"{100 * (run['cost_per_box'] / runs[0]['cost_per_box'] - 1):+.1f} %",
            *precision(run),
        ]
        for size, run in zip((users, *sizes), runs, strict=True)
    ]
    yield from table(
        "users of a shard | hiding, s | cost against one | suppressed | cost per box | median (longer side)",
        rows,
    )


def machine() -> Iterator[str]:
    """Where the figures were measured."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numba", "numpy", "scikit-learn"))
    yield (
        f"Measured on {os.cpu_count()} cores ({_processor()}), {memory:.0f} GB of memory,"
        f" Python {platform.python_version()}, {libraries}."
        " Machines are noisy: ratios within a table mean more than seconds."
    )
    yield ""


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, nothing written")
    quick = parser.parse_args().quick
    lines = [
        "# Benchmarks",
        "",
        "Made by `make bench`; k = 2, tau = epsilon = 30 min, synthetic cities, one day, without hardening"
        " (`--harden 0`).",
        "",
    ]
    lines += machine()
    print("\n".join(lines))
    with tempfile.TemporaryDirectory() as folder:
        cities = Cities(Path(folder))
        small, large = (500, 2_000) if quick else (3_000, 12_000)
        parts = (
            selectors(cities, [small, large]),
            growth(cities, [1_000, 4_000] if quick else [10_000, 40_000, 160_000]),
            days(cities, small, [1, 4] if quick else [2, 8]),
            engines(cities, 4 * large),
            shards(cities, 4 * small if quick else 40_000, [500] if quick else [10_000, 2_500]),
        )
        for part in parts:
            for line in part:
                print(line, flush=True)
                lines.append(line)
    if not quick:
        RESULTS.write_text("\n".join(lines))
        print(f"Written to {RESULTS.name}.")


if __name__ == "__main__":
    main()
