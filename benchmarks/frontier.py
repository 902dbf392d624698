"""What an attacker who knows the method achieves, against what it costs: writes docs/frontier.md and its figure.

    python benchmarks/frontier.py [--attacks 10000] [-o docs/frontier.md]

For k 2, 3 and 5 and every level of --harden, on synthetic cities of 3,000 and 12,000, and on the real data beside the
project ($SHOAL_DATA, default ../shared/data) where it is there.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from matplotlib.figure import Figure
from run import DATA, REPOSITORY, yjmob_events

import shoal
from shoal.auditing.attacks.chain import attack_chain
from shoal.auditing.opening import open_audit
from shoal.core.options import AuditOptions, ReadingOptions
from shoal.core.progress import SilentProgress
from shoal.core.proportions import Proportion
from shoal.hiding.steering import AIMS
from shoal.reporting.figures import matplotlib_style
from shoal.reporting.figures.matplotlib_style import Plot

KS = (2, 3, 5)
HEAD = """# What knowing the method achieves, and what it costs to prevent

Made by `make frontier`; [hardening.md](hardening.md) says what it means. Per cent of {attacks:,} attacks each by an
attacker who followed somebody for tau and knows the method ([audit.md](audit.md)): *single*, one record is left;
*below k*, fewer than k; *picks right*, the best attacker picks the right record; *chance*, the mean chance given to it.
*Cost* is that of all boxes, as a multiple of k 2 without hardening; *per box* likewise. Nothing was reused; what was
suppressed is given where anything was.

![Share of attacks that leave one record, over cost](images/frontier.svg)
"""


class Data(NamedTuple):
    """Events and the tau and epsilon they are published with."""

    title: str
    events: pa.Table
    tau: str


class Found(NamedTuple):
    """One release and what was made of it."""

    data: str
    k: int
    level: int
    cost: float
    boxes: int
    suppressed: float
    km: float
    minutes: float
    shares: dict[str, Proportion]


def measured(data: Data, k: int, level: int, attacks: int) -> Found:
    """Publish, and attack with the key."""
    with tempfile.TemporaryDirectory() as folder:
        output, key = Path(folder, "published.parquet"), Path(folder, "key.parquet")
        release = shoal.anonymize(
            data.events, k=k, tau=data.tau, epsilon=data.tau, harden=level, output=output, key_out=key
        )
        options = AuditOptions(key=key, attacks=attacks)
        with open_audit(data.events, output, SilentProgress(), options, ReadingOptions()) as (context, _):
            figures = attack_chain(context)
    summary = release.summary
    assert summary["verified"]
    assert not summary["relaxations"]
    return Found(
        data.title,
        k,
        level,
        release.outcome.box_sizes.cost,
        summary["boxes"],
        summary["suppressed_share"],
        summary["longer_side_km"]["median"],
        summary["precision_minutes"]["median"],
        {figure.measure: figure.published for figure in figures},
    )


def table(rows: list[Found]) -> list[str]:
    """The releases of one dataset."""
    base = rows[0]
    lines = [
        "| k | level | cost | per box | median (longer side) | single | below k | picks right | chance |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        shares = [row.shares[name] for name in ("single", "below_k", "pick", "success")]
        told = " | ".join(
            f"{100 * share.value:.1f} ({100 * share.low:.1f} to {100 * share.high:.1f})" for share in shares
        )
        per_box = row.cost / row.boxes / (base.cost / base.boxes)
        suppressed = f", {100 * row.suppressed:.2f} % suppressed" if row.suppressed else ""
        lines.append(
            f"| {row.k} | {row.level} | x {row.cost / base.cost:.2f} | x {per_box:.2f} |"
            f" {row.km:.1f} km, {row.minutes:.0f} min{suppressed} | {told} |"
        )
    return lines


def draw(found: dict[str, list[Found]]) -> Plot:
    """A panel per dataset: a line per k along its levels, and one along the k without hardening."""
    figure = Figure(figsize=(7.16, 2.7))
    panels = figure.subplots(1, len(found), sharey=True, squeeze=False)[0]
    for panel, (title, rows) in zip(panels, found.items(), strict=True):
        base = rows[0].cost
        bare = [row for row in rows if row.level == 0]
        panel.plot(
            [row.cost / base for row in bare],
            [100 * row.shares["single"].value for row in bare],
            color=matplotlib_style.SOFT, linestyle=":", linewidth=1.2, zorder=1,
        )  # fmt: skip
        for number, k in enumerate(KS):
            style, own = matplotlib_style.SERIES[number], [row for row in rows if row.k == k]
            panel.plot(
                [row.cost / base for row in own],
                [100 * row.shares["single"].value for row in own],
                color=style.colour, marker=style.marker, linestyle=style.line, linewidth=1.2, markersize=4,
            )  # fmt: skip
        panel.set_yscale("symlog", linthresh=0.1)
        panel.set_ylim(0, 60)
        panel.set_yticks([0, 0.1, 1, 2, 5, 10, 20, 40], ["0", "0.1", "1", "2", "5", "10", "20", "40"])
        panel.minorticks_off()
        panel.set_xlim(left=0.9)
        panel.set_title(title, fontsize=8)
        panel.set_xlabel("cost, as a multiple of k 2 unhardened")
    panels[0].set_ylabel("attacks that leave one record, %")
    keys = [
        matplotlib_style.key(matplotlib_style.SERIES[number], f"k {k}, levels 0 to 3")
        for number, k in enumerate(KS)
    ]
    keys.append(
        matplotlib_style.Line2D(
            [], [], color=matplotlib_style.SOFT, linestyle=":", linewidth=1.2, label="a larger k instead"
        )
    )
    matplotlib_style.legend_above(figure, keys)
    return Plot(figure, "Share of attacks by one who knows the method that leave one record, over cost.")


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--attacks", type=int, default=10_000)
    parser.add_argument("-o", "--output", type=Path, default=REPOSITORY / "docs" / "frontier.md")
    options = parser.parse_args()
    sources = [
        Data("city of 3,000", shoal.make_city(3_000), "30min"),
        Data("city of 12,000", shoal.make_city(12_000), "30min"),
    ]
    yjmob = DATA / "yjmob100k_1k_users.parquet"
    if yjmob.exists():
        sources.append(Data("YJMob, days 0 to 2", yjmob_events(yjmob), "60min"))
    found: dict[str, list[Found]] = {}
    lines = [HEAD.format(attacks=options.attacks)]
    for data in sources:
        rows = found[data.title] = []
        for k in KS:
            for level in range(len(AIMS)):
                rows.append(measured(data, k, level, options.attacks))
                print(*table([rows[0], rows[-1]])[-1:], flush=True)
        lines += [f"## {data.title}, tau and epsilon {data.tau}", "", *table(rows), ""]
    options.output.write_text("\n".join(lines))
    with (
        matplotlib_style.house_style(),
        (options.output.parent / "images" / "frontier.svg").open("wb") as file,
    ):
        plot = draw(found)
        matplotlib_style.lay_out(plot.figure)
        matplotlib_style.save(plot, ".svg", file)


if __name__ == "__main__":
    main()
