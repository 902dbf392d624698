"""Sweeps and comparisons as tables of 80 columns."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.evaluate.comparing import TUPLES, WHOLE, Compared, Comparison
from shoal.evaluate.drawing import Draw
from shoal.evaluate.measuring import Measured
from shoal.evaluate.sweep import Sweep
from shoal.wording import duration, percent, short

_SWEEP = ("selector", "k", "tau", "epsilon", "space km", "time min", "suppressed", "seconds")
_TUPLES = {Draw.RANDOM: "random tuples", Draw.NEAR: "tuples, each a random user and the nearest"}
_SWEEP_WIDTHS = (9, 3, 8, 8, 16, 13, 13, 9)
_COMPARISON = ("method", "k", "success", "time min", "space km", "suppr.", "created", "deleted", "seconds")
_COMPARISON_WIDTHS = (16, 3, 9, 9, 9, 8, 8, 8, 9)


def sweep_lines(sweep: Sweep) -> list[str]:
    """A row per release: medians, with quartiles in brackets."""
    rows = [_row(measured) for measured in sweep.measured.values()]
    return ["Median precision, with quartiles in brackets.", "", *_table(_SWEEP, rows, _SWEEP_WIDTHS)]


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
            lines += ["", title, "", *_table(_COMPARISON, rows, _COMPARISON_WIDTHS)]
    return lines[1:]


def _compared(row: Compared) -> tuple[str, ...]:
    lost = row.suppressed + row.trashed
    numbers = ("-" if value != value else short(value) for value in (row.time_min, row.space_km))
    shares = (f"{100 * share:.0f} %" for share in (lost, row.created, row.deleted))
    return (row.method, str(row.k), f"{100 * row.success:.0f} %", *numbers, *shares, f"{row.seconds:.1f}")


def _row(row: Measured) -> tuple[str, ...]:
    space = f"{short(row.space_km_median)} ({short(row.space_km_q25)}-{short(row.space_km_q75)})"
    time = f"{short(row.time_min_median)} ({short(row.time_min_q25)}-{short(row.time_min_q75)})"
    tau, epsilon = (duration(round(60 * minutes)) for minutes in (row.tau_min, row.epsilon_min))
    return (
        row.selector, str(row.k), tau, epsilon, space, time, percent(row.suppressed_share), f"{row.seconds:.1f}",
    )  # fmt: skip


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], widths: Sequence[int]) -> list[str]:
    """The first column to the left, the others to the right."""
    return [
        "".join(
            cell.rjust(width) if number else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (head, *rows)
    ]
