"""The small worlds of the oracles as contexts of an audit."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from shoal.auditing.box_index import AttackedRecords, make_records
from shoal.auditing.claims import MethodClaim
from shoal.auditing.context import AuditContext
from shoal.core.boxes import NONE, UNKNOWN, Boxes
from shoal.core.promise import Grid, Promise
from shoal.core.workers import Workers
from shoal.core.zones import Zone
from shoal.storage.sample_store import store_of
from support.release_worlds import as_samples
from support.tiny_releases import TinyRelease, tiny_release

HOUR = Grid(cell_m=100.0, step_s=3600)


def as_boxes(records: dict[Any, list[tuple[int, ...]]], users: list[Any]) -> Boxes:
    """Records as boxes whose owners are places among the users."""
    rows = np.array(
        [(users.index(user), *box) for user, boxes in records.items() for box in boxes], dtype=np.int64
    )
    return Boxes(rows[:, 0].astype(np.int32), rows[:, 1], rows[:, 2], *rows[:, 3:].astype(np.int32).T)


def context_of(
    samples: dict[Any, set[tuple[int, int, int]]],
    records: dict[Any, list[tuple[int, ...]]],
    k: int,
    tau: int | None,
    epsilon: int | None,
    *,
    key: bool = True,
    n_attacks: int = 100,
    seed: int = 0,
    made_for: Promise | None = None,
    distinct: bool = False,
    certain: bool = False,
) -> AuditContext:
    """A context in which user i is the i-th of the sorted users of the world, with hours for slots."""
    users = sorted(samples)
    boxes = as_boxes(records, users)
    owners = np.unique(boxes.owner)
    own = np.full(len(users), NONE, np.int64)
    own[owners] = np.arange(len(owners))
    if not key:
        own[:] = UNKNOWN
    return AuditContext(
        store=store_of(as_samples(samples)),
        published=AttackedRecords(make_records(boxes), own),
        promise=Promise(k, tau, epsilon),
        method_claim=MethodClaim(made_for or Promise(k, tau, epsilon), distinct, certain),
        grid=HOUR,
        zone=Zone("UTC"),
        n_attacks=n_attacks,
        seed=seed,
        workers=Workers(1),
    )


TWENTY_MINUTES = Grid(cell_m=100.0, step_s=1200)
SLOTS_AN_HOUR = 3


def tiny_releases(seed: int, n: int, **shape: bool) -> Iterator[tuple[TinyRelease, random.Random]]:
    """Tiny releases one after the other, each with the randomness to attack it."""
    rng = random.Random(seed)
    for _ in range(n):
        yield tiny_release(rng, **shape), rng


def tiny_context(
    release: TinyRelease, *, key: bool = True, whole: bool = False, n_attacks: int = 20, seed: int = 0
) -> AuditContext:
    """A context whose users and records have the numbers of the release; with three slots an hour."""
    rows = np.array([(r, *box) for r, boxes in enumerate(release.records) for box in boxes], np.int64)
    boxes = Boxes(rows[:, 0].astype(np.int32), rows[:, 1], rows[:, 2], *rows[:, 3:].astype(np.int32).T)
    own = np.full(len(release.samples), NONE if key else UNKNOWN, np.int64)
    if key:
        own[release.owners] = np.arange(len(release.owners))
    promise = Promise(2, None, None) if whole else Promise(2, release.tau, release.epsilon)
    return AuditContext(
        store=store_of(as_samples({user: set(own) for user, own in enumerate(release.samples)})),
        published=AttackedRecords(make_records(boxes), own),
        promise=promise,
        method_claim=MethodClaim(promise, False, False),
        grid=TWENTY_MINUTES,
        zone=Zone("UTC"),
        n_attacks=n_attacks,
        seed=seed,
        workers=Workers(1),
    )


def owners_of(context: AuditContext, samples: dict[Any, Any]) -> list[Any]:
    """The user of each record of a context with a key."""
    users = sorted(samples)
    place = np.flatnonzero(context.published.own >= 0)
    order = np.argsort(context.published.own[place])
    return [users[i] for i in place[order].tolist()]


def damaged(
    rng: random.Random, records: dict[Any, list[tuple[int, ...]]], *, overlaps: bool = False
) -> dict[Any, list[tuple[int, ...]]]:
    """The records with up to three faults: a box shrunk in space or time, a box or record gone, boxes that overlap."""
    records = {user: list(boxes) for user, boxes in records.items()}
    faults = ["narrower", "shorter", "no box", "no record"] + ["twin"] * (4 if overlaps else 0)
    for _ in range(rng.randint(0, 3)):
        user = rng.choice(list(records))
        place = rng.randrange(len(records[user]))
        t0, t1, x0, x1, y0, y1 = records[user][place]
        fault = rng.choice(faults)
        if fault == "narrower" and x1 > x0:
            records[user][place] = (t0, t1, x0, x1 - 1, y0, y1)
        elif fault == "shorter" and t1 > t0:
            records[user][place] = (t0, t1 - 1, x0, x1, y0, y1)
        elif fault == "no box" and len(records[user]) > 1:
            del records[user][place]
        elif fault == "no record" and len(records) > 2:
            del records[user]
        elif fault == "twin":
            shift, wide = rng.randint(-2, 2), rng.randint(0, 3)
            records[user].append((t0 + shift, t1 + shift + wide, x0 - rng.randint(0, 1), x1, y0, y1))
    return records
