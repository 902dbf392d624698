"""A plan as a table of 80 columns, and what it advises in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from shoal.cli.text.layout import WIDTH, wrapped
from shoal.core.formatting import counted, duration_of_minutes, percent, short
from shoal.evaluate.plan.forecasting import Forecast
from shoal.evaluate.plan.planning import Plan
from shoal.evaluate.plan.recommending import is_sound, recommend_promise
from shoal.evaluate.plan.whole_parts import WholeParts
from shoal.utility.read_share import LITTLE, PeriodOutlook, recommend_period

_HEAD = ("k", "tau", "epsilon", "space km", "time min", "suppressed", "reused", "takes", "memory")
_WIDTHS = (3, 7, 8, 9, 9, 12, 13, 9, 9)
_MUCH_SUPPRESSED = 0.05
_MUCH_REUSED = 0.01
_ENOUGH_ALIKE = (
    5  # people whose records are the same, so that these say little of each (docs/names-frontier.md)
)


def plan_lines(plan: Plan, next_command: Sequence[str] = ()) -> list[str]:
    """A row per point, then the advice; what new names would do; and in the end the one promise to choose, with the
    command that gives it."""
    sampled = any(row.sampled for row in plan.forecasts)
    how = "forecast from a few stretches" if sampled else "measured on all of the time"
    samples, users = counted(plan.n_samples, "sample"), counted(plan.n_users, "user")
    title = [f"{samples} of {users}.", f"Median precision of boxes (space: longer side), {how}."]
    blocks = [
        title,
        [_line(_HEAD), *(_line(_row(row)) for row in plan.forecasts)],
        _in_lines(advice(plan.forecasts)),
        _in_lines(names_advice(plan.fitting_periods)),
        _in_lines(whole_parts_advice(plan)),
        [*_in_lines(recommendation(plan)), *next_command],
    ]
    return [line for block in blocks if block for line in ("", *block)][1:]


def _in_lines(sentences: Sequence[str]) -> list[str]:
    return [line for sentence in sentences for line in wrapped(sentence, WIDTH)]


def recommendation(plan: Plan) -> list[str]:
    """The promise to choose, and why; nothing where everything would be suppressed."""
    row, period = recommend_promise(plan.forecasts), recommend_period(plan.fitting_periods)
    if row is None:
        return []
    tau, epsilon = map(duration_of_minutes, (row.tau_min, row.epsilon_min))
    names = "" if period is None else f", new names every {period.rename_every}"
    why = (
        "Of all that suppress little and have partners enough, it has the largest k, then the longest tau, whose boxes"
        " are at most three times as long as the shortest here."
        if is_sound(row)
        else "None suppresses little and has partners enough; least is lost with this one."
    )
    return [f"Recommended: k {row.k}, tau {tau}, epsilon {epsilon}{names}. {why}"]


def names_advice(outlooks: Sequence[PeriodOutlook]) -> list[str]:
    """What new names every so often leave to be read, and which period to choose."""
    chosen = recommend_period(outlooks)
    if chosen is None:
        return []
    first, *others = (
        f"{outlook.in_words()} with --rename-every {outlook.rename_every}" for outlook in outlooks[1:]
    )
    enough = (
        "the longest period that leaves a fifth or less"
        if chosen.read_share <= LITTLE
        else "the shortest tried, as none leaves a fifth or less; a larger k leaves less to be found"
    )
    return [
        "Whoever knows four moments of a person, at any times, mostly finds the record, and reads all of it if names"
        f" never change; new names leave, on average, {', '.join([first, *others])} of the person's samples, as long as"
        " nobody ties parts together.",
        f"New names cost no precision: choose --rename-every {chosen.rename_every}, {enough}; if recipients need longer"
        " records, the shortest period that serves them. Habits tie some parts together: short periods and a larger k"
        " make that rarer, and shoal audit measures it on a release.",
    ]


def whole_parts_advice(plan: Plan) -> list[str]:
    """The two other ways to hide with new names: what they cost, what they do, and what they do not do."""
    chosen = recommend_period(plan.periods)
    if chosen is None:
        return []
    found = plan.whole_parts
    k, every = (
        (_ENOUGH_ALIKE, chosen.rename_every)
        if found is None
        else (max(found.k, _ENOUGH_ALIKE), found.rename_every)
    )
    named = f"--whole --rename-every {every}"
    return [
        f"Whole parts ({named}) protect from whatever is known of a person inside of a period: at least k parts fit."
        f" All of them tell the same, so choose k {_ENOUGH_ALIKE} or more; at equal cost a larger k or a longer tau"
        " mostly leaves less to be read. Across borders nothing is promised: whoever"
        f" knows something of two periods may be left with one person. {_cost_of_whole_parts(found)} To measure them:"
        f" shoal anonymize EVENTS -o PUBLISHED --k {k} {named} --key-out KEY, then shoal audit.",
        f"A tau as long as the period (--tau {every} --epsilon {every} --rename-every {every}) protects from all that"
        f" is known within any {every}, across borders as well: shoal plan --taus {every} --epsilons {every} forecasts"
        " it, with somewhat larger boxes than new names would leave.",
    ]


def _cost_of_whole_parts(found: WholeParts | None) -> str:
    if found is None:
        return "What they cost is not forecast: no period can be tried here."
    if found.longer_side_km_median != found.longer_side_km_median:
        return f"With k {found.k} nearly everything would be suppressed."
    return (
        f"With k {found.k} a box would have a median of {short(found.longer_side_km_median)} km and"
        f" {short(found.time_min_median)} min, {percent(found.suppressed_share)} of the samples would be suppressed,"
        f" and a run would take {_takes(found.seconds)}, as one period of {found.rename_every} tells."
    )


def advice(forecasts: Sequence[Forecast]) -> list[str]:
    """What a larger k, a longer tau and a shorter epsilon cost, and which promises cost too much.

    Boxes are not compared where much is suppressed: what is left is what was cheap.
    """
    usable = [row for row in forecasts if row.n_boxes]
    if not usable:
        return ["Everything would be suppressed: choose a smaller k, a longer epsilon, or add users."]
    named = _names(forecasts)
    comparable = [row for row in usable if row.suppressed_share < _MUCH_SUPPRESSED]
    lines = [f"{named[more]} {_against(more, less)} {named[less]}." for less, more in _steps(comparable)]
    worst = [row for row in forecasts if row.suppressed_share >= _MUCH_SUPPRESSED]
    if worst:
        lines.append(f"Much is suppressed with {_listed(worst, named)}: a smaller k or tau keeps more.")
    weak = [row for row in usable if row.reused_share >= _MUCH_REUSED]
    if weak:
        lines.append(
            f"Partners run out with {_listed(weak, named)}: some would have to serve again, and whoever finds"
            " the k records of a person could follow them for longer than epsilon."
        )
    rough = [row for row in usable if row.n_stretches == 1]
    if rough:
        lines.append(f"Forecast from a single hour, and perhaps off by a quarter: {_listed(rough, named)}.")
    return lines


def _steps(rows: Sequence[Forecast]) -> Iterator[tuple[Forecast, Forecast]]:
    """Pairs of promises, the laxer one first, that differ in one thing: k at the shortest tau, tau at the least k, and
    epsilon at both."""
    for epsilon in sorted({row.epsilon_min for row in rows}):
        same = [row for row in rows if row.epsilon_min == epsilon]
        shortest, fewest = min(row.tau_min for row in same), min(row.k for row in same)
        yield from pairwise(sorted((row for row in same if row.tau_min == shortest), key=lambda row: row.k))
        yield from pairwise(sorted((row for row in same if row.k == fewest), key=lambda row: row.tau_min))
    if rows:
        shortest, fewest = min(row.tau_min for row in rows), min(row.k for row in rows)
        least = [row for row in rows if (row.tau_min, row.k) == (shortest, fewest)]
        yield from pairwise(sorted(least, key=lambda row: -row.epsilon_min))


def _against(more: Forecast, less: Forecast) -> str:
    """How the space of one compares with that of another."""
    ratio = more.longer_side_km_median / less.longer_side_km_median
    if ratio >= 2:
        return f"costs {short(ratio)} times the space of"
    change = round(100 * (ratio - 1))
    if change == 0:
        return "costs as much space as"
    return f"costs {abs(change)} % {'more' if change > 0 else 'less'} space than"


def _names(rows: Sequence[Forecast]) -> dict[Forecast, str]:
    """What to call each promise: by epsilon only where there are several."""
    several = len({row.epsilon_min for row in rows}) > 1
    return {
        row: f"k {row.k} at {duration_of_minutes(row.tau_min)}"
        + (f" (epsilon {duration_of_minutes(row.epsilon_min)})" if several else "")
        for row in rows
    }


def _listed(rows: Sequence[Forecast], named: dict[Forecast, str]) -> str:
    names = [named[row] for row in rows]
    return "; ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _row(row: Forecast) -> tuple[str, ...]:
    km, minutes = (
        short(value) if row.n_boxes else "-" for value in (row.longer_side_km_median, row.time_min_median)
    )
    return (
        str(row.k), duration_of_minutes(row.tau_min), duration_of_minutes(row.epsilon_min), km, minutes,
        percent(row.suppressed_share),
        percent(row.reused_share), _takes(row.seconds), f"{row.memory_bytes / 1e9:.1f} GB",
    )  # fmt: skip


def _takes(seconds: float) -> str:
    """About how long."""
    for unit, size in (("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{round(seconds / size)} {unit}"
    return f"{max(1, round(seconds))} s"


def _line(cells: Sequence[str]) -> str:
    return "".join(cell.rjust(width) for cell, width in zip(cells, _WIDTHS, strict=True)).rstrip()
