"""A sweep as a table of 80 columns."""

from __future__ import annotations

from shoal.evaluate.measuring import Measured
from shoal.evaluate.sweep import Sweep
from shoal.wording import duration, percent, short

_HEAD = ("selector", "k", "tau", "epsilon", "space km", "time min", "suppressed", "seconds")
_WIDTHS = (9, 3, 8, 8, 16, 13, 13, 9)


def sweep_lines(sweep: Sweep) -> list[str]:
    """A row per release: medians, with quartiles in brackets."""
    rows = [_row(measured) for measured in sweep.measured.values()]
    return ["Median precision, with quartiles in brackets.", "", _line(_HEAD), *map(_line, rows)]


def _row(row: Measured) -> tuple[str, ...]:
    space = f"{short(row.space_km_median)} ({short(row.space_km_q25)}-{short(row.space_km_q75)})"
    time = f"{short(row.time_min_median)} ({short(row.time_min_q25)}-{short(row.time_min_q75)})"
    tau, epsilon = (duration(round(60 * minutes)) for minutes in (row.tau_min, row.epsilon_min))
    return (
        row.selector, str(row.k), tau, epsilon, space, time, percent(row.suppressed_share), f"{row.seconds:.1f}",
    )  # fmt: skip


def _line(cells: tuple[str, ...]) -> str:
    first, *others = (
        cell.ljust(width) if number == 0 else cell.rjust(width)
        for number, (cell, width) in enumerate(zip(cells, _WIDTHS, strict=True))
    )
    return "".join([first, *others]).rstrip()
