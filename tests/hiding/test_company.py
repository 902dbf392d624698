"""Accidental agreement against brute force, and that it becomes rarer."""

from __future__ import annotations

import random
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest

from engine import Release, World, as_samples, release
from oracles.attacker import consistent, knowledge, violations
from oracles.casual_worlds import all_present, by_chance
from shoal.anonymizing import anonymize_samples
from shoal.blocks import Workers
from shoal.boxes import Boxes
from shoal.cities import make_city
from shoal.epochs import Timeline
from shoal.fold import Settings
from shoal.hiding.chronicle import Chronicle
from shoal.hiding.company import Company
from shoal.journal import MemoryJournal
from shoal.kernels.company import alone_shares, published_agreements
from shoal.promise import Grid, Promise
from shoal.reading import read_events
from shoal.samples import Samples

EPSILON = 5


def random_release(seed: int, tau: int) -> tuple[World, Release]:
    rng = random.Random(seed)
    make = rng.choice([by_chance, all_present])
    world = {user: own for user, own in make(rng, 9, range(6), EPSILON).items() if own}
    return world, release(world, 2, tau, EPSILON)


def chronicle_of(world: World, result: Release, memory: int = 96) -> Chronicle:
    """The chronicle of a release, written afterwards."""
    samples, promise = as_samples(world), Promise(2, EPSILON, EPSILON)
    timeline, users = Timeline(samples, promise), sorted(world)
    boxes = result.outcome.boxes
    chronicle = Chronicle(samples.n_users, memory)
    for epoch in timeline.epochs.tolist():
        part = timeline.slice(epoch)
        out = np.array([epoch in result.presence.get(users[user], ()) for user in part.users.tolist()])
        inside = boxes.t0 // EPSILON == epoch
        chronicle.append(part.restricted(out), Boxes._make(column[inside] for column in boxes))
    return chronicle


@pytest.mark.parametrize("seed", range(30))
def test_agreements_are_those_of_the_attacker(seed: int) -> None:
    world, result = random_release(seed, EPSILON)
    users = sorted(world)
    pairs = [(i, j) for i in range(len(users)) for j in range(len(users)) if i != j]
    owner, member = np.array(pairs, np.int32).T.copy()
    count = np.empty(len(pairs), np.int32)
    published_agreements(chronicle_of(world, result).chained, -(10**9), owner, member, 0, len(pairs), count)
    for (i, j), found in zip(pairs, count.tolist(), strict=True):
        both = result.presence.get(users[i], set()) & result.presence.get(users[j], set())
        assert found == sum(
            consistent(result.records[users[i]], knowledge(world, users[j], start, EPSILON), start, EPSILON)
            for start in (epoch * EPSILON for epoch in both)
        )


@pytest.mark.parametrize("tau", [3, 5, 8])
@pytest.mark.parametrize("seed", range(10))
def test_alone_is_who_is_left_with_k_records(seed: int, tau: int) -> None:
    world, result = random_release(seed, tau)
    users, reach = sorted(world), -(-tau // EPSILON)
    chronicle = chronicle_of(world, result)
    for window in range(7 - reach):
        seen = {
            user for user in users if result.presence.get(user, set()) & {*range(window, window + reach + 1)}
        }
        # Where something of a user is suppressed, the attacker of the oracle knows more than was published.
        whole = {user for user in seen if not any(user == other for other, _ in result.suppressed)}
        for user in whole:
            first, last = chronicle.rows(window + np.arange(reach + 1)[None, :])
            share = np.empty(1)
            victim = np.array([users.index(user)], np.int32)
            alone_shares(chronicle.chained.ledger, victim, first, last, EPSILON, tau, 2, 0, 1, share)
            left = []
            for part in (1, 2, 3):
                a = window * EPSILON + ((reach + 1) * EPSILON - tau) * part // 4
                known = knowledge(world, user, a, tau)
                if known:
                    left.append(sum(consistent(boxes, known, a, tau) for boxes in result.records.values()))
            assert share[0] == pytest.approx(sum(n <= 2 for n in left) / max(len(left), 1))


class Agreements(NamedTuple):
    """Picks after which the owner's record agrees with the member in an epoch outside their window, and the cost."""

    picks: int
    cost: float


def agreements(samples: Samples, promise: Promise, price: float) -> Agreements:
    journal = MemoryJournal()
    with Workers(1) as workers:
        outcome = anonymize_samples(samples, promise, Settings(leak_price=price), workers, journal=journal)
    timeline, epsilon = Timeline(samples, promise), promise.epsilon or 1
    boxes, chronicle = outcome.boxes, Chronicle(samples.n_users, 96)
    for epoch in timeline.epochs.tolist():
        inside = boxes.t0 // epsilon == epoch
        chronicle.append(timeline.slice(epoch), Boxes._make(column[inside] for column in boxes))
    betrayed = 0
    for window, picks in ((step.window, step.picks) for step in journal if step.picks is not None):
        count = np.empty(len(picks.owners), np.int32)
        members = picks.members[:, 0].copy()
        published_agreements(chronicle.chained, -(10**9), picks.owners, members, 0, len(count), count)
        epochs = range(window, window + promise.reach + 1)
        by_choice = sum(np.isin(picks.owners, timeline.slice(epoch).users).astype(int) for epoch in epochs)
        betrayed += int((count > by_choice).sum())
    return Agreements(betrayed, float(boxes.cost().mean()))


def test_accidental_agreement_becomes_rarer() -> None:
    """The same cities without the surcharge: more picks are betrayed elsewhere, at about the same cost.

    Several of them: among equal costs it is chance who is picked, and one city's share varies by a tenth with that.
    """
    promise = Promise(2, 30, 30)
    cities = [read_events(make_city(800, seed=seed), grid=Grid()).samples for seed in range(4)]
    ours, careless = ([agreements(city, promise, price) for city in cities] for price in (1.0, 0.0))
    assert sum(each.picks for each in careless) > 400
    assert sum(each.picks for each in ours) < 0.9 * sum(each.picks for each in careless)
    assert sum(each.cost for each in ours) < 1.02 * sum(each.cost for each in careless)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("tau", [5, 8])
@pytest.mark.parametrize("reuse", ["once", "pair", "spaced"])
def test_the_promise_holds_when_partners_run_out(k: int, tau: int, reuse: str) -> None:
    """Four to six users over many epochs: some have nobody left to pick, and guarantee 1 does not care."""
    rng, relaxed = random.Random(k + tau), 0
    for _ in range(8):
        world = all_present(rng, rng.randint(4, 6), range(7), EPSILON)
        result = release(world, k, tau, EPSILON, reuse=reuse, leak_price=1.0)
        relaxed += result.outcome.relaxations
        assert not violations(world, result.records, k, tau, EPSILON)
    assert relaxed or reuse == "spaced"


@pytest.mark.parametrize("done", [1, 12, 30])
def test_going_on_gives_the_same_boxes(done: int) -> None:
    """What is remembered of the published epochs is remembered again when their steps are replayed."""
    samples = read_events(make_city(300), grid=Grid()).samples
    undisturbed, resumed = MemoryJournal(), MemoryJournal()
    settings = Settings(leak_price=2.0)
    with Workers(1) as one, Workers(2) as two:
        whole = anonymize_samples(samples, Promise(2, 45, 30), settings, two, journal=undisturbed)
        for step in list(undisturbed)[:done]:
            resumed.append(step)
        again = anonymize_samples(samples, Promise(2, 45, 30), settings, one, journal=resumed)
    assert all(np.array_equal(a, b) for a, b in zip(whole.boxes, again.boxes, strict=True))


@pytest.mark.parametrize("memory", [1, 2, 3])
@pytest.mark.parametrize("seed", range(8))
def test_what_is_forgotten_does_not_change_what_is_remembered(seed: int, memory: int) -> None:
    world, result = random_release(seed, EPSILON)
    users = sorted(world)
    pairs = [(i, j) for i in range(len(users)) for j in range(len(users)) if i != j]
    owner, member = np.array(pairs, np.int32).T.copy()
    everything = chronicle_of(world, result)
    short = chronicle_of(world, result, memory=memory)
    newest = int(everything.chained.epoch.max())
    assert memory <= len(short) < max(2 * memory, len(everything) + 1)
    found = []
    for chronicle in (everything, short):
        count = np.empty(len(pairs), np.int32)
        published_agreements(chronicle.chained, newest - memory + 1, owner, member, 0, len(pairs), count)
        found.append(count.tolist())
        rows = chronicle.rows(np.array([newest]))
        found.append(chronicle.chained.ledger.user[rows[0][0] : rows[1][0]].tolist())
    assert found[:2] == found[2:]
    assert int(short.chained.earlier.max()) < len(short.chained.epoch)


def test_nothing_is_paid_for_whoever_is_among_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """The price is weighted by how alone the victim would be: where nobody is, nothing changes."""
    samples = read_events(make_city(300), grid=Grid()).samples
    boxes = {}
    for name, price, share in (("careless", 0.0, 0.0), ("among many", 1.0, 0.0), ("alone", 1.0, 1.0)):
        monkeypatch.setattr(
            Company,
            "_shares",
            lambda _self, _ledger, window, _workers, s=share: np.full(len(window.victim), s),
        )
        with Workers(1) as workers:
            outcome = anonymize_samples(samples, Promise(2, 30, 30), Settings(leak_price=price), workers)
        boxes[name] = outcome.boxes
    assert all(np.array_equal(a, b) for a, b in zip(boxes["careless"], boxes["among many"], strict=True))
    assert boxes["alone"].cost().sum() != boxes["careless"].cost().sum()


def test_getting_ready_meets_all_of_the_code() -> None:
    """What "loading the engine" leaves out would be compiled in the middle of a run."""
    script = (
        "from shoal.anonymizing import prepare; from shoal.fold import Settings; from shoal.kernels import company\n"
        "prepare(Settings())\n"
        "kernels = company.published_agreements, company.live_agreements, company.alone_shares\n"
        "print(all(kernel.signatures for kernel in kernels))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
