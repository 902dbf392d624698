"""The figures of docs/reproduction.md: the paper's evaluation on the presets.

    python benchmarks/reproduction.py [table] [selectors] [stages] [week] [tau]     # all of them unless some are named

Prints Markdown tables and draws into docs/reproduction/. All km are width + height of a box, as in the paper. In full
about an hour and a half on two cores; `table` and `selectors` take a few minutes.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from gaps import window_of
from threadpoolctl import threadpool_limits

import shoal
from shoal.core.promise import Grid, Promise
from shoal.core.workers import Workers
from shoal.hiding.epochs import LiveEpoch, Timeline
from shoal.hiding.matching import candidates
from shoal.hiding.matching.candidates import all_edges
from shoal.hiding.spectral import clustering
from shoal.hiding.window import build_window
from shoal.reading import read_events
from shoal.reporting.figures.sweep import write_sweep
from shoal.utility import precision_of

PICTURES = Path(__file__).parent.parent / "docs" / "reproduction"
DAY = {"start": "2024-01-03", "end": "2024-01-04"}
WEEK = {"start": "2024-01-01", "end": "2024-01-08"}
PAPER = {  # k-merge min, km; static success in %; W4M deleted %, created %, min, km; GLOVE min, km
    ("abi", 2): "51 | 0.62 | 27, 57, 80 | 10, 22 | 57 | 1.2 | 114 | 2.6",
    ("abi", 5): "228 | 3.4 | 1, 11, 41 | 32, 31 | 185 | 3.8 | 292 | 3.7",
    ("abi", 8): "349 | 5.7 | 0, 5, 23 | 24, 37 | 198 | 6.2 | - | -",
    ("dak", 2): "47 | 0.70 | 43, 69, 93 | 6, 11 | 39 | 1.5 | 116 | 2.5",
    ("dak", 5): "220 | 5.3 | 2, 14, 67 | 20, 21 | 172 | 5.8 | 294 | 3.2",
    ("dak", 8): "377 | 7.8 | 0, 9, 51 | 22, 19 | 189 | 8.5 | - | -",
}


def table() -> None:
    """Table II: near tuples of a day, and random ones of two weeks."""
    print(
        "| | k | k-merge min | km | static succeeds % | W4M deleted, created % | W4M min | km | GLOVE min | km |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for preset in ("abi", "dak"):
        events = shoal.make_region(preset)
        kinds = {"near, a day": {"drawn": "near", **DAY}, "random, two weeks": {"drawn": "random"}}
        found = {kind: shoal.compare(events, whole_users=0, **options) for kind, options in kinds.items()}
        for k in (2, 5, 8):
            print(f"| {preset}, paper | {k} | {PAPER[preset, k]} |")
            for kind, comparison in found.items():
                print(f"| {kind} | {k} | {cells(comparison, k)} |")
        for kind, comparison in found.items():
            seconds = {row.method: 0.0 for row in comparison.rows}
            for row in comparison.rows:
                seconds[row.method] += row.seconds
            print(f"<!-- {preset}, {kind}: seconds {seconds} -->")


def cells(comparison: shoal.Comparison, k: int) -> str:
    """A line of the table."""
    rows = {row.method: row for row in comparison.rows if row.k == k}
    statics = ", ".join(f"{100 * row.success:.0f}" for name, row in rows.items() if name.startswith("static"))
    ours, w4m, glove = rows["k-merge"], rows["w4m"], rows["glove"]
    return (
        f"{ours.time_min:.0f} | {ours.space_km:.1f} | {statics} | {100 * w4m.deleted:.0f}, {100 * w4m.created:.0f}"
        f" | {w4m.time_min:.0f} | {w4m.space_km:.1f} | {glove.time_min:.0f} | {glove.space_km:.1f}"
    )


def selectors() -> None:
    """The ways to choose hiding sets side by side: 12,000 users of abi, one day, one run."""
    events = shoal.make_region("abi", users=12_000, days=1)
    rate = kernel_rate(events)
    print(f"exact edges a second, one worker: {rate / 1e6:.2f} M")
    print(
        "| selector | suppressed | violations | users | cost per box | median width + height, km | min"
        " | hiding s | pairs | floor s |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for selector in ("matching", "mutual", "spectral"):
        shoal.anonymize(shoal.make_city(300), k=2, tau="30min", epsilon="30min", selector=selector)
        with Counted() as counted:
            release = shoal.anonymize(events, k=2, tau="30min", epsilon="30min", selector=selector, harden=0)
        summary = release.summary
        found = precision_of(release.outcome.box_sizes, release.events.grid)
        broken = summary.get("unprotected") or {"strict": 0, "intervals": 1, "users": 0}
        print(
            f"| {selector} | {100 * summary['suppressed_share']:.1f} %"
            f" | {100 * broken['strict'] / broken['intervals']:.2f} % | {broken['users']}"
            f" | {summary['cost_per_box']:.0f} | {found.width_plus_height_km.median:.1f}"
            f" | {found.time_minutes.median:.0f} | {release.outcome.seconds:.1f}"
            f" | {counted.pairs / 1e6:.1f} M | {counted.pairs / rate / 2:.1f} |",
            flush=True,
        )


class Counted:
    """Counts the pairs of which the exact cost is computed."""

    pairs = 0

    def __enter__(self) -> Counted:
        self._patches = [
            patch.object(candidates, "nearest", self._counting(candidates.nearest, lambda a: a[-1][a[4] : a[5]].sum())),
            *(patch.object(module, "edge_costs", self._counting(module.edge_costs, lambda a: a[4] - a[3]))
              for module in (candidates, clustering)),
        ]  # fmt: skip
        for each in self._patches:
            each.start()
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._patches:
            each.stop()

    def _counting(self, call: Callable[..., None], count: Callable[[tuple], int]) -> Callable[..., None]:
        def counted(*arguments: object) -> None:
            call(*arguments)
            self.pairs += int(count(arguments))

        return counted


def kernel_rate(events: pa.Table) -> float:
    """Exact edges that one worker prices in a second, in a group of an afternoon."""
    with Workers(1) as alone:
        arrays = window_of(read_events(events, grid=Grid()).samples, 0.6, alone)
        group = np.zeros(1, np.int32)
        all_edges(arrays, group, alone)
        began = time.perf_counter()
        edges = all_edges(arrays, group, alone)
    return len(edges.cost) / (time.perf_counter() - began)


def stages() -> None:
    """What the stages of the paper's clustering take beside their libraries alone: an epoch of 12,000 users of abi."""
    from sklearn.cluster import KMeans, SpectralClustering

    events = shoal.make_region("abi", users=12_000, days=1)
    with Workers(1) as alone, threadpool_limits(1):
        timeline = Timeline(read_events(events, grid=Grid()).samples, Promise(2, 30, 30))
        part = max(
            (timeline.slice(epoch) for epoch in timeline.epochs.tolist()), key=lambda each: len(each.users)
        )
        rank = np.arange(12_000, dtype=np.int32)
        arrays = build_window([LiveEpoch(part, part.raw)], 12_000, rank, 1.0, alone)
        n, scale = len(arrays.user), clustering.Scale()
        print(f"{n:,} users of one epoch, one thread")
        rate = kernel_rate(events)
        landmarks = clustering._landmarks(n, scale.landmarks)
        coordinates = np.log(1 + clustering.costs_to(arrays, landmarks))
        users = np.unique(clustering._representatives(coordinates, 0, scale))
        costs = clustering.pairwise_costs(arrays, users)
        n_clusters = round(np.sqrt(n))
        means = KMeans(scale.representing(n), n_init=1, max_iter=10, random_state=0)
        library = SpectralClustering(
            n_clusters, affinity="precomputed", assign_labels="cluster_qr", random_state=0
        )
        ours_and_theirs: dict[str, tuple[Callable[[], object], Callable[[], object] | float]] = {
            "costs to landmarks": (lambda: clustering.costs_to(arrays, landmarks), n * len(landmarks) / rate),
            "representatives": (
                lambda: clustering._representatives(coordinates, 0, scale), lambda: means.fit(coordinates)
            ),
            "costs of their pairs": (
                lambda: clustering.pairwise_costs(arrays, users), len(users) * (len(users) - 1) / 2 / rate
            ),
            "spectral clustering": (
                lambda: clustering._spectral(costs, n_clusters),
                lambda: library.fit(clustering.self_tuning_affinity(costs)),
            ),
        }  # fmt: skip
        for stage, (ours, theirs) in ours_and_theirs.items():
            mine = seconds(ours)
            other = theirs if isinstance(theirs, float) else seconds(theirs)
            print(f"| {stage} | {mine:.2f} s | {other:.2f} s | x {mine / other:.2f} |", flush=True)


def seconds(call: Callable[[], object]) -> float:
    """The faster of two calls."""
    times = []
    for _ in range(2):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return min(times)


def week() -> None:
    """The hours of a week of abi."""
    both = ["matching", "spectral"]
    found = shoal.sweep(shoal.make_region("abi"), over=["hours"], selectors=both, harden=0, **WEEK)
    print_measured("abi, a week", found)
    keep_pictures("abi-week", found)


def tau() -> None:
    """Precision and suppression over tau, a day of every preset; of abi hour by hour as well."""
    city, country = ("10min", "20min", "30min", "1h", "2h", "4h"), ("10min", "30min", "1h", "4h")
    both, ours = ["matching", "spectral"], ["matching"]
    for preset, users, over, selectors, taus in (
        ("abi", None, ["tau", "hours"], both, city),
        ("dak", None, ["tau"], ours, city),
        ("shn", None, ["tau"], ours, ("10min", "30min", "1h")),
        ("civ", None, ["tau"], ours, country),
        ("sen", 80_000, ["tau"], ours, country),
    ):
        days = {} if preset in ("shn", "sen") else DAY
        events = shoal.make_region(preset, users=users, days=1 if preset == "sen" else None)
        found = shoal.sweep(events, over=over, taus=taus, selectors=selectors, harden=0, **days)
        print_measured(preset, found)
        if len(selectors) > 1:
            keep_pictures(preset, found)


def print_measured(title: str, found: shoal.Sweep) -> None:
    """A table of a sweep."""
    print(
        f"\n{title}\n\n| tau | selector | width + height, km: median (quartiles), mean | min"
        " | suppressed | cost per box | s |"
    )
    print("|---|---|---|---|---|---|---|")
    for row in found.measured.values():
        quartiles = f"{row.width_plus_height_km_q25:.1f}-{row.width_plus_height_km_q75:.1f}"
        print(
            f"| {row.tau_min:.0f} min | {row.selector}"
            f" | {row.width_plus_height_km_median:.1f} ({quartiles}), {row.width_plus_height_km_mean:.1f}"
            f" | {row.time_min_median:.0f} ({row.time_min_q25:.0f}-{row.time_min_q75:.0f}), {row.time_min_mean:.0f}"
            f" | {100 * row.suppressed_share:.1f} % | {row.cost_per_box:.0f} | {row.seconds:.0f} |",
            flush=True,
        )


def keep_pictures(name: str, found: shoal.Sweep) -> None:
    """The figures of a sweep, as they are in the docs."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for path in write_sweep(found, Path(folder), as_in_paper=True):
            if path.suffix == ".svg":
                shutil.copy(path, PICTURES / f"{name}-{path.name}")


SECTIONS = {"table": table, "selectors": selectors, "stages": stages, "week": week, "tau": tau}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sections", nargs="*", choices=[[], *SECTIONS], default=[])
    for name in parser.parse_args().sections or SECTIONS:
        print(f"\n## {name}\n", flush=True)
        SECTIONS[name]()


if __name__ == "__main__":
    main()
