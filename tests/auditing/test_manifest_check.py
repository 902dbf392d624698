"""A manifest that lies about sizes, suppression or itself is contradicted; what is told right is not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from auditing.audit_contexts import context_of
from shoal.auditing.context import AuditContext
from shoal.auditing.events_check import NO_NOTES, NOT_CHECKED, OTHER, SAME, EventsCheck
from shoal.auditing.manifest_check import disagreements_of

N = 14
SIZES = {
    "longer_side_km": {"mean": 0.5, "q25": 0.2, "median": 0.5, "q75": 0.8},
    "time_minutes": {"mean": 90.0, "q25": 60.0, "median": 90.0, "q75": 120.0},
    "cost_per_box": 11.5,
}
OLD_SIZES = {"space_km": {"mean": 0.65, "q25": 0.3, "median": 0.65, "q75": 1.0}}


def some_context(manifest: dict[str, Any], *, key: bool = True, **more: Any) -> AuditContext:
    """Fourteen people with two boxes each; twelve of them have a sample in no box, and two have no record."""
    world = {f"u{i:02d}": {(0, 0, 0), (9, 0, 0), (20, 0, 0)} for i in range(N)}
    boxes = [(0, 0, 0, 1, 0, 0), (9, 10, 0, 7, 0, 1)]
    records = {
        user: [*boxes, *([(20, 20, 0, 1, 0, 0)] if user < "u02" else [])] for user in sorted(world)[:12]
    }
    return replace(context_of(world, records, 2, 4, 4, key=key), manifest=manifest, **more)


def told(sizes: dict[str, Any] | None = None, **suppression: Any) -> dict[str, Any]:
    return {"promise": {"k": 2}, "granularity": sizes or {}, "suppression": suppression}


def wrong(manifest: dict[str, Any], **more: Any) -> list[str]:
    """What contradicts the boxes, in a context in which two records have a third box."""
    return disagreements_of(some_context(manifest, **more))


@pytest.mark.parametrize("key", [True, False])
def test_sizes_are_those_of_the_boxes(key: bool) -> None:
    world = {"a": {(0, 0, 0), (9, 0, 0)}, "b": {(0, 0, 0), (9, 0, 0)}}
    boxes = [(0, 0, 0, 1, 0, 0), (9, 10, 0, 7, 0, 1)]
    context = context_of(world, {"a": boxes, "b": boxes}, 2, 4, 4, key=key)
    for sizes in (SIZES, OLD_SIZES, {"time_minutes": {"mean": 90.0004}}):
        assert disagreements_of(replace(context, manifest=told(sizes))) == []
    lies: list[dict[str, Any]] = [
        {"longer_side_km": {**SIZES["longer_side_km"], "mean": 99.0}},  # type: ignore[dict-item]
        {"time_minutes": {"median": 90.001}},
        {"space_km": {"q75": 0.8}},
        {"cost_per_box": "u17"},
        {"longer_side_km": 0.5},
    ]
    for lie in lies:
        words = f"the manifest tells of other sizes of boxes than the file has ({next(iter(lie))})"
        assert disagreements_of(replace(context, manifest=told({**SIZES, **lie}))) == [words]


SHARE = "the manifest tells of another share of suppressed samples than these events have"
WITHOUT = "the manifest tells of another number of users without a record than these events have"
TRUE = {
    "share_of_samples": 0.381,
    "users_without_record": "fewer than 10",
}  # 10 samples of 10 users, and 6 of 2


@pytest.mark.parametrize("check", [EventsCheck(SAME), EventsCheck(NOT_CHECKED, NO_NOTES)])
def test_suppression_is_that_of_the_events(check: EventsCheck) -> None:
    assert wrong(told(**TRUE), events_checked=check) == []
    for share in (0.0, 0.382, 0.38, "some, of fewer than 10 users"):
        assert wrong(told(**{**TRUE, "share_of_samples": share}), events_checked=check) == [SHARE]
    for users in (0, 2, 20):
        assert wrong(told(**{**TRUE, "users_without_record": users}), events_checked=check) == [WITHOUT]


def test_suppression_is_not_compared_with_other_events() -> None:
    lie = told(share_of_samples=0.0, users_without_record=0)
    assert wrong(lie, key=False) == []
    assert wrong(lie, events_checked=EventsCheck(OTHER)) == []
    assert wrong(lie, events_checked=EventsCheck(NOT_CHECKED, "read with another --bbox")) == []
    assert wrong(lie, events_checked=EventsCheck(NOT_CHECKED, NO_NOTES, left_out=("--bbox",))) == []


WEAKENED = "weakened: k kept; epsilon not: up to 170 of 333 members had to serve again"
METHOD = "not given: whoever knows the method, and links windows, may be left with one record"
SPECTRAL = "not given: samples were suppressed on which others rely (selector spectral without repair)"


@pytest.mark.parametrize(
    ("right", "lies", "words"),
    [
        (
            {"guarantees": {"one_window": WEAKENED}, "parameters": {"reuse": "once"}},
            [{"parameters": {"reuse": "spaced"}}],
            "the manifest's sentence on guarantee 2 is not that of its rule of reuse",
        ),
        (
            {"guarantees": {"coverage": SPECTRAL}, "parameters": {"selector": "spectral", "repair": False}},
            [{"guarantees": {"coverage": "given"}}, {"parameters": {"selector": "matching"}}],
            "the manifest's sentence on coverage is not that of its selector",
        ),
        (
            {
                "guarantees": {"knowing_the_method": f"{METHOD}; made rarer (harden 1)"},
                "parameters": {"harden": 1},
            },
            [{"parameters": {"harden": 3}}, {"guarantees": {"knowing_the_method": "given"}}],
            "the manifest's sentence on knowing the method is not that of its hardening",
        ),
    ],
)
def test_sentences_are_those_of_counts_and_parameters(
    right: dict[str, Any], lies: list[dict[str, Any]], words: str
) -> None:
    assert wrong(right) == []
    for lie in lies:
        assert wrong({**right, **lie}) == [words]
