"""Sweeps and comparisons as tables of 80 columns."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from shoal.cli.text.layout import WIDTH, wrapped
from shoal.core.formatting import duration_of_minutes, percent, short
from shoal.core.options import SelectorName
from shoal.evaluate.compare import TUPLES, WHOLE, Compared, Comparison, TupleDraw
from shoal.evaluate.measuring import Measured
from shoal.evaluate.sweep import Sweep

_SWEEP = ("selector", "k", "tau", "epsilon", "space km", "time min", "suppressed", "seconds")
_TUPLES = {TupleDraw.RANDOM: "random tuples", TupleDraw.NEAR: "tuples, each a random user and the nearest"}
_SWEEP_WIDTHS = (11, 3, 7, 8, 17, 14, 11, 8)
_COMPARISON = (
    "method", "k", "success", "min", "km", "suppr.", "trashed", "created", "deleted", "seconds",
)  # fmt: skip
_COMPARISON_WIDTHS = (15, 2, 9, 7, 7, 8, 8, 8, 8, 8)
_COLUMNS_EXPLAINED = (
    "success: tuples whose records all became alike; of whole trajectories: users who are hidden",
    "min, km: mean duration and width + height of a box (as in the paper); of w4m how far a point was moved",
    "suppr.: samples left out; trashed: samples of users who were left out altogether",
    "created, deleted: points by which a record is longer or shorter than what its user did (w4m)",
)


def sweep_lines(sweep: Sweep) -> list[str]:
    """A row per release: medians, with quartiles in brackets."""
    rows = [_row(measured) for measured in sweep.measured.values()]
    title = [
        "Median precision (space: longer side of a box), with quartiles in brackets.",
        "After the selector: level of hardening.",
    ]
    lines = [*title, "", *_table(_SWEEP, rows, _SWEEP_WIDTHS)]
    if any(measured.selector == SelectorName.SPECTRAL for measured in sweep.measured.values()):
        lines += ["", "spectral: guarantee 1 not given. shoal anonymize measures how often it fails."]
    return lines


def comparison_lines(found: Comparison) -> list[str]:
    """A table of the tuples, and one of whole trajectories if asked for."""
    titles = {
        TUPLES: f"Means over {found.n_tuples:,} {_TUPLES[found.drawn]} of {found.n_users:,} users.",
        WHOLE: f"Whole trajectories of {found.n_whole_users:,} of them.",
    }
    lines: list[str] = []
    for kind, title in titles.items():
        rows = [_compared(row) for row in found.rows if row.on == kind]
        if rows:
            lines += ["", *wrap(title, 80), "", *_table(_COMPARISON, rows, _COMPARISON_WIDTHS)]
    explained = [line for text in _COLUMNS_EXPLAINED for line in wrapped(text, WIDTH, indent="  ")]
    return [*lines[1:], "", *explained]


def _compared(row: Compared) -> tuple[str, ...]:
    numbers = ("-" if value != value else short(value) for value in (row.time_min, row.space_km))
    shares = (f"{100 * share:.0f} %" for share in row[6:10])
    return (row.method, str(row.k), f"{100 * row.success:.0f} %", *numbers, *shares, f"{row.seconds:.1f}")


def _row(row: Measured) -> tuple[str, ...]:
    space, time = (
        f"{short(median)} ({short(low)}-{short(high)})" if row.n_boxes else "-"
        for median, low, high in (
            (row.longer_side_km_median, row.longer_side_km_q25, row.longer_side_km_q75),
            (row.time_min_median, row.time_min_q25, row.time_min_q75),
        )
    )
    tau, epsilon = map(duration_of_minutes, (row.tau_min, row.epsilon_min))
    selector = f"{row.selector} {row.harden}"
    return (
        selector, str(row.k), tau, epsilon, space, time, percent(row.suppressed_share), f"{row.seconds:.1f}",
    )  # fmt: skip


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], widths: Sequence[int]) -> list[str]:
    """The first column to the left, the others to the right; one that fills its column has a space before it."""
    return [
        "".join(
            cell.ljust(width)
            if number == 0
            else cell.rjust(width)
            if number == 1
            else f" {cell}".rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (head, *rows)
    ]
