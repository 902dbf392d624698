"""The history of reuse against plain lists."""

from __future__ import annotations

import random

import numpy as np
import pytest

from shoal.core.options import Reuse
from shoal.hiding.reuse import History


@pytest.mark.parametrize("seed", range(40))
def test_everything_is_remembered_in_order(seed: int) -> None:
    """Users who are there always, now and then and once: each has its own list, whatever moved in between."""
    rng = random.Random(seed)
    n, reuse = rng.randint(2, 30), rng.choice(list(Reuse))
    history, lists = History(n, reuse, 1), {user: [] for user in range(n)}
    presence = [rng.choice([0.02, 0.3, 1.0]) for _ in range(n)]
    for window in range(rng.randint(1, 120)):
        owners = [user for user in range(n) if rng.random() < presence[user]]
        members = [rng.sample(owners, len(owners)) for _ in range(rng.choice([1, 2]))]
        exposure = [rng.randint(0, 6) for _ in owners]
        lines = np.array(members, np.int32).T.reshape(len(owners), len(members))
        history.append(window, np.array(owners, np.int32), lines, np.array(exposure, np.uint8))
        for column in members:
            for owner, member, share in zip(owners, column, exposure, strict=True):
                lists[owner].append((member, window, share))
            if reuse is Reuse.PAIR:
                for owner, member, share in zip(owners, column, exposure, strict=True):
                    lists[member].append((owner, window, share))
    past = history.rule(0).past
    for user, expected in lists.items():
        place = slice(past.first[user], past.first[user] + past.length[user])
        found = zip(
            past.member[place].tolist(), past.when[place].tolist(), past.exposure[place].tolist(), strict=True
        )
        assert sorted(found) == sorted(expected)
        assert past.when[place].tolist() == sorted(past.when[place].tolist())


def test_memory_is_for_what_happened() -> None:
    """One user who is always there does not make everybody's room as large."""
    history = History(10_000, Reuse.ONCE, 1)
    for window in range(1000):
        always = np.array([0, 1], np.int32)
        history.append(window, always, always[::-1, None].copy())
    everybody = np.arange(10_000, dtype=np.int32)
    history.append(1000, everybody, np.roll(everybody, 1)[:, None])
    assert len(history.rule(0).past.member) < 60_000


@pytest.mark.parametrize("uneven", [False, True])
def test_memory_stays_near_what_is_remembered(uneven: bool) -> None:
    """Everybody grows in step, or everybody at a pace of their own: at most 16 bytes for an entry of 9."""
    rng, n = np.random.default_rng(1), 2_000
    pace = rng.random(n) if uneven else np.full(n, 0.3)
    history, worst = History(n, Reuse.ONCE, 1), 0.0
    for window in range(600):
        owners = np.flatnonzero(rng.random(n) < pace).astype(np.int32)
        history.append(window, owners, np.roll(owners, 1)[:, None])
        past = history.rule(0).past
        if window >= 50:
            held = sum(column.nbytes for column in (past.member, past.when, past.exposure))
            worst = max(worst, held / int(past.length.sum()))
    assert worst < 16


def test_room_made_ahead_changes_nothing() -> None:
    draw = np.random.default_rng(0)
    slow, quick = History(30, Reuse.ONCE, 1), History(30, Reuse.ONCE, 1)
    quick.reserve(draw.integers(0, 9, 30))
    for window in range(12):
        owners = np.flatnonzero(draw.random(30) < 0.6).astype(np.int32)
        members = draw.permutation(owners)[:, None]
        for history in (slow, quick):
            history.append(window, owners, members)
    kept = []
    for history in (slow, quick):
        past = history.rule(12).past
        entries = [np.arange(n) + first for first, n in zip(past.first, past.length, strict=True)]
        kept.append([(past.member[entry].tolist(), past.when[entry].tolist()) for entry in entries])
    assert kept[0] == kept[1]


@pytest.mark.parametrize("reuse", list(Reuse))
def test_what_is_assumed_for_a_while_is_forgotten(reuse: Reuse) -> None:
    """Two histories, one of which assumes windows now and then: they never differ outside."""
    draw = np.random.default_rng(3)
    plain, other = History(30, reuse, 1), History(30, reuse, 1)
    for window in range(30):
        owners = np.flatnonzero(draw.random(30) < 0.6).astype(np.int32)
        members, guess = draw.permutation(owners)[:, None], np.roll(owners, 1)[:, None]
        with other.assuming([(window + 1, owners, guess), (window + 2, owners, guess)]):
            past = other.rule(window).past
            assert past.length.sum() == plain.rule(window).past.length.sum() + guess.size * (
                4 if reuse is Reuse.PAIR else 2
            )
        kept = []
        for history in (plain, other):
            history.append(window, owners, members)
            past = history.rule(window).past
            entries = [np.arange(n) + first for first, n in zip(past.first, past.length, strict=True)]
            kept.append([(past.member[entry].tolist(), past.when[entry].tolist()) for entry in entries])
        assert kept[0] == kept[1]
        if window == 20:
            plain.forget(9)
            other.forget(9)


@pytest.mark.parametrize("reuse", list(Reuse))
def test_every_pair_is_remembered(reuse: Reuse) -> None:
    """Pairs in which somebody comes several times, in both directions where that is the rule."""
    rng = np.random.default_rng(0)
    history, expected = History(12, reuse, 1), {user: [] for user in range(12)}
    for window in range(5):
        owners, members = rng.integers(0, 12, (2, 20)).astype(np.int32)
        history.append_each(window, owners, members)
        for owner, member in zip(owners.tolist(), members.tolist(), strict=True):
            expected[owner].append((window, member))
            if reuse is Reuse.PAIR:
                expected[member].append((window, owner))
    past = history.rule(5).past
    for user, pairs in expected.items():
        entries = slice(past.first[user], past.first[user] + past.length[user])
        found = zip(past.when[entries].tolist(), past.member[entries].tolist(), strict=True)
        assert sorted(found) == sorted(pairs)
