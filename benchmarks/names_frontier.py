"""What new names buy, and what they cost: writes docs/names-frontier.md.

    python benchmarks/names_frontier.py [--parts benchmarks/names] [--only city] [--attacks 1000] [-o PAGE]

Periods, k and three ways to hide (30 min over 30 min, tau as long as the period, whole parts), each published and
attacked with its key. A city has the full grid; a synthetic region after the paper's dataset of Abidjan, and the real
data beside the project ($SHOAL_DATA, default ../shared/data) where it is there, have a part of it. Each release is kept
as JSON in the folder of parts, and not made again unless the attacks have changed since (ATTACKS).
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
from shoal.auditing.attacks.borders import attack_across_borders
from shoal.auditing.attacks.linkage import attack_points
from shoal.auditing.attacks.relinking import attack_relinking
from shoal.auditing.attacks.revealed import attack_revealed
from shoal.auditing.measures import Measure
from shoal.auditing.opening import open_audit
from shoal.auditing.published_part import attacked_part
from shoal.auditing.truthfulness import check_truthfulness
from shoal.core.options import AuditOptions, ReadingOptions
from shoal.core.period_text import NEVER
from shoal.core.progress import SilentProgress
from shoal.core.proportions import Proportion
from shoal.synthetic import write_city

PLAIN, LONG, WHOLE = "tau", "tau = P", "whole"
PERIODS = (NEVER, "1d", "12h", "6h", "3h")
KS = (2, 5, 10)
ALL_PARTS = 10**9  # are linked, however many there are
HEAD = """# What new names buy

Made by `make names`; [new-names.md](new-names.md) says what new names are, and [audit.md](audit.md) how each attack is
made. Every line is a release, published and attacked with its key. Figures are shares in per cent; {attacks:,} attacks
each, drawn at random.

- *way*: **tau** is the ordinary promise, tau = epsilon as stated above the table, hardened at level 1; **tau = P** has
  a tau and an epsilon as long as the period; **whole** is `--whole`: groups of k or more whose parts are identical.
- *read by 2, 4, 8*: the share of a person's boxes that is read by somebody who knows so many samples of the person, at
  any times, **and ties parts together by habits**; in brackets without doing so. A part that is the same as the
  person's own, box for box, counts as the person's.
- *relinked*: how often the next part of a person is found, best guess; *of ten*: is among the ten likeliest. In
  brackets the same for raw parts, of the same people. Of parts that are the same one is guessed.
- *across*: how often somebody who watched across a border, for tau or with **whole** for an hour, picks both parts; in
  brackets, where parts have twins, how often what both say is read, whichever of them is picked. The watchers of the
  three ways have tau, P and an hour: compare these figures within a way.
- *alike by 1, 2, 4*: how often all parts that fit so many samples of one period are the same, or one is left: then
  nobody needs to know which of them is the person's to read what the person did.
- *km*, *min*: the median longer side and duration of a box; *cost* per box; *suppressed*: per cent of the samples.

Low is good. **Never** is one record for all of the time. **Raw parts** are the samples themselves under names that
change as often. Raw data under pseudonyms give everything away: four samples lead to one record in nearly all attacks,
and all of it is read.
"""


class Dataset(NamedTuple):
    """Events to publish and attack, and which releases of them; ``part``: which part of the grid they are, in words.

    attacks: to be raised where an attack or a figure changes for these events: then all of their releases are made and
    attacked again. events: None where the data are not there.
    """

    name: str
    title: str
    part: str
    tau: str
    cell: str
    attacks: int
    events: Callable[[], pa.Table] | None
    points: tuple[tuple[str, str, int], ...]  # period, way, k


def made(preset: str, users: int, days: int, seed: int) -> pa.Table:
    """Events of a synthetic region."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.parquet"
        write_city(preset, path, users=users, days=days, seed=seed)
        return pyarrow.parquet.read_table(path)


def full_grid() -> Iterator[tuple[str, str, int]]:
    """Every period with every way and k; a tau as long as all of the time is the same as whole records."""
    for period in PERIODS:
        for way in (PLAIN, LONG, WHOLE):
            if period != NEVER or way != LONG:
                yield from ((period, way, k) for k in KS)


def datasets() -> list[Dataset]:
    """The city in full, the others in part."""
    found = [
        Dataset(
            "city",
            "Synthetic city, 2,000 people, 2 days",
            "Every period with every way and k",
            "30min",
            "100m",
            2,
            lambda: made("city", 2000, 2, 1),
            tuple(full_grid()),
        ),
        Dataset(
            "abi",
            "Synthetic Abidjan (`abi`), 8,000 people, 7 days",
            "Of the grid: the ordinary promise at k 2 with every period but 3h, and whole parts of 6h at k 5",
            "30min",
            "100m",
            2,
            lambda: made("abi", 8000, 7, 0),
            ((NEVER, PLAIN, 2), ("1d", PLAIN, 2), ("12h", PLAIN, 2), ("6h", PLAIN, 2), ("6h", WHOLE, 5)),
        ),
    ]
    yjmob = DATA / "yjmob100k_1k_users.parquet"
    points = [(period, PLAIN, 2) for period in PERIODS]
    points += [
        (period, way, k)
        for period in ("1d", "6h")
        for way, k in ((LONG, 2), (WHOLE, 2), (PLAIN, 5), (WHOLE, 5))
    ]
    found.append(
        Dataset(
            "yjmob",
            "YJMob, real phones, days 0 to 4",
            "Of the grid: the ordinary promise at k 2 with every period; at 1d and 6h also k 5, tau = P at k 2, and"
            " whole parts at k 2 and 5",
            "60min",
            "500m",
            3,
            (lambda: yjmob_events(yjmob, 5)) if yjmob.exists() else None,
            tuple(points),
        )
    )
    return found


def promise_of(data: Dataset, period: str, way: str) -> dict[str, Any]:
    """The promise of a way, as keywords."""
    if way == WHOLE:
        return {"whole": True}
    length = period if way == LONG else data.tau
    return {"tau": length, "epsilon": length}


def measured(data: Dataset, events: pa.Table, point: tuple[str, str, int], attacks: int) -> dict[str, Any]:
    """Publish, and attack with the key."""
    period, way, k = point
    began, processor = time.perf_counter(), time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        output, key = Path(folder, "published.parquet"), Path(folder, "key.parquet")
        promise = promise_of(data, period, way)
        release = shoal.anonymize(
            events, k=k, cell=data.cell, rename_every=period, output=output, key_out=key, **promise
        )
        summary = release.summary
        options = AuditOptions(key=key, attacks=attacks)
        with open_audit(events, output, SilentProgress(), options, ReadingOptions()) as (context, _):
            attacked = attacked_part(context, check_truthfulness(context))
            figures = [
                *attack_points(attacked),
                *attack_across_borders(attacked),
                *attack_relinking(attacked, ALL_PARTS),
                *attack_revealed(attacked, ALL_PARTS),
            ]
    assert summary["verified"]
    return {
        "attacks": data.attacks, "n_attacks": attacks, "period": period, "way": way, "k": k,
        "seconds": round(time.perf_counter() - began, 1),
        "processor_seconds": round(time.process_time() - processor, 1),
        "suppressed": summary["suppressed_share"],
        "km": summary["longer_side_km"]["median"],
        "minutes": summary["precision_minutes"]["median"],
        "cost": summary["cost_per_box"],
        "reused": summary["relaxations"] / max(1, summary["hiding_members"]),
        "figures": {"/".join((each.attack, each.variant, each.measure)): told(each) for each in figures},
    }  # fmt: skip


def told(figure: Measure) -> dict[str, Any]:
    """A figure as plain numbers: published and raw with the ends of their intervals, and guessing."""
    shares = {
        name: [share.value, share.low, share.high] if isinstance(share, Proportion) else None
        for name, share in (("published", figure.published), ("raw", figure.raw))
    }
    return {**shares, "guessing": figure.guessing}


def share(found: dict[str, Any], name: str, of: str = "published") -> float | None:
    """A measured share; None where there is none."""
    measured = (found["figures"].get(name) or {}).get(of)
    return measured[0] if measured else None


def per_cent(value: float | None) -> str:
    """A share in per cent, or a dash."""
    return "-" if value is None else f"{100 * value:.1f}" if value < 0.1 else f"{100 * value:.0f}"


def raw_line(found: list[dict[str, Any]]) -> str | None:
    """The same attacks on raw samples under pseudonyms that never change, from the release without new names."""
    never = [each for each in found if each["period"] == NEVER]
    if not never:
        return None
    reads = " | ".join(per_cent(share(never[0], f"points/{n}/pick", "raw")) for n in "248")
    alike = ", ".join(per_cent(share(never[0], f"points/{n}/single", "raw")) for n in "124")
    return f"| never | raw, pseudonyms | 1 | {reads} | - | - | - | {alike} | - | - | - | 0 |"


def raw_parts_line(found: dict[str, Any]) -> str:
    """The same attacks on the raw parts of a release, of the same people."""
    reads = [
        "{} ({})".format(*(per_cent(share(found, name.format(n=n), "raw")) for name in read_names(found)))
        for n in "248"
    ]
    links = [per_cent(share(found, f"relinking/next/{measure}", "raw")) for measure in ("pick", "rank_10")]
    across = per_cent(share(found, "across_border//pick", "raw"))
    alike = ", ".join(per_cent(share(found, f"points/{n}/single", "raw")) for n in "124")
    cells = (found["period"], "raw parts", "1", *reads, *links, across, alike, "-", "-", "-", "0")
    return f"| {' | '.join(cells)} |"


def read_names(found: dict[str, Any]) -> tuple[str, str]:
    """The figures that say what is read, with relinking and without; n stands for the number of samples known."""
    if found["period"] != NEVER:
        return "revealed/{n}/revealed", "revealed/{n}/revealed_alone"
    return ("points/{n}/read" if found["way"] == WHOLE else "points/{n}/pick",) * 2


def alike_name(found: dict[str, Any], n: str) -> str:
    """The figure that says how often all parts that fit n samples are the same, or one is left; where hardly a part has
    a twin, the audit tells how often one is left."""
    return f"points/{n}/same" if f"points/{n}/same" in found["figures"] else f"points/{n}/single"


def across_name(found: dict[str, Any]) -> str:
    """The figure that says what whoever watched across a border gets: where parts have twins, what both say."""
    read = "across_border//read"
    return read if read in found["figures"] else "across_border//pick"


def lines_of(data: Dataset, found: list[dict[str, Any]]) -> Iterator[str]:
    """The tables of one dataset."""
    yield f"\n## {data.title}\n"
    yield f"{data.part}. The ordinary promise has tau = epsilon = {data.tau}; cells are {data.cell}.\n"
    if len(found) < len(data.points):
        yield f"So far {len(found)} of {len(data.points)} releases were measured; `make names` goes on.\n"
    yield (
        "| names | way | k | read by 2 | by 4 | by 8 | relinked (raw) | of ten (raw) | across | alike by 1, 2, 4 | km"
        " | min | cost | suppressed |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    if (raw := raw_line(found)) is not None:
        yield raw
    periods = {NEVER}
    for each in found:
        if each["period"] not in periods:
            yield raw_parts_line(each)
            periods.add(each["period"])
        reads = [
            "{} ({})".format(*(per_cent(share(each, name.format(n=n))) for name in read_names(each)))
            for n in "248"
        ]
        links = [
            "{} ({})".format(
                *(per_cent(share(each, f"relinking/next/{measure}", of)) for of in ("published", "raw"))
            )
            for measure in ("pick", "rank_10")
        ]
        across = per_cent(share(each, "across_border//pick"))
        if "across_border//read" in each["figures"]:
            across += f" ({per_cent(share(each, 'across_border//read'))})"
        alike = ", ".join(per_cent(share(each, alike_name(each, n))) for n in "124")
        yield (
            f"| {each['period']} | {each['way']} | {each['k']} | {' | '.join(reads)} | {' | '.join(links)}"
            f" | {across} | {alike} | {each['km']:.2g} | {each['minutes']:.0f}"
            f" | {each['cost']:,.0f} | {100 * each['suppressed']:.2g} |"
        )
    yield from equal_cost_lines(found)


def equal_cost_lines(found: list[dict[str, Any]]) -> Iterator[str]:
    """Whole parts, and what the other ways give at the cost of these."""
    rows = []
    for whole in (each for each in found if each["way"] == WHOLE and each["period"] != NEVER):
        others = [beside_cost(found, whole, way) for way in (PLAIN, LONG)]
        if any(others):
            rows += [equal_cost_row(whole, whole, whole, str(whole["k"])), *filter(None, others)]
    if not rows:
        return
    yield (
        "\n### At equal cost\n\nWhole parts as measured; the other ways at the same cost per box, *between* the two k"
        " whose costs lie on either side, by the logarithm of cost. A way that is dearer at every k is left out, and so"
        " is one that is cheaper. *across* counts twins of both parts here.\n"
    )
    yield "| names | way | k | cost | read by 2, 4, 8 | relinked | across | alike by 1, 2, 4 |"
    yield "|---|---|---|---|---|---|---|---|"
    yield from rows


def beside_cost(found: list[dict[str, Any]], whole: dict[str, Any], way: str) -> str | None:
    """A row of another way in the same period at the cost of whole parts, if some k are cheaper and some dearer."""
    same = [each for each in found if each["way"] == way and each["period"] == whole["period"]]
    below = [each for each in same if each["cost"] <= whole["cost"]]
    above = [each for each in same if each["cost"] > whole["cost"]]
    if not below or not above:
        return None
    cheaper, dearer = max(below, key=lambda each: each["cost"]), min(above, key=lambda each: each["cost"])
    return equal_cost_row(whole, cheaper, dearer, f"between {cheaper['k']} and {dearer['k']}")


def equal_cost_row(whole: dict[str, Any], cheaper: dict[str, Any], dearer: dict[str, Any], k: str) -> str:
    """The figures of a way at the cost of whole parts."""

    def between(name: str, other: str | None = None) -> str:
        low, high = share(cheaper, name), share(dearer, other or name)
        if low is None or high is None:
            return "-"
        costs = np.log([cheaper["cost"], dearer["cost"]])
        return per_cent(float(np.interp(np.log(whole["cost"]), costs, [low, high])))

    reads = ", ".join(between(read_names(whole)[0].format(n=n)) for n in "248")
    across = between(across_name(cheaper), across_name(dearer))
    alike = ", ".join(between(alike_name(cheaper, n), alike_name(dearer, n)) for n in "124")
    return (
        f"| {whole['period']} | {cheaper['way']} | {k} | {whole['cost']:,.0f} | {reads}"
        f" | {between('relinking/next/pick')} | {across} | {alike} |"
    )


def is_measured(path: Path, data: Dataset, n_attacks: int) -> bool:
    """Whether a release was made, and attacked by as many of the attacks of today."""
    if not path.exists():
        return False
    found = json.loads(path.read_text())
    return (found.get("attacks"), found.get("n_attacks")) == (data.attacks, n_attacks)


def time_line(found: list[dict[str, Any]]) -> str:
    """How long it took to make and attack all releases."""
    hours, processor = (
        sum(each.get(name, 0) for each in found) / 3600 for name in ("seconds", "processor_seconds")
    )
    return (
        f"\n{len(found)} releases, made and attacked in {hours:.1f} hours ({processor:.1f} processor hours)."
    )


def main() -> None:
    """Measure what is missing, then write the page from all that there is."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", type=Path, default=REPOSITORY / "benchmarks" / "names")
    parser.add_argument("--only", help="one dataset")
    parser.add_argument("--attacks", type=int, default=1000)
    parser.add_argument("-o", "--output", type=Path, default=REPOSITORY / "docs" / "names-frontier.md")
    options = parser.parse_args()
    options.parts.mkdir(parents=True, exist_ok=True)
    page = [HEAD.format(attacks=options.attacks)]
    everything: list[dict[str, Any]] = []
    for data in datasets():
        events: pa.Table | None = None
        found = []
        for point in data.points:
            path = options.parts / f"{data.name}-{'-'.join(map(str, point)).replace(' ', '')}.json"
            missing = not is_measured(path, data, options.attacks) and options.only in (None, data.name)
            if missing and data.events is None:
                print(data.name, *point, "no data here: what was measured elsewhere stays", flush=True)
            elif missing and data.events is not None:
                events = data.events() if events is None else events
                result = measured(data, events, point, options.attacks)
                waiting = path.with_suffix(".waiting")  # a file appears whole or not at all
                waiting.write_text(json.dumps(result))
                waiting.rename(path)
                print(data.name, *point, f"{result['seconds']:.0f} s", flush=True)
            if path.exists():
                found.append(json.loads(path.read_text()))
        page += lines_of(data, found)
        everything += found
    page.append(time_line(everything))
    options.output.write_text("\n".join(page) + "\n")


if __name__ == "__main__":
    main()
