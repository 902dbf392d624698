"""The parts of a region, each against the slow and obvious."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import ParameterError
from shoal.synthetic.random_streams import Ints, Streams, child, root, uniform_below
from shoal.synthetic.region.antennas import N_NEIGHBOURS, Antennas, build_network, lay_out
from shoal.synthetic.region.attraction import (
    ONE,
    WeightedChoice,
    build_attraction,
    draw,
    falling_chances,
    flat_choice,
    gravity_choice,
    power_law,
)
from shoal.synthetic.region.days import travel_s
from shoal.synthetic.region.people import HOUSEHOLD, draw_people
from shoal.synthetic.region.phone_events import bursts_for
from shoal.synthetic.region.presets import MOST_PER_KM2, PRESETS

STREAM = root(5)
CELL_DIAGONAL_M = 142


def streams(n: int, number: int = 0) -> Streams:
    return child(child(STREAM, number), np.arange(n))


def positions(n: int, side: int, number: int) -> tuple[Ints, Ints]:
    drawn = streams(4 * n, number)
    spots = np.unique(
        np.stack([uniform_below(child(drawn, 0), side), uniform_below(child(drawn, 1), side)], axis=1), axis=0
    )
    chosen = spots[np.argsort(uniform_below(streams(len(spots), number + 1), 1 << 30), kind="stable")][:n]
    return chosen[:, 0] - side // 2, chosen[:, 1] - side // 3


# ---- tables ------------------------------------------------------------------------------------------------------


def test_falling_chances_follow_their_law() -> None:
    chances = falling_chances("0.6", "0.21", 200)
    n = np.arange(1, 200)
    assert np.abs(chances[1:] / ONE - 0.6 * n**-0.21).max() < 2e-6
    assert chances[0] == chances[1]


@pytest.mark.parametrize("exponent", [0.9, 1.3, 2.0])
def test_draws_of_a_power_law_have_its_exponent(exponent: float) -> None:
    quantiles = power_law(60, 5_400, str(exponent))
    assert quantiles[0] == 60
    assert quantiles[-1] == 5_400
    drawn = draw(streams(200_000), quantiles)
    assert drawn.min() >= 60
    assert drawn.max() <= 5_400
    edges = np.array([60, 120, 240, 480, 960, 1_920, 3_840])
    count, _ = np.histogram(drawn, edges)
    slope = np.polyfit(np.log(np.sqrt(edges[1:] * edges[:-1])), np.log(count / np.diff(edges)), 1)[0]
    assert slope == pytest.approx(-exponent, abs=0.03)


# ---- wheels ------------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(rows=st.lists(st.lists(st.integers(0, 9), min_size=5, max_size=5), min_size=1, max_size=4))
def test_a_weighted_choice_picks_what_a_search_finds(rows: list[list[int]]) -> None:
    running = np.cumsum(np.array(rows), axis=1)
    running[:, -1] += running[:, -1] == 0  # something to pick
    choice = WeightedChoice(running.astype(np.int32))
    drawn = streams(500)
    origin = uniform_below(child(drawn, 9), len(rows))
    tickets = uniform_below(drawn, running[origin, -1])
    expected = [
        int(np.searchsorted(running[o], t, side="right")) for o, t in zip(origin, tickets, strict=True)
    ]
    assert choice.pick(drawn, origin).tolist() == expected


def test_a_flat_wheel_picks_by_weight() -> None:
    weights = np.array([1, 0, 5, 4])
    picked = flat_choice(weights).pick(streams(100_000), np.zeros(100_000, dtype=np.int64))
    assert np.bincount(picked, minlength=4) / 100_000 == pytest.approx(weights / 10, abs=0.01)


@pytest.mark.parametrize("power", [2, 4])
@pytest.mark.parametrize("most", [1_000, 50_000_000])  # the latter: many antennas close together
def test_gravity_falls_with_distance(power: int, most: int) -> None:
    x, y = positions(300, 60_000, 3)
    attraction = 1 + uniform_below(streams(300, 4), most)
    scale = np.full(300, 4_000)
    origin = np.zeros(200_000, dtype=np.int64)
    picked = gravity_choice(x, y, attraction, scale, power).pick(streams(200_000), origin)
    apart = np.hypot(x - x[0], y - y[0])
    expected = attraction / (1 + (apart / 4_000) ** 2) ** (power / 2)
    expected[0] = 0
    expected /= expected.sum()
    assert np.abs(np.bincount(picked, minlength=300) / 200_000 - expected).max() < 0.01


# ---- antennas ----------------------------------------------------------------------------------------------------


def least_apart_m(antennas: Antennas) -> float:
    apart = np.hypot(antennas.x[:, None] - antennas.x, antennas.y[:, None] - antennas.y)
    np.fill_diagonal(apart, np.inf)
    return float(apart.min())


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("seed", [0, 1])
def test_antennas_cover_the_surface_and_keep_apart(name: str, seed: int) -> None:
    preset = PRESETS[name]
    antennas = lay_out(preset.layout, preset.antennas, preset.surface_km2, root(seed))
    assert len(antennas.x) == preset.antennas
    box = np.ptp(antennas.x) * np.ptp(antennas.y) / 1e6
    assert box == pytest.approx(
        preset.surface_km2, rel=0.001
    )  # with an antenna in each corner, so is the hull
    assert least_apart_m(antennas) > CELL_DIAGONAL_M


def test_antennas_crowd_in_towns() -> None:
    preset = PRESETS["civ"]
    antennas = lay_out(preset.layout, preset.antennas, preset.surface_km2, root(0))
    around = build_network(antennas.x, antennas.y).around
    assert np.mean(around >= 5) > 0.4
    assert np.mean(around == 1) > 0.1  # and some stand alone in the country


@pytest.mark.parametrize("surface_km2", [3, 10, 100])
@pytest.mark.parametrize("name", PRESETS)
def test_antennas_keep_apart_when_there_are_as_many_as_may_be(name: str, surface_km2: int) -> None:
    for seed in range(2):
        antennas = lay_out(PRESETS[name].layout, MOST_PER_KM2 * surface_km2, surface_km2, root(seed))
        assert least_apart_m(antennas) > CELL_DIAGONAL_M


# ---- the network -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "side"), [(12, 3_000), (150, 40_000), (400, 600_000), (30, 120)])
def test_network_against_brute_force(n: int, side: int) -> None:
    x, y = positions(n, side, 6)
    network = build_network(x, y)
    at = streams(2_000, 8)
    east = uniform_below(child(at, 0), int(np.ptp(x)) + 1) + x.min()
    north = uniform_below(child(at, 1), int(np.ptp(y)) + 1) + y.min()
    square = network.square_m
    middle_x = network.west + (east - network.west) // square * square + square // 2
    middle_y = network.south + (north - network.south) // square * square + square // 2
    squared = (middle_x[:, None] - x) ** 2 + (middle_y[:, None] - y) ** 2
    assert network.nearest(east, north).tolist() == np.argmin(squared, axis=1).tolist()
    for i in range(len(x)):
        far = (x - x[i]) ** 2 + (y - y[i]) ** 2
        order = sorted(set(range(len(x))) - {i}, key=lambda j: (far[j], j))[:N_NEIGHBOURS]
        assert network.in_range[i].tolist() == [j if far[j] <= 5_000**2 else i for j in order]
        assert network.spacing_m[i] == int(np.sqrt(far[order[-1]]))
        assert network.around[i] == (far <= 2_500**2).sum()


def test_positions_outside_are_served_by_the_nearest_square() -> None:
    x, y = positions(20, 10_000, 9)
    network = build_network(x, y)
    assert network.nearest(x.min() - 5_000 * np.ones(1, np.int64), y[:1]).shape == (1,)


def test_longer_trips_take_longer_and_are_faster() -> None:
    x = np.array([0, 0, 1_000, 10_000, 100_000, 400_000, 5, 7])
    network = build_network(x, np.arange(len(x), dtype=np.int64))
    seconds = travel_s(network, np.zeros(6, dtype=np.int64), np.array([0, 1, 2, 3, 4, 5]))
    assert seconds[0] == 0
    assert (np.diff(seconds) > 0).all()
    assert 400_000 / seconds[5] > 2 * 10_000 / seconds[3]
    assert 400_000 / seconds[5] < 23


# ---- people ------------------------------------------------------------------------------------------------------


def test_households_share_a_home_and_nothing_else() -> None:
    preset = PRESETS["abi"]
    antennas = lay_out(preset.layout, preset.antennas, preset.surface_km2, root(0))
    attraction = build_attraction(build_network(antennas.x, antennas.y), 5_000, 10_000, STREAM)
    people = draw_people(np.arange(4_000, dtype=np.int64), attraction, STREAM)
    head = people.head
    assert (head // HOUSEHOLD == np.arange(4_000) // HOUSEHOLD).all()
    assert (people.home == people.home[head]).all()
    follows = head != np.arange(4_000)
    assert 0.2 < follows.mean() < 0.5
    working = follows & people.worker & people.worker[head]
    assert (people.work == people.work[head])[working].mean() < 0.3
    assert (people.work != people.home)[people.worker].all()
    assert (people.work == people.home)[~people.worker].all()


# ---- rates -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0.3, 1.0, 7.5])
def test_more_samples_need_more_bursts(rate: float) -> None:
    bursts = bursts_for(rate, 0.98, days=14, every_day=True)
    assert bursts_for(1.1 * rate, 0.98, days=14, every_day=True) > bursts
    assert bursts_for(rate, 0.9, days=14, every_day=True) > bursts
    assert bursts_for(rate, 0.98, days=14, every_day=False) >= bursts


@pytest.mark.parametrize("rate", [0.0001, 1e9])
def test_rates_that_cannot_be(rate: float) -> None:
    with pytest.raises(ParameterError, match="samples per hour must be"):
        bursts_for(rate, 1.0, days=7, every_day=True)
