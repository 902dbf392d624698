"""Homogeneity: all records that fit are in one place at the same time, so it does not matter which is the victim's."""

from __future__ import annotations

import math

import numpy as np

from shoal.auditing.box_index import Target
from shoal.auditing.context import Scene, everybody
from shoal.auditing.kernels.fits import Fits, Knowledge, find_common_extents
from shoal.auditing.measures import Figure, Victims, figures
from shoal.auditing.victims import intervals
from shoal.core.arrays import Bools, Floats

WITHIN_M = {"within_500m": 500.0, "within_1km": 1000.0}


def attack_homogeneity(scene: Scene) -> list[Figure]:
    """How small a place all records that fit share at some time that the attacker did not see."""
    knowledge = intervals(scene, scene.randomness(9), scene.promise.tau)
    targets = (scene.published, scene.raw)
    fits = [scene.fits(target, knowledge) for target in targets]
    published, raw = (
        _outcomes(scene, target, knowledge, each) for target, each in zip(targets, fits, strict=True)
    )
    blind = _outcomes(scene, scene.published, knowledge, everybody(knowledge, scene.published))
    guessing = {measure: float(np.mean(outcomes)) for measure, outcomes in blind.items()}
    victims = Victims(*(knowledge.victim[each.n > 0] for each in fits))
    return figures("homogeneity", "", published, raw, guessing, victims)


def _outcomes(scene: Scene, target: Target, knowledge: Knowledge, fits: Fits) -> dict[str, Floats | Bools]:
    cells = {"one_cell": 1} | {
        name: math.floor(metres / scene.grid.cell_m) for name, metres in WITHIN_M.items()
    }
    most = max(cells.values()) + 1
    extent = np.empty(len(fits.n), np.int64)
    scene.workers.over(
        len(fits.n),
        lambda begin, end: find_common_extents(
            target.shelves, knowledge, fits, scene.promise.whole, most, begin, end, extent
        ),
    )
    return {name: extent[fits.n > 0] <= limit for name, limit in cells.items()}
