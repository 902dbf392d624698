"""Attacks by somebody who links windows: against those of a slow attacker, and against the audit's."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from shoal.auditing.attacks.chain import surviving_records
from shoal.auditing.box_index import AttackedRecords, make_records
from shoal.auditing.claims import MethodClaim
from shoal.auditing.context import AuditContext
from shoal.auditing.victims import intervals, knowledge_of
from shoal.core.boxes import NONE
from shoal.core.options import HidingOptions
from shoal.core.promise import Grid, Promise
from shoal.core.workers import Workers
from shoal.core.zones import Zone
from shoal.errors import InputError
from shoal.hiding import hardening, linking
from shoal.hiding.kernels.linking import LinkingAttacks
from shoal.hiding.kernels.witnesses import CoveredWindows, NeighbouringEpochs, WitnessCandidates
from shoal.hiding.pipeline import Outcome, anonymize_samples
from shoal.reading import read_events
from shoal.storage.sample_store import SampleStore
from shoal.synthetic import make_city
from support.release_worlds import release

Box = tuple[int, ...]


class SlowAttacker:
    """An attacker who links windows, in plain Python over all records and all choices, in slots of all columns."""

    def __init__(self, epochs: NeighbouringEpochs, windows: CoveredWindows, attacks: LinkingAttacks) -> None:
        self.epochs, self.windows, self.attacks = epochs, windows, attacks

    def boxes(self, user: int, column: int) -> list[Box]:
        row, shift = self.epochs.row[user, column], column * self.attacks.epsilon
        if row < 0:
            return []
        lines = range(self.epochs.first[row], self.epochs.first[row] + self.epochs.n_boxes[row])
        boxes = [tuple(self.epochs.box[line].tolist()) for line in lines]
        return [(box[0] + shift, box[1] + shift, *box[2:]) for box in boxes]

    def samples(self, user: int, column: int) -> list[Box]:
        row, shift = self.epochs.row[user, column], column * self.attacks.epsilon
        if row < 0:
            return []
        slots = self.epochs.raw.slot[self.epochs.raw.ptr[row] : self.epochs.raw.ptr[row + 1]]
        return [(s.t + shift, s.t + shift, s.x0, s.x1, s.y0, s.y1) for s in slots]

    def seen(self, i: int, columns: range) -> tuple[int, int, list[Box]]:
        begin = int(self.attacks.begin[i])
        end = begin + self.attacks.tau
        samples = [s for column in columns for s in self.samples(int(self.attacks.victim[i]), column)]
        return begin, end, [sample for sample in samples if begin <= sample[0] < end]

    def fits(self, i: int, record: int, columns: range) -> bool:
        begin, end, samples = self.seen(i, columns)
        boxes = [box for column in columns for box in self.boxes(record, column)]
        inside = [box for box in boxes if begin <= box[0] and box[1] < end]
        return all(any(within(s, box) for box in boxes) for s in samples) and all(
            any(within(s, box) for s in samples) for box in inside
        )

    def covers(self, i: int, record: int, other: int, columns: range) -> bool:
        if record == other or not self.fits(i, other, columns):
            return False
        begin, end, samples = self.seen(i, columns)

        def met(box: Box, against: list[Box]) -> bool:
            if begin <= box[0] and box[1] < end:
                return True
            for two in against:
                both = tuple((max if axis % 2 == 0 else min)(box[axis], two[axis]) for axis in range(6))
                common = all(both[axis] <= both[axis + 1] for axis in (0, 2, 4))
                known = begin <= both[0] and both[1] < end
                if common and (not known or any(touch(s, both) for s in samples)):
                    return True
            return False

        one = [box for column in columns for box in self.boxes(record, column)]
        two = [box for column in columns for box in self.boxes(other, column)]
        return all(met(box, two) for box in one) and all(met(box, one) for box in two)

    def windows_without_covers(self, i: int, record: int) -> list[int]:
        """Windows overlapping the interval in which the record has boxes and fewer than k - 1 others can cover it."""
        return [window for window, able in self.covers_of(i, record) if len(able) < self.attacks.k - 1]

    def may_be_hidden(self, i: int, record: int, unless: int = -1) -> bool:
        found = [able for window, able in self.covers_of(i, record) if window != unless]
        return can_all_differ([able for able in found for _ in range(self.attacks.k - 1)])

    def covers_of(self, i: int, record: int) -> list[tuple[int, list[int]]]:
        n_columns, found = self.epochs.row.shape[1], []
        begin = int(self.attacks.begin[i])
        first, last = begin // self.attacks.epsilon, (begin + self.attacks.tau - 1) // self.attacks.epsilon
        for window, low in enumerate(self.windows.begin.tolist()):
            high = int(self.windows.end[window])
            columns = range(low, min(high, n_columns))
            if low > last or high <= first or not any(self.boxes(record, column) for column in columns):
                continue
            able = [u for u in range(len(self.epochs.row)) if self.covers(i, record, u, columns)]
            found.append((window, able))
        return found

    def left(self, i: int) -> int:
        columns, victim = range(self.epochs.row.shape[1]), int(self.attacks.victim[i])
        n = 1
        for record in range(len(self.epochs.row)):
            if record != victim and self.fits(i, record, columns) and self.may_be_hidden(i, record):
                n += 1
        return min(n, self.attacks.k)


def within(sample: Box, box: Box) -> bool:
    return all(sample[axis] >= box[axis] and sample[axis + 1] <= box[axis + 1] for axis in (0, 2, 4))


def touch(one: Box, other: Box) -> bool:
    return all(one[axis] <= other[axis + 1] and other[axis] <= one[axis + 1] for axis in (0, 2, 4))


def can_all_differ(choices: list[list[int]]) -> bool:
    """Whether everybody can have a choice of its own; each who comes may send others to another choice."""
    server: dict[int, int] = {}

    def serve(place: int, asked: set[int]) -> bool:
        for each in choices[place]:
            if each not in asked:
                asked.add(each)
                if each not in server or serve(server[each], asked):
                    server[each] = place
                    return True
        return False

    return all(serve(place, set()) for place in range(len(choices)))


def small_case(rng: random.Random) -> tuple[dict[int, set[tuple[int, int, int]]], int, int, int]:
    """A world of few people who are often there, far and near, and a promise: (world, k, tau, epsilon)."""
    epsilon, reach, extent = rng.choice([3, 4]), rng.choice([1, 1, 2]), rng.choice([3, 30, 300])
    tau = reach * epsilon - rng.choice([0, 1])
    world = {
        user: {
            (epoch * epsilon + rng.randrange(epsilon), rng.randrange(extent), rng.randrange(extent))
            for epoch in range(6)
            for _ in range(rng.choice([0, 1, 1, 1, 2]))
        }
        | {(rng.randrange(epsilon), 0, 0)}
        for user in range(rng.randint(7, 12))
    }
    return world, rng.choice([2, 2, 3]), tau, epsilon


@pytest.fixture
def everybody_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linking, "_NEAR", (10_000,))
    monkeypatch.setattr(linking, "_NEAR_BEFORE", 10_000)


@pytest.mark.usefixtures("everybody_looked_at")
@pytest.mark.parametrize("seed", range(2))
def test_as_many_records_are_left_as_to_a_slow_attacker(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    count, found = linking._count_left, []

    def compared(
        epochs: NeighbouringEpochs, windows: CoveredWindows, attacks: LinkingAttacks, workers: Workers
    ) -> np.ndarray:
        left = count(epochs, windows, attacks, workers)
        slow = SlowAttacker(epochs, windows, attacks)
        for i in range(len(left)):
            assert left[i] == slow.left(i)
            found.append((int(left[i]), attacks.k))
        return left

    monkeypatch.setattr(linking, "_count_left", compared)
    rng = random.Random(seed)
    for _ in range(8):
        world, k, tau, epsilon = small_case(rng)
        try:
            release(world, k, tau, epsilon, harden=rng.choice([1, 3]))
        except InputError:
            continue
    assert sum(left < k for left, k in found) > 20
    assert sum(left == k for left, k in found) > 20


@pytest.mark.usefixtures("everybody_looked_at")
def test_needs_are_worth_what_serving_them_would_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """To a slow attacker, in every window, for every cover, against every window beside."""
    weigh, worths = hardening.worth_of_needs, []

    def compared(
        nearby: NeighbouringEpochs, windows: CoveredWindows, n_closed: int, candidates: WitnessCandidates,
        needs: tuple[int, int], promise: Promise, workers: Workers,
    ) -> np.ndarray:  # fmt: skip
        worth = weigh(nearby, windows, n_closed, candidates, needs, promise, workers)
        epsilon, tau = int(promise.epsilon or 1), int(promise.tau or 1)
        for i, victim in enumerate(candidates.victim.tolist()):
            n_witnesses = witnesses_of(nearby, candidates, i, needs[1])
            need = 0
            for window in range(n_closed, len(windows.begin)):
                begins = [windows.begin[window] * epsilon + (2 * b + 1) * epsilon // 4 for b in range(2)]
                attacks = LinkingAttacks(
                    np.array([victim, victim]), np.array(begins), tau, epsilon, promise.k, 0
                )
                slow = SlowAttacker(nearby, windows, attacks)
                columns = range(nearby.row.shape[1])
                left = [bool(slow.seen(b, columns)[2]) and slow.left(b) < promise.k for b in range(2)]
                for cover in windows.cover[window, victim, : needs[0]].tolist():
                    for beside in range(n_closed, len(windows.begin)):
                        if beside == window:
                            continue
                        helps = 0.0
                        for b in range(2):
                            failing = slow.windows_without_covers(b, cover)
                            if not (left[b] and slow.fits(b, cover, columns)):
                                continue
                            if slow.may_be_hidden(b, cover, unless=beside):
                                helps += 1
                            elif len(failing) > 1 and beside in failing and min(failing) >= n_closed:
                                helps += 1 / len(failing)
                        lacking = n_witnesses[need] < promise.k - 1
                        least = 0.0 if promise.reach == 1 else 0.05
                        assert worth[i, need] == pytest.approx(max(least, helps / 2 if lacking else 0))
                        worths.append(worth[i, need])
                        need += 1
        return worth

    monkeypatch.setattr(hardening, "worth_of_needs", compared)
    rng = random.Random(4)
    for _ in range(8):
        world, k, tau, epsilon = small_case(rng)
        try:
            release(world, k, tau, epsilon, harden=rng.choice([1, 3]))
        except InputError:
            continue
    assert sum(worth <= 0.05 for worth in worths) > 20
    assert sum(worth > 0.05 for worth in worths) > 20


def witnesses_of(
    nearby: NeighbouringEpochs, candidates: WitnessCandidates, line: int, n_needs: int
) -> list[int]:
    """How many of a victim's candidates hold it already, need by need."""
    attacks = LinkingAttacks(candidates.victim, np.empty(0, np.int64), 1, 2**20, 2, 0)
    slow = SlowAttacker(nearby, None, attacks)  # type: ignore[arg-type]
    victim, n = int(candidates.victim[line]), [0] * n_needs
    samples = slow.samples(victim, nearby.here)
    for entry in range(candidates.ptr[line], candidates.ptr[line + 1]):
        boxes = slow.boxes(int(candidates.record[entry]), nearby.here)
        held = all(any(within(s, box) for box in boxes) for s in samples)
        if held and all(any(within(s, box) for s in samples) for box in boxes):
            n = [count + (int(candidates.needs[entry]) >> need & 1) for need, count in enumerate(n)]
    return n


def audit_of(store: SampleStore, outcome: Outcome, promise: Promise) -> AuditContext:
    """What an audit would work on."""
    owners = np.unique(outcome.boxes.owner)
    own = np.full(store.n_users, NONE, np.int64)
    own[owners] = np.arange(len(owners))
    return AuditContext(
        store=store,
        published=AttackedRecords(make_records(outcome.boxes), own),
        promise=promise,
        method_claim=MethodClaim(promise, distinct=True, certain=True),
        grid=Grid.parse(),
        zone=Zone("UTC"),
        n_attacks=4_000,
        seed=0,
        workers=Workers(1),
    )


def records_left(context: AuditContext, victim: np.ndarray, begin: np.ndarray) -> np.ndarray:
    """How many records the audit's attack leaves, for one interval each."""
    known = knowledge_of(context, victim, begin[:, None], context.promise.tau)
    fits = context.fits(context.published, known)
    return np.asarray(surviving_records(context, context.published, known, fits).n)


@pytest.mark.parametrize("level", [1, 3])
def test_the_estimate_is_near_what_the_audit_finds(level: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Attack by attack nearly always the same; over all attacks within what the two ways of drawing differ by."""
    attack, drawn = linking._count_left, []

    def noted(
        epochs: NeighbouringEpochs, windows: CoveredWindows, attacks: LinkingAttacks, workers: Workers
    ) -> np.ndarray:
        left = attack(epochs, windows, attacks, workers)
        drawn.append((windows, attacks, left))
        return left

    seen, origins = linking.attack_published, []

    def with_origin(surroundings: Any, epoch: int, *more: Any) -> Any:
        shown = surroundings.around(epoch)
        origins.append(shown[0].epoch if shown else None)
        before = len(drawn)
        tried = seen(surroundings, epoch, *more)
        for number in range(before, len(drawn)):
            drawn[number] = (origins[-1], *drawn[number][1:])
        return tried

    monkeypatch.setattr(linking, "_count_left", noted)
    monkeypatch.setattr(hardening, "attack_published", with_origin)
    found = read_events(make_city(600, seed=3), grid=Grid.parse())
    promise = Promise(2, 30, 30)
    with Workers(1) as workers:
        outcome = anonymize_samples(found.store, promise, HidingOptions(harden=level), workers)
    context = audit_of(found.store, outcome, promise)
    victim = np.concatenate([attacks.victim for _, attacks, _ in drawn]).astype(np.int64)
    begin = np.concatenate([attacks.begin + origin * 30 for origin, attacks, _ in drawn])
    alone = np.concatenate([left for *_, left in drawn]) < 2
    really = records_left(context, victim, begin) < 2
    assert (alone == really).mean() > 0.95
    assert (really & ~alone).mean() < 0.02  # what is called left alone too often errs on the safe side
    known = intervals(context, np.random.default_rng(0), 30)
    fits = context.fits(context.published, known)
    audited = (surviving_records(context, context.published, known, fits).n < 2).mean()
    assert outcome.estimated_below_k is not None
    assert (
        0.75 * audited < outcome.estimated_below_k < 2.5 * audited
    )  # which counts who is seldom there for more
