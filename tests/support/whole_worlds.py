"""Small worlds for whole trajectories, with and without periods."""

from __future__ import annotations

import random

from oracles.casual_worlds import random_case
from support.release_worlds import World


def village(rng: random.Random, n: int) -> World:
    """People with one to four samples each, on few places: many equal costs."""
    places = rng.choice([3, 12, 60])
    return {
        user: {
            (rng.randrange(40), rng.randrange(places), rng.randrange(places))
            for _ in range(rng.randint(1, 4))
        }
        for user in range(n)
    }


def some_world(rng: random.Random) -> tuple[World, int, list[int]]:
    """A world, k, and borders of periods, or none."""
    world, k, _, epsilon = random_case(rng)
    times = [t for own in world.values() for t, _, _ in own]
    inside = range(min(times) // epsilon + 1, max(times) // epsilon + 1)
    n_borders = rng.randint(0, min(len(inside), 3))
    return world, k, sorted(epoch * epsilon for epoch in rng.sample(inside, n_borders))
