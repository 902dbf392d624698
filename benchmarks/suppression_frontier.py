"""What suppression buys: writes docs/suppression-frontier.md.

    python benchmarks/suppression_frontier.py [--users 20000] [--parts benchmarks/suppression] [--only civ] [-o PAGE]

A budget of 0, 0.5, 1, 2 and 5 % of the samples, and limits on boxes with what they need, on synthetic regions and on
the real data beside the project ($SHOAL_DATA, default ../shared/data) where it is there. Each release is kept as JSON
in the folder of parts, by dataset, size and options, and is not made again unless that file is removed.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from run import DATA, REPOSITORY, yjmob_events

import shoal
from shoal.synthetic import write_city

SHARES = (0.0, 0.005, 0.01, 0.02, 0.05)
ANY = 0.99  # of the samples: as much as limits need
HEAD = """# What suppression buys

Made by `make suppression`; [suppression.md](suppression.md) says what a budget and limits are. Every line is a release
with k 2, hardened at level 1. A cost is that of a box, its slots times its columns and rows; *less* is how far the mean
cost is below that of the first line. *Suppressed* counts everything, in per cent of the samples, and *promise* what the
promise itself needs. The share given for limits was {any:.0%}: what they needed is what is suppressed. *Rounds* is how
often everything was done until the limits were kept.
"""
TABLE = """
| budget | limit | suppressed | promise | mean cost | less | median cost | mean km | median km | mean min | rounds |
|---|---|---|---|---|---|---|---|---|---|---|"""


class Dataset(NamedTuple):
    """Events to publish, and which limits to try on them."""

    name: str
    title: str
    tau: str
    cell: str
    events: Callable[[], pa.Table]
    limits: tuple[dict[str, str], ...]


def made(preset: str, users: int, days: int) -> pa.Table:
    """Events of a synthetic region."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.parquet"
        write_city(preset, path, users=users, days=days, seed=1)
        return pyarrow.parquet.read_table(path)


def datasets(users: int) -> Iterator[Dataset]:
    """YJMob, and regions of so many people over a day."""
    yjmob = DATA / "yjmob100k_1k_users.parquet"
    if yjmob.exists():
        yield Dataset(
            "yjmob",
            "YJMob, days 0 to 2",
            "60min",
            "500m",
            lambda: yjmob_events(yjmob),
            ({"max_space": "50km"},),
        )
    for name, distance in (("city", "10km"), ("abi", "10km"), ("civ", "100km")):
        limits = ({"max_space": distance}, {"max_time": "20min"})
        yield Dataset(
            f"{name}-{users}",
            f"`{name}`, {users:,} people, a day",
            "30min",
            "100m",
            lambda name=name: made(name, users, 1),  # type: ignore[misc]
            limits,
        )


def options_of(data: Dataset) -> list[dict[str, Any]]:
    """The options of every release."""
    budgets: list[dict[str, Any]] = [{"suppress_at_most": share} for share in SHARES]
    return [*budgets, *({"suppress_at_most": ANY, **limit} for limit in data.limits)]


def measured(data: Dataset, events: pa.Table, options: dict[str, Any]) -> dict[str, Any]:
    """Publish and check."""
    processor = time.process_time()
    release = shoal.anonymize(events, k=2, tau=data.tau, epsilon=data.tau, cell=data.cell, **options)
    summary, costs = release.summary, release.outcome.boxes.cost()
    assert summary["verified"]
    return {
        "options": options,
        "suppressed": summary["suppressed_share"],
        "by_reason": summary["suppressed_by_reason"],
        "samples": summary["samples"],
        "mean_cost": float(costs.mean()),
        "median_cost": float(np.median(costs)),
        "km": summary["longer_side_km"],
        "minutes": summary["precision_minutes"],
        "rounds": release.outcome.rounds,
        "processor_seconds": round(time.process_time() - processor, 1),
    }


def lines_of(data: Dataset, found: list[dict[str, Any]]) -> Iterator[str]:
    """The table of one dataset."""
    yield f"\n## {data.title}\n"
    yield f"tau = epsilon = {data.tau}; cells are {data.cell}."
    yield TABLE
    for each in found:
        options = each["options"]
        limit = " ".join(str(value) for name, value in options.items() if name != "suppress_at_most")
        budget = "-" if limit else f"{100 * options['suppress_at_most']:g} %"
        promise = each["by_reason"]["promise"] / each["samples"]
        less = 1 - each["mean_cost"] / found[0]["mean_cost"]
        yield (
            f"| {budget} | {limit or '-'} | {100 * each['suppressed']:.2f} | {100 * promise:.2f}"
            f" | {each['mean_cost']:,.0f} | {100 * less:.1f} % | {each['median_cost']:,.0f}"
            f" | {each['km']['mean']:.2f} | {each['km']['median']:.2f} | {each['minutes']['mean']:.1f}"
            f" | {each['rounds'] or '-'} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--users", type=int, default=20_000)
    parser.add_argument("--parts", type=Path, default=REPOSITORY / "benchmarks" / "suppression")
    parser.add_argument("--only", help="the name of a dataset: make releases of no other")
    parser.add_argument(
        "--no-limits", action="store_true", help="make no releases with limits: these take longest"
    )
    parser.add_argument("-o", "--output", type=Path, default=REPOSITORY / "docs" / "suppression-frontier.md")
    options = parser.parse_args()
    page = [HEAD.format(any=ANY).rstrip()]
    for data in datasets(options.users):
        found, events = [], None
        for chosen in options_of(data):
            part = options.parts / f"{'-'.join([data.name, *map(str, chosen.values())])}.json"
            skipped = options.only not in (None, data.name.split("-")[0])
            skipped |= options.no_limits and len(chosen) > 1
            if not part.exists() and not skipped:
                events = data.events() if events is None else events
                part.write_text(json.dumps(measured(data, events, chosen), indent=1) + "\n")
                print(part.name, flush=True)
            if part.exists():
                found.append(json.loads(part.read_text()))
        if found:
            page += lines_of(data, found)
    options.output.write_text("\n".join(page) + "\n")


if __name__ == "__main__":
    main()
