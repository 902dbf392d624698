"""Bands that hold, and a check that fails on data that are no people."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
import pytest

import shoal
from shoal.errors import InputError
from shoal.synthetic import make_city
from shoal.synthetic.credibility.bands import BANDS, TOPICS
from shoal.synthetic.credibility.verdict import Credibility
from support.paths import DATA

USERS, DAYS, START = 400, 14, 1_704_067_200
YJMOB = DATA / "yjmob100k_1k_users.parquet"


def outside(found: Credibility) -> set[str]:
    assert found.credible == (not any(check.outside for check in found.checks))
    return {check.band.name for check in found.checks if check.outside}


def table(user: object, second: object, x: object, y: object) -> pa.Table:
    return pa.table({"user": user, "time": second, "x": x, "y": y})


@pytest.fixture(scope="module")
def city() -> pa.Table:
    return make_city(USERS, DAYS, seed=2)


@pytest.fixture(scope="module")
def measured(city: pa.Table) -> Credibility:
    return shoal.assess(city)


# ---- bands ---------------------------------------------------------------------------------------------------------


def test_every_topic_has_a_band_and_every_band_a_topic() -> None:
    assert {band.topic for band in BANDS} == {topic.name for topic in TOPICS}


def test_bands_are_told_apart_by_name_and_kind_of_area() -> None:
    assert len({(band.name, band.only) for band in BANDS}) == len(BANDS)
    for band in BANDS:
        assert band.high is None or band.low < band.high
        assert band.source
        assert band.reason


def test_a_band_holds_its_ends() -> None:
    band = next(band for band in BANDS if band.name == "gap_exponent")
    assert band.holds(band.low)
    assert band.holds(band.high or 0)
    assert not band.holds(band.low - 1e-9)
    assert not band.holds((band.high or 0) + 1e-9)
    assert dataclasses.replace(band, high=None).holds(1e9)


def test_cities_and_countries_are_held_to_their_own_bands(city: pa.Table, measured: Credibility) -> None:
    assert {check.band.only for check in measured.checks} == {None, "city"}
    far = pc.if_else(pc.less(city["user"], "u000200"), pc.add(city["lat"], 4.0), city["lat"])
    spread_out = shoal.assess(city.set_column(2, "lat", far))
    assert spread_out.measures.setting.is_country
    assert {check.band.only for check in spread_out.checks} == {None, "country"}


def test_one_stray_does_not_make_a_city_a_country(city: pa.Table) -> None:
    lat = city["lat"].to_numpy().copy()
    lat[:50] += 5
    assert not shoal.assess(city.set_column(2, "lat", pa.array(lat))).measures.setting.is_country


def test_short_data_are_not_judged_by_what_takes_days() -> None:
    found = shoal.assess(make_city(150, 1, seed=1))
    lacks = {check.band.name: check.lack for check in found.checks}
    assert lacks["places_exponent"] == lacks["visit_exponent"] == lacks["unicity"] == "needs 7 days"
    assert lacks["samples_per_user_hour"] is lacks["trough_hour"] is None


def test_coarse_times_are_not_judged_by_their_gaps(city: pa.Table) -> None:
    coarse = pc.multiply(pc.divide(city["time"].cast(pa.int64()), 1_800), 1_800)
    found = shoal.assess(city.set_column(1, "time", coarse))
    (check,) = [check for check in found.checks if check.band.name == "gap_exponent"]
    assert (check.value, check.lack, check.outside) == (None, "needs times to the minute", False)
    assert found.measures.setting.resolution_s == 1_800


def test_few_samples_per_antenna_are_not_judged_by_their_load() -> None:
    found = shoal.assess(make_city(100, 1, seed=1))
    (check,) = [check for check in found.checks if check.band.name == "busiest_tenth"]
    assert check.lack == "needs 20 samples per antenna"


def test_few_users_are_refused() -> None:
    with pytest.raises(InputError, match=r"need at least 100 users, found 99: take more\.$"):
        shoal.assess(make_city(99))


def test_what_could_not_be_measured_is_not_inside_either() -> None:
    """Everybody once a day at one place: no place to go to, no four points in a day."""
    rows = [(f"u{n}", START + 43_200 + 86_400 * day) for n in range(100) for day in range(8)]
    users, seconds = zip(*rows, strict=True)
    found = shoal.assess(table(users, seconds, [0.0] * 800, [0.0] * 800))
    unknown = {check.band.name for check in found.checks if check.lack == "too few samples"}
    assert unknown == {"burstiness", "radius_to_width", "radius_spread", "visit_exponent", "new_places"}
    assert all(check.lack is not None for check in found.checks if check.value is None)


def test_a_few_hours_are_refused() -> None:
    users = [f"u{n}" for n in range(100)]
    with pytest.raises(InputError, match=r"samples of at least a day, found 1 hour: take more\.$"):
        shoal.assess(table(users, [START] * 100, [0.0] * 100, [0.0] * 100))


# ---- not credible --------------------------------------------------------------------------------------------------


def test_dice_are_no_people() -> None:
    rng = np.random.default_rng(0)
    n = USERS * DAYS * 18
    user = np.arange(n) % USERS
    second = START + rng.integers(0, DAYS * 86_400, n)
    place = rng.integers(0, 400, n)
    found = shoal.assess(table(user, second, place % 20 * 2_500.0, place // 20 * 2_500.0))
    assert outside(found) >= {
        "activity_spread", "gap_exponent", "burstiness", "night_to_day", "radius_to_width", "radius_spread",
        "visit_exponent", "top_place", "top_two_places", "load_gini", "busiest_tenth",
    }  # fmt: skip
    assert not found.credible


def test_poisson_times(city: pa.Table, measured: Credibility) -> None:
    rng = np.random.default_rng(1)
    second = START + rng.integers(0, DAYS * 86_400, len(city))
    changed = outside(shoal.assess(city.set_column(1, "time", pa.array(second)))) - outside(measured)
    assert {"burstiness", "night_to_day"} <= changed
    assert not changed & {"activity_spread", "radius_to_width", "top_place", "load_gini"}


def test_poisson_times_by_the_clock(city: pa.Table) -> None:
    """Quiet nights alone do not make bursts."""
    rng = np.random.default_rng(2)
    second = city["time"].cast(pa.int64()).to_numpy()
    hour = (second - START) // 3_600
    shuffled = START + rng.permutation(hour) * 3_600 + rng.integers(0, 3_600, len(hour))
    found = outside(shoal.assess(city.set_column(1, "time", pa.array(shuffled))))
    assert "gap_exponent" in found
    assert "night_to_day" not in found


def test_equal_activity(city: pa.Table, measured: Credibility) -> None:
    rng = np.random.default_rng(3)
    user = np.array([int(name[1:]) for name in city["user"].to_pylist()])
    order = rng.permutation(len(user))
    rank = np.empty(len(user), np.int64)
    by_user = order[np.argsort(user[order], kind="stable")]
    counts = np.bincount(user)
    rank[by_user] = np.arange(len(user)) - np.repeat(np.cumsum(counts) - counts, counts)
    even = city.filter(pa.array((rank < 60) & (counts[user] >= 60)))
    assert "activity_spread" in outside(shoal.assess(even)) - outside(measured)


def test_people_who_never_move(city: pa.Table) -> None:
    users = np.array([int(name[1:]) for name in city["user"].to_pylist()])
    still = city.set_column(2, "lat", pa.array(10 + users % 20 / 50)).set_column(
        3, "lon", pa.array(-30 + users // 20 / 50)
    )
    assert {"top_place", "top_two_places", "radius_to_width"} <= outside(shoal.assess(still))


def test_nights_in_another_zone(city: pa.Table, measured: Credibility) -> None:
    assert outside(shoal.assess(city, timezone="Asia/Tokyo")) - outside(measured) >= {"trough_hour"}


# ---- credible ------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not YJMOB.exists(), reason="no real data: set SHOAL_DATA")
def test_real_people_lie_inside() -> None:
    """Seven days of those whom the extract holds so long: its cut at 100 samples leaves them equally busy."""
    table = pyarrow.parquet.read_table(YJMOB)
    last = table.group_by("user").aggregate([("t", "max")])
    lasting = last.filter(pc.greater_equal(last["t_max"], 7 * 86_400))["user"]
    week = table.filter(pc.and_(pc.is_in(table["user"], lasting), pc.less(table["t"], 7 * 86_400)))
    for axis in ("x", "y"):
        place = week.schema.get_field_index(axis)
        week = week.set_column(place, axis, pc.multiply(week[axis].cast(pa.float64()), 500.0))
    found = shoal.assess(week, cell="2km")
    assert outside(found) == {"activity_spread"}
    assert sum(check.lack is None for check in found.checks) == 15
