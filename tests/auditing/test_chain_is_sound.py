"""On a release of ours the chain attack never rules out the victim's own record: what it concludes is right."""

from __future__ import annotations

import random

import numpy as np
import pytest

from auditing.stage import owners_of, stage
from engine import release
from oracles.attacker import knowledge
from oracles.casual_worlds import random_case
from shoal.auditing.drawing import knowledge_of
from shoal.errors import InputError
from shoal.kernels.chain import find_survivors
from shoal.kernels.coverage import Terms


@pytest.mark.parametrize("seed", range(3))
def test_the_own_record_survives(seed: int) -> None:
    rng = random.Random(seed)
    n_attacks = n_ruled_out = 0
    for _ in range(50):
        world, k, tau, epsilon = random_case(rng)
        try:
            records = release(world, k, tau, epsilon).records
        except InputError:  # too few users, or everything suppressed
            continue
        scene = stage(world, records, k, tau, epsilon)
        users, owners = sorted(world), owners_of(scene, world)
        attacks = [
            (user, a)
            for user in records
            for a in range(min(world[user])[0] - tau, max(world[user])[0] + 1, 1 + tau // 3)
            if knowledge(world, user, a, tau)
        ]
        known = knowledge_of(
            scene,
            np.array([users.index(user) for user, _ in attacks]),
            np.array([[a] for _, a in attacks]),
            tau,
        )
        fits = scene.fits(scene.published, known)
        alive = np.empty(len(fits.record), np.bool_)
        find_survivors(
            scene.trails, scene.published.shelves, known, fits, Terms(k, tau, epsilon), 0, len(attacks), alive
        )
        for attack, (user, _) in enumerate(attacks):
            lines = range(fits.at[attack], fits.at[attack] + fits.n[attack])
            survivors = {owners[fits.record[line]] for line in lines if alive[line]}
            fitting = {owners[fits.record[line]] for line in lines}
            if user in fitting:
                assert user in survivors
                n_attacks += 1
                n_ruled_out += len(fitting) - len(survivors)
    assert n_attacks > 100
    assert n_ruled_out
