"""The plainest publisher that the docs allow, cost aside: shows that the checkers can all be satisfied at once.

Causal suppression withholds whoever comes first, hiding sets are neighbours in a shuffled circle, and
merges are random partitions. Pairs are reused freely, so guarantee 2 is not aimed at.
"""

from random import Random
from typing import NamedTuple

from oracles.attacker import epoch_of
from oracles.merge import random_partition
from oracles.patterns import pattern_groups


class Release(NamedTuple):
    records: dict
    suppressed: set
    presence: dict
    hiding_sets: dict


def suppress_causally(presence, users, k: int, r: int) -> None:
    """Withhold users from the newest epoch, one epoch after another, until the invariant holds there."""
    epochs = {epoch for user in users for epoch in presence[user]}
    for newest in range(min(epochs), max(epochs) + 1):
        before = pattern_groups(presence, newest - r, r - 1, users)  # epochs newest-r .. newest-1
        for group in before.values():
            present = [user for user in group if newest in presence[user]]
            n_absent = len(group) - len(present)
            n_withheld = 0
            while not all(n == 0 or n >= k for n in (len(present) - n_withheld, n_absent + n_withheld)):
                n_withheld += 1
            for user in present[:n_withheld]:
                presence[user].remove(newest)


def reference_release(samples, k: int, tau: int | None, epsilon: int | None, rng: Random) -> Release | None:
    """Publish, or None where fewer than k users remain with a record."""
    r = 0 if epsilon is None else -(-tau // epsilon)
    raw = {user: {epoch_of(sample[0], epsilon) for sample in own} for user, own in samples.items()}
    users = sorted(samples)
    while True:
        if len(users) < k:
            return None
        presence = {user: set(raw[user]) for user in users}
        suppress_causally(presence, users, k, r)
        if all(presence.values()):
            break
        users = [user for user in users if presence[user]]

    first = min(epoch for own in presence.values() for epoch in own)
    last = max(epoch for own in presence.values() for epoch in own)
    hiding_sets = {}
    for m in range(first, max(first, last - r) + 1):
        hiding_sets[m] = {}
        for pattern, group in pattern_groups(presence, m, r, users).items():
            circle = rng.sample(group, len(group))
            for place, owner in enumerate(circle if any(pattern) else []):
                hiding_sets[m][owner] = {circle[(place + step) % len(circle)] for step in range(1, k)}

    records = {user: [] for user in users}
    for user in users:
        for epoch in sorted(presence[user]):
            members = {user}.union(
                *(hiding_sets.get(m, {}).get(user, ()) for m in range(epoch - r, epoch + 1))
            )
            trajectories = [
                [sample for sample in samples[member] if epoch_of(sample[0], epsilon) == epoch]
                for member in sorted(members)
            ]
            records[user] += random_partition(trajectories, rng)
    suppressed = {
        (user, epoch) for user in samples for epoch in raw[user] if epoch not in presence.get(user, ())
    }
    return Release(records, suppressed, presence, hiding_sets)
