"""Every attack on raw data, pseudonyms, a static grid and shoal's releases: writes docs/attacks.md.

    python benchmarks/attacks_table.py [--attacks 2000] [--parts build/attacks] [-o docs/attacks.md]

Uses a synthetic city, a synthetic region after the paper's dataset of Abidjan, and the real data beside the project
($SHOAL_DATA, default ../shared/data) where it is there. Each audit is kept in the folder of parts, and not made again.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet
from run import DATA, REPOSITORY, yjmob_events

import shoal
from shoal.core.boxes import Boxes
from shoal.evaluate.baselines.static_grid import publish_on_grid
from shoal.publishing.record_names import named_boxes
from shoal.publishing.release import Published
from shoal.publishing.tables import key_table, published_batches
from shoal.synthetic import write_city
from shoal.utility import precision_of_boxes

HEAD = """# What attacks find

Made by `make attacks`; what each attack is and how it is counted stands in [audit.md](audit.md).
Figures are shares of {attacks:,} attacks each, in per cent; the widest 95 % interval reaches {half} points to either
side. *Raw* is the data as it came, names included, where no attack is needed. *Pseudonyms* is the same data with a
random name for each person: the control of the audit. The *grid* is static, its cells as wide as the longer side of
the median box of shoal's release for k = 2 at level 1. shoal's releases are told by k and by their level of
[hardening](hardening.md). *Guess* is what an attacker achieves who knows nothing, on the release for k = 2 at level 1.

Low is good, but for precision, which is the price. Nothing is left out because it is unflattering. What is promised is
how many records fit for somebody who watched one stretch of length tau: the first rows. Whoever knows more, or knows
something else, finds people in most cases; and in which cell of a box somebody was can often be told from the file
alone. (The attack on the cell inside a box looks for faces that are coordinates of samples, which those of a grid are
not: its low figures for the grid are those of an attacker made for shoal's boxes.)
"""


def both(words: str, attack: str, variants: dict[str, str]) -> Iterator[tuple[str, str, str, str]]:
    """Two rows for each variant: how often one record is left, and how often the right one is picked."""
    for name, variant in variants.items():
        yield f"{words.format(name)}: one left", attack, variant, "single"
        yield "... picks the right record", attack, variant, "pick"


ROWS = (
    ("watched tau: one record left", "linkage", "", "single"),
    ("... picks any that fits", "linkage", "", "success"),
    ("... picks by places", "linkage", "", "pick"),
    ("... ranking by smallest boxes", "rankings", "", "smallest"),
    ("... ranking by faces touched", "rankings", "", "faces"),
    ("... ranking by central samples", "rankings", "", "central"),
    ("knows the method: one record left", "method", "", "single"),
    ("... picks the right record", "method", "", "pick"),
    ("... mean chance given to it", "method", "", "success"),
    ("knows everybody at once: right for", "everybody", "", "success"),
    ("watched tau, and activity around it: one left", "presence", "", "single"),
    ("... picks the right record", "presence", "", "pick"),
    ("learns more than a further epsilon", "leakage", "", "above_epsilon"),
    *both("watched {} tau", "longer", {"2": "2_tau", "4": "4_tau", "8": "8_tau"}),
    *both("{} separate intervals", "intervals", {"2": "2", "3": "3"}),
    *both("{} known", "points", {"1 sample": "1", **{f"{n} samples": n for n in "248"}}),
    *both("{}, no place", "times", {"all active epochs": "all", "all exact times": "all_slots"}),
    *both("{} active epochs", "times", {n: n for n in ("4", "8", "16")}),
    *(
        (f"{n} top location{'s' if n > '1' else ''}, no time: picks right", "top_locations", n, "pick")
        for n in "123"
    ),
    ("cell inside a box, best attacker", "place", "all", "exact"),
    ("... the file alone: transferred weights", "place", "all", "transfer"),
    ("... the file alone: best single feature", "place", "all", "feature"),
    ("... half of the people as allies", "place", "all", "learnt"),
    ("... commonest cell", "place", "all", "commonest"),
    ("... boxes above 1 km2, best attacker", "place", "above_1km2", "exact"),
    ("knows the record: home within 500 m", "home_and_work", "home", "within_500m"),
    ("... work within 500 m", "home_and_work", "work", "within_500m"),
    ("all that fit in one cell", "homogeneity", "", "one_cell"),
    ("all that fit within 1 km", "homogeneity", "", "within_1km"),
)
RELEASES = tuple((k, level) for k in (2, 5) for level in (0, 1, 3))


class Dataset(NamedTuple):
    """Events to publish and attack."""

    name: str
    title: str
    tau: str
    events: Callable[[], pa.Table]


def abidjan() -> pa.Table:
    """3,000 people of the synthetic region, three days."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.parquet"
        write_city("abi", path, users=3000, days=3, seed=0)
        return pyarrow.parquet.read_table(path)


def datasets() -> list[Dataset]:
    """The real data where it is there, and two synthetic ones."""
    yjmob = DATA / "yjmob100k_1k_users.parquet"
    real = (
        [Dataset("yj", "YJMob, days 0 to 2", "60min", lambda: yjmob_events(yjmob))] if yjmob.exists() else []
    )
    return [
        *real,
        Dataset("city", "A synthetic city of 3,000, one day", "30min", lambda: shoal.make_city(3000, seed=1)),
        Dataset("abi", "A synthetic Abidjan of 3,000, three days", "30min", abidjan),
    ]


class Kept:
    """Audits as JSON, each made once."""

    def __init__(self, folder: Path, attacks: int) -> None:
        self.folder, self.attacks = folder, attacks
        folder.mkdir(parents=True, exist_ok=True)

    def audit(self, name: str, make: Callable[[], tuple[shoal.Audit, Published, Boxes]]) -> dict[str, Any]:
        """The audit called so, with the precision of the boxes."""
        path = self.folder / f"{name}.json"
        if not path.exists():
            audit, release, boxes = make()
            found = precision_of_boxes(boxes, release.events.grid)
            precision = f"{found.longer_side_km.median:.1f} km, {found.time_minutes.median:.0f} min"
            content = {**audit.to_dict(), "precision": precision}
            path.write_text(json.dumps(content))
            print(name, precision, f"{audit.seconds:.1f} s", flush=True)
        kept: dict[str, Any] = json.loads(path.read_text())
        return kept


def audited_boxes(
    release: Published, boxes: Boxes, events: pa.Table, attacks: int
) -> tuple[shoal.Audit, Published, Boxes]:
    """Audit somebody's boxes, with the key, against the promise of the release."""
    found, promise = release.events, release.promise
    named, step = named_boxes(boxes), release.events.grid.step_s
    audit = shoal.audit(
        events,
        pa.Table.from_batches(published_batches(named, found.grid, found.projection)),
        key=key_table(named, found.samples.users),
        k=promise.k,
        tau=f"{promise.tau * step}s",
        epsilon=f"{promise.epsilon * step}s",
        cell=f"{found.grid.cell_m:g}m",
        step=f"{step}s",
        crs=None if found.projection is None else found.projection.crs,
        attacks=attacks,
    )
    return audit, release, boxes


def section(dataset: Dataset, kept: Kept) -> list[str]:
    """One dataset: publish it in every way, attack, and put the figures side by side."""
    events: list[pa.Table] = []
    made: dict[tuple[int, int], Published] = {}

    def table() -> pa.Table:
        if not events:
            events.append(dataset.events())
        return events[0]

    def release(k: int, level: int) -> Published:
        if (k, level) not in made:
            made[k, level] = shoal.anonymize(table(), k=k, tau=dataset.tau, epsilon=dataset.tau, harden=level)
        return made[k, level]

    def ours(k: int, level: int) -> tuple[shoal.Audit, Published, Boxes]:
        published = release(k, level)
        audit = shoal.audit(table(), published, key=published.key(), attacks=kept.attacks)
        return audit, published, published.outcome.boxes

    def gridded(cells_km: Callable[[Published], float]) -> tuple[shoal.Audit, Published, Boxes]:
        published = release(2, 1)
        grid, samples = published.events.grid, published.events.samples
        slots = precision_of_boxes(published.outcome.boxes, grid).time_minutes.median * 60 / grid.step_s
        cells = max(1, round(cells_km(published) * 1000 / grid.cell_m))
        boxes = publish_on_grid(samples, cells, max(1, round(slots)) if cells > 1 else 1)
        return audited_boxes(published, boxes, table(), kept.attacks)

    def median(published: Published) -> float:
        found = precision_of_boxes(published.outcome.boxes, published.events.grid)
        return float(found.longer_side_km.median)

    columns = {
        "pseudonyms": kept.audit(f"{dataset.name}-pseudonyms", lambda: gridded(lambda _: 0.0)),
        "grid": kept.audit(f"{dataset.name}-grid", lambda: gridded(median)),
    }
    for k, level in RELEASES:
        name = f"{dataset.name}-k{k}-level{level}"
        columns[f"k {k}, level {level}"] = kept.audit(name, lambda k=k, level=level: ours(k, level))
    counts = columns["k 2, level 1"]["counts"]
    return [
        f"## {dataset.title}",
        "",
        f"{counts['users']:,} users, {counts['samples']:,} samples; tau = epsilon = {dataset.tau}.",
        "",
        f"| | raw | {' | '.join(columns)} | guess |",
        f"|---|{'---|' * (len(columns) + 2)}",
        f"| precision, median | | {' | '.join(each['precision'] for each in columns.values())} | |",
        "| users hidden among fewer than k at some time | | "
        + " | ".join(f"{100 * below_k(each):.1f}" for each in columns.values())
        + " | |",
        *(row(title, where, columns) for title, *where in ROWS),
        "",
    ]


def below_k(audit: dict[str, Any]) -> float:
    """The share of users who are hidden among fewer than k records at some time."""
    coverage = audit["coverage"]
    return float(coverage["users_unprotected"] / coverage["users"])


def figure(audit: dict[str, Any], where: list[str]) -> dict[str, Any] | None:
    """A figure of an audit by attack, variant and measure."""
    branch = audit["attacks"]
    for name in where:
        branch = branch.get(name) if name else branch
        if branch is None:
            return None
    found: dict[str, Any] = branch
    return found


def row(title: str, where: list[str], columns: dict[str, dict[str, Any]]) -> str:
    """One attack on everything."""
    cells = []
    for audit in columns.values():
        found = figure(audit, where)
        share = None if found is None else found["published"]
        cells.append(f"{100 * share['value']:.1f}" if isinstance(share, dict) else "")
    guessing = (figure(columns["k 2, level 1"], where) or {}).get("guessing")
    guess = "" if guessing is None else f"{100 * guessing:.1f}"
    return f"| {title} | 100 | {' | '.join(cells)} | {guess} |"


def widest(parts: Path) -> float:
    """Half the width of the widest interval, in points."""
    found = 0.0
    for path in parts.glob("*.json"):
        for _, *where in ROWS:
            share = (figure(json.loads(path.read_text()), where) or {}).get("published")
            if isinstance(share, dict):
                found = max(found, 50 * (share["high"] - share["low"]))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--attacks", type=int, default=2_000)
    parser.add_argument(
        "--parts", type=Path, default=REPOSITORY / "build" / "attacks", help="where audits are kept"
    )
    parser.add_argument("-o", "--output", type=Path, default=REPOSITORY / "docs" / "attacks.md")
    options = parser.parse_args()
    kept = Kept(options.parts, options.attacks)
    lines = [line for dataset in datasets() for line in section(dataset, kept)]
    head = HEAD.format(attacks=options.attacks, half=f"{widest(options.parts):.1f}")
    options.output.write_text("\n".join([head, *lines]))


if __name__ == "__main__":
    main()
