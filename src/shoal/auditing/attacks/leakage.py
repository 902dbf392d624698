"""Leakage: what the records that fit give away beyond the interval, because they all agree with the victim there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.auditing.box_index import Target
from shoal.auditing.context import Scene, everybody
from shoal.auditing.kernels.fits import Fits, Knowledge, find_leaks
from shoal.auditing.measures import Figure, Victims, figures, own_fits
from shoal.auditing.victims import intervals
from shoal.core.arrays import Int64s


class Spread(NamedTuple):
    """Leakage over all attacks, in slots."""

    mean: float
    median: float
    q95: float
    q99: float
    largest: float


class Leakage(NamedTuple):
    """How often leakage exceeds epsilon, and how much there is; None where there is no epsilon, or nobody to attack."""

    figures: list[Figure]
    spread: Spread | None


def attack_leakage(scene: Scene) -> Leakage:
    """Sum the epochs outside the interval on which all records that fit agree with the victim."""
    epsilon = scene.promise.epsilon
    if epsilon is None:
        return Leakage([], None)
    knowledge = intervals(scene, scene.randomness(8), scene.promise.tau)
    fits = scene.fits(scene.published, knowledge)
    wanted = own_fits(scene.published, knowledge, fits)
    published = _leaked(scene, scene.published, knowledge, fits, epsilon)[wanted]
    raw = _leaked(scene, scene.raw, knowledge, scene.fits(scene.raw, knowledge), epsilon)
    blind = _leaked(scene, scene.published, knowledge, everybody(knowledge, scene.published), epsilon)
    outcomes = [{"above_epsilon": slots > epsilon, "any": slots > 0} for slots in (published, raw)]
    guessing = {"above_epsilon": float((blind > epsilon).mean()), "any": float((blind > 0).mean())}
    victims = Victims(knowledge.victim[wanted], knowledge.victim)
    found = figures("leakage", "", outcomes[0], outcomes[1], guessing, victims)
    return Leakage(found, _spread(published) if len(published) else None)


def _leaked(scene: Scene, target: Target, knowledge: Knowledge, fits: Fits, epsilon: int) -> Int64s:
    slots = np.empty(len(fits.n), np.int64)
    scene.workers.over(
        len(fits.n),
        lambda begin, end: find_leaks(
            scene.trails, target.shelves, knowledge, fits, epsilon, begin, end, slots
        ),
    )
    return slots


def _spread(slots: Int64s) -> Spread:
    quantiles = np.quantile(slots, [0.5, 0.95, 0.99, 1.0]).tolist()
    return Spread(float(slots.mean()), *quantiles)
