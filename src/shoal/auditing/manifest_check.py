"""What a manifest says otherwise than the file, the events or the manifest itself: what can be counted is counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.auditing.claims import covers_everybody, section_of
from shoal.auditing.events_check import NO_KEY_FILE, NO_NOTES, SAME
from shoal.core.disclosure import public_count, public_share
from shoal.core.formatting import duration, joined
from shoal.utility import Spread, precision_of_boxes

if TYPE_CHECKING:
    from shoal.auditing.context import AuditContext

_ROUNDING = 0.0005  # of figures with three decimals,
_RELATIVE = 1e-9  # and what arithmetic leaves


def disagreements_of(context: AuditContext) -> list[str]:
    """What the manifest says otherwise than the file's metadata, the file, the events or itself, in words."""
    manifest = context.manifest
    if manifest is None:
        return []
    return [
        *_promises(section_of(context.notes or manifest, "promise"), section_of(manifest, "promise")),
        *_counts(context, section_of(manifest, "counts")),
        *_sizes(context, section_of(manifest, "granularity")),
        *_suppression(context, manifest),
        *_contradictions(manifest),
    ]


def _promises(noted: Mapping[str, Any], told: Mapping[str, Any]) -> Iterator[str]:
    for name, (called, unit) in _PARAMETERS.items():
        if name in noted and noted[name] != told.get(name):
            here, there = (_in_words(value, unit) for value in (noted[name], told.get(name)))
            yield f"{called} is {here} in the file's metadata, {there} in the manifest"


_PARAMETERS = {
    "k": ("k", ""),
    "whole": ("the promise over whole trajectories", ""),
    "tau_s": ("tau", "s"),
    "epsilon_s": ("epsilon", "s"),
}


def _in_words(value: object, unit: str) -> str:
    """A parameter of a promise as people write it; what is no such thing is not repeated."""
    if value is None or isinstance(value, bool):
        return {None: "not given", True: "made", False: "not made"}[value]
    if not isinstance(value, int):
        return "no whole number"
    return duration(value) if unit else f"{value:,}"


def _counts(context: AuditContext, told: Mapping[str, Any]) -> Iterator[str]:
    records = context.published.records
    for name, number in (("records", records.n_records), ("boxes", records.boxes.n_boxes)):
        if name in told and told[name] != number:
            count = f"{told[name]}" if type(told[name]) is int else "no whole number of"
            yield f"the manifest tells of {count} {name}, the file has {number}"


def _sizes(context: AuditContext, told: Mapping[str, Any]) -> Iterator[str]:
    """Precision that is not that of the boxes; 0.1 told width plus height."""
    if not told:
        return
    found = precision_of_boxes(context.published.records.boxes, context.grid)
    figures: dict[str, Spread | float] = {
        "longer_side_km": found.longer_side_km,
        "space_km": found.width_plus_height_km,
        "time_minutes": found.time_minutes,
        "cost_per_box": found.cost_per_box,
    }
    wrong = [name for name, figure in figures.items() if name in told and not _tells(told[name], figure)]
    if wrong:
        yield f"the manifest tells of other sizes of boxes than the file has ({joined(wrong)})"


def _tells(told: object, figure: Spread | float) -> bool:
    """Whether a figure is told as it is, to three decimals; parts of it may be missing."""
    if isinstance(figure, Spread):
        spread = figure._asdict()
        return isinstance(told, Mapping) and all(
            _tells(told[name], value) for name, value in spread.items() if name in told
        )
    if not isinstance(told, int | float):
        return False
    return abs(told - figure) <= _ROUNDING + _RELATIVE * abs(figure)


def _suppression(context: AuditContext, manifest: Mapping[str, Any]) -> Iterator[str]:
    """Suppression that is not that of the events, where these may be the events of the release."""
    told, k = section_of(manifest, "suppression"), section_of(manifest, "promise").get("k")
    if not context.published.has_key or not _may_be_same(context) or type(k) is not int:
        return
    lost = ~context.held.samples
    n_lost, n_affected = int(lost.sum()), len(np.unique(context.person_of(context.samples.user[lost])))
    share = public_share(n_lost, len(lost), n_affected, k)
    if "share_of_samples" in told and not _same_share(told["share_of_samples"], share):
        yield "the manifest tells of another share of suppressed samples than these events have"
    without = public_count(context.n_without_record, k)
    if "users_without_record" in told and told["users_without_record"] != without:
        yield "the manifest tells of another number of users without a record than these events have"


def _may_be_same(context: AuditContext) -> bool:
    """Whether nothing says that the events were read otherwise than for the release."""
    check = context.events_checked
    return check.status == SAME or (check.reason in (NO_NOTES, NO_KEY_FILE) and not check.left_out)


def _same_share(told: object, share: float | str) -> bool:
    if isinstance(told, str) or isinstance(share, str):
        return told == share
    return isinstance(told, int | float) and abs(told - share) <= _ROUNDING


def _contradictions(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Sentences about guarantees that are not those of the counts and parameters beside them."""
    told, chosen = section_of(manifest, "guarantees"), section_of(manifest, "parameters")
    window, method = (str(told.get(name, "")) for name in ("one_window", "knowing_the_method"))
    if window and "reuse" in chosen and window.startswith("not given") is not (chosen["reuse"] == "spaced"):
        yield "the manifest's sentence on guarantee 2 is not that of its rule of reuse"
    covers = covers_everybody(chosen) is not False
    for name in ("coverage", "matching"):
        if name in told and "selector" in chosen and (told[name] == "given") is not covers:
            yield f"the manifest's sentence on {name} is not that of its selector"
    level = chosen.get("harden")
    hardened = f"(harden {level})" in method if level else "harden" not in method
    if method and "harden" in chosen and not (hardened and method.startswith("not given")):
        yield "the manifest's sentence on knowing the method is not that of its hardening"
