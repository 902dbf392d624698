"""The promise on small worlds, judged by brute force over every user and every interval."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from oracles.attacker import reuse_errors, truthfulness_errors, violations
from oracles.casual_worlds import random_case
from oracles.patterns import cluster_errors, invariant_errors, pattern_groups, permutation_errors
from shoal.core.boxes import Boxes
from shoal.errors import InputError, ShoalError
from shoal.hiding import fold, suppression
from shoal.hiding.epochs import EpochSlice, LiveEpoch
from shoal.hiding.fold import Fold, Step
from support.release_worlds import Release, World, release

CASES_PER_SEED = 40


def windows_of(epochs: set[int], reach: int) -> range:
    """Every window that meets one of these epochs, those reaching beyond the data included."""
    return range(min(epochs) - reach, max(epochs) + 1)


def judge(
    world: World,
    k: int,
    tau: int | None,
    epsilon: int | None,
    result: Release,
    reuse: str,
    selector: str = "matching",
) -> None:
    """Hold everything that the oracles know against a release."""
    context = f"{world=} {k=} {tau=} {epsilon=} {reuse=}"
    assert not violations(world, result.records, k, tau, epsilon), f"guarantee 1: {context}"
    assert not truthfulness_errors(world, result.records, result.suppressed, epsilon), f"truth: {context}"
    reach = 0 if tau is None or epsilon is None else -(-tau // epsilon)
    users = list(result.records)
    windows = windows_of({epoch for epochs in result.presence.values() for epoch in epochs}, reach)
    assert not invariant_errors(result.presence, windows, reach, users, k), context
    for window, sets in result.hiding_sets.items():
        groups = pattern_groups(result.presence, window, reach, users)
        in_clusters = selector == "mutual" and tau is None
        wrong = (cluster_errors if in_clusters else permutation_errors)(sets, groups, k)
        assert not wrong, context
    repeated, counted = len(reuse_errors(served(result), reuse, reach)), result.outcome.relaxations
    if reuse == "pair":  # the oracle counts a pair once a window even where it serves both ways again
        assert repeated <= counted <= 2 * repeated, context
    else:
        assert repeated == counted, context
    n_suppressed = sum(
        (user, 0 if epsilon is None else t // epsilon) in result.suppressed
        for user, own in world.items()
        for t, _, _ in own
    )
    assert result.outcome.n_suppressed == n_suppressed, context
    assert result.outcome.n_records == len(result.records), context


def served(result: Release) -> dict[int, dict[int, set[int]]]:
    """Whom each record holds, by window; what it holds in one epoch as a witness counts in the newest."""
    together = {
        window: {owner: {*own} for owner, own in sets.items()} for window, sets in result.hiding_sets.items()
    }
    for window, pairs in result.witnesses.items():
        for owner, member in pairs:
            assert member not in together[window][owner]
            together[window][owner].add(member)
    return together


@pytest.mark.parametrize(
    ("selector", "seed", "shard_size"),
    [
        *(("matching", seed, 10_000) for seed in range(24)),
        *(("mutual", seed, 10_000) for seed in range(12)),
        *(("matching", 100 + size, size) for size in (1, 3, 4, 6)),
        ("mutual", 105, 5),
    ],
)
def test_random_worlds_keep_every_guarantee(selector: str, seed: int, shard_size: int) -> None:
    rng = random.Random(seed)
    outcomes: Counter[str] = Counter()
    for _ in range(CASES_PER_SEED):
        world, k, tau, epsilon = random_case(rng)
        if rng.random() < 0.1:
            tau = epsilon = None
        reuse, weight = rng.choice(["once", "pair", "spaced"]), rng.choice([1.0, 2.0, 1.5])
        try:
            result = release(
                world,
                k,
                tau,
                epsilon,
                reuse=reuse,
                weight=weight,
                seed=rng.randrange(5),
                selector=selector,
                shard_size=shard_size,
                harden=rng.choice([0, 1, 2, 3]),
                effort=1 if tau is None else rng.choice([1, 2, 3]),
            )
        except InputError:
            outcomes["refused"] += 1
            continue
        outcomes["published"] += 1
        outcomes["hardened"] += any(result.witnesses.values())
        judge(world, k, tau, epsilon, result, reuse, selector)
    assert outcomes["published"] > CASES_PER_SEED / 3
    assert outcomes["hardened"] or selector == "mutual"


@pytest.mark.parametrize("selector", ["matching", "mutual"])
@pytest.mark.parametrize("seed", range(3))
def test_windows_of_more_epochs_than_a_machine_word_has_bits(seed: int, selector: str) -> None:
    rng = random.Random(seed)
    world = {
        user: {(rng.choice([0, 3, 65, 66, 90, 200]), rng.randint(0, 9), 0) for _ in range(3)}
        for user in range(12)
    }
    judge(world, 2, 70, 1, release(world, 2, 70, 1, selector=selector), "once")


def crowd(rng: random.Random, n_users: int = 9, n_epochs: int = 6) -> World:
    """A world with comings and goings in which cover is scarce, so that any fault shows."""
    return {
        user: {
            (epoch * 5 + rng.randrange(5), rng.randint(0, 40), rng.randint(0, 40))
            for epoch in range(n_epochs)
            if rng.random() < 0.7
        }
        or {(0, 0, 0)}
        for user in range(n_users)
    }


def _suppress_nobody(newest: EpochSlice, *_: object) -> np.ndarray:
    return np.zeros(len(newest.users), np.bool_)


def _forget_a_member(joined: Callable[..., LiveEpoch]) -> Callable[..., LiveEpoch]:
    def forgetful(self: Fold, live: LiveEpoch, members: np.ndarray) -> LiveEpoch:
        return joined(self, live, members) if live.slice.epoch % 3 else live

    return forgetful


def _shrink_a_box(publish: Callable[..., Boxes]) -> Callable[..., Boxes]:
    def shrunk(*arguments: object) -> Boxes:
        boxes = publish(*arguments)
        return boxes._replace(x1=np.where(boxes.x1 > boxes.x0, boxes.x1 - 1, boxes.x1))

    return shrunk


def _suppress_late(advance: Callable[..., Step]) -> Callable[..., Step]:
    """Take a record out of an epoch after others were covered with it: the paper's suppression."""

    def late(self: Fold, newest: EpochSlice, *, ends_stretch: bool) -> Step:
        step = advance(self, newest, ends_stretch=ends_stretch)
        hit = any(window.first_epoch == 1 for window in step.windows)
        kept = step.boxes.owner != (step.boxes.owner.max(initial=0) if hit else -1)
        return step._replace(boxes=Boxes._make(column[kept] for column in step.boxes))

    return late


@pytest.mark.parametrize(
    ("module", "name", "fault", "reason"),
    [
        (suppression, "choose_suppressed", lambda _: _suppress_nobody, "Self-check failed"),
        (Fold, "advance", _suppress_late, "guarantee 1"),
        (Fold, "_joined", _forget_a_member, "guarantee 1"),
        (fold, "publish", _shrink_a_box, "guarantee 1"),
    ],
)
def test_planted_faults_are_found(
    monkeypatch: pytest.MonkeyPatch, module: object, name: str, fault: Callable[..., object], reason: str
) -> None:
    """Each of these bugs is found, for the reason expected: by a judge above, or by hiding's own check before them."""
    monkeypatch.setattr(module, name, fault(getattr(module, name)))
    rng = random.Random(0)
    reasons: Counter[str] = Counter()
    for _ in range(30):
        world = crowd(rng)
        try:
            judge(world, 2, 5, 5, release(world, 2, 5, 5), "once")
        except (AssertionError, ShoalError) as error:
            reasons[str(error).split(":")[0]] += 1
    assert reasons[reason] >= 10, reasons
