"""Truthfulness against the oracle: boxes that should not be there, and samples that are not."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from auditing.audit_contexts import HOUR, context_of, damaged
from oracles.auditor import boxes_without_own_sample, overlapping_pairs, suppressed_samples
from oracles.casual_worlds import random_case
from oracles.reference import reference_release
from shoal.auditing.truthfulness import SuppressedPart, Truthfulness, check_truthfulness, held_samples
from shoal.core.boxes import Boxes
from shoal.core.samples import samples_from_columns
from shoal.core.zones import Zone


def checked(world: dict, records: dict, zone: str = "UTC") -> Truthfulness:
    context = context_of(world, records, 2, 2, 2)
    return check_truthfulness(replace(context, grid=HOUR, zone=Zone(zone)))


@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_the_oracle(seed: int) -> None:
    rng = random.Random(seed)
    untrue = 0
    for _ in range(40):
        world, k, tau, epsilon = random_case(rng)
        release = reference_release(world, k, tau, epsilon, rng)
        if release is None:
            continue
        records = damaged(rng, release.records, overlaps=True)
        found = checked(world, records)
        pairs = overlapping_pairs(records)
        suppressed = suppressed_samples(world, records)
        assert found.n_boxes == sum(len(boxes) for boxes in records.values())
        assert found.n_empty_boxes == len(boxes_without_own_sample(world, records))
        assert (found.n_overlapping_boxes > 0) == bool(pairs)
        assert found.suppressed == SuppressedPart(sum(map(len, world.values())), len(suppressed))
        assert found.n_users_without_record == len(world) - len(records)
        assert found.kept == (not pairs and not found.n_empty_boxes)
        for parts in (found.by_activity, found.by_hour):
            assert SuppressedPart(*(sum(column) for column in zip(*parts, strict=True))) == found.suppressed
        for hour, part in enumerate(found.by_hour):
            assert part.n_suppressed == sum(t % 24 == hour for _, (t, _, _) in suppressed)
        untrue += not found.kept
    assert untrue


def test_boxes_that_share_one_slot_overlap_and_neighbours_do_not() -> None:
    world = {0: {(0, 0, 0), (3, 0, 0)}, 1: {(0, 0, 0)}}
    apart, touching = ([(0, 2, 0, 0, 0, 0), (begin, 4, 0, 0, 0, 0)] for begin in (3, 2))
    other = [(0, 0, 0, 0, 0, 0)]
    assert checked(world, {0: apart, 1: other}).n_overlapping_boxes == 0
    assert checked(world, {0: touching, 1: other}).n_overlapping_boxes == 1
    assert not checked(world, {0: touching, 1: other}).kept


def test_suppression_is_told_by_activity_and_by_hour() -> None:
    # Four users with 1, 2, 3 and 4 samples; the busiest has no record. Slots are hours, Paris is an hour ahead in 1970.
    world = {user: {(t, user, 0) for t in range(user + 1)} for user in range(4)}
    records = {user: [(t, t, user, user, 0, 0) for t, _, _ in world[user]] for user in range(3)}
    found = checked(world, records, "Europe/Paris")
    assert found.by_activity == [
        SuppressedPart(1, 0),
        SuppressedPart(2, 0),
        SuppressedPart(3, 0),
        SuppressedPart(4, 4),
    ]
    assert found.by_activity[3].share == 1
    assert found.by_hour[:6] == [
        SuppressedPart(0, 0),
        SuppressedPart(4, 1),
        SuppressedPart(3, 1),
        SuppressedPart(2, 1),
        SuppressedPart(1, 1),
        SuppressedPart(0, 0),
    ]
    assert found.by_hour[0].share == 0


@pytest.mark.parametrize("seed", range(20))
def test_held_samples_are_those_in_a_box_of_their_user(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_users, n_samples, n_boxes = int(rng.integers(1, 5)), int(rng.integers(1, 30)), int(rng.integers(0, 12))
    user, t, x, y = rng.integers(0, [[n_users], [6], [4], [4]], (4, n_samples))
    user[:n_users] = np.arange(n_users)[:n_samples]
    names = np.array([f"u{number}" for number in range(int(user.max()) + 1)], object)
    samples = samples_from_columns(names, user, t, x, y)
    corner, size = rng.integers(0, 5, (3, n_boxes)), rng.integers(0, 3, (3, n_boxes))
    owner = rng.integers(0, samples.n_users, n_boxes)
    columns = [column for low, more in zip(corner, size, strict=True) for column in (low, low + more)]
    boxes = Boxes(owner.astype(np.int32), *columns[:2], *(column.astype(np.int32) for column in columns[2:]))
    expected = [
        any(
            box[0] == u and box[1] <= t <= box[2] and box[3] <= x <= box[4] and box[5] <= y <= box[6]
            for box in zip(*(column.tolist() for column in boxes), strict=True)
        )
        for u, t, x, y in zip(samples.user, samples.t, samples.x, samples.y, strict=True)
    ]
    assert held_samples(samples, boxes).tolist() == expected
