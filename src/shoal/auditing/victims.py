"""Victims and what the attacker knows of them, drawn at random (docs/audit.md)."""

from __future__ import annotations

import numpy as np

from shoal.auditing.context import AuditContext
from shoal.auditing.kernels.fits import Knowledge, find_rows
from shoal.core.arrays import Int64s

_ROUNDS = 50  # of drawing again for victims whose intervals overlap


def intervals(
    context: AuditContext, rng: np.random.Generator, length: int | None, n_intervals: int = 1
) -> Knowledge:
    """Draw victims, and for each of them intervals of ``length`` slots that hold a sample and do not overlap.

    A ``length`` of None stands for one interval over all of time.
    """
    if length is None:
        first, end = context.span
        everything = np.full((context.n_attacks, 1), first)
        return knowledge_of(context, rng.choice(context.victims, context.n_attacks), everything, end - first)
    victim, begin = _draw(context, rng, length, n_intervals)
    for _ in range(_ROUNDS):
        if len(victim) >= context.n_attacks:
            break
        more = _draw(context, rng, length, n_intervals)
        victim, begin = np.concatenate([victim, more[0]]), np.concatenate([begin, more[1]])
    return knowledge_of(context, victim[: context.n_attacks], begin[: context.n_attacks], length)


def _draw(
    context: AuditContext, rng: np.random.Generator, length: int, n_intervals: int
) -> tuple[Int64s, Int64s]:
    """Victims and the begins of their intervals, in order; victims whose intervals overlap are left out."""
    ptr = context.trajectories.ptr
    victim = rng.choice(context.victims, context.n_attacks)
    sizes = (ptr[victim + 1] - ptr[victim])[:, None]
    row = ptr[victim][:, None] + rng.integers(0, sizes, (len(victim), n_intervals))
    begin = np.sort(context.samples.t[row] - rng.integers(0, length, row.shape), axis=1)
    apart = (np.diff(begin, axis=1) >= length).all(axis=1)
    return victim[apart], begin[apart]


def knowledge_of(context: AuditContext, victim: Int64s, begin: Int64s, length: int) -> Knowledge:
    """Knowledge of all samples in some intervals: begin[i] has the first slots of those of victim[i]."""
    n, n_intervals = begin.shape
    first, last = np.empty((2, n * n_intervals), np.int64)
    starts, ends = begin.reshape(-1), begin.reshape(-1) + length
    find_rows(context.trajectories, np.repeat(victim, n_intervals), starts, ends, first, last)
    return Knowledge(victim, np.arange(n + 1) * n_intervals, first, last, starts, ends)


def points(context: AuditContext, rng: np.random.Generator, n_points: int) -> Knowledge:
    """Draw victims with at least ``n_points`` samples, and as many of their samples; other samples stay unknown."""
    ptr = context.trajectories.ptr
    victims = context.victims[(ptr[context.victims + 1] - ptr[context.victims]) >= n_points]
    victim = rng.choice(victims, context.n_attacks if len(victims) else 0)
    drawn = [
        ptr[user] + rng.choice(ptr[user + 1] - ptr[user], n_points, replace=False) for user in victim.tolist()
    ]
    row = np.array(drawn, np.int64).reshape(-1)
    t = context.samples.t[row]
    return Knowledge(victim, np.arange(len(victim) + 1) * n_points, row, row + 1, t, t)
