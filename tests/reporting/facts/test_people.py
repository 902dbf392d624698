"""The people of a report, held to the meaning: whose record is their own, and which records fit at every time."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from auditing.audit_contexts import context_of, owners_of
from oracles.attacker import consistent, knowledge
from oracles.strong_attackers import fits_with_gaps
from shoal.auditing.context import AuditContext
from shoal.core.promise import Grid
from shoal.core.zones import Zone
from shoal.reporting.facts.people import FollowedPeople, Person, as_json, follow_people

QUARTER = Grid(cell_m=100.0, step_s=900)
TAU = 8  # quarters of an hour
DAY = 96
START = 20_000 * DAY  # midnight, UTC

World = dict[str, set[tuple[int, int, int]]]
Records = dict[str, list[tuple[int, ...]]]


def make_world(seed: int, n_days: int = 2) -> tuple[World, Records]:
    """People who move about in few places, and boxes around their samples: some fit others, many do not."""
    rng = random.Random(seed)
    samples: World = {}
    records: Records = {}
    for user in (f"user {i}" for i in range(7)):
        mine = {
            (START + rng.randrange(n_days * DAY), rng.randrange(4), rng.randrange(3))
            for _ in range(rng.randint(12, 30))
        }
        samples[user] = mine
        boxes: list[tuple[int, ...]] = []
        for t, x, y in sorted(mine):
            if boxes and t <= boxes[-1][1]:
                continue
            far = rng.randint(0, 3)
            boxes.append((t, t + rng.randint(0, 5), x - far, x + far, y - far, y + far))
        records[user] = boxes
    records["user 0"] = records["user 0"][::2]  # some of the samples are suppressed
    return samples, records


def scene_of(
    world: tuple[World, Records], tau: int | None = TAU, zone: str = "UTC", **options: bool
) -> AuditContext:
    context = context_of(*world, 2, tau, tau, **options)
    object.__setattr__(context, "grid", QUARTER)
    object.__setattr__(context, "zone", Zone(zone))
    return context


def user_of(person: Person, samples: World, people: FollowedPeople) -> str:
    """Whose samples these are."""
    found = [
        user
        for user, all_samples in samples.items()
        if sorted(person.samples) == sorted(s for s in all_samples if people.begin <= s[0] < people.end)
    ]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("key", [True, False])
def test_the_records_that_fit_at_every_time(seed: int, key: bool) -> None:
    world = samples, records = make_world(seed)
    people = follow_people(scene_of(world, key=key))
    owners = owners_of(scene_of(world), samples)
    assert people is not None
    n_empty = 0
    for person in people.people:
        user = user_of(person, samples, people)
        assert person.own == (owners.index(user) if key else -1)
        for moment in person.moments:
            known = knowledge(samples, user, moment.begin, TAU)
            fit = {
                r for r, owner in enumerate(owners) if consistent(records[owner], known, moment.begin, TAU)
            }
            if known:  # gaps are forgiven where something is known
                span = (known, moment.begin, moment.begin + TAU)
                fit = set(fits_with_gaps([records[owner] for owner in owners], [span], TAU))
            assert moment.n_fit == len(fit)
            assert set(moment.shown) <= fit - {person.own}
            assert len(moment.shown) == (min(5, len(fit - {person.own})) if known else 0)
            assert moment.own_fits == (not key or person.own in fit)
            n_empty += not known
    assert n_empty


def test_the_boxes_are_those_of_the_records() -> None:
    world = samples, records = make_world(5)
    people = follow_people(scene_of(world))
    owners = owners_of(scene_of(world), samples)
    assert people is not None
    for person in people.people:
        for record, boxes in person.boxes.items():
            meant = [b for b in records[owners[record]] if b[1] >= people.begin and b[0] < people.end]
            assert sorted(boxes) == sorted(meant)


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "America/New_York", "Asia/Kathmandu"])
def test_the_busiest_day_is_one_of_the_zone(zone: str) -> None:
    world = samples, _ = make_world(6, n_days=3)
    people = follow_people(scene_of(world, zone=zone))
    assert people is not None
    assert people.zone == zone

    def local(slot: int) -> datetime:
        return datetime.fromtimestamp(slot * QUARTER.step_s, ZoneInfo(zone))

    days = [local(t).date() for mine in samples.values() for t, _, _ in mine]
    first = datetime.fromtimestamp(people.begin * QUARTER.step_s, UTC).astimezone(ZoneInfo(zone))
    assert (first.hour, first.minute) == (0, 0)
    assert days.count(first.date()) == max(days.count(day) for day in days)
    assert people.end - people.begin == DAY
    for moment in people.people[0].moments:
        begin = local(moment.begin)
        assert moment.from_s == 3600 * begin.hour + 60 * begin.minute
        assert timedelta(seconds=moment.to_s - moment.from_s) == timedelta(seconds=TAU * QUARTER.step_s)


def test_a_day_on_which_clocks_change() -> None:
    """The night of 2024-03-31 in Berlin has no hour from 2 to 3."""
    begin = int(datetime(2024, 3, 30, 23, tzinfo=UTC).timestamp()) // QUARTER.step_s
    samples = {"a": {(begin + i, i, 0) for i in range(0, 90, 6)}}
    records = {"a": [(t, t, x, x, y, y) for t, x, y in sorted(samples["a"])]}
    people = follow_people(scene_of((samples, records), zone="Europe/Berlin"))
    assert people is not None
    assert (people.begin, people.end) == (begin, begin + DAY - 4)
    over = next(moment for moment in people.people[0].moments if moment.begin == begin + 4)
    assert (over.from_s, over.to_s) == (3600, 4 * 3600)


def test_whole_trajectories_are_shown_whole() -> None:
    world = samples, records = make_world(7, n_days=3)
    people = follow_people(scene_of(world, tau=None))
    owners = owners_of(scene_of(world), samples)
    assert people is not None
    for person in people.people:
        user = user_of(person, samples, people)
        assert sorted(person.samples) == sorted(samples[user])
        (moment,) = person.moments
        assert moment.n_fit == sum(consistent(records[owner], samples[user], None, None) for owner in owners)


def test_a_tau_of_several_days_is_shown_in_full() -> None:
    world = samples, records = make_world(8, n_days=4)
    tau = 2 * DAY + 10
    people = follow_people(scene_of(world, tau=tau))
    owners = owners_of(scene_of(world), samples)
    assert people is not None
    for person in people.people:
        user = user_of(person, samples, people)
        for moment in person.moments:
            assert people.begin <= moment.begin <= people.end - tau
            known = knowledge(samples, user, moment.begin, tau)
            fit = [consistent(records[owner], known, moment.begin, tau) for owner in owners]
            assert moment.n_fit == sum(fit)


def test_what_the_script_reads_is_the_same() -> None:
    people = follow_people(scene_of(make_world(9)))
    assert people is not None
    told = as_json(people, (0.0, 0.0))
    assert told["length"] == TAU
    west = min(x for x, _ in told["places"])
    assert west >= 0
    for person, read in zip(people.people, told["people"], strict=True):
        assert read["own"] == person.own
        t, x, y = (a - b for a, b in zip(person.samples[0], read["samples"][0], strict=True))
        assert [tuple(s) for s in read["samples"]] == [(a - t, b - x, c - y) for a, b, c in person.samples]
        assert t == people.begin
        for record, boxes in person.boxes.items():
            shifted = [
                (b[0] - t, b[1] - t + 1, b[2] - x, b[3] - x + 1, b[4] - y, b[5] - y + 1) for b in boxes
            ]
            assert [tuple(b) for b in read["boxes"][str(record)]] == shifted
        assert [(m[0] + t, m[1], m[2]) for m in read["moments"]] == [
            (m.begin, m.n_fit, m.shown) for m in person.moments
        ]
