"""Pairs in which somebody comes several times are all remembered, in both directions where that is the rule."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.core.options import Reuse
from shoal.hiding.reuse import History


@pytest.mark.parametrize("reuse", list(Reuse))
def test_every_pair_is_remembered(reuse: Reuse) -> None:
    rng = np.random.default_rng(0)
    history, expected = History(12, reuse, 1), {user: [] for user in range(12)}
    for window in range(5):
        owners, members = rng.integers(0, 12, (2, 20)).astype(np.int32)
        history.append_each(window, owners, members)
        for owner, member in zip(owners.tolist(), members.tolist(), strict=True):
            expected[owner].append((window, member))
            if reuse is Reuse.PAIR:
                expected[member].append((window, owner))
    past = history.barred(5).past
    for user, pairs in expected.items():
        entries = slice(past.first[user], past.first[user] + past.length[user])
        found = zip(past.when[entries].tolist(), past.member[entries].tolist(), strict=True)
        assert sorted(found) == sorted(pairs)
