"""Attacks by times, and presence around an interval, against the oracle on tiny releases."""

from __future__ import annotations

import numpy as np
import pytest

from auditing.audit_contexts import SLOTS_AN_HOUR, tiny_context, tiny_releases
from oracles.strong_attackers import epochs_touched, pieces_around, presence_left, times_left
from shoal.auditing.attacks import times
from shoal.auditing.attacks.chain import weighed_attacks
from shoal.auditing.victims import intervals
from shoal.core.workers import Workers


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("n", [None, 1, 2, 4])
@pytest.mark.parametrize("exact", [False, True])
def test_records_that_agree_with_known_epochs(exact: bool, n: int | None, whole: bool) -> None:
    attacks = told = 0
    for release, _ in tiny_releases(40, 300):
        context = tiny_context(release, whole=whole, n_attacks=4)
        slots = 1 if exact else SLOTS_AN_HOUR if whole else release.epsilon
        victim, known = times._drawn(context, np.random.default_rng(1), slots, n)
        found = times.time_fits(context, context.published, victim, known)
        attacks += len(victim)
        for attack, user in enumerate(victim.tolist()):
            epochs = known.epoch[known.ptr[attack] : known.ptr[attack + 1]] + known.first
            active = epochs_touched([(t, t) for t, _, _ in release.samples[user]], slots)
            assert set(epochs.tolist()) <= active
            assert len(set(epochs.tolist())) == len(epochs) == (n or len(active))
            left = times_left(release.records, epochs.tolist(), slots, all_known=n is None)
            own = int(context.published.own[user])
            assert found.n[attack] == len(left)
            assert (found.own[attack] == found.most[attack] >= 0) == (own in left)
            in_all = {record: touched_in_all(release.records[record], slots) for record in left}
            fewest = [record for record in left if in_all[record] == min(in_all.values())]
            picked = times._timed(context, context.published, victim, known)["pick"][attack]
            assert picked == (1 / len(fewest) if own in fewest else 0)
            told += len(fewest) < len(left)
    assert attacks > 300
    assert told > 30


def touched_in_all(boxes: list[tuple[int, ...]], slots: int) -> int:
    """The epochs that a record touches; of epochs of one slot, the slots of each box."""
    if slots == 1:
        return sum(t1 - t0 + 1 for t0, t1, *_ in boxes)
    return len(epochs_touched(boxes, slots))


def test_threads_share_the_records_out() -> None:
    with Workers(3) as three:
        for release, _ in tiny_releases(41, 50):
            context = tiny_context(release)
            victim, known = times._drawn(context, np.random.default_rng(1), context.epoch_slots, None)
            alone = times.time_fits(context, context.published, victim, known)
            object.__setattr__(context, "workers", three)
            together = times.time_fits(context, context.published, victim, known)
            assert all((one == other).all() for one, other in zip(alone, together, strict=True))


def test_pieces_of_epochs_around_intervals() -> None:
    for release, _ in tiny_releases(42, 200):
        context = tiny_context(release)
        drawn = intervals(context, np.random.default_rng(2), release.tau)
        low, high = times.pieces_around(drawn, release.epsilon)
        for attack, begin in enumerate(drawn.begin.tolist()):
            pieces = zip(low[attack].tolist(), high[attack].tolist(), strict=True)
            expected = pieces_around(begin, release.tau, release.epsilon)
            assert [piece for piece in pieces if piece[0] < piece[1]] == expected


def test_presence_around_an_interval() -> None:
    told = 0
    for release, _ in tiny_releases(43, 1000, crowds=False):
        context = tiny_context(release, n_attacks=6)
        drawn = intervals(context, np.random.default_rng(3), release.tau)
        fits = context.fits(context.published, drawn)
        present = times.present_records(context, context.published, drawn, fits)
        for attack, (user, begin) in enumerate(zip(drawn.victim.tolist(), drawn.begin.tolist(), strict=True)):
            left = presence_left(release.records, release.samples[user], begin, release.tau, release.epsilon)
            lines = slice(fits.at[attack], fits.at[attack] + fits.n[attack])
            assert sorted(fits.record[lines][present[lines]].tolist()) == left
            told += len(left) < fits.n[attack]
    assert told > 300


def test_of_the_records_that_presence_leaves_the_likeliest_is_picked() -> None:
    """The one record that is left is picked; a record that is not left never is."""
    more = 0
    for release, _ in tiny_releases(44, 200, crowds=False):
        context = tiny_context(release, n_attacks=20)
        figures = {figure.measure: figure for figure in times.attack_presence(context)}
        attacks = weighed_attacks(context, context.published)
        found = times._present(context, context.published, attacks)
        assert figures["pick"].published.value == pytest.approx(found["pick"].mean())
        assert (found["pick"][found["single"]] == 1).all()
        assert (found["pick"][found["success"] == 0] == 0).all()
        more += (found["pick"] > found["success"]).sum()
    assert more > 20
