"""Whole regions: frozen for each seed, with the figures of the paper's table, and lived in by people."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import shoal
from shoal.errors import InputError, ParameterError
from shoal.synthetic.city import START_S
from shoal.synthetic.random_streams import Streams, child
from shoal.synthetic.region.days import MIDDAY, MORNING, OUTINGS, draw_day
from shoal.synthetic.region.making import prepare
from shoal.synthetic.region.people import Habits, Journeys, draw_people
from shoal.synthetic.region.presets import PRESETS
from shoal.synthetic.region.region import samples_of

# The paper's table of datasets: surface in km2, antennas, users, samples per user and hour, days.
PAPER = {
    "abi": (2_731, 400, 29_191, 0.90, 14),
    "dak": (1_024, 457, 71_146, 0.74, 14),
    "shn": (3_329, 2_961, 50_000, 1.00, 1),
    "civ": (322_463, 1_238, 82_728, 0.75, 14),
    "sen": (196_712, 1_666, 286_926, 0.45, 14),
}
DAY_MIN = 1_440

# Published figures refer to these regions. If one of them changes, the preset needs another name.
FROZEN = {
    ("abi", 0): "c7f50e38f0d022be999364665c612ea257cc6ba1eb8505a11566d4c0bb783f1f",
    ("abi", 1): "379c4a9133c4adba2bc1982276cde0aa6a0d78cf79c42a1f33e701160e986279",
    ("dak", 0): "c06b33c7b746f090f61d127d6c6a404a5ed7711763bad4dcfd70084b930163e0",
    ("dak", 1): "e229346ed659ca8f7fb5e5afcec1067b92b471a16955fa3d348ae57597041c6f",
    ("shn", 0): "0e4a0c7b54caa471c39ae9a07dcecbaef66b015daadcf3a8dd8ef4d882b290e3",
    ("shn", 1): "bdf447f6eac44cd1db69e168ba6ce776c9c66077d0bd1f833d98eaf4bc8a0116",
    ("civ", 0): "89dcbc3edde5d1610af15aa8d452f3f3fcaac57b02099d42d1d38ab8790f7a5f",
    ("civ", 1): "151e9771fbea6cba848d9ffb03f7e49e1270ea52e54f7a61dd4c4af7be190a3c",
    ("sen", 0): "8b34313c1033393094e39ceb08058b3faad104f0a26da6a443224ca36590a9f6",
    ("sen", 1): "5212f9558b41a1062ea40114f2b98ceccda217fdae7e4c69994270f28ac04aa6",
}
FROZEN_ON_SITES = "7036e8c0d4c4482488fc66ac00aed6956842b5da093eb9f07b56ea06fefcb72b"


def content_hash(events: pa.Table) -> str:
    digest = hashlib.sha256("\n".join(events["user"].to_pylist()).encode())
    digest.update(events["time"].cast(pa.int64()).to_numpy().astype("<i8").tobytes())
    for column in events.column_names[2:]:
        digest.update(events[column].to_numpy().astype("<f8").tobytes())
    return digest.hexdigest()


def grid_of_sites(n: int = 60) -> pa.Table:
    number = np.arange(n)
    return pa.table({"lat": 48.0 + 0.01 * (number % 10), "lon": 2.0 + 0.013 * (number // 10)})


def test_presets_have_the_figures_of_the_paper() -> None:
    assert {
        name: (p.surface_km2, p.antennas, p.users, p.samples_per_hour, p.days) for name, p in PRESETS.items()
    } == PAPER


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", PAPER)
def test_rate_and_antennas_are_within_three_percent(name: str, seed: int) -> None:
    _, antennas, _, rate, days = PAPER[name]
    users = 16_000 if name == "shn" else 6_000
    making = prepare(name, users=users, seed=seed)
    seen = samples_of(making.region, 0, users, days)
    assert len(seen.user) / (users * days * 24) == pytest.approx(rate, rel=0.03)
    assert len(np.unique(seen.user)) == users
    assert len(making.region.antennas.x) == antennas
    assert len(np.unique(seen.antenna)) > 0.97 * antennas


@pytest.mark.parametrize(("name", "seed"), FROZEN)
def test_is_frozen(name: str, seed: int) -> None:
    assert content_hash(shoal.make_region(name, users=300, days=3, seed=seed)) == FROZEN[name, seed]


def test_people_around_given_sites_are_frozen() -> None:
    assert content_hash(shoal.make_region("shn", users=300, sites=grid_of_sites())) == FROZEN_ON_SITES


def test_columns_and_order() -> None:
    events = shoal.make_region("abi", users=50, days=2)
    assert events.schema == pa.schema(
        {"user": pa.string(), "time": pa.timestamp("s", tz="UTC"), "lat": pa.float64(), "lon": pa.float64()}
    )
    rows = list(zip(events["user"].to_pylist(), events["time"].to_pylist(), strict=True))
    assert rows == sorted(set(rows))
    assert set(events["user"].to_pylist()) == {f"u{index:06d}" for index in range(50)}
    seconds = events["time"].cast(pa.int64()).to_numpy() - START_S
    assert (seconds % 60 == 0).all()
    assert 0 <= seconds.min() <= seconds.max() < 2 * 86_400


def test_same_seed_same_region_other_seed_another() -> None:
    first = shoal.make_region("dak", users=40, days=1, seed=7)
    assert first.equals(shoal.make_region("dak", users=40, days=1, seed=7))
    assert not first.equals(shoal.make_region("dak", users=40, days=1, seed=8))


def test_users_do_not_depend_on_how_many_are_made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = shoal.make_region("abi", users=41, days=2, seed=3)
    monkeypatch.setattr("shoal.synthetic.region.making._SAMPLES_AT_ONCE", 1)
    making = prepare("abi", users=41, days=2, seed=3)
    assert len(making) == 11
    assert pa.concat_tables(making.tables()).equals(whole)


def test_smaller_regions_are_parts_of_larger_ones() -> None:
    large = shoal.make_region("civ", users=44, days=3, seed=5)
    small = shoal.make_region("civ", users=22, days=2, seed=5)
    end = pa.scalar(START_S + 2 * 86_400).cast(pa.timestamp("s", tz="UTC"))
    part = large.filter(pc.and_(pc.less(large["user"], "u000022"), pc.less(large["time"], end)))
    assert part.combine_chunks().equals(small.combine_chunks())


@pytest.mark.parametrize(("name", "silent"), [("abi", 0), ("sen", 2)])
def test_everybody_is_seen_on_the_days_the_paper_asks_for(name: str, silent: int) -> None:
    making = prepare(name, users=2_000)
    seen = samples_of(making.region, 0, 2_000, 14)
    days = np.unique(seen.user * 14 + seen.minute // DAY_MIN) // 14
    active = np.bincount(days, minlength=2_000)
    assert active.min() >= 14 - silent
    assert (active.min() < 14) == (silent > 0)


def test_samples_per_hour_can_be_asked_for() -> None:
    for rate in (0.25, 3.0, 8.0):
        making = prepare("dak", users=2_000, samples_per_hour=rate)
        assert len(samples_of(making.region, 0, 2_000, 14).user) / (2_000 * 14 * 24) == pytest.approx(
            rate, rel=0.03
        )


def test_surface_and_antennas_can_be_asked_for() -> None:
    events = shoal.make_region("abi", users=400, days=1, surface_km2=100, antennas=50)
    assert len(set(zip(events["lat"].to_pylist(), events["lon"].to_pylist(), strict=True))) <= 50
    assert np.ptp(events["lat"].to_numpy()) * 110.574 <= 10.01


# ---- people who move together -----------------------------------------------------------------------------------


def test_households_meet_more_than_neighbours_do() -> None:
    making = prepare("abi", users=4_000)
    region = making.region
    seen = samples_of(region, 0, 4_000, 14)
    people = draw_people(np.arange(4_000, dtype=np.int64), region.attraction, region.stream)
    weekend_noon = (seen.minute // DAY_MIN % 7 >= 5) & (seen.minute % DAY_MIN // 60 >= 10)
    at = {
        (user, minute // 60): antenna
        for user, minute, antenna in zip(
            seen.user[weekend_noon].tolist(),
            seen.minute[weekend_noon].tolist(),
            seen.antenna[weekend_noon].tolist(),
            strict=True,
        )
    }
    mates = [(int(head), user) for user, head in enumerate(people.head) if head != user]
    by_home: dict[int, list[int]] = {}
    for user, home in enumerate(people.home.tolist()):
        by_home.setdefault(home, []).append(user)
    neighbours = [
        (group[i], group[i + 1])
        for group in by_home.values()
        for i in range(len(group) - 1)
        if people.head[group[i]] != people.head[group[i + 1]]
    ]

    def together_out(pairs: list[tuple[int, int]]) -> float:
        """Share of the hours in which both are seen, one of them not at home, that they spend at one antenna."""
        both = [
            (at[first, hour], at[second, hour])
            for first, second in pairs
            for hour in range(24 * 14)
            if (first, hour) in at and (second, hour) in at and at[first, hour] != people.home[first]
        ]
        return float(np.mean([a == b for a, b in both]))

    assert together_out(mates) > 3 * together_out(neighbours)


def test_colleagues_have_lunch_at_one_place_and_time() -> None:
    region = prepare("abi", users=8_000).region
    people = draw_people(np.arange(8_000, dtype=np.int64), region.attraction, region.stream)
    habits, journeys = Habits(people, region.attraction, len(OUTINGS)), Journeys(people, region.attraction, 0)
    stream = child(people.stream, 1_000)
    monday = draw_day(people, habits, journeys, region.network, region.attraction, stream, 0)
    out = people.worker & (monday.place[:, MORNING] == people.work) & (monday.place[:, MIDDAY] != people.work)

    def met(group: Streams) -> float:
        """Share of those eating out who come to one antenna within the same minute as the next of their group."""
        eating = np.flatnonzero(out)
        order = eating[np.argsort(group[eating], kind="stable")]
        first, second = order[:-1], order[1:]
        mates = (group[first] == group[second]) & (people.head[first] != people.head[second])
        place, minute = monday.place[:, MIDDAY], monday.arrival[:, MIDDAY] // 60
        return float(((place[first] == place[second]) & (minute[first] == minute[second]))[mates].mean())

    assert met(people.firm) > 0.4
    assert met(people.work.astype(np.uint64)) < 0.1  # most others there are of other firms


def test_trips_pass_other_antennas() -> None:
    making = prepare("civ", users=1_000)
    seen = samples_of(making.region, 0, 1_000, 14)
    x, y = making.region.network.x[seen.antenna], making.region.network.y[seen.antenna]
    same_user = (seen.user[1:-1] == seen.user[:-2]) & (seen.user[1:-1] == seen.user[2:])
    quick = same_user & (seen.minute[2:] - seen.minute[:-2] < 180)
    whole = np.hypot(x[2:] - x[:-2], y[2:] - y[:-2])
    legs = np.hypot(x[1:-1] - x[:-2], y[1:-1] - y[:-2]) + np.hypot(x[2:] - x[1:-1], y[2:] - y[1:-1])
    between = quick & (whole > 30_000) & (legs < 1.1 * whole) & (legs > 0)
    on_the_way = (
        between & (seen.antenna[1:-1] != seen.antenna[:-2]) & (seen.antenna[1:-1] != seen.antenna[2:])
    )
    assert on_the_way.sum() > 20


# ---- antennas from a table --------------------------------------------------------------------------------------


def test_events_stand_at_the_given_sites() -> None:
    sites = grid_of_sites()
    events = shoal.make_region("shn", users=300, sites=sites)
    given = set(zip(sites["lat"].to_pylist(), sites["lon"].to_pylist(), strict=True))
    found = set(zip(events["lat"].to_pylist(), events["lon"].to_pylist(), strict=True))
    assert found <= given
    assert len(found) > 50


def test_sites_in_metres_give_events_in_metres() -> None:
    number = np.arange(40)
    sites = pa.table({"x": 500_000.0 + 700 * (number % 8), "y": 4_000_000.0 + 900 * (number // 8)})
    events = shoal.make_region("abi", users=100, days=1, sites=sites)
    assert events.column_names == ["user", "time", "x", "y"]
    assert set(events["x"].to_pylist()) <= set(sites["x"].to_pylist())


def test_sites_on_both_sides_of_the_date_line_are_neighbours() -> None:
    here = grid_of_sites()
    lon = here["lon"].to_numpy() + 178.0
    there = here.set_column(1, "lon", pa.array(np.where(lon > 180, lon - 360, lon)))
    assert (there["lon"].to_numpy() < 0).any()
    expected = shoal.make_region("shn", users=30, sites=here)
    found = shoal.make_region("shn", users=30, sites=there)
    assert found.drop_columns("lon").equals(expected.drop_columns("lon"))
    assert np.allclose((found["lon"].to_numpy() - 178.0) % 360, expected["lon"].to_numpy())


def test_a_site_given_twice_is_one() -> None:
    sites = grid_of_sites()
    doubled = pa.concat_tables([sites, sites])
    assert shoal.make_region("shn", users=30, sites=doubled).equals(
        shoal.make_region("shn", users=30, sites=sites)
    )


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "preset": ({"preset": "xyz"}, "must be one of abi, dak, shn, civ, sen"),
    "users": ({"users": 0}, "users must be a whole number of at least 1, got 0"),
    "days": ({"days": 1.5}, "days must be a whole number of at least 1, got 1.5"),
    "seed": ({"seed": -1}, "seed must be"),
    "surface": ({"surface_km2": 0}, "surface must be a whole number of at least 1"),
    "vast": ({"surface_km2": 10**8}, "surface must be at most"),
    "antennas": ({"antennas": 3}, "antennas must be a whole number of at least 10, got 3"),
    "many": ({"antennas": 20_000, "surface_km2": 10**6}, "antennas must be at most 10,000, got 20,000"),
    "crowded": ({"antennas": 400, "surface_km2": 20}, "at most 5 to a square kilometre, got 400 on 20"),
    "rate": ({"samples_per_hour": 0}, "samples per hour must be a number above 0 and at most 20, got 0"),
    "rare": ({"samples_per_hour": 0.01}, "samples per hour must be at least 0.1, got 0.01"),
    "both": ({"antennas": 50, "sites": grid_of_sites()}, "leave out surface and antennas"),
    "few": ({"sites": grid_of_sites(5)}, "must have 10 to 10,000 different positions, found 5"),
    "far": (
        {"sites": pa.table({"lat": np.zeros(20), "lon": 9.0 * np.arange(20)})},
        "must lie within 2,500 km each way",
    ),
    "columns": ({"sites": pa.table({"a": [1.0], "b": [2.0]})}, "lat and lon, or x and y"),
    "broken": (
        {"sites": pa.table({"lat": [100.0] + [1.0] * 20, "lon": np.arange(21) / 10})},
        "1 of 21 rows without a usable position",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_wishes(case: str) -> None:
    wishes, words = BAD[case]
    with pytest.raises((ParameterError, InputError)) as caught:
        shoal.make_region(**({"preset": "abi", "users": 8, "days": 1} | wishes))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
