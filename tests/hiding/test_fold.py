"""The fold that looks at windows again, against one that keeps nothing and works everything out from the start."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from oracles.casual_worlds import random_case
from shoal.core.boxes import Boxes, concatenate
from shoal.core.options import HidingOptions, Reuse, SelectorName
from shoal.core.periods import Periods
from shoal.core.progress import SilentProgress
from shoal.core.promise import Grid, Promise
from shoal.core.samples import Samples
from shoal.core.workers import Workers
from shoal.errors import InputError, ParameterError
from shoal.hiding.epochs import EpochSlice, LiveEpoch, Timeline
from shoal.hiding.fold import Fold
from shoal.hiding.journal import MemoryJournal
from shoal.hiding.merging import publish, with_members
from shoal.hiding.pipeline import Outcome, anonymize_samples, open_selector
from shoal.hiding.reuse import History
from shoal.hiding.selector import HidingSetup, OpenWindow, Selector
from shoal.hiding.window import HidingSets
from shoal.reading import read_events
from shoal.synthetic import make_city
from support.release_worlds import World, as_samples

HALVES = Promise(2, 30, 30)
Window = tuple[int, int]  # its first and last epoch
Sets = dict[Window, HidingSets]


@pytest.fixture(scope="module")
def city() -> Samples:
    return read_events(make_city(500), grid=Grid.parse()).samples


def released(samples: Samples, promise: Promise, options: HidingOptions, **more: Any) -> Outcome:
    with Workers(1) as workers:
        return anonymize_samples(samples, promise, options, workers, **more)


def same(one: Boxes, other: Boxes) -> bool:
    return all(np.array_equal(*columns) for columns in zip(one, other, strict=True))


# ---- the oracle ----------------------------------------------------------------------------------------------------


def windows_of(epochs: list[int], reach: int) -> list[Window]:
    """The windows of a stretch: every r + 1 of its epochs in a row, or all of them where they are fewer."""
    last = max(epochs[-1] - reach, epochs[0])
    return [(first, min(first + reach, epochs[-1])) for first in range(epochs[0], last + 1)]


def looks(windows: list[Window], effort: int) -> list[Window]:
    """Which window is decided when: each so often, the last time right before the next would be."""
    order: list[Window] = []
    for newest in range(len(windows)):
        order += reversed(windows[max(newest - effort + 1, 0) : newest + 1])
    for oldest in range(max(len(windows) - effort, 0) + 1, len(windows)):
        order += reversed(windows[oldest:])
    return order


def plain_fold(
    slices: dict[int, EpochSlice], selector: Selector, setup: HidingSetup, reach: int, effort: int
) -> tuple[Sets, Boxes]:
    """Hiding sets and boxes of one stretch, without leakage and witnesses: pools and history are always made anew."""
    sets: Sets = {}
    begun = min(slices)

    def held(epoch: int, without: Window | None) -> LiveEpoch:
        live = LiveEpoch(slices[epoch], slices[epoch].raw)
        for (first, last), chosen in sets.items():
            if first <= epoch <= last and (first, last) != without:
                line = {owner: place for place, owner in enumerate(chosen.owners.tolist())}
                lines = [line[user] for user in live.slice.users.tolist()]
                for column in chosen.members[lines].T if lines else []:
                    live = live._replace(
                        pools=with_members(live.pools, live.slice.raw, live.rows(column), setup.workers)
                    )
        return live

    for window in looks(windows_of(sorted(slices), reach), effort):
        history = History(setup.n_users, setup.options.reuse, reach)
        for other in sorted(sets):
            if other != window:
                history.append(other[0] - begun, sets[other].owners, sets[other].members)
        epochs = [held(epoch, window) for epoch in range(window[0], window[1] + 1)]
        if any(len(live.slice.users) for live in epochs):
            number = window[0] - begun
            sets[window] = selector.choose(OpenWindow(number, epochs, history.rule(number), None))
    boxes = [publish(held(epoch, None), 1.0, setup.workers) for epoch in sorted(slices)]
    return sets, concatenate(boxes)


@pytest.mark.parametrize("selector", ["matching", "mutual"])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_kept_between_looks_changes_nothing(seed: int, selector: str) -> None:
    rng, compared = random.Random(seed), 0
    for _ in range(25):
        world, k, tau, epsilon = random_case(rng)
        if len(world) < k:
            continue
        samples, promise, effort = as_samples(world), Promise(k, tau, epsilon), rng.choice([1, 2, 2, 3])
        options = HidingOptions(
            selector=SelectorName(selector),
            reuse=rng.choice(list(Reuse)),
            effort=effort,
            leak_price=0.0,
            harden=0,
        )
        timeline, journal = Timeline(samples, promise), MemoryJournal()
        stretches = [turn for turn in timeline.turns() if turn.ends_stretch]
        if len(stretches) > 1:
            continue
        try:
            outcome = released(samples, promise, options, journal=journal)
        except InputError:
            continue
        with Workers(1) as workers:
            setup = HidingSetup(len(world), promise, options, workers)
            chooser = open_selector(setup)
            presence = chooser.find_presence(timeline, SilentProgress())
            slices = {turn.epoch: presence.of(timeline.slice(turn.epoch)) for turn in timeline.turns()}
            sets, boxes = plain_fold(slices, chooser, setup, timeline.reach, effort)
        found = {each[:2]: each.hiding_sets for step in journal for each in step.windows}
        assert set(sets) == {window for window, chosen in found.items() if len(chosen.owners)}
        for window, chosen in sets.items():
            assert np.array_equal(chosen.owners, found[window].owners)
            assert np.array_equal(chosen.members, found[window].members)
        assert same(boxes.by_owner(), outcome.boxes)
        compared += len(sets)
    assert compared > 20


# ---- what more looks are worth -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("k", "harden", "selector"), [(2, 0, "matching"), (3, 1, "matching"), (2, 0, "mutual")]
)
def test_more_looks_cost_less(city: Samples, k: int, harden: int, selector: str) -> None:
    chosen = SelectorName(selector)
    cost = [
        released(
            city, Promise(k, 30, 30), HidingOptions(harden=harden, effort=effort, selector=chosen)
        ).box_sizes.cost
        for effort in (1, 2, 3)
    ]
    assert cost[1] < 0.98 * cost[0]
    assert cost[2] < cost[1]


@pytest.mark.parametrize("effort", [1, 2, 3])
def test_each_look_delays_publication_by_an_epoch(effort: int) -> None:
    world: World = {user: {(epoch * 10 + user, user, 0) for epoch in range(12)} for user in range(9)}
    samples, promise = as_samples(world), Promise(2, 20, 10)
    timeline = Timeline(samples, promise)
    with Workers(1) as workers:
        setup = HidingSetup(9, promise, HidingOptions(harden=1, effort=effort), workers)
        fold = Fold(setup, timeline, open_selector(setup))
        for epoch, ends in timeline.turns():
            step = fold.advance(timeline.slice(epoch), ends_stretch=ends)
            published = epoch - 2 - (effort - 1)
            epochs = set((step.boxes.t0 // 10).tolist())
            assert epochs == set(range(published, 12 if ends else published + 1)) - set(range(-9, 0))
            assert len(step.tentative) == (0 if ends else min(max(epoch - 1, 0), effort - 1))


# ---- going on ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("effort", [2, 3])
def test_going_on_from_any_step_gives_the_same_boxes(effort: int) -> None:
    """Stretches, witnesses, leakage, new names: what is tentative when a run ends is tentative when it goes on."""
    n_tentative = 0
    for seed in range(6):
        rng = random.Random(seed)
        late = np.cumsum([rng.choice([0, 0, 0, 0, 1, 5]) for _ in range(8)]).tolist()
        world: World = {
            user: {
                ((epoch + late[epoch]) * 5 + rng.randrange(5), rng.randint(0, 30), rng.randint(0, 30))
                for epoch in range(8)
                if rng.random() < 0.9
            }
            or {(0, 0, 0)}
            for user in range(20)
        }
        samples, promise = as_samples(world), Promise(2, rng.choice([5, 10]), 5)
        selector = SelectorName(rng.choice(["matching", "mutual"]))
        options = HidingOptions(
            selector=selector,
            harden=rng.choice([0, 1, 3]),
            reuse=rng.choice(list(Reuse)),
            effort=effort,
        ).hardened_where_possible(promise)
        periods = Periods(np.array([15, 30]) if seed % 2 else np.empty(0, np.int64))
        steps = MemoryJournal()
        boxes = released(samples, promise, options, journal=steps, periods=periods).boxes
        for n_done in range(1, len(steps), 2):
            part = MemoryJournal()
            for step in list(steps)[:n_done]:
                part.append(step)
            n_tentative += len(list(part)[-1].tentative)
            assert same(boxes, released(samples, promise, options, journal=part, periods=periods).boxes)
    assert n_tentative > 6


# ---- where it does not apply ---------------------------------------------------------------------------------------


def test_where_there_is_nothing_to_look_at_again() -> None:
    whole = Promise(2, None, None)
    assert HidingOptions(effort=3).for_promise(HALVES).effort == 3
    for options, promise, lack in (
        (HidingOptions(effort=2), whole, "tau and epsilon, got whole trajectories"),
        (HidingOptions(effort=3, selector="spectral"), HALVES, "matching or mutual, got selector spectral"),
    ):
        with pytest.raises(ParameterError, match=f"effort needs .*{lack}: leave it out"):
            options.for_promise(promise)
        assert options.hardened_where_possible(promise).effort == 1
