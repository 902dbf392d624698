"""Who may serve whom, by every kernel that answers it, against plain lists."""

from __future__ import annotations

import random
from typing import NamedTuple

import numpy as np
import pytest

from shoal.core.compiled import jit
from shoal.core.options import Reuse
from shoal.hiding.kernels.reuse import (
    ReuseRule,
    allowed_edges,
    mark_forbidden,
    may_serve,
    windows_since_served,
    write_forbidden,
)
from shoal.hiding.kernels.window import WindowArrays
from shoal.hiding.reuse import History
from support.random_windows import crowd

REACH = 1


class Case(NamedTuple):
    """A window with a past: when each ordered pair last served, as far as that counts, and what is picked already."""

    arrays: WindowArrays
    window: int
    rule: ReuseRule
    last: dict[tuple[int, int], int]
    picked: np.ndarray


def random_case(seed: int) -> Case:
    rng = random.Random(seed)
    arrays, reuse = crowd(rng, rng.randint(3, 12), 20, 2), rng.choice(list(Reuse))
    n_users, window = len(arrays.place), rng.randint(0, 8)
    history, served = History(n_users, reuse, REACH), {}
    for earlier in range(window):
        owners = np.array(sorted(rng.sample(range(n_users), rng.randint(2, n_users))), np.int32)
        members = np.array(rng.sample(owners.tolist(), len(owners)), np.int32)
        history.append(earlier, owners, members[:, None])
        for owner, member in zip(owners.tolist(), members.tolist(), strict=True):
            served[owner, member] = earlier
            if reuse is Reuse.PAIR:
                served[member, owner] = earlier
    counts = {
        pair: when
        for pair, when in served.items()
        if reuse is not Reuse.SPACED or window - when < 2 * REACH + 1
    }
    picked = np.array([[rng.randint(-1, len(arrays.user) - 1)] for _ in arrays.user], np.int32)
    return Case(arrays, window, history.rule(window, picked), counts, picked)


@jit
def ask(rule: ReuseRule, owner: int, member: int) -> bool:
    return bool(may_serve(rule, owner, member))


@jit
def marked_by(arrays: WindowArrays, rule: ReuseRule, owner: int) -> np.ndarray:
    mark = np.full(len(arrays.user), -1, np.int32)
    mark_forbidden(arrays, rule, owner, mark)
    return mark == owner


@pytest.mark.parametrize("seed", range(40))
def test_every_kernel_gives_the_same_answer(seed: int) -> None:
    arrays, window, rule, last, picked = random_case(seed)
    users = arrays.user.tolist()
    pairs = [(i, j) for i in range(len(users)) for j in range(len(users)) if i != j]
    owner, member = np.array(pairs, np.int32).T.copy()
    age, allowed = np.empty(len(pairs), np.int32), np.empty(len(pairs), np.bool_)
    windows_since_served(arrays, rule, owner, member, window, age)
    allowed_edges(arrays, rule, owner, member, allowed)
    marks = [marked_by(arrays, rule, i) for i in range(len(users))]
    for (i, j), found_age, found_allowed in zip(pairs, age.tolist(), allowed.tolist(), strict=True):
        when = last.get((users[i], users[j]))
        assert ask(rule, users[i], users[j]) == (when is None)
        assert found_age == (-1 if picked[i, 0] == j else 0 if when is None else window - when)
        assert found_allowed == (when is None and picked[i, 0] != j)
        assert marks[i][j] == (not found_allowed)
    assert all(marks[i][i] for i in range(len(users)))


@pytest.mark.parametrize("seed", range(40))
def test_all_forbidden_pairs_are_written(seed: int) -> None:
    arrays, _, rule, last, _ = random_case(seed)
    room = int(rule.past.length.sum())
    owner, member, when = (np.empty(room, np.int32) for _ in range(3))
    n = write_forbidden(arrays, rule, owner, member, when)
    found: dict[tuple[int, int], int] = {}
    for i, j, window in zip(owner[:n].tolist(), member[:n].tolist(), when[:n].tolist(), strict=True):
        pair = int(arrays.user[i]), int(arrays.user[j])
        found[pair] = max(window, found.get(pair, window))
    there = set(arrays.user.tolist())
    assert found == {pair: window for pair, window in last.items() if there.issuperset(pair)}
