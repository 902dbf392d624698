"""Results as they show themselves at the end of a notebook's cell, as HTML.

A card tells what the command prints: a verdict, tables and a small figure, in the words of Python's arguments. It holds
figures over many people and nothing raw, since notebooks are sent around. ``core/showing.py`` looks this module up.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from itertools import chain
from typing import Any, NamedTuple

from markupsafe import Markup

from shoal.auditing.attack_names import named_figures
from shoal.auditing.exposures import active_times
from shoal.auditing.faults import basis_in_words
from shoal.auditing.guarantees.judgement import Basis, State
from shoal.auditing.rating import Rating
from shoal.auditing.result import Audit
from shoal.core.disclosure import public_count_in_words
from shoal.core.formatting import (
    counted,
    duration_of_minutes,
    percent,
    promise_parameters,
    renaming_in_words,
    short,
)
from shoal.core.period_text import NEVER
from shoal.errors import in_python
from shoal.evaluate.check.checking import CheckedEvents
from shoal.evaluate.compare import TUPLES, WHOLE, Compared, Comparison
from shoal.evaluate.measuring import Measured
from shoal.evaluate.plan.forecasting import Forecast
from shoal.evaluate.plan.planning import Plan
from shoal.evaluate.sweep import Sweep
from shoal.evaluate.sweep_points import EPSILON, HOURS, TAU, K
from shoal.publishing.release import Published
from shoal.reporting.figures.release import before_and_after
from shoal.reporting.figures.small import box_size_curve, lines
from shoal.reporting.page import bound, page_environment
from shoal.synthetic.credibility.text import band_in_words, counts_in_words, headline, number
from shoal.synthetic.credibility.verdict import Check, Credibility

GOOD, WARN, BAD, PLAIN = "good", "warn", "bad", "plain"  # classes of the style sheet
_RATINGS = {Rating.LOW: GOOD, Rating.MODERATE: WARN, Rating.HIGH: BAD, Rating.UNKNOWN: PLAIN}
_STATES = {State.KEPT: GOOD, State.WEAKENED: WARN, State.BROKEN: BAD, State.NOT_CHECKED: PLAIN}
_GUARANTEES = ("1: at least k records fit", "2: one window only", "3: k matchings")
# What attackers know, one figure for each: too many to draw all of them in a cell.
_DRAWN = (
    ("linkage", "", "pick"),
    ("method", "", "pick"),
    ("points", "4", "pick"),
    ("revealed", "4", "revealed"),
    ("times", "all", "pick"),
    ("top_locations", "2", "pick"),
    ("place", "all", "exact"),
)
_MOST_COLUMNS = 12  # named as not used
_SPACE_OVER = {TAU: "tau = epsilon", K: "k", EPSILON: "epsilon"}


class Chip(NamedTuple):
    """A word on a coloured ground."""

    css: str
    word: str


class CardTable(NamedTuple):
    """A table; all columns but the first ``texts`` hold numbers."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    texts: int = 1


class CardFigure(NamedTuple):
    """A figure as inline SVG."""

    svg: Markup
    caption: str = ""


class Card(NamedTuple):
    """All that a cell shows of a result."""

    kind: str
    headline: str
    more: str
    states: Sequence[Chip] = ()
    rated: Sequence[tuple[Chip, str]] = ()
    tables: Sequence[CardTable] = ()
    figures: Sequence[CardFigure] = ()
    notes: Sequence[tuple[str, Sequence[str]]] = ()


def html_of(result: object) -> str:
    """A result as HTML: what the terminal would print, and a small figure."""
    environment = page_environment()
    environment.globals |= {"chip": _chip, "number": _number}
    environment.finalize = _said
    return environment.get_template("result.html.j2").render(card=_card(result))


def _chip(state: Chip) -> Markup:
    return Markup('<span class="shoal-chip shoal-{}">{}</span>').format(state.css, state.word)


def _number(place: int, table: CardTable) -> Markup:
    return Markup(' class="shoal-number"') if place >= table.texts else Markup("")


def _said(value: Any) -> Any:
    """Texts in the words of Python's arguments, units beside their numbers; markup as it is."""
    return bound(in_python(value)) if isinstance(value, str) and not isinstance(value, Markup) else value


@singledispatch
def _card(result: object) -> Card:
    raise TypeError(f"no card for {type(result).__name__}")


# ---- a first look -------------------------------------------------------------------------------------------------


@_card.register
def _checked(found: CheckedEvents) -> Card:
    """What was found, what is wrong and what to do about it, what to run next."""
    problems = [
        (Chip(WARN if found.usable else BAD, "problem"), f"{each.what} {each.remedy}".strip())
        for each in found.problems
    ]
    usable = Chip(GOOD, "usable") if found.usable else Chip(BAD, "not usable")
    rows = "more rows than were read" if found.rows_in_all is None else f"about {found.rows_in_all:,} rows"
    sampled = f", told from {counted(found.rows, 'row')} of {rows}" if found.parts and found.rows else ""
    n_problems = counted(len(found.problems), "problem") if found.problems else "no problems found"
    rows_read = [(*row.written.values(), row.read_as) for row in found.first_rows]
    title = "First rows: 9 stands for a digit, a for a letter; no coordinate is shown."
    head = () if not found.first_rows else (*found.first_rows[0].written, "read as")
    return Card(
        kind="Events",
        headline=f"{n_problems}{sampled}.",
        states=[usable],
        rated=problems,
        tables=[
            CardTable((), _facts(found), texts=2),
            *([CardTable(head, rows_read, title, texts=len(head))] if rows_read else []),
        ],
        notes=[("Next", found.next)],
        more="to_dict() has the figures"
        + (
            "; all_rows=True reads all rows."
            if found.parts and found.rows
            else "; problems say how many rows they concern."
        ),
    )


def _facts(found: CheckedEvents) -> list[tuple[str, str]]:
    """What events are, as far as it was found out."""
    facts = {
        "Rows": f"{found.rows:,}" if found.rows else "",
        "Read as": found.format or "",
        "Columns": ", ".join(f"{role}: {name}" for role, name in found.columns.items()),
        "Not used" if found.columns else "Columns there": _first_of(found.columns_not_used),
    }
    if found.days is not None:
        zone = {
            "given": "times without a zone on its clock, as asked for",
            "format": "times without a zone on its clock, as in all such files",
            "assumed": "assumed for times without a zone",
            "written": "times have a zone of their own",
        }[str(found.timezone_from)]
        alone = found.first_day == found.last_day
        facts |= {
            "Times": str(found.first_day) if alone else f"{found.first_day} to {found.last_day}",
            "Zone": f"{found.timezone}: {zone}",
            "Users": f"{found.users:,}, with {short(found.samples_a_day or 0)} samples a day (median)",
            "Samples": f"{found.samples:,}, without {found.duplicates:,} duplicates",
        }
    return [(name, said) for name, said in facts.items() if said]


def _first_of(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_COLUMNS} more" if len(names) > _MOST_COLUMNS else ""
    return ", ".join(names[:_MOST_COLUMNS]) + more


# ---- a release ----------------------------------------------------------------------------------------------------


@_card.register
def _release(release: Published) -> Card:
    """What the manifest tells, and the warnings that go with it."""
    manifest, grid = release.manifest, release.events.grid
    suppressed = manifest["suppression"]["share_of_samples"]
    without = manifest["suppression"]["users_without_record"]
    space, time = (manifest["granularity"][name] for name in ("longer_side_km", "time_minutes"))
    renamed = renaming_in_words(None if release.renaming is None else release.renaming.every_s)
    facts = {
        "Promise": promise_parameters(release.promise, grid),
        "Names": renamed or "never change",
        "Suppressed": _suppressed(suppressed)
        + (f"; {public_count_in_words(without)} users have no record" if without else ""),
        "Space (longer side)": _spread(space, "km"),
        "Time": _spread(time, "min"),
        "Guarantee 2": manifest["guarantees"]["one_window"],
    }
    return Card(
        kind="Release",
        headline=f"{counted(release.outcome.n_records, 'record')},"
        f" {counted(release.outcome.n_boxes, 'box', 'boxes')}",
        states=[Chip(GOOD, "verified") if release.verified else Chip(WARN, "not verified")],
        tables=[CardTable((), list(facts.items()), texts=2)],
        figures=[CardFigure(Markup(box_size_curve(release.outcome.box_sizes, grid)))],
        notes=[("Warnings", [*release.events.read_summary.losses, *release.summary["warnings"]])],
        more="to_pandas() has the boxes, write() makes files; key() and summary are for you alone.",
    )


def _suppressed(share: str | float) -> str:
    if isinstance(share, str):
        return share
    return f"{percent(share)} of the samples" if share else "nothing"


def _spread(spread: dict[str, float], unit: str) -> str:
    median, low, high = (short(spread[name]) for name in ("median", "q25", "q75"))
    return f"median {median} {unit}, half of the boxes {low} to {high} {unit}"


# ---- an audit -----------------------------------------------------------------------------------------------------


@_card.register
def _audit(audit: Audit) -> Card:
    verdict = audit.verdict
    states = [
        (Chip(_STATES[judged.state], str(judged.state)), _guarantee(audit, name, judged))
        for name, judged in zip(_GUARANTEES, audit.guarantees, strict=True)
    ]
    exposures = [
        (Chip(_RATINGS[exposure.rating], str(exposure.rating)), exposure.sentence)
        for exposure in verdict.exposures
    ]
    failing = WARN if audit.only_weakened else BAD
    return Card(
        kind="Audit",
        headline=f"{verdict.headline}.",
        states=[
            Chip(GOOD, "kept") if audit.kept else Chip(failing if audit.failed else WARN, "not kept"),
            Chip(_RATINGS[verdict.rating], f"risk {verdict.rating}"),
        ],
        rated=[*states, *exposures],
        figures=_attacks(audit),
        notes=[
            ("Weak claim", [] if verdict.warning is None else [verdict.warning]),
            ("What to do", verdict.next_steps),
            ("Warnings", audit.warnings),
        ],
        more="verdict says more, figures have every attack, to_dict() has everything.",
    )


def _guarantee(audit: Audit, name: str, judged: Any) -> str:
    detail = f": {judged.detail}" if judged.detail else ""
    resting = "" if judged.basis is Basis.NOTHING else f" ({basis_in_words(audit, judged)})"
    return f"Guarantee {name}{detail}{resting}"


def _attacks(audit: Audit) -> list[CardFigure]:
    """How often some attackers succeed, before and after; nothing where none could be tried."""
    found = {
        (name.attack, name.variant, name.measure): (name.words, figure)
        for name, figure in named_figures(audit)
    }
    times = active_times(audit)
    chosen = {"times": times.variant} if times is not None and times.measure == "pick" else {}
    drawn = [(attack, chosen.get(attack, variant), measure) for attack, variant, measure in _DRAWN]
    shown = [
        found[which] for which in drawn if which in found and not isinstance(found[which][1].published, str)
    ]
    if not shown or audit.events_checked.is_other:
        return []
    caption = "How often an attacker who does this succeeds: on raw data (orange), the file (blue), guessing (grey)."
    return [CardFigure(Markup(before_and_after(shown)), caption)]


# ---- forecasts and measurements -----------------------------------------------------------------------------------


@_card.register
def _plan(plan: Plan) -> Card:
    sampled = any(row.sampled for row in plan.forecasts)
    how = "forecast from a few stretches" if sampled else "measured on all of the time"
    head = ("k", "tau", "epsilon", "space, km", "time, min", "suppressed", "reused", "takes", "memory")
    names = [
        (outlook.rename_every, percent(outlook.read_share))
        for outlook in plan.periods
        if outlook.rename_every != NEVER
    ]
    title = "New names: what four known moments of a person leave to be read, of all samples, on average."
    return Card(
        kind="Plan",
        headline=f"{counted(plan.n_samples, 'sample')} of {counted(plan.n_users, 'user')}; {how}.",
        tables=[
            CardTable(head, [_forecast(row) for row in plan.forecasts], texts=0),
            *([CardTable(("rename_every", "left to be read"), names, title)] if names else []),
        ],
        figures=_space_over_tau(plan.forecasts),
        notes=[("Recommended", _recommended(plan)), ("Warnings", plan.warnings)],
        more="Space and time are medians (space: longer side of a box). to_pandas() has the figures, plot() draws"
        " them.",
    )


def _recommended(plan: Plan) -> list[str]:
    """The promise to choose, as arguments of anonymize()."""
    if plan.recommended is None:
        return []
    chosen = {name: value for name, value in plan.recommended._asdict().items() if value is not None}
    return [", ".join(f"{name}={value!r}" for name, value in chosen.items())]


def _forecast(row: Forecast) -> list[str]:
    return [
        str(row.k),
        *map(duration_of_minutes, (row.tau_min, row.epsilon_min)),
        *_known(row.n_boxes, row.longer_side_km_median, row.time_min_median),
        *map(percent, (row.suppressed_share, row.reused_share)),
        f"{max(1, round(row.seconds)):,} s",
        f"{row.memory_bytes / 1e9:.1f} GB",
    ]


def _known(n_boxes: int, *values: float) -> list[str]:
    return [short(value) if n_boxes else "-" for value in values]


def _space_over_tau(forecasts: Sequence[Forecast]) -> list[CardFigure]:
    """A line for each k over tau, or over k where there is one tau; at the shortest epsilon."""
    epsilon = min(row.epsilon_min for row in forecasts)
    space = {
        (row.k, row.tau_min): row.longer_side_km_median for row in forecasts if row.epsilon_min == epsilon
    }
    ks, taus = (sorted(set(values)) for values in zip(*space, strict=True))
    unknown = float("nan")
    if len(taus) > 1:
        series = {f"k {k}": [space.get((k, tau), unknown) for tau in taus] for k in ks}
        return [_space(series, list(map(duration_of_minutes, taus)), "tau")]
    if len(ks) > 1:
        series = {"": [space.get((k, taus[0]), unknown) for k in ks]}
        return [_space(series, [str(k) for k in ks], "k")]
    return []


def _space(series: dict[str, list[float]], ticks: list[str], over: str) -> CardFigure:
    description = f"Median longer side of a box, over {over}."
    return CardFigure(Markup(lines(series, ticks, over, "median longer side, km", description)))


@_card.register
def _sweep(sweep: Sweep) -> Card:
    head = ("selector", "harden", "k", "tau", "epsilon", "space, km", "time, min", "suppressed", "seconds")
    return Card(
        kind="Sweep",
        headline=f"{counted(len(sweep.measured), 'release')} made and measured: medians, quartiles in brackets.",
        tables=[CardTable(head, [_measured(row) for row in sweep.measured.values()])],
        figures=list(chain.from_iterable(_space_over(sweep, axis) for axis in sweep.plan.by_axis)),
        notes=[("Warnings", sweep.warnings)],
        more="Space is the longer side of a box. to_pandas() has the figures, plot() draws them.",
    )


def _measured(row: Measured) -> list[str]:
    space, time = (
        f"{short(median)} ({short(low)} to {short(high)})" if row.n_boxes else "-"
        for median, low, high in (
            (row.longer_side_km_median, row.longer_side_km_q25, row.longer_side_km_q75),
            (row.time_min_median, row.time_min_q25, row.time_min_q75),
        )
    )
    lengths = map(duration_of_minutes, (row.tau_min, row.epsilon_min))
    rest = percent(row.suppressed_share), f"{row.seconds:.1f}"
    return [row.selector, str(row.harden), str(row.k), *lengths, space, time, *rest]


def _space_over(sweep: Sweep, axis: str) -> list[CardFigure]:
    """A line for each selector over what varies; nothing over hours, or where one value is all there is."""
    points = sweep.plan.by_axis[axis]
    by_selector: dict[str, list[Measured]] = {}
    for point in points:
        by_selector.setdefault(point.selector, []).append(sweep.measured[point])
    rows = next(iter(by_selector.values()))
    if axis == HOURS or len(rows) < 2:
        return []
    at = {TAU: "tau_min", K: "k", EPSILON: "epsilon_min"}[axis]
    ticks = [str(row.k) if axis == K else duration_of_minutes(getattr(row, at)) for row in rows]
    series = {name: [row.longer_side_km_median for row in each] for name, each in by_selector.items()}
    return [_space(series, ticks, _SPACE_OVER[axis])]


@_card.register
def _comparison(found: Comparison) -> Card:
    head = ("method", "k", "success", "min", "km", "suppressed", "trashed", "created", "deleted", "seconds")
    titles = {
        TUPLES: f"Means over {counted(found.n_tuples, 'tuple')} of k users ({found.drawn}).",
        WHOLE: f"Whole trajectories of {counted(found.n_whole_users, 'user')}.",
    }
    tables = [
        CardTable(head, [_compared(row) for row in found.rows if row.on == kind], title)
        for kind, title in titles.items()
        if any(row.on == kind for row in found.rows)
    ]
    return Card(
        kind="Comparison",
        headline=f"with other methods, on {counted(found.n_users, 'user')}.",
        tables=tables,
        notes=[("Warnings", found.warnings)],
        more="km: width + height of a box, as in the paper; of w4m how far a point was moved. to_pandas() has the"
        " figures.",
    )


def _compared(row: Compared) -> list[str]:
    sizes = ("-" if value != value else short(value) for value in (row.time_min, row.space_km))
    shares = map(percent, (row.suppressed, row.trashed, row.created, row.deleted))
    return [row.method, str(row.k), percent(row.success), *sizes, *shares, f"{row.seconds:.1f}"]


@_card.register
def _credibility(found: Credibility) -> Card:
    beside = () if found.real is None else ("real",)
    return Card(
        kind="Credibility",
        headline=f"{headline(found)}. {counts_in_words(found.measures.setting)}",
        states=[Chip(GOOD, "credible") if found.credible else Chip(WARN, "not credible")],
        tables=[
            CardTable(
                ("statistic", "outcome", "measured", *beside, "band"),
                [_statistic(check, found) for check in found.checks],
                texts=2,
            )
        ],
        notes=[("Warnings", found.warnings)],
        more="to_dict() has where every band comes from.",
    )


def _statistic(check: Check, found: Credibility) -> list[str]:
    beside = [] if found.real is None else [number(check.band, check.band.value(found.real))]
    measured = number(check.band, check.value)
    return [check.band.title, check.word, measured, *beside, band_in_words(check.band)]
