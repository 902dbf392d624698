"""The exact check against the brute-force attacker, violations included."""

from __future__ import annotations

import random

import numpy as np
import pytest

from engine import as_samples
from oracles.attacker import violations
from oracles.casual_worlds import random_case
from oracles.reference import reference_release
from shoal.auditing.coverage import check
from shoal.auditing.records import make_records
from shoal.blocks import Workers
from shoal.boxes import NONE, UNKNOWN, Boxes
from shoal.promise import Promise

Records = dict[int, list[tuple[int, ...]]]


def damaged(rng: random.Random, records: Records) -> Records:
    """The records with up to three faults: a box shrunk in space or time, a box or a record gone."""
    records = {user: list(boxes) for user, boxes in records.items()}
    for _ in range(rng.randint(0, 3)):
        user = rng.choice(list(records))
        place = rng.randrange(len(records[user]))
        t0, t1, x0, x1, y0, y1 = records[user][place]
        fault = rng.choice(["narrower", "shorter", "no box", "no record"])
        if fault == "narrower" and x1 > x0:
            records[user][place] = (t0, t1, x0, x1 - 1, y0, y1)
        elif fault == "shorter" and t1 > t0:
            records[user][place] = (t0, t1 - 1, x0, x1, y0, y1)
        elif fault == "no box" and len(records[user]) > 1:
            del records[user][place]
        elif fault == "no record" and len(records) > 2:
            del records[user]
    return records


def as_boxes(records: Records, users: list[int]) -> Boxes:
    rows = np.array(
        [(users.index(user), *box) for user, boxes in records.items() for box in boxes], dtype=np.int64
    )
    return Boxes(rows[:, 0].astype(np.int32), rows[:, 1], rows[:, 2], *rows[:, 3:].astype(np.int32).T)


@pytest.mark.parametrize("seed", range(6))
def test_agrees_with_brute_force(seed: int) -> None:
    rng = random.Random(seed)
    broken = 0
    with Workers(1) as workers:
        for _ in range(40):
            world, k, tau, epsilon = random_case(rng)
            if rng.random() < 0.15:
                tau = epsilon = None
            release = reference_release(world, k, tau, epsilon, rng)
            if release is None:
                continue
            records = damaged(rng, release.records)
            expected: dict[tuple[int, str], int] = {}
            for found in violations(world, records, k, tau, epsilon):
                key = (found.user, found.attacker)
                expected[key] = min(expected.get(key, k), found.n_consistent)
            users = sorted(world)
            boxes = as_boxes(records, users)
            owners = np.unique(boxes.owner)
            own = np.full(len(users), NONE, np.int64)
            own[owners] = np.arange(len(owners))
            promise = Promise(k, tau, epsilon)
            coverage = check(as_samples(world), make_records(boxes), promise, own, workers)
            assert {(users[v.user], v.attacker): v.n_records for v in coverage.worst} == expected
            assert coverage.kept == (not expected)
            without_key = np.where(own >= 0, UNKNOWN, NONE)
            keyless = check(as_samples(world), make_records(boxes), promise, without_key, workers)
            assert keyless.n_tolerant == coverage.n_tolerant
            broken += bool(expected)
    assert broken >= 5
