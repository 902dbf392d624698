"""The report about a release: Facts in, one HTML page out, which works offline."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup, escape

from shoal.auditing.attack_names import named_figures
from shoal.auditing.attacks.chain import CHAIN
from shoal.auditing.exposures import Exposure
from shoal.auditing.faults import faults_of
from shoal.auditing.guarantees.judgement import Basis, State
from shoal.auditing.measures import Measure
from shoal.auditing.rating import Rating
from shoal.auditing.result import Audit
from shoal.core.arrays import Floats
from shoal.core.disclosure import minimum_people, public_count_in_words
from shoal.core.formatting import duration, duration_in_words, percent
from shoal.core.proportions import Proportion
from shoal.reporting.facts import Facts
from shoal.reporting.facts.datasheet import PublicSuppression
from shoal.reporting.facts.people import as_json
from shoal.reporting.facts.usefulness import Usefulness
from shoal.reporting.figures import release
from shoal.reporting.page import bound, page_environment
from shoal.reporting.page.sentences import (
    beyond_in_words,
    is_clear,
    keeps_k,
    made_for_in_words,
    names_table,
    page_title,
    promise_in_words,
    renamed_in_words,
    tells_of,
    title,
)

_QUARTERS = ("least active", "", "", "most active")
_OF_0_1 = {"space_km": "width + height, km"}  # names in older manifests that would mislead


def report_page(facts: Facts, *, public: bool, synthetic: bool = False) -> str:
    """The page as HTML; a ``public`` one shows nobody's raw samples, one about ``synthetic`` people says that it may be
    shown."""
    audit, grid = facts.audit, facts.audit.grid
    promise, privacy = audit.promise, _privacy(audit)
    seconds = promise.in_seconds(grid)
    environment = page_environment()
    environment.filters["said"] = bound
    return environment.get_template("report.html.j2").render(
        public=public,
        synthetic=synthetic,
        title=page_title(audit, public=public),
        headline=title(audit),
        promise_words=promise_in_words(promise, grid, renamed=audit.renaming is not None),
        renamed_words=renamed_in_words(audit),
        names=names_table(audit),
        made_for_words=made_for_in_words(audit),
        beyond_words=beyond_in_words(audit),
        fault=next(iter(faults_of(audit)), None),
        zone=audit.draw.timezone,
        naive=audit.naive,
        verdict=audit.verdict,
        rating=_rating(audit.verdict.rating),
        exposures=[_exposure(exposure, public=public) for exposure in audit.verdict.exposures],
        thresholds=audit.thresholds.in_words(),
        file=audit.file,
        kept=keeps_k(audit),
        clear=is_clear(audit),
        promise=promise,
        tau=None if promise.tau is None else duration_in_words(promise.tau * grid.step_s),
        epsilon=None if promise.epsilon is None else duration_in_words(promise.epsilon * grid.step_s),
        beyond_tau=None
        if seconds is None or promise.epsilon_divides_tau
        else duration_in_words(seconds.beyond_tau),
        counts=audit.counts,
        few=minimum_people(promise.k),
        coverage=audit.coverage,
        truth=audit.truthfulness,
        precision=_precision(facts),
        suppression=_suppression(facts, public=public),
        privacy=privacy,
        untold=public and not privacy["told"],
        utility=_utility(facts.usefulness, facts.sites),
        sites=bool(facts.sites),
        people=None if public or facts.people is None else _people(facts),
        settings=_settings(facts, public=public),
        beyond=max(audit.coverage.n_strict, audit.coverage.n_tolerant),
        relaxations=_relaxations(facts, public=public),
        tabs=_tabs(public or facts.people is None),
        audit_seconds=audit.seconds,
        draw=audit.draw,
        version=facts.version,
        seconds=facts.seconds,
    )


class _Rating(NamedTuple):
    """A rating as the page writes it: how it is coloured, and the word that tells it without colours."""

    css: str
    word: str


def _rating(rating: Rating) -> _Rating:
    return _Rating(rating.name.lower(), str(rating))


def _exposure(exposure: Exposure, *, public: bool) -> tuple[_Rating, Markup]:
    """The rating of a sentence that matters, and the sentence; of few people a public page tells nothing."""
    rating, share = _rating(exposure.rating), exposure.share
    if isinstance(share, str):
        untold = public and not share.startswith(str(Rating.UNKNOWN))
        return rating._replace(word="not told") if untold else rating, escape(exposure.sentence)
    before, figure, after = bound(exposure.sentence).partition(bound(share.in_words()))
    return rating, Markup("{}<strong>{}</strong>{}").format(before, figure, after)


def _relaxations(facts: Facts, *, public: bool) -> str | None:
    """How often guarantee 2 was relaxed, if the manifest tells it of the same promise.

    That is rounded up; an internal page says exactly how often, where the evidence tells it.
    """
    manifest, audit = facts.manifest, facts.audit
    if manifest is None or not tells_of(manifest, audit.promise, audit.grid):
        return None
    two = audit.guarantees.one_window
    if not public and two.basis is Basis.EVIDENCE and two.state is State.WEAKENED and two.part:
        return f"{two.part:,}"
    told = manifest.get("relaxations")
    return public_count_in_words(told) if isinstance(told, (int, str)) and told else None


def _tabs(without_people: bool) -> list[tuple[str, str]]:
    tabs = [
        ("verdict", "Verdict"),
        ("precision", "Precision"),
        ("privacy", "Privacy"),
        ("utility", "Utility"),
    ]
    people = [] if without_people else [("people", "People")]
    return [*tabs, *people, ("details", "Details")]


def _precision(facts: Facts) -> dict[str, Any]:
    found, grid = facts.precision, facts.audit.grid
    space = _quartiles(found.km)
    time = _quartiles(found.minutes)
    hourly = release.hours(found.hourly, facts.audit.draw.timezone)
    return {
        "space": space,
        "time": time,
        "raw_km": found.raw_km,
        "raw_minutes": found.raw_minutes,
        "in_space": Markup(
            release.precision_histogram(found.km, grid.cell_m / 1000, space, "longer side of a box, km", "km")
        ),
        "in_time": Markup(
            release.precision_histogram(
                found.minutes, grid.step_s / 60, time, "duration of a box, minutes", "min"
            )
        ),
        "hours_km": Markup(hourly[0]),
        "hours_minutes": Markup(hourly[1]),
        "map": Markup(release.area_map(found.area, facts.sites)),
        "side": found.area.side,
        "limits": release.shade_limits(found.area),
    }


def _quartiles(values: Floats) -> dict[str, float]:
    q25, median, q75 = np.quantile(values, [0.25, 0.5, 0.75]).tolist()
    return {"q25": q25, "median": median, "q75": q75}


def _suppression(facts: Facts, *, public: bool) -> dict[str, Any] | None:
    """What was suppressed; a public page has shares only, and none that stands for a few people."""
    audit, truth = facts.audit, facts.audit.truthfulness
    if truth is None:
        return None
    lost = truth.suppressed
    if public or not lost.n_suppressed:
        share = facts.suppression.share if facts.suppression is not None else lost.share
        few = isinstance(share, str)
        short = "some" if isinstance(share, str) else percent(share)
        words = f"some (of fewer than {minimum_people(audit.promise.k)} users)" if few else short
        drawn = (
            _drawn(facts.suppression, audit.draw.timezone)
            if isinstance(share, float) and lost.n_suppressed
            else {"by_hour": None}
        )
        return {
            "any": bool(lost.n_suppressed),
            "words": words,
            "short": short,
            "few": few,
            "n": None,
            **drawn,
        }
    parts = PublicSuppression(
        [part.share for part in truth.by_hour], [part.share for part in truth.by_activity]
    )
    drawn = _drawn(parts, audit.draw.timezone)
    short = percent(lost.share)
    return {"any": True, "words": short, "short": short, "few": False, "n": lost.n_suppressed, **drawn}


def _drawn(found: PublicSuppression | None, zone: str) -> dict[str, Any]:
    """Shares by hour and by activity, as figures."""
    if found is None:
        return {"by_hour": None}
    hours, quarters = [str(hour) for hour in range(24)], "users by activity, in quarters"
    return {
        "by_hour": Markup(
            release.suppressed(
                found.by_hour, hours, f"hour of the day, {zone}", "Share suppressed by the hour."
            )
        ),
        "by_activity": Markup(
            release.suppressed(found.by_activity, _QUARTERS, quarters, "Share suppressed by users' activity.")
        ),
        "untold": None in found.by_hour or None in found.by_activity,
    }


def _privacy(audit: Audit) -> dict[str, Any]:
    found = named_figures(audit)
    tau_s = (audit.promise.tau or 0) * audit.grid.step_s
    return {
        "told": any(_is_told(figure) for figure in audit.figures),
        "attacks": Markup(
            release.before_and_after(
                [(name.words, figure) for name, figure in found if name.drawn and _is_told(figure)]
            )
        ),
        "rows": [(name.words, figure) for name, figure in found],
        "longer": _cliff(
            audit, "longer", {f"{n}_tau": duration(n * tau_s) for n in (1, 2, 4, 8)}, "time watched"
        ),
        "points": _cliff(audit, "points", {str(n): str(n) for n in (1, 2, 3, 4, 6, 8)}, "samples known"),
        "method": {
            name: audit.figure(CHAIN, measure)
            for name, measure in (
                ("single", "single"),
                ("few", "below_k"),
                ("pick", "pick"),
                ("trust", "success"),
            )
        },
        "leak": audit.figure("leakage", "above_epsilon"),
        "leakage": None
        if audit.leakage is None
        else {name: slots * audit.grid.step_s / 60 for name, slots in audit.leakage._asdict().items()},
    }


def _is_told(figure: Measure) -> bool:
    return isinstance(figure.published, Proportion) or isinstance(figure.raw, Proportion)


def _cliff(audit: Audit, attack: str, variants: dict[str, str], axis: str) -> Markup | None:
    named: list[tuple[str, Measure]] = []
    for variant, name in variants.items():
        figure = audit.figure(attack, "pick" if audit.has_key else "single", variant)
        if figure is not None and _is_told(figure):
            named.append((name, figure))
    if not named:
        return None
    achieved = "right record picked" if audit.has_key else "left with one record"
    return Markup(release.cliff(named, axis, achieved, f"Share of attacks: {achieved}, by {axis}."))


def _utility(found: Usefulness, sites: release.Points) -> dict[str, Any]:
    told = found.agreement

    def crowd(which: int, description: str) -> str:
        return release.crowd(found.crowds, found.side_km, found.across, which, description, sites)

    return {
        "told": told,
        "sides": found.sides,
        "side": found.side_km,
        "hour": found.hour,
        "elsewhere": found.n_elsewhere,
        "limits": release.crowd_limits(found.crowds),
        "raw_people": Markup(crowd(0, "People in the raw samples.")) if len(found.crowds[0].people) else None,
        "told_people": Markup(crowd(1, "People as the boxes tell it.")),
        "radii": Markup(release.distributions(found.radii)),
        "flows": Markup(release.strongest_flows(found.trips, found.flow_ends, found.side_km))
        if found.flow_ends
        else None,
    }


def _people(facts: Facts) -> dict[str, Any]:
    assert facts.people is not None
    grid, region = facts.audit.grid, facts.region
    per_square = region.square_m / grid.cell_m
    content = {
        **as_json(facts.people, (region.first_i * per_square, region.first_j * per_square)),
        "cell_km": grid.cell_m / 1000,
        "k": facts.audit.promise.k,
    }
    text = json.dumps(content, separators=(",", ":")).replace("<", "\\u003c")
    return {
        "n": len(facts.people.people),
        "json": Markup(text),
        "n_moments": len(facts.people.people[0].moments),
        "whole": facts.audit.promise.whole,
    }


def _settings(facts: Facts, *, public: bool) -> list[tuple[str, list[tuple[str, str]]]]:
    """What the file's manifest says of how it was made: parts with names, each of them lines of a name and a value.

    A datasheet tells its own share of suppressed samples, for older manifests told that of a few users.
    """
    parts: list[tuple[str, list[tuple[str, str]]]] = [("release", [])]
    for name, value in (facts.manifest or {}).items():
        if public and name == "suppression":
            continue
        if isinstance(value, dict):
            lines = [_setting(part, content) for part, content in value.items() if content != {}]
            parts.append((name, lines))
        else:
            parts[0][1].append(_setting(name, value))
    return [part for part in parts if part[1]]


def _setting(name: str, value: Any) -> tuple[str, str]:
    """A line of the manifest as people write it: the unit beside the value, not in the name."""
    name = _OF_0_1.get(name, name)
    if isinstance(value, dict):
        inner = ", ".join(" ".join(_setting(part, content)) for part, content in value.items())
        return name.replace("_", " "), inner
    if value is None or isinstance(value, bool):
        return name.replace("_", " "), {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, int) and name.endswith("_s"):
        return name[:-2], duration_in_words(value)
    if isinstance(value, float) and name.endswith("_m"):
        return name[:-2], f"{value:g} m"
    if isinstance(value, float) and name.startswith("share"):
        return name.replace("_", " "), percent(value)
    return name.replace("_", " "), f"{value:,}" if isinstance(value, int) else str(value)
