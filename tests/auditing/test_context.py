"""S(K), the records that fit what an attacker knows, against the oracle on tiny releases with gaps of every kind."""

from __future__ import annotations

from itertools import pairwise
from math import inf
from random import Random
from typing import Any

import numpy as np
import pytest

from auditing.audit_contexts import SLOTS_AN_HOUR, tiny_context, tiny_releases
from oracles.strong_attackers import fits_with_gaps
from shoal.auditing.context import AuditContext
from shoal.auditing.kernels.fits import Fits, Knowledge
from shoal.auditing.victims import intervals, knowledge_of
from support.tiny_releases import TinyRelease

Piece = tuple[list[tuple[int, int, int]], float, float]


def fitting(fits: Fits, attack: int) -> list[int]:
    at = int(fits.at[attack])
    return fits.record[at : at + int(fits.n[attack])].tolist()


def some_intervals(release: TinyRelease, rng: Random, n: int) -> tuple[list[int], list[list[int]]]:
    """Victims and the begins of n intervals of each that do not overlap and hold samples."""
    victims, begins = [], []
    for _ in range(8):
        user = rng.randrange(len(release.samples))
        some = sorted(rng.choice(release.samples[user])[0] - rng.randrange(release.tau) for _ in range(n))
        if all(b - a >= release.tau for a, b in pairwise(some)):
            victims.append(user)
            begins.append(some)
    return victims, begins


def compare(release: TinyRelease, found: Fits, known: list[list[Piece]], own: list[int], epoch: int) -> int:
    """Hold what fits to the oracle; return in how many attacks gaps were forgiven."""
    for attack, pieces in enumerate(known):
        records = fitting(found, attack)
        assert len(records) == len(set(records))
        assert sorted(records) == fits_with_gaps(release.records, pieces, epoch)
        assert own[attack] not in records or records[0] == own[attack]
    return int((found.forgiven & (found.n > 0)).sum())


@pytest.mark.parametrize("key", [True, False])
@pytest.mark.parametrize("n", [1, 2])
def test_intervals(n: int, key: bool) -> None:
    forgiven = 0
    for release, rng in tiny_releases(10 + n, 700):
        context = tiny_context(release, key=key)
        victims, begins = some_intervals(release, rng, n)
        if not victims:
            continue
        known = knowledge_of(context, np.array(victims), np.array(begins), release.tau)
        pieces: list[list[Piece]] = [
            [
                ([s for s in release.samples[user] if a <= s[0] < a + release.tau], a, a + release.tau)
                for a in some
            ]
            for user, some in zip(victims, begins, strict=True)
        ]
        own = context.published.own[victims].tolist()
        forgiven += compare(release, context.fits(context.published, known), pieces, own, release.epsilon)
    assert forgiven > 100


def points_of(context: AuditContext, victims: list[int], rows: list[list[int]]) -> Knowledge:
    first = np.array([row for some in rows for row in some], np.int64)
    t = context.samples.t[first]
    ptr = np.cumsum([0, *(len(some) for some in rows)])
    return Knowledge(np.array(victims), ptr, first, first + 1, t, t)


def test_points_in_any_order() -> None:
    forgiven = 0
    for release, rng in tiny_releases(20, 700):
        context = tiny_context(release)
        ptr = context.trajectories.ptr
        victims = [rng.randrange(len(release.samples)) for _ in range(6)]
        rows = []
        for user in victims:
            everything = range(int(ptr[user]), int(ptr[user + 1]))
            rows.append(rng.sample(everything, min(rng.randint(1, 5), len(everything))))
        cells = context.samples
        pieces: list[list[Piece]] = [
            [([(int(cells.t[row]), int(cells.x[row]), int(cells.y[row]))], 0, 0) for row in some]
            for some in rows
        ]
        found = context.fits(context.published, points_of(context, victims, rows))
        own = context.published.own[victims].tolist()
        forgiven += compare(release, found, pieces, own, release.epsilon)
    assert forgiven > 50


def test_all_of_time_has_gaps_of_hours() -> None:
    forgiven = 0
    for release, _ in tiny_releases(30, 500):
        context = tiny_context(release, whole=True, n_attacks=6)
        drawn = intervals(context, np.random.default_rng(0), None)
        victims: list[Any] = drawn.victim.tolist()
        pieces: list[list[Piece]] = [[(release.samples[user], -inf, inf)] for user in victims]
        own = context.published.own[victims].tolist()
        forgiven += compare(release, context.fits(context.published, drawn), pieces, own, SLOTS_AN_HOUR)
    assert forgiven > 50
