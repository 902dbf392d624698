"""Where inside a box was its owner? An attack on the file alone, box by box (docs/audit.md)."""

from __future__ import annotations

import numpy as np

from shoal.auditing.attacks.attackers import (
    LEARNT,
    TRANSFER,
    Cases,
    Outcomes,
    transferred_weights,
    try_attackers,
)
from shoal.auditing.attacks.conditional_logit import centred, learn_weights
from shoal.auditing.context import AuditContext
from shoal.auditing.kernels.sites import PLACE_FEATURES, describe_boxes
from shoal.auditing.kernels.truth import find_true_sites
from shoal.auditing.measures import Measure, measures_of
from shoal.core.arrays import Bools, Floats, Int64s

PLACE = "place"
_LARGE_M2 = 1e6
_COMMONEST = "popularity"


def attack_place(context: AuditContext) -> list[Measure]:
    """Pick the cell in which the owner of a box was, for boxes drawn at random."""
    target, rng = context.published, context.randomness(13)
    measured = ("exact", TRANSFER, LEARNT, "feature", "commonest")
    boxes, owner, guess = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    found: Outcomes | None = None
    among = np.empty(0, np.bool_)
    if target.has_key:
        boxes, owner = _drawn(context, rng)
        found, among, guess = _places(context, boxes, owner)
    measures = []
    for variant, some in (("all", np.ones(len(boxes), np.bool_)), ("above_1km2", _large(context, boxes))):
        published = {} if found is None else _by_attacker(found.picks_of(some)) | {"candidate": among[some]}
        raw = dict.fromkeys(
            (*measured, "candidate"), np.ones(int(some.sum()) if len(boxes) else 1)
        )  # a box is a single cell there
        by_guess = dict.fromkeys(measured, float(guess[some].mean())) if some.any() else {}
        measures += measures_of(
            PLACE,
            variant,
            published,
            raw,
            by_guess,
            context.victims_of(owner[some]) if len(boxes) else None,
        )
    return measures


def _by_attacker(found: Outcomes) -> dict[str, Floats | Bools]:
    return {
        "exact": found.best, TRANSFER: found.picks[TRANSFER], LEARNT: found.picks[LEARNT],
        "feature": found.best_feature, "commonest": found.picks[_COMMONEST],
    }  # fmt: skip


def _drawn(context: AuditContext, rng: np.random.Generator) -> tuple[Int64s, Int64s]:
    """Boxes at random, in order, and whose they are."""
    target = context.published
    user = np.full(target.records.n_records, -1)
    known = np.flatnonzero(target.own >= 0)
    user[target.own[known]] = known
    owned = np.flatnonzero(user[target.records.box["record"]] >= 0)
    boxes = np.sort(rng.choice(owned, min(context.n_attacks, len(owned)), replace=False))
    return boxes, user[target.records.box["record"][boxes]]


def _large(context: AuditContext, boxes: Int64s) -> Bools:
    row = context.published.records.box[boxes]
    cells = (row["x1"] - row["x0"] + 1.0) * (row["y1"] - row["y0"] + 1.0)
    large: Bools = cells * context.grid.cell_m**2 > _LARGE_M2
    return large


def _places(context: AuditContext, boxes: Int64s, owner: Int64s) -> tuple[Outcomes, Bools, Floats]:
    """How attackers fare on some boxes, whether the right cell is a candidate at all, and what a guess achieves."""
    cases, n_true = place_cases(context, boxes, owner)
    row = context.published.records.box[boxes]
    cells = (row["x1"] - row["x0"] + 1.0) * (row["y1"] - row["y0"] + 1.0)
    found = try_attackers(cases, place_weights(), PLACE_FEATURES)
    among = np.bincount(cases.case[cases.right], minlength=len(boxes)) > 0
    return found, among, n_true / cells


def place_weights() -> Floats:
    """The transferred weights of candidates in boxes."""
    return transferred_weights(PLACE, PLACE_FEATURES)


def place_cases(context: AuditContext, boxes: Int64s, owner: Int64s) -> tuple[Cases, Int64s]:
    """The candidates of some boxes as cases, and how many different cells of its owner are in each box."""
    index, sites = context.tight.index, context.sites
    n = np.zeros(len(boxes), np.int64)
    nothing = np.zeros(0, np.int64), np.empty((0, len(PLACE_FEATURES)))
    context.workers.for_blocks(
        len(boxes), lambda begin, end: describe_boxes(index, sites, boxes, begin, end, n, n, *nothing)
    )
    at = np.cumsum(n) - n
    site, features = np.empty(int(n.sum()), np.int64), np.empty((int(n.sum()), len(PLACE_FEATURES)))
    context.workers.for_blocks(
        len(boxes), lambda begin, end: describe_boxes(index, sites, boxes, begin, end, at, n, site, features)
    )
    case = np.repeat(np.arange(len(boxes)), n)
    right, n_true = np.zeros(len(site), np.bool_), np.zeros(len(boxes), np.int64)
    whole = context.published.index
    find_true_sites(context.trajectories, whole, boxes, owner, sites.x, sites.y, at, n, site, right, n_true)
    return Cases(case, right, features, context.half[owner]), n_true


def cases_at_random(context: AuditContext) -> Cases:
    """The candidates of boxes drawn at random."""
    return place_cases(context, *_drawn(context, context.randomness(13)))[0]


def learnt_place_weights(context: AuditContext) -> list[Floats]:
    """Weights learnt from boxes of the other half of the people, for those of half 0 and 1; learnt once an audit."""
    if PLACE not in context.memo:
        cases = cases_at_random(context)
        features = centred(cases.case, cases.features)
        context.memo[PLACE] = [
            learn_weights(cases.case[taught], features[taught], cases.right[taught])
            for taught in ((cases.half != own)[cases.case] for own in (0, 1))
        ]
    learnt: list[Floats] = context.memo[PLACE]
    return learnt
