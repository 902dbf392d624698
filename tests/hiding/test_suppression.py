"""Causal suppression on hand-made comings and goings."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.core.progress import SilentProgress
from shoal.core.promise import Promise
from shoal.core.workers import Workers
from shoal.errors import InputError
from shoal.hiding.epochs import Timeline
from shoal.hiding.patterns import Patterns
from shoal.hiding.suppression import Cover, choose_suppressed, decide_presence
from support.release_worlds import World, as_samples, release


def present(*epochs: int, place: int = 0) -> set[tuple[int, int, int]]:
    """One sample in each of some epochs of ten slots."""
    return {(epoch * 10 + 3, place, 0) for epoch in epochs}


def suppressed(world: World, k: int, tau: int = 10) -> set[tuple[int, int]]:
    return release(world, k, tau, 10).suppressed


def test_nothing_goes_where_everybody_comes_and_goes_alike() -> None:
    assert suppressed({user: present(0, 1, 2) for user in range(4)}, 2) == set()


def test_a_lone_presence_goes() -> None:
    world = {0: present(0, 1), 1: present(0), 2: present(0), 3: present(0)}
    assert suppressed(world, 2) == {(0, 1)}


def test_a_lone_absence_is_filled_up_with_the_costliest() -> None:
    """Three of four are present in epoch 1; the user farthest from the others is withheld with the absent one."""
    always = (0, 1, 2, 3)
    world = {
        0: present(*always),
        1: present(*always, place=1),
        2: present(*always) | present(*always, place=500),
        3: present(0, 2, 3),
    }
    assert suppressed(world, 2) == {(2, 1)}


def test_all_go_where_too_few_would_stay() -> None:
    world = {0: present(0, 1, 2, 3), 1: present(0, 1, 2, 3), 2: present(0, 2, 3)}
    assert suppressed(world, 2) == {(0, 1), (1, 1)}


def test_only_the_newest_epoch_is_touched() -> None:
    """User 0 leaves alone in epoch 2; what was published of others before stays."""
    world = {user: present(0, 1, 2) for user in range(5)} | {0: present(0, 1)}
    gone = suppressed(world, 2)
    assert {epoch for _, epoch in gone} == {2}
    assert len(gone) == 1


@pytest.mark.parametrize(("never", "withheld"), [(0, 0), (1, 2), (2, 1), (3, 0)])
def test_those_who_never_came_are_a_group_as_well(never: int, withheld: int) -> None:
    """k 3, six newcomers: those who have not come yet must be nobody or three, so some newcomers are withheld."""
    world = {user: present(0, 5) for user in range(4)} | {user: present(1) for user in range(4, 10)}
    timeline = Timeline(as_samples(world), Promise(3, 10, 10))
    patterns = Patterns(10 + never, timeline.reach)
    for epoch, expected in ((0, 0), (1, withheld)):
        patterns.open_epoch(epoch)
        newest = timeline.slice(epoch)
        everybody = np.ones(10 + never, np.bool_)
        cover = Cover(everybody, ~everybody, across_border=False)
        lost = choose_suppressed(newest, patterns, cover, 3, lambda _, members: np.zeros(members.sum()))
        assert lost.sum() == expected
        patterns.publish(epoch, newest.users[~lost])


def test_users_without_a_box_do_not_count_as_cover() -> None:
    """Users 4 and 5 appear alone in epochs of their own: they lose everything and have no record."""
    world = {user: present(0) for user in range(4)} | {4: present(8), 5: present(20)}
    result = release(world, 2, 10, 10)
    assert set(result.records) == {0, 1, 2, 3}
    assert result.outcome.recordless_users == 2
    assert result.outcome.recordless_samples == 2
    assert result.outcome.epoch_suppressed_samples == 0


def test_removing_the_recordless_can_cost_others_their_cover() -> None:
    """User 3 is absent with user 2 in epoch 0 only as long as user 3 counts."""
    world = {0: present(0), 1: present(0), 2: present(5) | present(30), 3: present(5), 4: present(60)}
    samples = as_samples(world)
    timeline = Timeline(samples, Promise(2, 10, 10))
    with Workers(1) as workers:
        presence = decide_presence(timeline, 5, Promise(2, 10, 10), 1.0, workers, SilentProgress())
    assert presence.recordless.tolist() == [False, False, False, False, True]


@pytest.mark.parametrize(("regulars", "comers", "k"), [(8, 1, 3), (12, 3, 5), (12, 4, 5), (40, 6, 5)])
def test_a_few_who_come_once_do_not_cost_everybody_else(regulars: int, comers: int, k: int) -> None:
    """Fewer than k are absent at a time because of the comers: giving these up costs least."""
    world = {user: present(0, 1, 2, 3, 4, 5, place=user % 3) for user in range(regulars)}
    world |= {regulars + comer: present(comer) for comer in range(comers)}
    result = release(world, k, 10, 10)
    assert result.outcome.n_suppressed <= comers
    assert set(range(regulars)) <= set(result.records)


def test_everything_suppressed_is_refused() -> None:
    with pytest.raises(InputError, match="Everything would be suppressed"):
        release({0: present(0), 1: present(9), 2: present(20)}, 2, 10, 10)


def test_fewer_users_than_k_are_refused() -> None:
    with pytest.raises(InputError, match="at least 3 users"):
        release({0: present(0), 1: present(0)}, 3, 10, 10)


def test_stray_times_cost_nothing() -> None:
    """Years of nothing between two samples are no epochs to fold."""
    far = 10**8
    world = {user: present(0, 1, far) for user in range(3)}
    turns = list(Timeline(as_samples(world), Promise(2, 10, 10)).turns())
    assert [turn.epoch for turn in turns] == [0, 1, far]
    assert [turn.ends_stretch for turn in turns] == [False, True, True]


def test_short_gaps_are_folded() -> None:
    world = {user: present(0, 2) for user in range(3)}
    turns = list(Timeline(as_samples(world), Promise(2, 20, 10)).turns())
    assert [tuple(turn) for turn in turns] == [(0, False), (1, False), (2, True)]
