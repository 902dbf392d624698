"""What every selector must keep to: one contract for matching, mutual and spectral, and faults that break it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from oracles.casual_worlds import random_case
from shoal.core.options import HidingOptions, Reuse, SelectorName
from shoal.core.progress import SilentProgress
from shoal.core.promise import Promise
from shoal.core.workers import Workers
from shoal.hiding.epochs import Timeline
from shoal.hiding.fold import Fold
from shoal.hiding.pipeline import open_selector
from shoal.hiding.selector import HidingSetup, OpenWindow, Selector
from shoal.hiding.window import HidingSets
from support.release_worlds import World, as_samples

CASES_PER_SEED = 30
FEWEST_WINDOWS = 25  # how many there are depends on the processor: equal eigenvalues have many eigenvectors
WITH_COVERAGE = {
    "matching": {"selector": SelectorName.MATCHING},
    "matching in shards": {"selector": SelectorName.MATCHING, "shard_size": 4},
    "mutual": {"selector": SelectorName.MUTUAL},
    "spectral, repaired": {"selector": SelectorName.SPECTRAL, "repair": True},
}
ALL: dict[str, dict[str, Any]] = {**WITH_COVERAGE, "spectral": {"selector": SelectorName.SPECTRAL}}


class Decision(NamedTuple):
    """One window: its number, who is published in each of its epochs, and the hiding sets."""

    number: int
    published: list[set[int]]
    sets: HidingSets


Spoil = Callable[[Selector], Selector]


def decide(
    world: World,
    promise: Promise,
    options: HidingOptions,
    n_workers: int = 1,
    spoil: Spoil = lambda selector: selector,
) -> list[Decision]:
    """All windows of a world as a selector decides them; none where nothing can be published."""
    timeline = Timeline(as_samples(world), promise)
    with Workers(n_workers) as workers:
        setup = HidingSetup(len(world), promise, options, workers)
        selector = spoil(open_selector(setup))
        presence = selector.find_presence(timeline, SilentProgress())
        if presence.nothing_left:
            return []
        fold, decisions, published = Fold(setup, timeline, selector), [], []
        for epoch, ends_stretch in timeline.turns():
            newest = presence.of(timeline.slice(epoch))
            published.append(set(newest.users.tolist()))
            step = fold.advance(newest, ends_stretch=ends_stretch)
            for window in step.windows:
                number = window.first_epoch - int(timeline.epochs[0])
                n_epochs = window.last_epoch - window.first_epoch + 1
                decisions.append(Decision(number, published[:n_epochs], window.hiding_sets))
                published = published[1:]
            published = [] if ends_stretch else published
    return decisions


def check_contract(decisions: list[Decision], promise: Promise, reach: int, options: HidingOptions) -> None:
    """Hold the contract against all windows of a world; reach: how many epochs a window has beside its first."""
    served: dict[tuple[int, int], int] = {}
    for number, published, sets in decisions:
        owners, members = sets.owners.tolist(), sets.members.tolist()
        check_sets(owners, members, published, promise.k, options)
        again = Counter(
            owner
            for owner, own in zip(owners, members, strict=True)
            for member in own
            if forbidden(served.get((owner, member)), number, reach, options.reuse)
        )
        counted = {owner: n for owner, n in zip(owners, sets.relaxed.tolist(), strict=True) if n}
        assert again == counted, "reuse: as often as it is counted, and no more"
        for owner, own in zip(owners, members, strict=True):
            for member in own:
                served[owner, member] = number
                if options.reuse is Reuse.PAIR:
                    served[member, owner] = number


def check_sets(
    owners: list[int], members: list[list[int]], published: list[set[int]], k: int, options: HidingOptions
) -> None:
    there = set().union(*published)
    assert len(owners) == len(set(owners)), "owners: everybody once"
    assert there <= set(owners), "owners: all who are published"
    for owner, own in zip(owners, members, strict=True):
        assert len({*own} - {owner}) == len(own) == k - 1, "members: k - 1 different others"
    picked = Counter(member for own in members for member in own)
    assert picked == dict.fromkeys(owners, k - 1), "picked: everybody k - 1 times"
    if not options.gives_coverage:  # who hid others may have been suppressed since
        return
    assert there == set(owners), "owners: nobody else"
    pattern = {user: [user in epoch for epoch in published] for user in owners}
    for owner, own in zip(owners, members, strict=True):
        assert all(pattern[member] == pattern[owner] for member in own), "patterns: all equal"


def forbidden(last: int | None, number: int, reach: int, reuse: Reuse) -> bool:
    """Whether a member that last served in a window may not serve in another."""
    return last is not None and (reuse is not Reuse.SPACED or number - last < 2 * reach + 1)


def reach_of(world: World, promise: Promise) -> int:
    return Timeline(as_samples(world), promise).reach


def present(users: range, *epochs: int) -> World:
    """Users with a sample each in some epochs of ten slots, at places of their own."""
    return {user: {(epoch * 10 + user % 10, user * 7 % 20, user % 3) for epoch in epochs} for user in users}


TINY = {
    "exactly k": present(range(3), 0, 1, 2, 3),
    "one more than k": present(range(4), 0, 1, 2, 3),
    "a single epoch": present(range(9), 5),
    "empty epochs inside a stretch": present(range(8), 0, 2, 3, 5),
    "stretches far apart": present(range(8), 0, 1, 50, 51, 9000),
    "groups that come and go": present(range(4), 0, 1, 4) | present(range(4, 8), 1, 2, 3),
    "all at one place": {user: {(epoch * 10, 0, 0) for epoch in range(5)} for user in range(7)},
}


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("seed", range(4))
def test_random_worlds(name: str, seed: int) -> None:
    rng, n_windows = random.Random(seed), 0
    for _ in range(CASES_PER_SEED):
        world, k, tau, epsilon = random_case(rng)
        if len(world) < k:
            continue
        promise = Promise(k, tau, epsilon)
        effort = 1 if "spectral" in name else rng.choice([1, 2, 3])
        options = HidingOptions(
            **ALL[name], reuse=rng.choice(list(Reuse)), seed=rng.randrange(9), effort=effort
        )
        decisions = decide(world, promise, options)
        check_contract(decisions, promise, reach_of(world, promise), options)
        n_windows += len(decisions)
    assert n_windows >= FEWEST_WINDOWS


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("tau", [10, 20])
@pytest.mark.parametrize("kind", TINY)
def test_tiny_worlds(name: str, kind: str, tau: int) -> None:
    world, promise, options = TINY[kind], Promise(3, tau, 10), HidingOptions(**ALL[name])
    decisions = decide(world, promise, options)
    check_contract(decisions, promise, reach_of(world, promise), options)
    # The paper's selector may suppress everybody where groups are this small.
    if options.selector is not SelectorName.SPECTRAL:
        assert decisions
        assert all(len(decision.sets.owners) for decision in decisions)


@pytest.mark.parametrize("name", ALL)
def test_the_same_again_and_for_any_number_of_workers(name: str) -> None:
    world, promise, options = present(range(60), *range(6)), Promise(3, 10, 10), HidingOptions(**ALL[name])
    first = decide(world, promise, options)
    assert first
    assert_same(first, decide(world, promise, options))
    assert_same(first, decide(world, promise, options, n_workers=3))


def assert_same(one: list[Decision], other: list[Decision]) -> None:
    for a, b in zip(one, other, strict=True):
        assert a.published == b.published, "same: presence"
        assert all(np.array_equal(*columns) for columns in zip(a.sets, b.sets, strict=True)), (
            "same: hiding sets"
        )


class Faulty:
    """A selector whose hiding sets are spoilt before anybody sees them."""

    def __init__(self, selector: Selector, fault: Callable[[HidingSets, OpenWindow], HidingSets]) -> None:
        self._selector, self._fault = selector, fault
        self.weighs_leakage, self.takes_witnesses = selector.weighs_leakage, selector.takes_witnesses  # type: ignore[misc]
        self.find_presence, self.check_earlier = selector.find_presence, selector.check_earlier

    def choose(self, window: OpenWindow) -> HidingSets:
        return self._fault(self._selector.choose(window), window)


def pick_oneself(sets: HidingSets, _: OpenWindow) -> HidingSets:
    sets.members[0, 0] = sets.owners[0]
    return sets


def pick_one_twice(sets: HidingSets, _: OpenWindow) -> HidingSets:
    sets.members[:, 1] = sets.members[:, 0]
    return sets


def pick_somebody_else(sets: HidingSets, _: OpenWindow) -> HidingSets:
    taken = {int(sets.owners[0]), *sets.members[0].tolist()}
    sets.members[0, 0] = next(user for user in sets.owners.tolist() if user not in taken)
    return sets


def leave_somebody_out(sets: HidingSets, _: OpenWindow) -> HidingSets:
    kept = np.arange(len(sets.owners)) > 0
    return HidingSets(*(column[kept] for column in sets))


def exchange_across_patterns(sets: HidingSets, window: OpenWindow) -> HidingSets:
    there = [set(live.slice.users.tolist()) for live in window.epochs]
    pattern = [[user in epoch for epoch in there] for user in sets.owners.tolist()]
    other = next((line for line, own in enumerate(pattern) if own != pattern[0]), 0)
    sets.members[[0, other], 0] = sets.members[[other, 0], 0]
    return sets


def hide_reuse(sets: HidingSets, _: OpenWindow) -> HidingSets:
    return sets._replace(relaxed=np.zeros_like(sets.relaxed))


class Repeating:
    """Gives the hiding sets of the first window again and again."""

    def __init__(self) -> None:
        self._first: HidingSets | None = None

    def __call__(self, sets: HidingSets, _: OpenWindow) -> HidingSets:
        self._first = self._first or sets
        return self._first


ALWAYS_THERE = present(range(60), 0, 1, 2)  # as many as the paper's clusters need
IN_TWO_GROUPS = present(range(60), 0, 1) | present(range(60, 120), 0)
Fault = Callable[[HidingSets, OpenWindow], HidingSets]


def assert_found(name: str, world: World, fault: Fault, reason: str) -> None:
    """The contract holds on a world, and with the fault its part for this reason does not."""
    promise, options = Promise(3, 10, 10), HidingOptions(**ALL[name])
    reach = reach_of(world, promise)
    check_contract(decide(world, promise, options), promise, reach, options)
    faulty = decide(world, promise, options, spoil=lambda selector: Faulty(selector, fault))
    with pytest.raises(AssertionError, match=rf"^{reason}:"):
        check_contract(faulty, promise, reach, options)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (pick_oneself, "members"),
        (pick_one_twice, "members"),
        (pick_somebody_else, "picked"),
        (leave_somebody_out, "owners"),
    ],
)
def test_wrong_sets_are_found(name: str, fault: Fault, reason: str) -> None:
    assert_found(name, ALWAYS_THERE, fault, reason)


@pytest.mark.parametrize("name", WITH_COVERAGE)
def test_members_of_another_pattern_are_found(name: str) -> None:
    assert_found(name, IN_TWO_GROUPS, exchange_across_patterns, "patterns")


@pytest.mark.parametrize("name", ALL)
def test_members_that_serve_again_are_found(name: str) -> None:
    assert_found(name, ALWAYS_THERE, Repeating(), "reuse")


@pytest.mark.parametrize("name", ["matching", "mutual"])
def test_reuse_that_is_not_counted_is_found(name: str) -> None:
    assert_found(name, TINY["exactly k"], hide_reuse, "reuse")


@pytest.mark.parametrize("name", ALL)
def test_sets_that_depend_on_the_number_of_workers_are_found(name: str) -> None:
    def turned(sets: HidingSets, _: OpenWindow) -> HidingSets:
        return sets._replace(members=sets.members[:, ::-1].copy())

    world, promise, options = ALWAYS_THERE, Promise(3, 10, 10), HidingOptions(**ALL[name])
    other = decide(world, promise, options, n_workers=3, spoil=lambda selector: Faulty(selector, turned))
    with pytest.raises(AssertionError, match=r"^same: hiding sets"):
        assert_same(decide(world, promise, options), other)
