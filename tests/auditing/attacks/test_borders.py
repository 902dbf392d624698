"""Both parts beside a border: pairs by brute force, and worlds in which the attacker must succeed, or must not."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import pytest

from auditing.parts_contexts import as_cells, parts_context
from oracles.borders import pairs_left, parts_left, twins, windows_of_periods
from oracles.strong_attackers import best_share, mass_on
from shoal.auditing.attacks import borders
from shoal.auditing.attacks.attackers import picked
from shoal.auditing.attacks.borders import Pairs, attack_across_borders, watched_slots
from shoal.auditing.attacks.part_links import PairLines, describe_some, described, part_records
from shoal.auditing.attacks.place_in_box import place_weights
from shoal.auditing.box_index import AttackedRecords
from shoal.auditing.context import AuditContext
from shoal.auditing.kernels.fits import Knowledge
from shoal.auditing.kernels.relinking import PAIR_FEATURES
from shoal.auditing.measures import NO_KEY, NO_VICTIM, Measure
from shoal.auditing.victims import knowledge_of
from shoal.core.boxes import UNKNOWN, Boxes
from shoal.core.periods import Periods
from shoal.core.promise import Grid, Promise
from shoal.core.proportions import Proportion
from shoal.core.samples import Samples, samples_from_columns

TWENTY_MINUTES = Grid(cell_m=100.0, step_s=1200)
THREE_PERIODS = Periods(np.array([6, 12]))
TIMED, WHOLE = Promise(2, 3, 3), Promise(2, None, None)  # an hour, with --whole, is three slots as well
WATCHED = 3
Part = tuple[int, int]  # person and period
Box = tuple[int, ...]


def people_of(rows: Any) -> Samples:
    """Samples from rows of person, t, x and y."""
    user, t, x, y = np.array(sorted(set(rows)), np.int64).T
    names = np.array([f"u{i}" for i in range(user.max() + 1)], object)
    return samples_from_columns(names, user, t, x, y)


# --- pairs by brute force ----------------------------------------------------------------------------------


class World(NamedTuple):
    """A release in parts as attacks see it, and as the oracle does."""

    context: AuditContext
    samples: dict[Part, set[tuple[int, int, int]]]
    records: dict[Part, list[Box]]
    part_of: list[Part]  # of every record

    @property
    def k(self) -> int:
        return self.context.promise.k

    @property
    def windows(self) -> list[tuple[int, int]] | None:
        """The windows of whole parts; those of tau and epsilon the oracle finds itself."""
        if self.context.promise.tau is not None:
            return None
        return windows_of_periods(self.records, lambda t: int(THREE_PERIODS.of(np.array([t]))[0]))


def some_world(rng: random.Random, promise: Promise) -> World:
    """A few people in few places. Boxes are hulls of what some of them did in an hour; with ``--whole``, pairs of
    people have the same, from time to time."""
    n = rng.randint(3, 8)
    places = [(rng.randrange(4), rng.randrange(2)) for _ in range(rng.choice([1, 2, 4]))]
    rows = {(u, t, *rng.choice(places)) for u in range(n) for t in range(18) if rng.random() < 0.5}
    rows |= {(u, t, *places[0]) for u in range(n) for t in (5, 6) if rng.random() < 0.7}
    rows |= {(u, 9, 0, 0) for u in range(n)}
    boxes: dict[int, list[Box]] = {}
    for u in range(n):
        boxes[u] = []
        group = [u - u % 2, u - u % 2 + 1] if promise.whole else [u, rng.randrange(n)]
        for hour in range(6):
            seen = [row[1:] for row in rows if row[0] in group and row[1] // 3 == hour]
            there = any(row[0] == u and row[1] // 6 == hour // 2 for row in rows)
            if seen and there and rng.random() < 0.95:
                boxes[u].append(
                    tuple(end for axis in zip(*seen, strict=True) for end in (min(axis), max(axis)))
                )
    people = people_of(rows)
    published = [(u, *box) for u in boxes for box in boxes[u]]
    columns = np.array(published, np.int64).T
    context = parts_context(
        people,
        THREE_PERIODS,
        Boxes(columns[0].astype(np.int32), columns[1], columns[2], *columns[3:].astype(np.int32)),
        promise=promise,
        grid=TWENTY_MINUTES,
        n_attacks=20,
        seed=rng.randrange(1000),
        names=np.random.default_rng(rng.randrange(1000)),
    )
    return seen_by_the_oracle(context)


def seen_by_the_oracle(context: AuditContext) -> World:
    parts, samples, box = context.parts, context.samples, context.published.records.box
    assert parts is not None
    of_user = list(zip(parts.person.tolist(), parts.period.tolist(), strict=True))
    known: dict[Part, set[tuple[int, int, int]]] = {part: set() for part in of_user}
    for user, *sample in zip(
        *(c.tolist() for c in (samples.user, samples.t, samples.x, samples.y)), strict=True
    ):
        known[of_user[user]].add(tuple(sample))
    owner = {int(record): of_user[user] for user, record in enumerate(context.published.own) if record >= 0}
    records: dict[Part, list[Box]] = {}
    for row in box.tolist():
        fields = dict(zip(box.dtype.names or (), row, strict=True))
        place = tuple(fields[name] for name in ("t0", "t1", "x0", "x1", "y0", "y1"))
        records.setdefault(owner[fields["record"]], []).append(place)
    return World(context, known, records, [owner[r] for r in range(context.published.records.n_records)])


class Attack(NamedTuple):
    """Somebody who was watched across a border."""

    number: int
    before: Part
    after: Part
    begin: int


def drawn(world: World) -> tuple[list[Knowledge], list[Attack]]:
    context = world.context
    assert context.parts is not None
    before, after, begin = borders._drawn(context, context.parts, WATCHED)
    known = [knowledge_of(context, users, begin[:, None], WATCHED) for users in (before, after)]
    parts = list(zip(context.parts.person.tolist(), context.parts.period.tolist(), strict=True))
    return known, [
        Attack(i, parts[b], parts[a], int(when))
        for i, (b, a, when) in enumerate(zip(before, after, begin, strict=True))
    ]


def told(records: dict[Part, list[Box]], one: Part, other: Part) -> float:
    """A score that goes by the boxes of both parts; many are equal."""
    return crc32(repr((sorted(records[one]), sorted(records[other]))).encode()) % 4


def scores_by_boxes(world: World) -> Callable[..., np.ndarray]:
    """Stands for the conditional logit."""

    def scores(_context: AuditContext, pairs: Pairs, _half: np.ndarray) -> np.ndarray:
        lines = zip(pairs.one.tolist(), pairs.other.tolist(), strict=True)
        return np.array(
            [told(world.records, world.part_of[i], world.part_of[j]) for i, j in lines], np.float64
        )

    return scores


def worlds(seed: int, n: int, promise: Promise) -> Iterator[World]:
    rng = random.Random(seed)
    for _ in range(n):
        yield some_world(rng, promise)


@pytest.mark.parametrize("promise", [TIMED, WHOLE], ids=["tau", "whole"])
@pytest.mark.parametrize("seed", range(3))
def test_the_best_of_all_pairs_is_picked(
    seed: int, promise: Promise, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twins stand for themselves here: the oracle knows no short cut."""
    met: Counter[str] = Counter()
    for world in worlds(seed, 12, promise):
        known, attacks = drawn(world)
        assert attacks
        monkeypatch.setattr(borders, "learnt_scores", scores_by_boxes(world))
        apart = np.zeros(len(attacks))
        found = borders.pick_pairs(world.context, world.context.published, known, apart)
        for attack in attacks:
            asked = (attack.begin, WATCHED, world.k, WATCHED, world.windows)
            left = pairs_left(world.samples, world.records, attack.before, attack.after, *asked)
            scores = {pair: told(world.records, *pair) for pair in left}
            same = {
                (one, other)
                for one in twins(world.records, attack.before)
                for other in twins(world.records, attack.after)
            }
            assert found.pick[attack.number] == pytest.approx(
                best_share(scores, {(attack.before, attack.after)})
            )
            assert found.read[attack.number] == pytest.approx(best_share(scores, same))
            met["several"] += len(left) > 1
            met["twins"] += len(same & left) > 1
            met["picked"] += 0 < found.pick[attack.number] < 1
            met["missed"] += found.pick[attack.number] == 0
            fit = parts_left(world.samples, world.records, attack.before, *asked[:2], 1, WATCHED)
            met["ruled out"] += {one for one, _ in left} < fit
    assert min(met[name] for name in ("several", "twins", "picked", "missed")) > 10, met
    assert met["ruled out"] > 5 or promise.whole, met


def test_of_many_parts_those_with_most_mass_in_known_places_make_pairs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    most, fewer = 2, 0
    monkeypatch.setattr(borders, "_MOST_PAIRED", most)
    for world in worlds(7, 10, TIMED):
        known, attacks = drawn(world)
        pairs = borders.candidate_pairs(world.context, world.context.published, known)
        files = [world.records[part] for part in world.part_of]
        for attack in attacks:
            for records, victim in ((pairs.one, attack.before), (pairs.other, attack.after)):
                chosen = {world.part_of[r] for r in records[pairs.attack == attack.number].tolist()}
                left = parts_left(
                    world.samples, world.records, victim, attack.begin, WATCHED, world.k, WATCHED
                )
                seen = sorted(
                    s for s in world.samples[victim] if attack.begin <= s[0] < attack.begin + WATCHED
                )
                cells = [seen[at][1:] for at in (0, len(seen) // 2, -1)]
                mass = {
                    part: mass_on(files, world.part_of.index(part), cells, place_weights(), WATCHED)
                    for part in left
                }
                different = {tuple(world.records[part]) for part in left}
                if not chosen:  # nothing is left on one of the sides, so that there are no pairs
                    continue
                assert len(chosen) == min(most, len(different))
                rest = [m for part, m in mass.items() if not twins(world.records, part) & chosen]
                assert min(mass[part] for part in chosen) >= max(rest, default=-np.inf) - 1e-9
                fewer += len(different) > most
    assert fewer > 50


def test_where_too_many_are_left_both_sides_are_looked_at_by_themselves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(borders, "_MOST_COMPARED", 2)
    outcomes: Counter[bool] = Counter()
    for world in worlds(11, 10, TIMED):
        known, attacks = drawn(world)
        found = borders.pick_pairs(
            world.context, world.context.published, known, np.full(len(attacks), 0.123)
        )
        for attack in attacks:
            sides = [
                parts_left(world.samples, world.records, victim, attack.begin, WATCHED, world.k, WATCHED)
                for victim in (attack.before, attack.after)
            ]
            many = any(len({tuple(world.records[part]) for part in left}) > 2 for left in sides)
            assert (found.pick[attack.number] == 0.123) == many
            assert (found.read[attack.number] == 0.123) == many
            outcomes[many] += 1
    assert min(outcomes[many] for many in (False, True)) > 20


@pytest.mark.parametrize("target", ["published", "raw"])
def test_some_pairs_are_described_as_the_linker_describes_them(target: str) -> None:
    """All features where all records are asked for; those that need no commonness where some are."""
    world = some_world(random.Random(3), TIMED)
    attacked: AttackedRecords = getattr(world.context, target)
    assert world.context.parts is not None
    records = part_records(world.context, world.context.parts, attacked)
    n = attacked.records.n_records
    one, other = (each.ravel() for each in np.meshgrid(np.arange(n), np.arange(n)))
    lines = PairLines(one, other, one, one)
    expected = described(records, lines)
    assert describe_some(world.context, attacked, one, other) == pytest.approx(expected)
    some = np.flatnonzero((one % 3 == 1) & (other % 2 == 0))
    plain = [
        PAIR_FEATURES.index(name) for name in ("overlap", "faces", "size", "near", "border_gap", "pause")
    ]
    few = describe_some(world.context, attacked, one[some], other[some])
    assert few[:, plain] == pytest.approx(expected[np.ix_(some, plain)])


# --- planted worlds ----------------------------------------------------------------------------------------


def markets(n_markets: int, stalls: int, *, loyal: bool = True) -> Samples:
    """People who meet at markets on both sides of the border, and have a place of their own else: around the market, up
    to four of them as far from it, so that nothing but the place tells one from another. Unless they are ``loyal``,
    people of a market exchange their places at the border."""
    rng = np.random.default_rng(5)
    rows = []
    for market in range(n_markets):
        middle = 1000 * market
        places = [rng.permutation(stalls), rng.permutation(stalls)]
        for stall in range(stalls):
            u = market * stalls + stall
            rows += [(u, t, middle, 0) for t in (5, 6)]
            for period, times in enumerate((range(4), range(8, 12))):
                place = int(places[0 if loyal else period][stall])
                away = (1 - place % 4 // 2 * 2) * 4 * (1 + place // 4)
                x, y = (middle + away, 0) if place % 2 else (middle, away)
                rows += [(u, t, x, y) for t in times]
    return people_of(rows)


def plain(people: Samples, promise: Promise = TIMED, **options: Any) -> AuditContext:
    """Samples as they are, in two periods."""
    return parts_context(
        people, Periods(np.array([6])), as_cells(people), promise=promise, grid=TWENTY_MINUTES, **options
    )


def figures(measures: list[Measure]) -> dict[str, Measure]:
    assert {each.attack for each in measures} <= {"across_border"}
    return {each.measure: each for each in measures}


def share(measure: Measure) -> float:
    assert isinstance(measure.published, Proportion)
    return measure.published.value


def test_who_looks_at_both_sides_at_once_finds_more() -> None:
    """Three people fit on either side, so that each side by itself is right once in nine times; but each of them has
    a place that ties two parts together, and then one of three pairs is the right one."""
    found = figures(attack_across_borders(plain(markets(40, 3), n_attacks=400)))
    assert share(found["success"]) == pytest.approx(1 / 9)
    assert share(found["pick"]) == pytest.approx(1 / 3, abs=0.06)
    assert isinstance(found["pick"].raw, Proportion)
    assert found["pick"].raw.value == pytest.approx(1 / 3, abs=0.06)
    assert found["pick"].guessing == pytest.approx(1 / 120**2)


def test_where_nothing_ties_parts_together_nothing_is_gained() -> None:
    found = figures(attack_across_borders(plain(markets(40, 3, loyal=False), n_attacks=400)))
    assert share(found["pick"]) == pytest.approx(1 / 9, abs=0.05)


def test_which_of_many_equals_make_pairs_does_not_go_by_whose_they_are() -> None:
    """Sixty people look alike on either side: 25 of them are compared, and that the victim is one is chance."""
    context = plain(markets(1, 60, loyal=False), n_attacks=400)
    assert context.parts is not None
    before, after, begin = borders._drawn(context, context.parts, WATCHED)
    known = [knowledge_of(context, users, begin[:, None], WATCHED) for users in (before, after)]
    for target in (context.published, context.raw):
        pairs = borders.candidate_pairs(context, target, known)
        assert (np.bincount(pairs.attack) == 25 * 25).all()
        lucky = len(np.unique(before[pairs.attack[pairs.right]]))
        assert lucky / len(np.unique(before)) == pytest.approx((25 / 60) ** 2, abs=0.15)


def test_each_half_is_judged_by_what_the_other_half_taught() -> None:
    """Half 1 teaches lies: that the parts which have least in common are one person's. Half 0 is judged by these."""
    context = plain(markets(40, 3), n_attacks=400)
    assert context.parts is not None
    before, after, begin = borders._drawn(context, context.parts, WATCHED)
    known = [knowledge_of(context, users, begin[:, None], WATCHED) for users in (before, after)]
    pairs = borders.candidate_pairs(context, context.published, known)
    half = context.half[before]
    lies = np.where((half == 1)[pairs.attack], least_alike(pairs), pairs.right)
    score = borders.learnt_scores(context, pairs._replace(right=lies), half)
    pick = picked(pairs.attack, score, pairs.right, len(half), pairs.n_alike)
    assert pick[half == 1].mean() == pytest.approx(1 / 3, abs=0.08)
    assert pick[half == 0].mean() < 0.05


def least_alike(pairs: Pairs) -> np.ndarray:
    """For every attack, the pair of parts with the least kinship, of equals the first."""
    kinship = pairs.features[:, PAIR_FEATURES.index("kinship") - borders._N_ALIKENESS]
    order = np.lexsort((kinship, pairs.attack))
    chosen = np.zeros(len(order), np.bool_)
    chosen[order[np.flatnonzero(np.diff(pairs.attack[order], prepend=-1))]] = True
    return chosen


def test_whole_parts_are_watched_for_an_hour() -> None:
    """Two people always have the same part. Both pairs of twins fit, and nobody can tell twins apart."""
    found = figures(attack_across_borders(plain(twin_towns(20), WHOLE, n_attacks=300)))
    assert set(found) == {"success", "single", "same", "pick", "read"}
    assert share(found["success"]) == pytest.approx(1 / 16)
    assert share(found["single"]) == share(found["same"]) == 0
    assert share(found["pick"]) <= 1 / 4 + 1e-9  # of two twins on either side one is the person
    assert share(found["pick"]) == pytest.approx(1 / 8, abs=0.04)
    assert share(found["read"]) == pytest.approx(1 / 2, abs=0.12)


def twin_towns(n_markets: int) -> Samples:
    """Four people to a market; two and two of them are everywhere together."""
    people = markets(n_markets, 4)
    rows = list(zip(*(c.tolist() for c in (people.user, people.t, people.x, people.y)), strict=True))
    return people_of((u, t, x, y) for who, t, x, y in rows if who % 2 == 0 for u in (who, who + 1))


@pytest.mark.parametrize(("step_s", "slots"), [(60, 60), (1200, 3), (1800, 2), (3600, 2), (86_400, 2)])
def test_for_how_long_whole_parts_are_watched(step_s: int, slots: int) -> None:
    assert watched_slots(WHOLE, Grid(cell_m=100.0, step_s=step_s)) == slots
    assert watched_slots(Promise(2, 7, 1), Grid(cell_m=100.0, step_s=step_s)) == 7


@pytest.mark.parametrize("promise", [TIMED, WHOLE], ids=["tau", "whole"])
def test_nobody_at_the_border(promise: Promise) -> None:
    """Everybody is seen three slots apart: as long as somebody is watched, and not less."""
    rows = [(u, t, u, 0) for u in range(6) for t in (1, 4, 7, 10)]
    found = attack_across_borders(plain(people_of(rows), promise))
    assert {each.published for each in found} == {each.raw for each in found} == {NO_VICTIM}
    assert {"success", "single", "pick"} <= {each.measure for each in found}
    rows += [(2, 5, 2, 0)]
    assert share(figures(attack_across_borders(plain(people_of(rows), promise)))["single"]) == 1


def test_without_a_key_it_is_counted_what_is_left() -> None:
    context = plain(markets(10, 3))
    unknown = np.full_like(context.published.own, UNKNOWN)
    hidden = replace(context, published=AttackedRecords(context.published.records, unknown))
    found = figures(attack_across_borders(hidden))
    assert found["pick"].published == NO_KEY
    assert isinstance(found["pick"].raw, Proportion)
    assert share(found["success"]) == pytest.approx(1 / 9)
    assert share(found["single"]) == 0


def test_where_names_never_change_nobody_looks() -> None:
    assert attack_across_borders(replace(plain(markets(3, 3)), parts=None)) == []
