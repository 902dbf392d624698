"""Run the engine on small worlds and give back what the oracles want to see."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.core.option_checks import BoxLimits
from shoal.core.options import HidingOptions, Reuse, SelectorName
from shoal.core.periods import ONE_PERIOD, Periods
from shoal.core.promise import Promise
from shoal.core.samples import Samples, samples_from_columns
from shoal.core.workers import Workers
from shoal.hiding.journal import MemoryJournal
from shoal.hiding.pipeline import Outcome, anonymize_samples

World = dict[int, set[tuple[int, int, int]]]


class Release(NamedTuple):
    """A release in the oracles' words; users are those of the world."""

    records: dict[int, list[tuple[int, ...]]]
    suppressed: set[tuple[int, int]]
    presence: dict[int, set[int]]
    hiding_sets: dict[int, dict[int, set[int]]]
    witnesses: dict[int, list[tuple[int, int]]]
    outcome: Outcome


def as_samples(world: World) -> Samples:
    """A world as the engine reads it; names are the world's users as text, so that user i is the i-th."""
    users = sorted(world)
    rows = [(place, *sample) for place, user in enumerate(users) for sample in world[user]]
    columns = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    return samples_from_columns(np.array([str(user) for user in users], object), *columns)


def release(
    world: World,
    k: int,
    tau: int | None,
    epsilon: int | None,
    *,
    weight: float = 1.0,
    reuse: str = "once",
    seed: int = 0,
    workers: int = 1,
    leak_price: float = HidingOptions().leak_price,
    harden: int = 0,
    selector: str = "matching",
    repair: bool = False,
    shard_size: int = HidingOptions().shard_size,
    periods: Periods = ONE_PERIOD,
    share: float = 0.0,
    limits: BoxLimits | None = None,
) -> Release:
    """Anonymize a world and take the result apart."""
    users = sorted(world)
    promise = Promise(k, tau, epsilon)
    journal = MemoryJournal()
    with Workers(workers) as threads:
        outcome = anonymize_samples(
            as_samples(world),
            promise,
            HidingOptions(
                space_weight=weight,
                reuse=Reuse(reuse),
                seed=seed,
                leak_price=leak_price,
                harden=harden,
                selector=SelectorName(selector),
                repair=repair,
                shard_size=shard_size,
                suppress_at_most=share,
            ),
            threads,
            journal=journal,
            periods=periods,
            limits=limits,
        )
    records: dict[int, list[tuple[int, ...]]] = {}
    for owner, *box in zip(*(column.tolist() for column in outcome.boxes), strict=True):
        records.setdefault(users[owner], []).append(tuple(box))

    def epoch_of(t: int) -> int:
        return 0 if epsilon is None else t // epsilon

    presence = {user: {epoch_of(box[0]) for box in boxes} for user, boxes in records.items()}
    present_raw = {(user, epoch_of(t)) for user in users for t, _, _ in world[user]}
    suppressed = {(user, epoch) for user, epoch in present_raw if epoch not in presence.get(user, set())}
    hiding_sets: dict[int, dict[int, set[int]]] = {}
    witnesses: dict[int, list[tuple[int, int]]] = {}
    for step in journal:
        pairs = zip(step.witnesses.owners.tolist(), step.witnesses.members.tolist(), strict=True)
        witnesses[step.first_epoch] = [(users[owner], users[member]) for owner, member in pairs]
        if step.hiding_sets is None or not len(step.hiding_sets.owners):
            continue
        hiding_sets[step.first_epoch] = {
            users[owner]: {users[member] for member in members if member >= 0}
            for owner, members in zip(
                step.hiding_sets.owners.tolist(), step.hiding_sets.members.tolist(), strict=True
            )
        }
    return Release(records, suppressed, presence, hiding_sets, witnesses, outcome)
