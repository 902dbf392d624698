"""The synthetic city: frozen for ever, and lifelike enough to try shoal on."""

from __future__ import annotations

import hashlib

import numpy as np
import pyarrow as pa
import pytest

from shoal.errors import ParameterError
from shoal.synthetic import make_city
from shoal.synthetic.city import START_S
from shoal.synthetic.city_places import build_places
from shoal.synthetic.random_streams import child, root

# Published figures refer to these cities. If one of them changes, the preset needs another name.
FROZEN = {
    (200, 1, 0): "77a7d6a7a698b3826ce4f4fb52c713465b480a545fbf15a626021d1aa322d320",
    (200, 1, 1): "16ac4c9611b5df516503b5db40bee4002b4f3b519cfd493d1a918ef560a3a613",
    (2000, 2, 0): "04a6e9365cd5d0f5880c3f301c17a083b2efc56784a0d88a4992fa71da843378",
    (2000, 2, 1): "e908b1431ae0a399f68bdc7e65354c48d924931618e9450fa3e6fcbbeb5cb041",
}


def content_hash(city: pa.Table) -> str:
    digest = hashlib.sha256("\n".join(city["user"].to_pylist()).encode())
    digest.update(city["time"].cast(pa.int64()).to_numpy().astype("<i8").tobytes())
    for column in ("lat", "lon"):
        digest.update(city[column].to_numpy().astype("<f8").tobytes())
    return digest.hexdigest()


class City:
    """Columns of a city as plain arrays, by user and time."""

    def __init__(self, users: int, days: int, seed: int = 0) -> None:
        table = make_city(users, days, seed)
        self.n_users, self.days = users, days
        user = np.array([int(name[1:]) for name in table["user"].to_pylist()])
        second = table["time"].cast(pa.int64()).to_numpy() - START_S
        order = np.lexsort((second, user))
        self.user, self.second = user[order], second[order]
        self.lat, self.lon = table["lat"].to_numpy()[order], table["lon"].to_numpy()[order]
        self.counts = np.bincount(self.user, minlength=users)


@pytest.fixture(scope="module")
def monday() -> City:
    return City(3000, 1)


@pytest.mark.parametrize(("users", "days", "seed"), FROZEN)
def test_is_frozen(users: int, days: int, seed: int) -> None:
    assert content_hash(make_city(users, days, seed)) == FROZEN[users, days, seed]


def test_columns_and_order() -> None:
    city = make_city(50)
    assert city.schema == pa.schema(
        {"user": pa.string(), "time": pa.timestamp("s", tz="UTC"), "lat": pa.float64(), "lon": pa.float64()}
    )
    rows = list(zip(city["time"].to_pylist(), city["user"].to_pylist(), strict=True))
    assert rows == sorted(set(rows))
    assert set(city["user"].to_pylist()) == {f"u{index:06d}" for index in range(50)}


def test_same_seed_same_city_other_seed_another() -> None:
    assert make_city(100, 1, 7).equals(make_city(100, 1, 7))
    assert not make_city(100, 1, 7).equals(make_city(100, 1, 8))


def test_users_do_not_depend_on_how_many_are_made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = make_city(100, 2, 3)
    monkeypatch.setattr("shoal.synthetic.city._USERS_AT_ONCE", 7)
    assert make_city(100, 2, 3).equals(whole)


def test_smaller_cities_are_parts_of_larger_ones() -> None:
    large = make_city(80, 2, 5).to_pylist()
    small = make_city(40, 1, 5).to_pylist()
    end = START_S + 86_400
    assert small == [row for row in large if row["user"] < "u000040" and row["time"].timestamp() < end]


def test_every_position_is_an_antenna() -> None:
    lat, lon = build_places(child(root(4), 0)).degrees()
    antennas = set(zip(lat.tolist(), lon.tolist(), strict=True))
    assert len(antennas) == 400
    city = City(1000, 1, seed=4)
    seen = set(zip(city.lat.tolist(), city.lon.tolist(), strict=True))
    assert seen <= antennas
    assert len(seen) > 380
    assert all(round(value, 5) == value for pair in seen for value in pair)
    assert all(9.7 < here[0] < 10.3 and -30.3 < here[1] < -29.7 for here in antennas)


def test_rate_of_samples() -> None:
    for seed in range(3):
        rate = make_city(6000, 1, seed).num_rows / (6000 * 24)
        assert rate == pytest.approx(0.87, abs=0.04)


def test_nights_are_quiet_and_evenings_busy(monday: City) -> None:
    per_hour = np.bincount(monday.second // 3600, minlength=24) / len(monday.second)
    assert per_hour[2:5].mean() < 0.1 * per_hour[10:21].mean()
    assert per_hour.argmax() in range(17, 21)
    assert per_hour[12] > per_hour[9]
    assert per_hour[12] > per_hour[15]


def test_events_come_in_bursts(monday: City) -> None:
    """Against a Poisson process with each user's own rate by the hour of the day."""
    same = np.diff(monday.user) == 0
    short = np.diff(monday.second)[same] < 600
    per_hour = np.bincount(monday.second // 3600, minlength=24) / len(monday.second)
    rate = monday.counts[monday.user[1:][same]] * per_hour[monday.second[1:][same] // 3600] / 3600
    assert short.mean() > 0.6
    assert short.mean() > 1.4 * (1 - np.exp(-600 * rate)).mean()


def test_most_users_are_absent_from_most_half_hours(monday: City) -> None:
    present = np.unique(monday.user * 48 + monday.second // 1800)
    epochs = np.bincount(present // 48, minlength=monday.n_users)
    assert 3 <= np.median(epochs) <= 8
    assert epochs.mean() < 10


def test_few_users_make_a_large_part(monday: City) -> None:
    ranked = np.sort(monday.counts)[::-1]
    assert ranked[0] > 10 * monday.counts.mean()
    assert 0.3 < ranked[: monday.n_users // 10].sum() / ranked.sum() < 0.5
    assert np.median(monday.counts) < 0.8 * monday.counts.mean()


def test_most_of_a_user_is_at_two_antennas(monday: City) -> None:
    antenna = np.unique(np.stack([monday.lat, monday.lon]), axis=1, return_inverse=True)[1].ravel()
    visits = np.zeros((monday.n_users, antenna.max() + 1), dtype=int)
    np.add.at(visits, (monday.user, antenna), 1)
    top_two = np.sort(visits, axis=1)[:, -2:].sum(axis=1) / visits.sum(axis=1)
    assert (top_two > 0.5).mean() > 0.85
    assert np.median(top_two) < 0.95
    assert np.median((visits > 0).sum(axis=1)) >= 3


def test_weekends_differ() -> None:
    week = City(1500, 7)
    day = week.second // 86_400
    per_day = np.bincount(day, minlength=7)
    assert per_day[5:].mean() < 0.95 * per_day[:5].mean()
    early = (week.second % 86_400) // 3600 == 8
    assert np.mean(early[day >= 5]) < 0.6 * np.mean(early[day < 5])


def test_people_gather_in_the_centre_by_day(monday: City) -> None:
    central = np.hypot(monday.lat - 10, monday.lon + 30) < 0.05
    hour = monday.second // 3600
    assert central[(hour >= 10) & (hour < 16)].mean() > 1.25 * central[(hour < 6) | (hour >= 22)].mean()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"users": 0}, "users must be a whole number of at least 1, got 0."),
        ({"users": 2.5}, "users must be a whole number of at least 1, got 2.5."),
        ({"users": True}, "users must be a whole number of at least 1, got True."),
        ({"days": 0}, "days must be a whole number of at least 1, got 0."),
        ({"seed": -1}, "seed must be a whole number from 0 to 2^63 - 1, got -1."),
        ({"seed": "x"}, "seed must be a whole number from 0 to 2^63 - 1, got 'x'."),
    ],
)
def test_refuses(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError) as refused:
        make_city(**arguments)  # type: ignore[arg-type]
    assert str(refused.value) == message
