"""The chain attack: an attacker who knows the method links records across neighbouring windows."""

from __future__ import annotations

import numpy as np

from shoal.auditing.drawing import intervals
from shoal.auditing.figures import Figure, attack_of, figures, guessed, linked, own_fits, own_lines
from shoal.auditing.records import Target
from shoal.auditing.scene import Scene
from shoal.kernels.attacks import Knowledge
from shoal.kernels.chain import find_survivors
from shoal.kernels.coverage import Terms
from shoal.samples import Bools, Floats


def attack_chain(scene: Scene) -> list[Figure]:
    """Which of the records that fit could be the victim's, given that it must be covered in every window?"""
    if scene.promise.tau is None:
        return []
    knowledge = intervals(scene, scene.randomness(7), scene.promise.tau)
    guessing = guessed(scene.published, scene.promise.k)
    return figures(
        "chain",
        "",
        _outcomes(scene, scene.published, knowledge),
        _outcomes(scene, scene.raw, knowledge),
        {**guessing, "ruled_out": 0.0},
    )


def _outcomes(scene: Scene, target: Target, knowledge: Knowledge) -> dict[str, Floats | Bools]:
    promise = scene.promise
    terms = Terms(promise.k, promise.tau or 0, promise.epsilon or 0)
    fits = scene.fits(target, knowledge)
    alive = np.empty(len(fits.record), np.bool_)
    scene.workers.over(
        len(fits.n),
        lambda begin, end: find_survivors(
            scene.trails, target.shelves, knowledge, fits, terms, begin, end, alive
        ),
    )
    left = np.bincount(attack_of(fits), weights=alive, minlength=len(fits.n)).astype(np.int64)
    ruled_out = left == 0
    alive |= ruled_out[
        attack_of(fits)
    ]  # such an attacker was wrong about the method, and goes back to what fits
    left = np.where(ruled_out, fits.n, left)
    own = own_fits(target, knowledge, fits)
    own_left = own.copy()
    if target.has_key:
        own_left[:] = False
        own_left[attack_of(fits)[own_lines(target, knowledge, fits) & alive]] = True
    return {**linked(left, own_left, promise.k), "ruled_out": own & ruled_out}
