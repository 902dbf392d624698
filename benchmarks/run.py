"""What `make bench` prints: quality as gaps to exact optima, speed as ratios measured in one run.

    python benchmarks/run.py [--users 12000]

Uses the real data beside the project ($SHOAL_DATA, default ../shared/data) where it is there.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
from gaps import gap_to_complete_graph, gaps_to_flow
from rates import pair_costs_per_second

import shoal
from shoal.auditing.box_index import make_records
from shoal.auditing.coverage.check import PartsEvidence, check_parts
from shoal.auditing.coverage.chunks import bucket_borders
from shoal.core.periods import ONE_PERIOD
from shoal.core.workers import Workers
from shoal.publishing.release import Published
from shoal.storage.box_store import open_box_store

REPOSITORY = Path(__file__).parent.parent
DATA = Path(os.environ.get("SHOAL_DATA", REPOSITORY.parent / "shared" / "data"))


def yjmob_events(path: Path, days: int = 3) -> pa.Table:
    """The first days of the YJMob extract, in metres."""
    table = pyarrow.parquet.read_table(path)
    return in_metres(table.filter(pc.less(table["t"], days * 86_400)))


def in_metres(table: pa.Table) -> pa.Table:
    """YJMob's cells of 500 m as metres."""
    for axis in ("x", "y"):
        place = table.schema.get_field_index(axis)
        table = table.set_column(place, axis, pc.multiply(pc.cast(table[axis], pa.float64()), 500.0))
    return table


def report(title: str, published: Published, seconds: float) -> None:
    """One line of figures; a cost never stands without the suppression beside it."""
    summary = published.summary
    print(
        f"{title}: {seconds:.1f} s in all, {summary['seconds']:.1f} s hiding and publishing;"
        f" suppressed {100 * summary['suppressed_share']:.3f} %, mean cost per box {summary['cost_per_box']:.1f},"
        f" median longer side {summary['longer_side_km']['median']:.1f} km, time"
        f" {summary['precision_minutes']['median']:.0f} min,"
        f" relaxed {summary['relaxations']} of {summary['hiding_members']}",
        flush=True,
    )


def timed(title: str, events: pa.Table, **options: object) -> Published:
    """Anonymize and report."""
    began = time.perf_counter()
    published = shoal.anonymize(events, **options)
    report(title, published, time.perf_counter() - began)
    return published


def check_times(release: Published) -> list[float]:
    """Seconds that the exact check of a release takes, twice, since the first may have to compile it."""
    store, boxes_of_users = release.events.store, release.outcome.boxes
    records, users = make_records(boxes_of_users), np.unique(boxes_of_users.owner).astype(np.int64)
    seconds = []
    with (
        Workers(os.cpu_count() or 1) as workers,
        open_box_store(bucket_borders(store, release.promise), None) as boxes,
    ):
        boxes.add(records.boxes)
        evidence = PartsEvidence(store, boxes, users, np.zeros_like(users), ONE_PERIOD)
        for _ in range(2):
            began = time.perf_counter()
            coverage, _ = check_parts(evidence, release.promise, workers)
            seconds.append(time.perf_counter() - began)
            if not coverage.kept:
                raise SystemExit("a release breaks guarantee 1")
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--users", type=int, default=12_000)
    options = parser.parse_args()
    half_hour = {"k": 2, "tau": "30min", "epsilon": "30min", "harden": 0}  # as the paper's selector

    began = time.perf_counter()
    shoal.anonymize(shoal.make_city(300), **half_hour)
    print(f"first run, with compilation unless cached: {time.perf_counter() - began:.1f} s")

    yjmob = DATA / "yjmob100k_1k_users.parquet"
    if yjmob.exists():
        timed("YJMob days 0-2, k 2, 60 min", yjmob_events(yjmob), k=2, tau="60min", epsilon="60min", harden=0)
    else:
        print("YJMob: skipped, the data are not here")

    city = shoal.make_city(options.users)
    title = f"city of {options.users:,}, 1 day, k 2, 30 min"
    two = timed(title, city, **half_hour)
    one = timed(f"{title}, 1 worker", city, **half_hour, workers=1)
    print(f"  2 workers against 1: x {one.outcome.seconds / two.outcome.seconds:.2f}")

    print("gap to the assignment on the complete graph (mean edge cost):")
    for line in gap_to_complete_graph(two.events.samples):
        print(f"  {line}")
    print("k > 2: k - 1 joint assignments in sequence against the exact flow optimum of pairwise costs:")
    for line in gaps_to_flow(two.events.samples):
        print(f"  {line}")
    print("kernels:")
    for line in pair_costs_per_second(two.events.samples):
        print(f"  {line}")
    print("exact check of guarantee 1, as every release gets it:")
    sizes, check_seconds = [], []
    for n in (3_000, options.users, 4 * options.users):
        release = shoal.anonymize(shoal.make_city(n), **half_hour, verify=False)
        sizes.append(len(release.events.samples))
        check_seconds.append(min(check_times(release)))
        print(f"  city of {n:,}, {sizes[-1]:,} samples: {check_seconds[-1]:.2f} s", flush=True)
    growth = np.log(check_seconds[-1] / check_seconds[0]) / np.log(sizes[-1] / sizes[0])
    print(f"  time grows like samples^{growth:.2f}")
    small, large = np.array([3_000, options.users])
    if large > small:
        seconds = [
            timed(f"city of {n:,}", shoal.make_city(int(n)), **half_hour).outcome.seconds
            for n in (small, large)
        ]
        exponent = np.log(seconds[1] / seconds[0]) / np.log(large / small)
        print(f"  time grows like users^{exponent:.2f} from {small:,} to {large:,}")


if __name__ == "__main__":
    main()
