"""Contexts whose users are parts: every person in every period, as an audit of records that change names has them."""

from __future__ import annotations

import numpy as np

from shoal.auditing.audited_parts import AuditedParts
from shoal.auditing.box_index import AttackedRecords, make_records
from shoal.auditing.claims import MethodClaim
from shoal.auditing.context import AuditContext
from shoal.core.boxes import NONE, Boxes
from shoal.core.periods import Periods, Renaming
from shoal.core.promise import Grid, Promise
from shoal.core.samples import Samples
from shoal.core.workers import Workers
from shoal.core.zones import Zone
from shoal.storage.sample_store import store_of


def parts_context(
    samples: Samples,
    periods: Periods,
    boxes: Boxes,
    *,
    promise: Promise,
    grid: Grid,
    n_attacks: int = 300,
    seed: int = 0,
    names: np.random.Generator | None = None,
) -> AuditContext:
    """The context of samples and of boxes whose owners are users, cut into parts; records are numbered by ``names``."""
    n = samples.n_users
    key = periods.of(samples.t) * n + samples.user
    keys = np.unique(key)
    user = np.searchsorted(keys, key).astype(np.int32)
    order = np.lexsort((samples.y, samples.x, samples.t, user))
    cut = Samples(
        np.arange(len(keys)).astype(str).astype(object),
        user[order],
        samples.t[order],
        samples.x[order],
        samples.y[order],
    )
    owner = periods.of(boxes.t0) * n + boxes.owner
    occurring = np.unique(owner)
    number = np.arange(len(occurring))
    if names is not None:  # at random, but by period
        number[np.lexsort((names.random(len(occurring)), occurring // n))] = np.arange(len(occurring))
    own = np.full(len(keys), NONE, np.int64)
    own[np.searchsorted(keys, occurring)] = number
    records = make_records(boxes._replace(owner=number[np.searchsorted(occurring, owner)].astype(np.int32)))
    return AuditContext(
        store=store_of(cut),
        published=AttackedRecords(records, own),
        promise=promise,
        method_claim=MethodClaim(promise, False, False),
        grid=grid,
        zone=Zone("UTC"),
        n_attacks=n_attacks,
        seed=seed,
        workers=Workers(1),
        parts=AuditedParts(
            keys % n, keys // n, periods, n, occurring // n, store_of(samples), Renaming(86_400, "UTC")
        ),
    )


def as_cells(samples: Samples) -> Boxes:
    """Samples as boxes of one slot and cell."""
    return Boxes(samples.user, samples.t, samples.t, samples.x, samples.x, samples.y, samples.y)
