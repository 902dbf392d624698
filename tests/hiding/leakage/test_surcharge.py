"""Accidental agreement against brute force, and that it becomes rarer."""

from __future__ import annotations

import random
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest

from oracles.attacker import consistent, knowledge, violations
from oracles.casual_worlds import all_present, by_chance
from shoal.core.arrays import Int32s
from shoal.core.boxes import Boxes
from shoal.core.options import HidingOptions
from shoal.core.promise import Grid, Promise
from shoal.core.samples import Samples
from shoal.core.workers import Workers
from shoal.hiding.epochs import Timeline
from shoal.hiding.journal import MemoryJournal
from shoal.hiding.kernels.leakage import published_agreements
from shoal.hiding.kernels.merge import merge_boxes
from shoal.hiding.kernels.window import WindowArrays
from shoal.hiding.leakage import surcharge
from shoal.hiding.leakage.published_epochs import PublishedEpochsBuilder
from shoal.hiding.leakage.surcharge import LeakageContext, _exposure
from shoal.hiding.merging import with_members
from shoal.hiding.pipeline import anonymize_samples
from shoal.hiding.window import member_rows
from shoal.reading import read_events
from shoal.synthetic import make_city
from support.random_windows import crowd
from support.release_worlds import Release, World, as_samples, release

EPSILON = 5


def random_release(seed: int, tau: int) -> tuple[World, Release]:
    rng = random.Random(seed)
    make = rng.choice([by_chance, all_present])
    world = {user: own for user, own in make(rng, 9, range(6), EPSILON).items() if own}
    return world, release(world, 2, tau, EPSILON)


def published_epochs_of(world: World, result: Release, memory: int = 96) -> PublishedEpochsBuilder:
    """The published epochs of a release, gathered afterwards."""
    samples, promise = as_samples(world), Promise(2, EPSILON, EPSILON)
    timeline, users = Timeline(samples, promise), sorted(world)
    boxes = result.outcome.boxes
    builder = PublishedEpochsBuilder(samples.n_users, memory)
    for epoch in timeline.epochs.tolist():
        part = timeline.slice(epoch)
        out = np.array([epoch in result.presence.get(users[user], ()) for user in part.users.tolist()])
        inside = boxes.t0 // EPSILON == epoch
        builder.append(part.restricted(out), Boxes._make(column[inside] for column in boxes))
    return builder


@pytest.mark.parametrize("seed", range(6))
def test_agreements_are_counted_up_to_a_number(seed: int) -> None:
    world, result = random_release(seed, EPSILON)
    pairs = [(i, j) for i in range(len(world)) for j in range(len(world)) if i != j]
    owner, member = np.array(pairs, np.int32).T.copy()
    published_epochs, found = published_epochs_of(world, result).published_epochs, {}
    for most in (1, 2, 10**6):
        found[most] = np.empty(len(pairs), np.int32)
        published_agreements(published_epochs, -(10**9), owner, member, most, 0, len(pairs), found[most])
    assert all((found[most] == np.minimum(found[10**6], most)).all() for most in (1, 2))
    assert found[10**6].max() > 2


@pytest.mark.parametrize("seed", range(30))
def test_agreements_are_those_of_the_attacker(seed: int) -> None:
    world, result = random_release(seed, EPSILON)
    users = sorted(world)
    pairs = [(i, j) for i in range(len(users)) for j in range(len(users)) if i != j]
    owner, member = np.array(pairs, np.int32).T.copy()
    count = np.empty(len(pairs), np.int32)
    published_agreements(
        published_epochs_of(world, result).published_epochs,
        -(10**9),
        owner,
        member,
        10**6,
        0,
        len(pairs),
        count,
    )
    for (i, j), found in zip(pairs, count.tolist(), strict=True):
        both = result.presence.get(users[i], set()) & result.presence.get(users[j], set())
        assert found == sum(
            consistent(result.records[users[i]], knowledge(world, users[j], start, EPSILON), start, EPSILON)
            for start in (epoch * EPSILON for epoch in both)
        )


def boxes_shown(arrays: WindowArrays, member: Int32s, epsilon: int) -> list[list[tuple[int, ...]]]:
    """What every record shows in a window if it takes in a member, times counted from its beginning."""
    shown: list[list[tuple[int, ...]]] = []
    with Workers(1) as workers:
        pools = with_members(arrays.pools, arrays.raw, member_rows(arrays, member), workers)
    count, box = np.empty(len(pools.ptr) - 1, np.int64), np.empty((len(pools.slot), 6), np.int32)
    merge_boxes(pools, arrays.weight, 0, len(count), count, box)
    for rows in arrays.row.tolist():
        boxes = [
            (t0 + w * epsilon, t1 + w * epsilon, *place)
            for w, row in enumerate(rows)
            if row >= 0
            for t0, t1, *place in box[pools.ptr[row] : pools.ptr[row] + count[row]].tolist()
        ]
        shown.append(boxes)
    return shown


def samples_of(arrays: WindowArrays, line: int, epsilon: int) -> set[tuple[int, int, int]]:
    """What a user has in a window: of every slot, two corners of the hull."""
    raw = arrays.raw
    return {
        (int(raw.slot["t"][slot]) + w * epsilon, int(x[slot]), int(y[slot]))
        for w, row in enumerate(arrays.row[line].tolist())
        if row >= 0
        for slot in range(raw.ptr[row], raw.ptr[row + 1])
        for x, y in ((raw.slot["x0"], raw.slot["y0"]), (raw.slot["x1"], raw.slot["y1"]))
    }


@pytest.mark.parametrize("tau", [3, 5, 8])
@pytest.mark.parametrize("seed", range(10))
def test_exposed_is_who_is_left_with_k_records_of_the_group(seed: int, tau: int) -> None:
    rng = random.Random(seed)
    arrays = crowd(rng, 9, 6, 2, 1 + -(-tau // EPSILON), epsilon=EPSILON, weight=1.0)
    turned = np.arange(len(arrays.user)) + 1
    member = np.where(turned < arrays.last, turned, arrays.first).astype(np.int32)
    leakage = LeakageContext(PublishedEpochsBuilder(9, 96).published_epochs, 0, 0, 1, 2, tau, EPSILON, 1.0)
    with Workers(1) as workers:
        exposure = _exposure(leakage, arrays, member, workers)
    shown = boxes_shown(arrays, member, EPSILON)
    for line in range(len(arrays.user)):
        left = []
        for part in (1, 2, 3):
            since = max(arrays.row.shape[1] * EPSILON - tau, 0) * part // 4
            known = {s for s in samples_of(arrays, line, EPSILON) if since <= s[0] < since + tau}
            if known:
                group = range(arrays.first[line], arrays.last[line])
                left.append(sum(consistent(shown[other], known, since, tau) for other in group))
        share = sum(n <= 2 for n in left) / max(len(left), 1)
        n = int(arrays.last[line] - arrays.first[line])
        assert exposure[line] == round(60 * share * n / (n + 100))


class Agreements(NamedTuple):
    """Picks after which the owner's record agrees with the member in an epoch outside their window, and the cost."""

    picks: int
    cost: float


def agreements(samples: Samples, promise: Promise, price: float) -> Agreements:
    journal = MemoryJournal()
    with Workers(1) as workers:
        outcome = anonymize_samples(
            samples, promise, HidingOptions(leak_price=price), workers, journal=journal
        )
    timeline, epsilon = Timeline(samples, promise), promise.epsilon or 1
    boxes, builder = outcome.boxes, PublishedEpochsBuilder(samples.n_users, 96)
    for epoch in timeline.epochs.tolist():
        inside = boxes.t0 // epsilon == epoch
        builder.append(timeline.slice(epoch), Boxes._make(column[inside] for column in boxes))
    leaking = 0
    for window, picks in (
        (window.first_epoch, window.hiding_sets) for step in journal for window in step.windows
    ):
        count = np.empty(len(picks.owners), np.int32)
        members = picks.members[:, 0].copy()
        published_agreements(
            builder.published_epochs, -(10**9), picks.owners, members, 10**6, 0, len(count), count
        )
        epochs = range(window, window + promise.reach + 1)
        by_choice = sum(np.isin(picks.owners, timeline.slice(epoch).users).astype(int) for epoch in epochs)
        leaking += int((count > by_choice).sum())
    return Agreements(leaking, float(boxes.cost().mean()))


def test_accidental_agreement_becomes_rarer() -> None:
    """The same cities without the surcharge: more picks leak elsewhere, at about the same cost.

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
    options = HidingOptions(leak_price=2.0)
    with Workers(1) as one, Workers(2) as two:
        whole = anonymize_samples(samples, Promise(2, 45, 30), options, two, journal=undisturbed)
        for step in list(undisturbed)[:done]:
            resumed.append(step)
        again = anonymize_samples(samples, Promise(2, 45, 30), options, one, journal=resumed)
    assert all(np.array_equal(a, b) for a, b in zip(whole.boxes, again.boxes, strict=True))


@pytest.mark.parametrize("memory", [1, 2, 3])
@pytest.mark.parametrize("seed", range(8))
def test_what_is_forgotten_does_not_change_what_is_remembered(seed: int, memory: int) -> None:
    world, result = random_release(seed, EPSILON)
    users = sorted(world)
    pairs = [(i, j) for i in range(len(users)) for j in range(len(users)) if i != j]
    owner, member = np.array(pairs, np.int32).T.copy()
    everything = published_epochs_of(world, result).published_epochs
    short = published_epochs_of(world, result, memory=memory).published_epochs
    newest = int(everything.epoch.max())
    assert len(set(short.epoch.tolist())) <= memory + memory // 4
    found = []
    for published_epochs in (everything, short):
        count = np.empty(len(pairs), np.int32)
        published_agreements(
            published_epochs, newest - memory + 1, owner, member, 10**6, 0, len(pairs), count
        )
        found.append(count.tolist())
    assert found[0] == found[1]
    assert int(short.earlier.max()) < len(short.epoch)


def test_nothing_is_paid_for_whoever_is_among_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """The price is weighted by the victim's exposure: where nobody is exposed, nothing changes."""
    samples = read_events(make_city(300), grid=Grid()).samples
    boxes = {}
    for name, price, share in (("careless", 0.0, 0), ("among many", 1.0, 0), ("exposed", 1.0, 60)):
        monkeypatch.setattr(
            surcharge,
            "_exposure",
            lambda _leakage, arrays, _member, _workers, s=share: np.full(len(arrays.user), s, np.uint8),
        )
        with Workers(1) as workers:
            outcome = anonymize_samples(samples, Promise(2, 30, 30), HidingOptions(leak_price=price), workers)
        boxes[name] = outcome.boxes
    assert all(np.array_equal(a, b) for a, b in zip(boxes["careless"], boxes["among many"], strict=True))
    assert boxes["exposed"].cost().sum() != boxes["careless"].cost().sum()


def test_getting_ready_meets_all_of_the_code() -> None:
    """What "loading the engine" leaves out would be compiled in the middle of a run."""
    script = (
        "from shoal.hiding.pipeline import prepare; from shoal.core.options import HidingOptions\n"
        "from shoal.hiding.kernels import leakage\n"
        "prepare(HidingOptions())\n"
        "kernels = leakage.published_agreements, leakage.live_agreements, leakage.exposed_shares\n"
        "print(all(kernel.signatures for kernel in kernels))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
