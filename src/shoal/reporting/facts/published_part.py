"""What a datasheet may know of a scene: published samples, by the numbers of their records."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.auditing.box_index import Target
from shoal.auditing.context import Scene
from shoal.auditing.kernels.truth import find_held
from shoal.core.arrays import Bools
from shoal.core.samples import Samples


def published_part(scene: Scene) -> Scene:
    """The scene without samples that are in no box, and with records in the place of users.

    Whatever is computed from it depends neither on what was suppressed nor on what users are called, and needs no
    further care about these. To an attacker it leaves at least as much: a sample that is in no box of the victim's
    record only leads away from it.
    """
    samples, own = scene.samples, scene.published.own
    rows = np.flatnonzero(held_by_own(scene))
    rows = rows[np.argsort(own[samples.user[rows]], kind="stable")]
    records, number = np.unique(own[samples.user[rows]], return_inverse=True)
    part = Samples(
        records.astype(object),
        number.astype(np.int32),
        samples.t[rows],
        samples.x[rows],
        samples.y[rows],
    )
    return replace(scene, samples=part, published=Target(scene.published.records, records))


def held_by_own(scene: Scene) -> Bools:
    """Which samples lie in a box of their own user's record; needs to know which record is whose."""
    target = scene.published
    held = np.zeros(len(scene.samples), np.bool_)
    filled = np.zeros(target.records.boxes.n_boxes, np.bool_)
    scene.workers.over(
        len(target.own),
        lambda begin, end: find_held(scene.trails, target.shelves, target.own, begin, end, held, filled),
    )
    return held
