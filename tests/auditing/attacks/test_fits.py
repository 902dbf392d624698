"""Every attack against the oracle, attack by attack on small random releases, broken and overlapping ones included."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from auditing.audit_contexts import context_of, damaged, owners_of
from oracles import auditor
from oracles.attacker import knowledge
from oracles.casual_worlds import random_case
from oracles.reference import reference_release
from shoal.auditing.attacks import chain, everybody, inference, linkage, place_in_box, places, rankings, times
from shoal.auditing.context import AuditContext
from shoal.auditing.kernels.chain import find_survivors
from shoal.auditing.kernels.fits import find_common_extents, find_leaks, score_fits
from shoal.auditing.kernels.known_cells import count_cells
from shoal.auditing.measures import NO_KEY, linkage_outcomes
from shoal.auditing.victims import intervals, knowledge_of, points
from shoal.core.workers import Workers
from shoal.utility.home_work import footprints
from shoal.utility.kernels.home_work import find_heaviest_places

SEEDS = range(4)


class Case:
    """A release and every attack on it that knows something."""

    def __init__(self, rng: random.Random, *, small: bool = False) -> None:
        while True:
            world, self.k, self.tau, self.epsilon = random_case(rng)
            if small:  # the oracle counts cells one by one
                world = {user: {(t, x % 6, y % 6) for t, x, y in own} for user, own in world.items()}
            release = reference_release(world, self.k, self.tau, self.epsilon, rng)
            if release is not None:
                break
        self.world = world
        self.records = damaged(rng, release.records, overlaps=True)
        self.context = context_of(world, self.records, self.k, self.tau, self.epsilon)
        self.owners = owners_of(self.context, world)
        self.users = sorted(world)
        self.attacks = list(self._attacks(rng))
        victims = np.array([self.users.index(user) for user, _ in self.attacks], np.int64)
        begins = np.array([[a] for _, a in self.attacks], np.int64)
        self.knowledge = knowledge_of(self.context, victims, begins, self.tau)
        self.fits = self.context.fits(self.context.published, self.knowledge)

    def _attacks(self, rng: random.Random) -> Iterator[tuple[Any, int]]:
        for user in rng.sample(self.users, min(4, len(self.users))):
            times = sorted({t for t, _, _ in self.world[user]})
            near = {t + shift for t in times[:6] for shift in range(-self.tau, 1)}
            for a in rng.sample(sorted(near), min(6, len(near))):
                if knowledge(self.world, user, a, self.tau):
                    yield user, a

    def fitting(self, attack: int) -> list[Any]:
        at, n = int(self.fits.at[attack]), int(self.fits.n[attack])
        return [self.owners[record] for record in self.fits.record[at : at + n].tolist()]


def cases(seed: int, n: int, **options: bool) -> Iterator[Case]:
    rng = random.Random(seed)
    for _ in range(n):
        yield Case(rng, **options)


@pytest.mark.parametrize("seed", SEEDS)
def test_records_that_fit(seed: int) -> None:
    for case in cases(seed, 30):
        for attack, (user, a) in enumerate(case.attacks):
            found = case.fitting(attack)
            known = [(a, a + case.tau)]
            strict = auditor.candidates(case.world, case.records, user, known)
            expected = auditor.fitting(case.world, case.records, user, known, case.epsilon)
            assert len(found) == len(set(found))
            assert set(found) == expected
            assert case.fits.forgiven[attack] == (not strict)
            assert not strict or strict == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_several_intervals_and_points(seed: int) -> None:
    for case in cases(seed, 12):
        context, rng = case.context, np.random.default_rng(seed)
        for n in (2, 3):
            drawn = intervals(context, rng, case.tau, n)
            fits = context.fits(context.published, drawn)
            for attack in range(0, len(drawn.victim), 10):
                pieces = slice(drawn.ptr[attack], drawn.ptr[attack + 1])
                known = list(zip(drawn.begin[pieces].tolist(), drawn.end[pieces].tolist(), strict=True))
                assert len(known) == n
                assert all(earlier[1] <= later[0] for earlier, later in pairwise(known))
                user = case.users[drawn.victim[attack]]
                expected = auditor.fitting(case.world, case.records, user, known, case.epsilon)
                assert fits.n[attack] == len(expected)
        for n in (1, 4):
            drawn = points(context, rng, n)
            fits = context.fits(context.published, drawn)
            for attack in range(0, len(drawn.victim), 10):
                rows = drawn.first[drawn.ptr[attack] : drawn.ptr[attack + 1]]
                known_points = {
                    (int(context.samples.t[row]), int(context.samples.x[row]), int(context.samples.y[row]))
                    for row in rows
                }
                assert len(known_points) == n
                assert known_points <= case.world[case.users[drawn.victim[attack]]]
                assert fits.n[attack] == len(auditor.points_fit(case.records, known_points, case.epsilon))


@pytest.mark.parametrize("seed", SEEDS)
def test_scores_of_rankings(seed: int) -> None:
    for case in cases(seed, 20):
        scores = np.empty((len(case.fits.record), 3))
        score_fits(
            case.context.trajectories, case.context.published.index, case.knowledge, case.fits,
            0, len(case.attacks), scores,
        )  # fmt: skip
        line = 0
        for attack, (user, a) in enumerate(case.attacks):
            known = knowledge(case.world, user, a, case.tau)
            for owner in case.fitting(attack):
                boxes = case.records[owner]
                expected = (
                    -auditor.smallest_score(boxes, known),
                    auditor.faces_score(boxes, known),
                    -auditor.central_score(boxes, known),
                )
                assert scores[line] == pytest.approx([float(score) for score in expected])
                line += 1


@pytest.mark.parametrize("distinct", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_survivors_of_the_chain(seed: int, distinct: bool) -> None:
    ruled_out = 0
    for case in cases(seed, 30):
        context = case.context
        surviving = np.empty(len(case.fits.record), np.bool_)
        known = chain.known_method(context, context.published)._replace(distinct=distinct)
        find_survivors(
            context.trajectories, context.published.index, context.published.by_end, case.knowledge, case.fits, known,
            0, len(case.attacks), surviving,
        )  # fmt: skip
        for attack, (user, a) in enumerate(case.attacks):
            at = int(case.fits.at[attack])
            owners = case.fitting(attack)
            found = {owner for place, owner in enumerate(owners) if surviving[at + place]}
            expected = auditor.chain_survivors(
                case.world, case.records, user, a, case.k, case.tau, case.epsilon, distinct
            )
            assert found == expected or case.fits.forgiven[attack]
            ruled_out += len(owners) - len(found)
    assert ruled_out


def test_where_gaps_are_forgiven_nobody_is_ruled_out() -> None:
    forgiven = 0
    for case in cases(4, 30):
        context = case.context
        survivors = chain.surviving_records(context, context.published, case.knowledge, case.fits)
        some = case.fits.forgiven & (case.fits.n > 0)
        assert (survivors.n[some] == case.fits.n[some]).all()
        assert not survivors.ruled_out_truth[some].any()
        forgiven += int(some.sum())
    assert forgiven


@pytest.mark.parametrize("seed", SEEDS)
def test_leakage(seed: int) -> None:
    leaking = 0
    for case in cases(seed, 30):
        leaked = np.empty(len(case.attacks), np.int64)
        find_leaks(
            case.context.trajectories, case.context.published.index, case.knowledge, case.fits, case.epsilon,
            0, len(case.attacks), leaked,
        )  # fmt: skip
        for attack, (user, a) in enumerate(case.attacks):
            expected = auditor.leakage(case.world, case.records, user, a, case.tau, case.epsilon)
            if expected is not None:
                assert leaked[attack] == expected
                leaking += expected > 0
    assert leaking


@pytest.mark.parametrize("seed", SEEDS)
def test_common_places(seed: int) -> None:
    most = 10**6
    for case in cases(seed, 20):
        extent = np.empty(len(case.attacks), np.int64)
        find_common_extents(
            case.context.published.index, case.knowledge, case.fits, False, most,
            0, len(case.attacks), extent,
        )  # fmt: skip
        for attack, (user, a) in enumerate(case.attacks):
            expected = auditor.homogeneity(case.world, case.records, user, a, case.tau, case.epsilon)
            assert extent[attack] == (most if expected is None else expected)


@pytest.fixture(scope="module")
def three() -> Iterator[Workers]:
    with Workers(3) as workers:
        yield workers


@pytest.mark.parametrize("seed", SEEDS)
def test_top_locations(seed: int, three: Workers) -> None:
    for case in cases(seed, 20, small=True):
        n_cells = np.empty(len(case.users), np.int64)
        count_cells(case.context.trajectories, 3, 0, len(case.users), n_cells)
        assert n_cells.tolist() == [
            min(3, len({(x, y) for _, x, y in case.world[user]})) for user in case.users
        ]
        for n in (1, 2, 3):
            known = [
                (place, user, auditor.top_cells(case.world[user], n))
                for place, user in enumerate(case.users)
                if user in case.records and len(auditor.top_cells(case.world[user], n)) == n
            ]
            if not known:
                continue
            cells = np.array([top for _, _, top in known], np.int64)
            own = case.context.published.own[[place for place, _, _ in known]]
            visited = places.cells_by_visits(case.context, np.arange(len(case.context.samples)))
            line = visited.at[[place for place, _, _ in known]][:, None] + np.arange(n)
            assert visited.x[line].tolist() == cells[:, :, 0].tolist()
            assert visited.y[line].tolist() == cells[:, :, 1].tolist()
            for workers in (case.context.workers, three):
                found = places.cell_fits(
                    case.context.published, own, cells[:, :, 0].copy(), cells[:, :, 1].copy(), workers
                )
                for attack, (_, user, top) in enumerate(known):
                    fitting = auditor.cells_fit(case.records, top)
                    assert found.n[attack] == len(fitting)
                    own_fits = found.own_covered[attack] == found.covered[attack] > 0
                    assert own_fits == (user in fitting)
                    everyone = [float(auditor.share_on_cells(boxes, top)) for boxes in case.records.values()]
                    assert found.own_share[attack] == pytest.approx(
                        float(auditor.share_on_cells(case.records[user], top))
                    )
                    assert found.largest[attack] == pytest.approx(max(everyone))
                    assert found.n_largest[attack] == sum(
                        share == pytest.approx(max(everyone), abs=1e-12) for share in everyone
                    )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("place", ["home", "work"])
def test_home_and_work(seed: int, place: str) -> None:
    def at_night(t: int) -> bool:
        return t % 24 >= 22 or t % 24 < 6

    def at_work(t: int) -> bool:
        return 9 <= t % 24 < 17 and (t // 24 + 3) % 7 < 5

    hours, when = (at_night, places._at_night) if place == "home" else (at_work, places._at_work)
    for case in cases(seed, 20, small=True):
        context = case.context
        counted = when(context, context.published.records.boxes.t0)
        x, y = np.empty((2, len(case.owners)))
        boxes, n_records = context.published.records.boxes, context.published.records.n_records
        places_of = footprints(boxes, np.flatnonzero(counted), n_records)
        find_heaviest_places(places_of, 0, len(case.owners), x, y)
        for record, owner in enumerate(case.owners):
            expected = auditor.guessed_place(case.records[owner], hours)
            if expected is None:
                assert np.isnan(x[record])
                continue
            # Sums of fractions may tie where floats do not, so a guess may be any of the heaviest.
            guess = (round(2 * x[record]), round(2 * y[record]))
            assert guess == expected or _weight(case.records[owner], hours, guess) == _weight(
                case.records[owner], hours, expected
            )
        visited = places.cells_by_visits(context, np.flatnonzero(when(context, context.samples.t)))
        for number, user in enumerate(case.users):
            true = auditor.true_place(case.world[user], hours)
            if true is None:
                assert visited.n[number] == 0
            else:
                assert (visited.x[visited.at[number]], visited.y[visited.at[number]]) == true


def _weight(boxes: list, hours: Any, doubled: tuple[int, int]) -> Any:
    """The heaviest middle of a box whose doubled centre this is."""
    beginning = [box for box in boxes if hours(box[0])]
    weights = []
    for box in beginning:
        if (box[2] + box[3] + 1, box[4] + box[5] + 1) == doubled:
            middle = ((box[2] + box[3]) // 2, (box[4] + box[5]) // 2)
            weights.append(
                sum(
                    auditor.Fraction(1, len(auditor.cells_of(other)))
                    for other in beginning
                    if middle in auditor.cells_of(other)
                )
            )
    return max(weights)


def scene_of(seed: int, **options: Any) -> AuditContext:
    case = next(cases(seed, 1))
    return context_of(case.world, case.records, case.k, case.tau, case.epsilon, **options)


ATTACKS = (
    linkage.attack_linkage, linkage.attack_longer, linkage.attack_intervals, linkage.attack_points,
    rankings.attack_rankings, chain.attack_chain, inference.attack_homogeneity,
    places.attack_top_locations, places.attack_home_and_work, place_in_box.attack_place,
    times.attack_times, times.attack_presence, everybody.attack_everybody,
    lambda context: inference.attack_leakage(context).measures,
)  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
def test_every_attack_has_the_same_shape(attack: Any) -> None:
    """Shares between 0 and 1 inside their intervals, equal for equal seeds; needing the key or not needing it."""
    for seed in range(3):
        found = attack(scene_of(seed))
        assert found
        assert len({(figure.attack, figure.variant, figure.measure) for figure in found}) == len(found)
        assert found == attack(scene_of(seed))
        for figure in found:
            for share in (figure.published, figure.raw):
                if not isinstance(share, str):
                    assert 0 <= share.low <= share.value <= share.high <= 1
                    assert 0 < share.n <= (100 if figure.attack != "everybody" else 1000)
            assert figure.guessing is None or 0 <= figure.guessing <= 1
        keyless = attack(scene_of(seed, key=False))
        assert [figure[:3] for figure in keyless] == [figure[:3] for figure in found]
        for figure in keyless:
            needs_key = (
                figure.attack in ("rankings", "home_and_work", "place", "everybody")
                or figure.measure in ("pick", "read")
                or (figure.attack == "method" and figure.measure in ("success", "above", "ruled_out"))
            )
            assert (figure.published == NO_KEY) == needs_key


def test_a_single_record_that_is_somebody_elses_is_no_success() -> None:
    n, own = np.array([1, 1, 2, 5, 0]), np.array([True, False, True, True, False])
    found = linkage_outcomes(n, own, 3)
    assert found["single"].tolist() == [True, False, False, False, False]
    assert found["below_k"].tolist() == [True, False, True, False, False]
    assert found["success"].tolist() == [1.0, 0.0, 0.5, 0.2, 0.0]


def test_intervals_begin_anywhere_before_the_sample_they_hold() -> None:
    world = {user: {(100, 0, 0)} for user in range(3)}
    records = {user: [(100, 100, 0, 0, 0, 0)] for user in world}
    drawn = intervals(context_of(world, records, 2, 8, 8, n_attacks=4000), np.random.default_rng(0), 8)
    counts = np.bincount(drawn.begin - 93, minlength=8)
    assert len(counts) == 8
    assert counts.min() > 400


def test_separate_intervals_may_touch() -> None:
    world = {user: {(0, 0, 0), (1, 0, 0)} for user in range(2)}
    records = {user: [(0, 1, 0, 0, 0, 0)] for user in world}
    drawn = intervals(context_of(world, records, 2, 1, 1), np.random.default_rng(0), 1, 2)
    assert len(drawn.victim) == 100  # only slots 0 and 1 hold samples, and both are drawn
