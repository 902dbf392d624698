"""Every attack on raw data, pseudonyms only, a static grid and shoal's output: writes docs/attacks.md.

    python benchmarks/attacks_table.py [--users 12000] [--attacks 5000] [-o docs/attacks.md]

Uses a synthetic city, and the real data beside the project ($SHOAL_DATA, default ../shared/data) where it is there.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from run import DATA, REPOSITORY, yjmob_events

import shoal
from shoal.core.boxes import Boxes
from shoal.core.proportions import Proportion
from shoal.evaluate.baselines.static_grid import publish_on_grid
from shoal.publishing.record_names import named_boxes
from shoal.publishing.release import Published
from shoal.publishing.tables import key_table, published_batches
from shoal.utility import precision_of_boxes

HEAD = """# What attacks find

Made by `make attacks`; what each attack is and how it is counted stands in [audit.md](audit.md).
Figures are shares of {attacks:,} attacks each, in per cent, with their 95 % interval; coverage and
truthfulness are exact. *Raw* is the data as it came, names included, where no attack is needed.
*Pseudonyms* is the same data with a random name for each person: the control of the audit. The
*static grid* has boxes with the longer side of shoal's median box. *Guess* is what an attacker achieves who knows
nothing.

Low is good, but for precision and suppression, which are the price. Unflattering figures are here
as well: beyond the promise, one stretch of length tau, protection ends quickly; and somebody who
knows the method is left with a single record far too often.
"""


class Rival(NamedTuple):
    """A way to publish: its boxes, and the audit of them."""

    title: str
    boxes: Boxes
    audit: shoal.Audit


def audited(title: str, release: Published, boxes: Boxes, events: pa.Table, attacks: int) -> Rival:
    """Audit somebody's boxes, with the key, against the promise of the release."""
    found, promise = release.events, release.promise
    named = named_boxes(boxes)
    step = found.grid.step_s
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
    return Rival(title, boxes, audit)


def audited_release(release: Published, events: pa.Table, attacks: int) -> Rival:
    """Audit shoal's own, whose manifest tells whoever knows the method what to count on."""
    audit = shoal.audit(events, release, key=release.key(), attacks=attacks)
    return Rival("shoal", release.outcome.boxes, audit)


def section(title: str, events: pa.Table, tau: str, attacks: int) -> list[str]:
    """One dataset: publish it in every way, attack, and put the figures side by side."""
    release = shoal.anonymize(events, k=2, tau=tau, epsilon=tau)
    samples, grid = release.events.samples, release.events.grid
    ours = precision_of_boxes(release.outcome.boxes, grid)
    cells = max(1, round(ours.longer_side_km.median * 1000 / grid.cell_m))
    slots = max(1, round(ours.time_minutes.median * 60 / grid.step_s))
    grid_title = f"static grid, {cells * grid.cell_m / 1000:g} km and {slots * grid.step_s // 60} min"
    rivals = [
        audited("pseudonyms", release, publish_on_grid(samples), events, attacks),
        audited(grid_title, release, publish_on_grid(samples, cells, slots), events, attacks),
        audited_release(release, events, attacks),
    ]
    summary = release.summary
    lines = [
        f"## {title}",
        "",
        f"{summary['users']:,} users, {summary['samples']:,} samples; k = 2, tau = epsilon = {tau}.",
        "",
        f"| | raw | {' | '.join(rival.title for rival in rivals)} | guess |",
        f"|---|{'---|' * (len(rivals) + 2)}",
        *exact_rows(rivals, release),
        *attack_rows(rivals),
        "",
    ]
    print("\n".join(lines), flush=True)
    return lines


def exact_rows(rivals: list[Rival], release: Published) -> list[str]:
    """What is not sampled: coverage, truthfulness, suppression and the precision that all this costs."""
    grid = release.events.grid
    rows = {
        "**coverage**: users below k": [f"{unprotected(rival):.1f} %" for rival in rivals],
        "intervals below k (strict, gap-tolerant)": [
            f"{rival.audit.coverage.n_strict:,}, {rival.audit.coverage.n_tolerant:,}"
            f" of {rival.audit.coverage.n_intervals:,}"
            for rival in rivals
        ],
        "**truthfulness**: boxes without a sample, overlapping": [
            f"{rival.audit.truthfulness.n_empty_boxes:,}, {rival.audit.truthfulness.n_overlapping_boxes:,}"
            for rival in rivals
        ],
        "suppressed samples": [
            f"{100 * rival.audit.truthfulness.suppressed.share:.2f} %" for rival in rivals
        ],
        "precision, median (longer side of a box)": [precision(rival, grid) for rival in rivals],
    }
    return [f"| {title} | | {' | '.join(cells)} | |" for title, cells in rows.items()]


def unprotected(rival: Rival) -> float:
    """Per cent of the users who are hidden among fewer than k records at some time."""
    users = {violation.user for violation in rival.audit.coverage.worst}
    return 100 * len(users) / rival.audit.coverage.n_users


def precision(rival: Rival, grid: object) -> str:
    found = precision_of_boxes(rival.boxes, grid)
    return f"{found.longer_side_km.median:.1f} km, {found.time_minutes.median:.0f} min"


def attack_rows(rivals: list[Rival]) -> list[str]:
    """Every measured figure, in the order of the audit."""
    rows = []
    for figure in rivals[-1].audit.figures:
        if figure.measure == "below_k":  # for k = 2 the same as a single record
            continue
        found = [rival.audit.figure(figure.attack, figure.measure, figure.variant) for rival in rivals]
        variant = f" {figure.variant.replace('_', ' ')}," if figure.variant else ""
        title = f"{figure.attack.replace('_', ' ')}:{variant} {figure.measure.replace('_', ' ')}"
        guess = "" if figure.guessing is None else f"{100 * figure.guessing:.1f}"
        cells = " | ".join(shown(each.published) for each in found)
        raw = "" if figure.measure == "ruled_out" else "100"
        rows.append(f"| {title} | {raw} | {cells} | {guess} |")
    return rows


def shown(share: Proportion | str) -> str:
    if isinstance(share, str):
        return share
    return f"{100 * share.value:.1f} ({100 * share.low:.1f} to {100 * share.high:.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--users", type=int, default=12_000)
    parser.add_argument("--attacks", type=int, default=5_000)
    parser.add_argument("-o", "--output", type=Path, default=REPOSITORY / "docs" / "attacks.md")
    options = parser.parse_args()
    lines = [HEAD.format(attacks=options.attacks)]
    yjmob = DATA / "yjmob100k_1k_users.parquet"
    if yjmob.exists():
        lines += section("YJMob, days 0 to 2", yjmob_events(yjmob), "60min", options.attacks)
    city = shoal.make_city(options.users)
    lines += section(f"A synthetic city of {options.users:,}, one day", city, "30min", options.attacks)
    options.output.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
