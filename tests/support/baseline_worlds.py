"""Small worlds for the methods to compare with, and what they publish in plain words."""

from __future__ import annotations

import random

from shoal.core.samples import Samples
from shoal.evaluate.baselines import Anonymized
from support.release_worlds import World, as_samples


def samples_of(trajectories: list[list[tuple[int, int, int]]]) -> Samples:
    """Trajectories as samples; user i has the i-th."""
    return as_samples({user: set(own) for user, own in enumerate(trajectories)})


def tiny_trajectories(rng: random.Random, most_users: int = 6) -> list[list[tuple[int, int, int]]]:
    """2 to ``most_users`` short trajectories on few slots and cells: ties, shared places and single samples."""
    n_slots, reach = rng.choice([1, 3, 8, 30]), rng.choice([0, 1, 4, 12])
    return [
        sorted(
            {
                (rng.randrange(n_slots), rng.randint(-reach, reach), rng.randint(-reach, reach))
                for _ in range(rng.choice([1, 1, 2, 3, 4]))
            }
        )
        for _ in range(rng.randint(2, most_users))
    ]


def trajectories_of(samples: Samples) -> list[list[tuple[int, int, int]]]:
    """Everybody's samples in order."""
    own: World = {user: set() for user in range(samples.n_users)}
    columns = (samples.user.tolist(), samples.t.tolist(), samples.x.tolist(), samples.y.tolist())
    for user, *sample in zip(*columns, strict=True):
        own[user].add(tuple(sample))
    return [sorted(own[user]) for user in range(samples.n_users)]


def records_of(result: Anonymized) -> dict[int, list[tuple[int, ...]]]:
    """The boxes of every user with a record."""
    records: dict[int, list[tuple[int, ...]]] = {}
    for owner, *box in zip(*(column.tolist() for column in result.boxes), strict=True):
        records.setdefault(owner, []).append(tuple(box))
    return records
