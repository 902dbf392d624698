"""A plan as a table of 80 columns, and what it advises in words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from textwrap import wrap

from shoal.evaluate.forecasting import Forecast
from shoal.evaluate.planning import Plan
from shoal.wording import counted, duration, percent, short

_HEAD = ("k", "tau", "epsilon", "space km", "time min", "suppressed", "reused", "takes", "memory")
_WIDTHS = (3, 7, 8, 9, 9, 12, 13, 9, 9)
_COLUMNS = 80
_MUCH_SUPPRESSED = 0.05
_MUCH_REUSED = 0.01


def plan_lines(plan: Plan) -> list[str]:
    """A row per point, then the advice."""
    how = "a few stretches" if any(row.sampled for row in plan.forecasts) else "all of the time"
    samples, users = counted(plan.n_samples, "sample"), counted(plan.n_users, "user")
    table = [_line(_HEAD), *(_line(_row(row)) for row in plan.forecasts)]
    words = [line for sentence in advice(plan.forecasts) for line in wrap(sentence, _COLUMNS)]
    title = [f"{samples} of {users}.", f"Median precision of boxes, foretold from {how}."]
    return [*title, "", *table, "", *words]


def advice(forecasts: Sequence[Forecast]) -> list[str]:
    """What a larger k and a longer tau cost beside the cheapest promise, and which promises cost too much."""
    usable = [row for row in forecasts if row.n_boxes]
    if not usable:
        return ["Everything would be suppressed: choose a smaller k, a longer epsilon, or add users."]
    lines = []
    for epsilon in sorted({row.epsilon_min for row in usable}):
        rows = [row for row in usable if row.epsilon_min == epsilon]
        shortest, fewest = min(row.tau_min for row in rows), min(row.k for row in rows)
        steps_k = [row for row in rows if row.tau_min == shortest]
        steps_tau = [row for row in rows if row.k == fewest]
        lines += [
            f"k {more.k} at tau {_minutes(more.tau_min)} {_against(more, less)} k {less.k}."
            for less, more in pairwise(sorted(steps_k, key=lambda row: row.k))
        ]
        lines += [
            f"tau {_minutes(more.tau_min)} at k {more.k} {_against(more, less)} tau {_minutes(less.tau_min)}."
            for less, more in pairwise(sorted(steps_tau, key=lambda row: row.tau_min))
        ]
    worst = [row for row in forecasts if row.suppressed_share >= _MUCH_SUPPRESSED]
    if worst:
        lines.append(f"Much is suppressed with {_named(worst)}: a smaller k or tau keeps more.")
    weak = [row for row in usable if row.reused_share >= _MUCH_REUSED]
    if weak:
        lines.append(f"Partners run out with {_named(weak)}: guarantee 2 would be weakened.")
    return lines


def _against(more: Forecast, less: Forecast) -> str:
    """How the space of one compares with that of another."""
    ratio = more.space_km_median / less.space_km_median
    if ratio >= 2:
        return f"costs {short(ratio)} times the space of"
    change = round(100 * (ratio - 1))
    if change == 0:
        return "costs as much space as"
    return f"costs {abs(change)} % {'more' if change > 0 else 'less'} space than"


def _named(rows: Sequence[Forecast]) -> str:
    names = [f"k {row.k}, tau {_minutes(row.tau_min)}" for row in rows]
    return "; ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _row(row: Forecast) -> tuple[str, ...]:
    km, minutes = (
        short(value) if row.n_boxes else "-" for value in (row.space_km_median, row.time_min_median)
    )
    return (
        str(row.k), _minutes(row.tau_min), _minutes(row.epsilon_min), km, minutes, percent(row.suppressed_share),
        percent(row.reused_share), _takes(row.seconds), f"{row.memory_bytes / 1e9:.1f} GB",
    )  # fmt: skip


def _takes(seconds: float) -> str:
    """About how long."""
    for unit, size in (("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{round(seconds / size)} {unit}"
    return f"{max(1, round(seconds))} s"


def _minutes(minutes: float) -> str:
    return duration(round(60 * minutes))


def _line(cells: Sequence[str]) -> str:
    return "".join(cell.rjust(width) for cell, width in zip(cells, _WIDTHS, strict=True)).rstrip()
