"""Events, file and manifest that do not belong together are found, with a key and without."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from auditing.audit_contexts import context_of
from shoal.auditing.belonging import ALL_BELONGS, Belonging, check_belonging
from shoal.auditing.box_index import AttackedRecords, make_records
from shoal.auditing.context import AuditContext
from shoal.auditing.faults import belonging_faults
from shoal.core.boxes import UNKNOWN, Boxes
from shoal.reading import Carried

PROMISE = {"k": 2, "whole": False, "tau_s": 14_400, "epsilon_s": 14_400}


def some_context(
    boxes: list[tuple[int, ...]] | None = None, *, key: bool = True, **more: Any
) -> AuditContext:
    """Two people who share a record's boxes at slots 0 and 9; ``boxes`` are added to the first record."""
    world = {"a": {(0, 0, 0), (9, 0, 0)}, "b": {(1, 1, 0), (9, 1, 0)}}
    shared = [(0, 1, 0, 1, 0, 0), (9, 9, 0, 1, 0, 0)]
    records = {"a": [*shared, *(boxes or [])], "b": shared}
    return replace(context_of(world, records, 2, 4, 4, key=key), **more)


def clauses(found: Belonging) -> list[str]:
    return [fault.clause for fault in belonging_faults(found)]


@pytest.mark.parametrize("key", [True, False])
def test_a_good_release_belongs_together(key: bool) -> None:
    counts = {"records": 2, "boxes": 4}
    told = {"promise": PROMISE, "counts": counts}
    assert check_belonging(some_context(key=key)) == ALL_BELONGS
    assert check_belonging(some_context(key=key, manifest=told, notes={"promise": PROMISE})) == ALL_BELONGS
    assert check_belonging(some_context(key=key, manifest={}, notes=None)) == ALL_BELONGS


@pytest.mark.parametrize("key", [True, False])
def test_boxes_that_overlap_in_time(key: bool) -> None:
    assert check_belonging(some_context([(1, 2, 5, 5, 0, 0)], key=key)) == Belonging(n_overlapping_boxes=1)


@pytest.mark.parametrize("key", [True, False])
@pytest.mark.parametrize("box", [(-3, -1, 0, 1, 0, 0), (10, 12, 0, 1, 0, 0)])
def test_boxes_outside_the_period(box: tuple[int, ...], key: bool) -> None:
    found = check_belonging(some_context([box], key=key))
    assert found == Belonging(n_boxes_outside=1)
    assert clauses(found) == ["1 box lies before the first or after the last of these events"]


def test_more_records_than_users() -> None:
    context = some_context(key=False)
    boxes = context.published.records.boxes
    cloned = Boxes(*(np.concatenate([column, column]) for column in boxes))
    cloned.owner[len(boxes.owner) :] += 2
    target = AttackedRecords(make_records(cloned), np.full(2, UNKNOWN))
    found = check_belonging(replace(context, published=target))
    assert found == Belonging(n_surplus_records=2)
    assert clauses(found) == ["there are 2 records more than users, so the file is not true"]


@pytest.mark.parametrize("key", [True, False])
@pytest.mark.parametrize(
    ("notes", "manifest", "words"),
    [
        (
            {"promise": PROMISE},
            {"promise": {**PROMISE, "k": 5}},
            "k is 2 in the file's metadata, 5 in the manifest",
        ),
        (
            {"promise": PROMISE},
            {"promise": {**PROMISE, "tau_s": 60}},
            "tau is 4 h in the file's metadata, 1 min in the manifest",
        ),
        (
            {"promise": {"k": 2, "tau_s": 1800, "epsilon_s": None}},
            {"promise": {"k": 2, "tau_s": "u17", "epsilon_s": 90}},
            "tau is 30 min in the file's metadata, no whole number in the manifest; epsilon is not given in the file's"
            " metadata, 90 s in the manifest",
        ),
        (
            {"promise": {"whole": True}},
            {"promise": {"whole": False}},
            "the promise over whole trajectories is made in the file's metadata, not made in the manifest",
        ),
        (None, {"counts": {"records": 3, "boxes": 4}}, "the manifest tells of 3 records, the file has 2"),
        (None, {"counts": {"records": 2, "boxes": 9}}, "the manifest tells of 9 boxes, the file has 4"),
    ],
)
def test_metadata_and_file_against_the_manifest(notes: Any, manifest: Any, words: str, key: bool) -> None:
    found = check_belonging(some_context(key=key, notes=notes, manifest=manifest))
    assert found == Belonging(disagreements=tuple(words.split("; ")))
    assert not found.kept
    assert found.to_dict()["disagreements"] == words.split("; ")


def test_what_nobody_checked_and_a_key_that_was_not_used() -> None:
    entries = (("in the file's metadata", 1), ("in the manifest", 2))
    found = check_belonging(
        some_context(carried=Carried(entries=entries), in_user_order=True, key_unused=True)
    )
    assert found == Belonging(in_user_order=True, entries=entries, key_unused=True)
    told = found.to_dict()
    assert (told["kept"], told["key_not_used"], told["records_in_order_of_users"]) == (False, True, True)
    assert told["entries_not_checked"] == ["1 in the file's metadata", "2 in the manifest"]
    assert [fault.clause for fault in belonging_faults(found)] == [
        "records stand, or are named, in the order of their users: give records random names, and put them in the"
        " order of these",
        "3 entries were not checked (1 in the file's metadata and 2 in the manifest): publish what shoal wrote, as it"
        " was written",
        "the key was not used",
    ]
    assert not check_belonging(some_context(key_unused=True)).kept  # whatever else is right
