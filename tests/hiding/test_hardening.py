"""Witnesses against an attacker who links windows: the search against a slow one, and what they are good for."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from oracles.casual_worlds import random_case
from shoal.core.options import HARDEN_MOST_REACH, HidingOptions, Reuse, SelectorName
from shoal.core.promise import Grid, Promise
from shoal.core.workers import Workers
from shoal.errors import InputError, ParameterError
from shoal.hiding import hardening
from shoal.hiding.epochs import Timeline
from shoal.hiding.fold import Fold
from shoal.hiding.journal import MemoryJournal
from shoal.hiding.kernels.pools import taken
from shoal.hiding.kernels.reuse import ReuseRule
from shoal.hiding.kernels.witnesses import (
    CoveredWindows,
    NeighbouringEpochs,
    RecordState,
    WitnessCandidates,
    WitnessChoice,
)
from shoal.hiding.matching.selector import MatchingSelector
from shoal.hiding.merging import costs_of, with_members
from shoal.hiding.pipeline import Outcome, anonymize_samples
from shoal.hiding.selector import HidingSetup
from shoal.hiding.steering import AIMS
from shoal.reading import read_events
from shoal.synthetic import make_city
from support.release_worlds import as_samples, release

Box = tuple[int, ...]


class SlowSearch:
    """The search in plain Python, from the definition of a witness."""

    def __init__(
        self,
        nearby: NeighbouringEpochs,
        windows: CoveredWindows,
        state: RecordState,
        rule: ReuseRule,
        weight: float,
    ) -> None:
        self.nearby, self.windows, self.state, self.rule, self.weight = nearby, windows, state, rule, weight

    def boxes(self, user: int, column: int) -> list[Box]:
        row = self.nearby.row[user, column]
        if row < 0:
            return []
        first = self.nearby.first[row]
        return [tuple(box) for box in self.nearby.box[first : first + self.nearby.n_boxes[row]].tolist()]

    def slots(self, user: int, column: int) -> list[Box]:
        row = self.nearby.row[user, column]
        if row < 0:
            return []
        raw = self.nearby.raw
        return [
            (slot.t, slot.t, slot.x0, slot.x1, slot.y0, slot.y1)
            for slot in raw.slot[raw.ptr[row] : raw.ptr[row + 1]]
        ]

    def holds(self, record: int, user: int, column: int) -> bool:
        boxes, slots = self.boxes(record, column), self.slots(user, column)
        return all(any(inside(slot, box) for box in boxes) for slot in slots) and all(
            any(inside(slot, box) for slot in slots) for box in boxes
        )

    def meet(self, one: int, other: int, column: int) -> bool:
        a, b = self.boxes(one, column), self.boxes(other, column)
        return all(any(touch(box, d) for d in b) for box in a) and all(
            any(touch(box, d) for d in a) for box in b
        )

    def is_witness(self, victim: int, cover: int, window: int, beside: int, record: int) -> bool:
        own = range(self.windows.begin[window], self.windows.end[window])
        others = range(self.windows.begin[beside], self.windows.end[beside])
        return (
            record not in (victim, cover)
            and all(self.meet(cover, record, column) for column in others if column not in own)
            and all(
                self.holds(record, victim, column)
                for column in others
                if column in own and column < self.nearby.here
            )
        )

    def price(self, record: int, victim: int) -> float:
        here = self.nearby.row[record, self.nearby.here] - self.nearby.offset
        own = np.array([self.nearby.row[victim, self.nearby.here]])
        with Workers(1) as workers:
            joined = with_members(taken(self.state.pools, np.array([here])), self.nearby.raw, own, workers)
            return float(costs_of(joined, self.weight, workers)[0] - self.state.cost[here])

    def options(self, victim: int, cover: int, beside: int, near: int) -> Iterator[int]:
        yield from self.windows.cover[beside, cover].tolist()
        yield from self.windows.member[beside, cover].tolist()
        yield from self.windows.cover[beside, victim].tolist()
        crowd = [user for user in self.windows.user[beside].tolist() if user >= 0]
        place = crowd.index(cover)
        for step in range(1, near + 1):
            side = place + (step // 2 if step % 2 == 0 else -(step + 1) // 2)
            if 0 <= side < len(crowd):
                yield crowd[side]

    def least(
        self, victim: int, most: float, n_covers: int, near: int, worth: list[float]
    ) -> tuple[float, set[int]]:
        """The least price for what needs are worth, and the records that have it."""
        n, wanted = len(self.windows.begin), self.windows.cover.shape[2]
        needs = [
            (cover, window, beside)
            for window in range(n)
            for cover in self.windows.cover[window, victim, :n_covers].tolist()
            for beside in range(n)
            if window != beside
        ]
        here = self.nearby.here
        asked = {
            record
            for cover, _, beside in needs
            for record in self.options(victim, cover, beside, near)
            if record >= 0 and self.nearby.row[record, here] >= 0
        } - {victim}
        needs_of = {
            record: {need for need in needs if self.is_witness(victim, *need, record)} for record in asked
        }
        there = {record for record in asked if self.holds(record, victim, here)}
        lacking = {need for need in needs if sum(need in needs_of[record] for record in there) < wanted}
        candidates = {}
        for record in asked - there:
            served = sum(worth[needs.index(need)] for need in needs_of[record] & lacking)
            past = self.rule.past
            entries = range(past.first[record], past.first[record] + past.length[record])
            rule = any(past.member[e] == victim and past.when[e] >= self.rule.since for e in entries)
            if served and not rule and self.price(record, victim) / served <= most:
                candidates[record] = self.price(record, victim) / served
        least = min(candidates.values(), default=np.inf)
        return least, {record for record, price in candidates.items() if price == least}


def asked_in_turn(
    slow: SlowSearch, victim: int, n_covers: int, near: int, most: int
) -> list[tuple[int, int]]:
    """Records that are witnesses, or would be, in the order of asking, each with its needs as bits."""
    n, wanted, here = len(slow.windows.begin), slow.windows.cover.shape[2], slow.nearby.here
    needs = [
        (cover, window, beside)
        for window in range(n)
        for cover in slow.windows.cover[window, victim, :n_covers].tolist()
        for beside in range(n)
        if window != beside
    ]
    found: list[tuple[int, int]] = []
    asked, n_witnesses = {victim}, [0] * len(needs)
    for number, (cover, _, beside) in enumerate(needs):
        for record in slow.options(victim, cover, beside, near):
            if n_witnesses[number] >= wanted or len(found) == most:
                break
            if record < 0 or record in asked:
                continue
            asked.add(record)
            if slow.nearby.row[record, here] < 0:
                continue
            served = [slow.is_witness(victim, *need, record) for need in needs]
            if any(served):
                found.append((record, sum(1 << bit for bit, yes in enumerate(served) if yes)))
                if slow.holds(record, victim, here):
                    n_witnesses = [count + yes for count, yes in zip(n_witnesses, served, strict=True)]
    return found


def inside(slot: Box, box: Box) -> bool:
    return all(slot[axis] >= box[axis] and slot[axis + 1] <= box[axis + 1] for axis in (0, 2, 4))


def touch(one: Box, other: Box) -> bool:
    return all(one[axis] <= other[axis + 1] and other[axis] <= one[axis + 1] for axis in (0, 2, 4))


@pytest.mark.parametrize("seed", range(4))
def test_the_cheapest_witness_is_found(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The price is the least among the records that were asked, and here all are asked."""
    gather, fast = hardening.gather_candidates, hardening.seek_witnesses
    counts = {"found": 0, "none": 0}
    asked: list[tuple[CoveredWindows, int, int]] = []

    def noted(
        nearby: NeighbouringEpochs,
        windows: CoveredWindows,
        victims: np.ndarray,
        n_covers: int,
        near: int,
        workers: Workers,
    ) -> WitnessCandidates:
        asked.append((windows, n_covers, near))
        return gather(nearby, windows, victims, n_covers, near, workers)

    def compared(
        nearby: NeighbouringEpochs, candidates: WitnessCandidates, state: RecordState,
        rule: ReuseRule, weight: float, most: float,
        wanted: int, worth: np.ndarray, lines: np.ndarray, begin: int, end: int, choice: WitnessChoice,
    ) -> None:  # fmt: skip
        fast(nearby, candidates, state, rule, weight, most, wanted, worth, lines, begin, end, choice)
        windows, n_covers, near = asked[-1]
        slow = SlowSearch(nearby, windows, state, rule, weight)
        for i in range(begin, end):
            victim = int(candidates.victim[lines[i]])
            least, cheapest = slow.least(victim, most, n_covers, near, worth[lines[i]].tolist())
            if choice.witness[i] < 0:
                counts["none"] += 1
                assert not cheapest
            else:
                counts["found"] += 1
                assert choice.witness[i] in cheapest
                assert choice.price[i] == pytest.approx(least)

    randomness = np.random.default_rng(seed)

    def any_worth(*given: Any) -> np.ndarray:
        candidates, (_, n_needs) = given[3], given[4]
        return randomness.choice([0.0, 0.5, 1.0], (len(candidates.victim), n_needs), p=[0.2, 0.3, 0.5])

    monkeypatch.setattr(hardening, "gather_candidates", noted)
    monkeypatch.setattr(hardening, "worth_of_needs", any_worth)
    monkeypatch.setattr(hardening, "seek_witnesses", compared)
    monkeypatch.setattr(hardening, "_NEAR", 10_000)
    rng = random.Random(seed)
    for _ in range(60):
        world, k, tau, epsilon = random_case(rng)
        try:
            release(world, k, tau, epsilon, harden=rng.choice([1, 3]), weight=rng.choice([1.0, 2.0]))
        except InputError:
            continue
    assert counts["found"] > 10
    assert counts["none"] > 30


@pytest.mark.parametrize(("most", "together"), [(1, 500), (3, 2), (256, 500)])
def test_records_are_asked_in_turn_until_there_are_enough_witnesses(
    most: int, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many are remembered and put together, and on however many threads."""
    gather, n_candidates = hardening.gather_candidates, []

    def compared(
        nearby: NeighbouringEpochs,
        windows: CoveredWindows,
        victims: np.ndarray,
        n_covers: int,
        near: int,
        workers: Workers,
    ) -> WitnessCandidates:
        found = gather(nearby, windows, victims, n_covers, near, workers)
        with Workers(3) as threads:
            again = gather(nearby, windows, victims, n_covers, near, threads)
        assert all(np.array_equal(one, other) for one, other in zip(found, again, strict=True))
        slow = SlowSearch(nearby, windows, None, None, 1.0)  # type: ignore[arg-type]
        for i, victim in enumerate(victims.tolist()):
            part = slice(found.ptr[i], found.ptr[i + 1])
            candidates = list(zip(found.record[part].tolist(), found.needs[part].tolist(), strict=True))
            assert candidates == asked_in_turn(slow, victim, n_covers, near, most)
            n_candidates.append(len(candidates))
        return found

    monkeypatch.setattr(hardening, "gather_candidates", compared)
    monkeypatch.setattr(hardening, "_NEAR", 4)
    monkeypatch.setattr(hardening, "_MOST_CANDIDATES", most)
    monkeypatch.setattr(hardening, "_VICTIMS_TOGETHER", together)
    rng = random.Random(most)
    for _ in range(25):
        world, k, tau, epsilon = random_case(rng)
        with contextlib.suppress(InputError):
            release(world, k, tau, epsilon, harden=rng.choice([1, 3]))
    assert max(n_candidates) >= min(most, 4)
    assert sum(n_candidates) > 20


def test_what_is_broken_off_is_not_linked_to_what_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two runs of epochs far apart: all windows that are looked at hold the epoch that is about to be published."""
    gather, n_windows = hardening.gather_candidates, []

    def looked_at(nearby: NeighbouringEpochs, windows: CoveredWindows, *more: Any) -> WitnessCandidates:
        assert windows.begin.min() >= 0
        assert (windows.begin <= nearby.here).all()
        assert (windows.end > nearby.here).all()
        assert windows.end.max() <= nearby.row.shape[1]
        n_windows.append(len(windows.begin))
        return gather(nearby, windows, *more)

    monkeypatch.setattr(hardening, "gather_candidates", looked_at)
    world = {user: {(epoch * 10 + user % 7, user, 0) for epoch in range(40)} for user in range(12)}
    promise = Promise(2, 20, 10)
    timeline = Timeline(as_samples(world), promise)
    with Workers(1) as workers:
        setup = HidingSetup(12, promise, HidingOptions(harden=1), workers)
        fold = Fold(setup, timeline, MatchingSelector(setup))
        for epochs in (range(5), range(20, 25)):
            steps = [fold.advance(timeline.slice(epoch), ends_stretch=False) for epoch in epochs]
            assert [step.hiding_sets is not None for step in steps] == [False, False, True, True, True]
            fold.skip_epochs()
    assert n_windows == [1, 2, 3, 1, 2, 3]


@pytest.fixture(scope="module")
def outcomes() -> dict[int, Outcome]:
    """A city at every level."""
    found = read_events(make_city(500), grid=Grid.parse())
    with Workers(1) as workers:
        return {
            level: anonymize_samples(found.store, Promise(2, 30, 30), HidingOptions(harden=level), workers)
            for level in range(len(AIMS))
        }


def test_each_level_costs_more_and_suppresses_nothing_more(outcomes: dict[int, Outcome]) -> None:
    costs = [outcome.box_sizes.cost for outcome in outcomes.values()]
    assert costs == sorted(costs)
    assert 1 < costs[1] / costs[0] < 1.25
    assert costs[3] / costs[0] < 1.7
    assert len({outcome.n_suppressed for outcome in outcomes.values()}) == 1


def test_going_on_from_any_step_gives_the_same_boxes() -> None:
    """Several stretches of time, with witnesses: who became one is remembered, and so is what was published."""
    n_witnesses = 0
    for seed in range(12):
        rng = random.Random(seed)
        epsilon, reach = rng.choice([3, 5]), rng.randint(1, 3)
        late = np.cumsum([rng.choice([0, 0, 0, 1, 5]) for _ in range(9)]).tolist()
        world = {
            user: {
                (
                    (epoch + late[epoch]) * epsilon + rng.randrange(epsilon),
                    rng.randint(0, 30),
                    rng.randint(0, 30),
                )
                for epoch in range(9)
                if rng.random() < 0.9
            }
            or {(0, 0, 0)}
            for user in range(20)
        }
        promise, samples = Promise(2, reach * epsilon, epsilon), as_samples(world)
        options = HidingOptions(harden=rng.choice([1, 3]), reuse=rng.choice(list(Reuse)))
        whole = MemoryJournal()
        with Workers(1) as workers:
            boxes = anonymize_samples(samples, promise, options, workers, journal=whole).boxes
            steps = list(whole)
            n_witnesses += sum(len(step.witnesses.owners) for step in steps)
            for n_done in range(1, len(steps), 2):
                part = MemoryJournal()
                for step in steps[:n_done]:
                    part.append(step)
                again = anonymize_samples(samples, promise, options, workers, journal=part).boxes
                assert all(np.array_equal(one, other) for one, other in zip(boxes, again, strict=True))
    assert n_witnesses > 50


def applied(harden: int | None, selector: str, promise: Promise) -> int | None:
    return HidingOptions(harden=harden, selector=SelectorName(selector)).for_promise(promise).harden


def test_where_there_is_nothing_to_harden() -> None:
    halves, whole = Promise(2, 30, 30), Promise(2, None, None)
    long = Promise(2, 30 * (HARDEN_MOST_REACH + 1), 30)
    assert applied(None, "matching", halves) == 1
    assert applied(0, "matching", halves) == 0
    assert applied(3, "matching", halves) == 3
    for selector, promise in (
        ("mutual", halves),
        ("spectral", halves),
        ("matching", long),
        ("matching", whole),
    ):
        assert applied(None, selector, promise) == 0
        assert applied(0, selector, promise) == 0
        with pytest.raises(ParameterError, match="leave it out"):
            applied(1, selector, promise)
    for level in (-1, 4, 1.5, True):
        with pytest.raises(ParameterError, match="harden must be"):
            applied(level, "matching", halves)  # type: ignore[arg-type]
