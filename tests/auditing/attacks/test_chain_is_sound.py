"""On a release of ours, whoever knows the method never rules out the victim's own record: conclusions are right."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import numpy as np
import pytest

from auditing.audit_contexts import context_of
from oracles.attacker import knowledge
from oracles.casual_worlds import random_case
from shoal.auditing.attacks.chain import surviving_records
from shoal.auditing.victims import knowledge_of
from shoal.core.promise import Promise
from shoal.errors import InputError
from support.release_worlds import World, release


class Tally(NamedTuple):
    """What attacks came to: how many, with how many records that fit, and how many of them were left."""

    attacks: int = 0
    fit: int = 0
    left: int = 0

    def plus(self, other: Tally) -> Tally:
        return Tally(*(one + two for one, two in zip(self, other, strict=True)))


def attack(
    world: World,
    records: Any,
    k: int,
    tau: int,
    epsilon: int,
    *,
    distinct: bool,
    made_for: Promise | None = None,
) -> Tally:
    """Attack everybody who has a record, again and again over time; nobody may be ruled out."""
    context = context_of(world, records, k, tau, epsilon, distinct=distinct, made_for=made_for)
    users = sorted(world)
    attacks = [
        (users.index(user), a)
        for user in records
        for a in range(min(world[user])[0] - tau, max(world[user])[0] + 1, 1 + tau // 3)
        if knowledge(world, user, a, tau)
    ]
    known = knowledge_of(
        context, np.array([user for user, _ in attacks]), np.array([[a] for _, a in attacks]), tau
    )
    fits = context.fits(context.published, known)
    left = surviving_records(context, context.published, known, fits)
    assert not left.ruled_out_truth.any()
    assert (left.n[left.own_fits] > 0).all()
    return Tally(len(attacks), int(fits.n.sum()), int(left.n.sum()))


def in_stretches(rng: random.Random, world: World, epsilon: int) -> World:
    """The same, pulled apart in time: here and there so far that no window reaches across."""
    epochs = sorted({t // epsilon for own in world.values() for t, _, _ in own})
    shift, shifts = 0, {}
    for epoch in epochs:
        shift += rng.choice([0, 0, 1, 2, 3, 10])
        shifts[epoch] = shift * epsilon
    return {user: {(t + shifts[t // epsilon], x, y) for t, x, y in own} for user, own in world.items()}


OPTIONS: dict[str, dict[str, Any]] = {
    **{f"harden {level}": {"harden": level} for level in range(4)},
    "pair": {"reuse": "pair"},
    "spaced": {"reuse": "spaced"},
    "spaced, hardened": {"reuse": "spaced", "harden": 3},
    "mutual": {"selector": "mutual"},
    "spectral": {"selector": "spectral", "repair": True},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_the_own_record_survives(name: str) -> None:
    rng = random.Random(name)
    tally, with_relaxations, apart = Tally(), 0, 0
    for _ in range(60):
        world, k, tau, epsilon = random_case(rng)
        if rng.random() < 0.3:
            world = in_stretches(rng, world, epsilon)
        try:
            made = release(world, k, tau, epsilon, **OPTIONS[name])
        except InputError:  # too few users, or everything suppressed
            continue
        distinct = made.outcome.relaxations == 0
        tally = tally.plus(attack(world, made.records, k, tau, epsilon, distinct=False))
        if distinct:
            tally = tally.plus(attack(world, made.records, k, tau, epsilon, distinct=True))
        apart += distinct
        with_relaxations += not distinct
    assert tally.attacks > 300
    assert tally.left < tally.fit
    assert apart
    assert with_relaxations or name in ("mutual", "spectral")


@pytest.mark.parametrize("whole", [False, True])
def test_the_own_record_survives_whatever_the_file_is_held_to(whole: bool) -> None:
    rng, tally = random.Random(1), Tally()
    for _ in range(40):
        world, k, tau, epsilon = random_case(rng)
        made_for = Promise(k, None, None) if whole else Promise(k, tau, epsilon)
        try:
            made = release(world, *(made_for.k, made_for.tau, made_for.epsilon))
        except InputError:
            continue
        other_tau, distinct = rng.choice([1, max(1, tau // 2), 2 * tau]), made.outcome.relaxations == 0
        tally = tally.plus(attack(world, made.records, k, other_tau, 1, distinct=distinct, made_for=made_for))
    assert tally.attacks > 300
    assert whole or tally.left < tally.fit
