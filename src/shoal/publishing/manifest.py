"""What may be told about a release: everything a recipient needs, nothing that came from few people."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import Any, NamedTuple

from shoal.core.disclosure import minimum_people, public_count, public_count_in_words, public_share
from shoal.core.options import HidingOptions, Reuse, SelectorName
from shoal.core.periods import Renaming
from shoal.core.promise import Grid, Promise
from shoal.core.schema import MANIFEST_FORMAT
from shoal.hiding.pipeline import Outcome
from shoal.reading import Events
from shoal.reading.formats import TABLE
from shoal.reading.summary import choices_together
from shoal.utility import Precision, Spread

_NOT_GIVEN = "not given: samples were suppressed on which others rely (selector spectral without repair)"

_RELINKING = (
    "not given: whoever watched somebody across a border, or knows habits, may tie parts of one person"
    " together"
)
_NOT_TOLD = "not told: few people stand behind a reason"
_MISSING_COVERAGE = "intervals_with_fewer_than_k_records"


class Unprotected(NamedTuple):
    """How often guarantee 1 fails where it is not given: intervals checked, those with fewer than k records for the
    strict and for the gap-tolerant attacker, and the users concerned."""

    intervals: int
    strict: int
    gap_tolerant: int
    users: int

    def public_share(self, k: int) -> Any:
        """The share of intervals with fewer than k records, as far as it may be published."""
        return public_share(max(self.strict, self.gap_tolerant), self.intervals, self.users, k)


def describe_grid(grid: Grid, crs: str | None) -> dict[str, Any]:
    """The coordinates in which boxes are given."""
    return {"cell_m": grid.cell_m, "step_s": grid.step_s, "crs": crs}


def describe_periods(renaming: Renaming | None) -> dict[str, Any]:
    """How often records get new names; nothing where they never do."""
    return {} if renaming is None else {"periods": renaming.to_dict()}


def describe_reading(events: Events) -> dict[str, Any]:
    """How events were read, as far as it may be told: not who or what was left out, and no checksum of raw data."""
    return {
        "format": events.read_summary.format or TABLE,
        "timezone": events.timezone,
        "resample_s": events.options.resample_s,
    }


def describe_precision(precision: Precision) -> dict[str, Any]:
    """Precision as plain numbers, rounded to what they mean."""
    return {
        "longer_side_km": _rounded(precision.longer_side_km),
        "time_minutes": _rounded(precision.time_minutes),
        "cost_per_box": round(precision.cost_per_box, 3),
    }


def _rounded(spread: Spread) -> dict[str, float]:
    return {name: round(value, 3) for name, value in spread._asdict().items()}


def make_manifest(
    *,
    outcome: Outcome,
    precision: Precision,
    promise: Promise,
    events: Events,
    options: HidingOptions,
    renaming: Renaming | None,
    verified: bool,
    unprotected: Unprotected | None,
) -> dict[str, Any]:
    """The manifest of a release, safe to publish with it; ``unprotected`` only where guarantee 1 is not given."""
    k, grid, projection = promise.k, events.grid, events.projection
    return {
        "format": MANIFEST_FORMAT,
        "promise": promise.to_dict(grid),
        "grid": describe_grid(grid, None if projection is None else projection.crs),
        **describe_periods(renaming),
        "reading": describe_reading(events),
        "parameters": options.public(),
        "counts": {
            "records": outcome.n_records,
            "boxes": outcome.n_boxes,
            "rows_dropped": {
                reason: public_count(rows, k)
                for reason, rows in sorted(choices_together(events.read_summary.dropped).items())
            },
        },
        "suppression": {
            "share_of_samples": public_share(
                outcome.n_suppressed,
                outcome.n_samples,
                min(outcome.affected_users, outcome.n_suppressed),  # each of them has a suppressed sample
                k,
            ),
            "users_without_record": public_count(outcome.recordless_users, k),
            **describe_reasons(outcome, options, k),
        },
        "granularity": describe_precision(precision),
        "guarantees": {
            "coverage": "given" if options.gives_coverage else _NOT_GIVEN,
            "one_window": _one_window(outcome, options, k),
            "matching": "given" if options.gives_coverage else _NOT_GIVEN,
            **({} if promise.whole else {"knowing_the_method": _knowing_the_method(options)}),
            **({} if renaming is None else {"across_borders": _across(promise), "relinking": _RELINKING}),
            **({} if unprotected is None else {_MISSING_COVERAGE: unprotected.public_share(k)}),
        },
        "relaxations": public_count(outcome.relaxations, k),
        "members": public_count(outcome.n_members, k),
        "verified": verified,
        "versions": {
            "shoal": version("shoal"),
            "python": platform.python_version(),
            **{name: version(name) for name in _libraries(options)},
        },
    }


def describe_reasons(outcome: Outcome, options: HidingOptions, k: int) -> dict[str, Any]:
    """Why samples are suppressed, where that was a choice: shares of all samples.

    Either all shares are told or none, since they add up: one that stands for few people would follow from the others.
    """
    if not (options.suppress_at_most or options.max_space or options.max_time):
        return {}
    parts = {"promise": outcome.for_promise, "budget": outcome.budget, "limits": outcome.limits}
    few = any(0 < part.users < minimum_people(k) for part in parts.values())
    return {
        "by_reason": {
            name: _NOT_TOLD if few else public_share(part.samples, outcome.n_samples, part.users, k)
            for name, part in parts.items()
        }
    }


def _libraries(options: HidingOptions) -> tuple[str, ...]:
    """Libraries on whose versions the boxes may depend."""
    needed = ("numba", "numpy", "pyproj")
    return needed if options.selector is not SelectorName.SPECTRAL else (*needed, "scikit-learn", "scipy")


def _across(promise: Promise) -> str:
    """What holds for somebody who is seen before and after names change."""
    if promise.whole:
        return "not given: periods are hidden one by one"
    return "given to people of whom a published sample is known"


def _knowing_the_method(options: HidingOptions) -> str:
    """What holds against somebody who knows how records are made and links windows."""
    hardened = f"; made rarer (harden {options.harden})" if options.harden else ""
    return f"not given: whoever knows the method, and links windows, may be left with one record{hardened}"


def _one_window(outcome: Outcome, options: HidingOptions, k: int) -> str:
    """Whether guarantee 2 holds as built."""
    if options.reuse is Reuse.SPACED:
        return "not given: members may serve again after a while (reuse spaced)"
    if outcome.relaxations:
        again, members = (public_count(count, k) for count in (outcome.relaxations, outcome.n_members))
        of = members if isinstance(members, str) else f"about {members:,}"
        return f"weakened: k kept; epsilon not: {public_count_in_words(again)} of {of} members had to serve again"
    return "given"
