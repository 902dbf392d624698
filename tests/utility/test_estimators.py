"""What a recipient estimates from boxes, against slow and obvious versions on tiny releases."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import shoal
from shoal.core.arrays import Bools
from shoal.errors import InputError, ParameterError
from shoal.utility import Places, density, flows, gyration, homes, workplaces
from utility.tiny_releases import (
    SQUARE_M,
    Box,
    local_s,
    pile_at,
    random_world,
    slow_days,
    slow_density,
    slow_flows,
    slow_gyration_km,
    table_of,
)

SEEDS = range(60)
ZONES = ("UTC", "Asia/Kolkata", "America/New_York")
SIDE = f"{SQUARE_M}m"
estimators = importlib.import_module("shoal.utility.estimators")


def at_night(slot: int, zone: str) -> bool:
    hour = local_s(slot, zone) // 3600 % 24
    return hour >= 22 or hour < 6


def at_work(slot: int, zone: str) -> bool:
    hours = local_s(slot, zone) // 3600
    return 9 <= hours % 24 < 17 and (hours // 24 + 3) % 7 < 5


@pytest.mark.parametrize("seed", SEEDS)
def test_density(seed: int) -> None:
    world, zone = random_world(seed), ZONES[seed % 3]
    people, present = slow_density(world, zone)
    days = slow_days(world, zone)
    found = density(table_of(world, seed), SIDE, zone)
    assert found.days.tolist() == [days[hour] for hour in range(24)]
    assert found.present.tolist() == [present[hour] for hour in range(24)]
    squares = list(zip(found.squares.i.tolist(), found.squares.j.tolist(), strict=True))
    assert set(squares) == {square for _, square in people}
    for hour in range(24):
        expected = [float(people.get((hour, square), 0)) / max(days[hour], 1) for square in squares]
        assert found.people[hour] == pytest.approx(expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_everybody_who_is_present_counts_once(seed: int) -> None:
    found = density(table_of(random_world(seed)), "400m")
    assert (found.people.sum(axis=1) * found.days).tolist() == pytest.approx(found.present.tolist())


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("gap_s", [600, 3 * 3600, 10 * 86_400])
def test_flows(seed: int, gap_s: int) -> None:
    world = random_world(seed)
    expected = slow_flows(world, gap_s, estimators.MOST, estimators.CROWD)
    found = flows(table_of(world, seed), SIDE, f"{gap_s}s")
    squares = list(zip(found.squares.i.tolist(), found.squares.j.tolist(), strict=True))
    lines = zip(found.origin.tolist(), found.destination.tolist(), found.trips.tolist(), strict=True)
    trips = {(squares[origin], squares[destination]): weight for origin, destination, weight in lines}
    assert trips == pytest.approx({pair: float(weight) for pair, weight in expected.items()})
    assert found.trips.sum() <= found.n_trips + 1e-9


@pytest.mark.parametrize(("most", "crowd"), [(1, 16), (3, 4), (4, 16), (50, 50)])
def test_flows_however_many_squares_stand_for_a_box(
    most: int, crowd: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimators, "MOST", most)
    monkeypatch.setattr(estimators, "CROWD", crowd)
    monkeypatch.setattr(estimators, "_AT_A_TIME", 3)
    for seed in range(20):
        test_flows(seed, 10 * 86_400)


def test_all_trips_are_counted_where_no_two_are_inside_a_square() -> None:
    world = {"r": [Box(slot, slot, 30 * slot, 30 * slot, 0, 0) for slot in range(5)]}
    found = flows(table_of(world), SIDE)
    assert found.n_trips == 4
    assert found.trips.tolist() == [1.0] * 4


@pytest.mark.parametrize("seed", SEEDS)
def test_gyration(seed: int) -> None:
    world = random_world(seed)
    expected = [slow_gyration_km(world[record]) for record in sorted(world)]
    assert gyration(table_of(world, seed)) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("place", ["home", "work"])
def test_homes_and_workplaces(seed: int, place: str) -> None:
    world, zone = random_world(seed), ZONES[seed % 3]
    estimate, when = (homes, at_night) if place == "home" else (workplaces, at_work)
    found = estimate(table_of(world, seed), zone)
    assert found.record.tolist() == sorted(world)
    for record, x_m, y_m in zip(found.record, found.x_m, found.y_m, strict=True):
        boxes = [box for box in world[record] if when(box.t0, zone)]
        assert np.isnan(x_m) == (not boxes)
        if not boxes:
            continue
        # Sums of fractions may tie where floats do not, so any of the heaviest will do.
        middles = {
            ((box.x0 + box.x1 + 1) * 50.0, (box.y0 + box.y1 + 1) * 50.0): pile_at(
                boxes, (box.x0 + box.x1) // 2, (box.y0 + box.y1) // 2
            )
            for box in boxes
        }
        assert middles[x_m, y_m] == max(middles.values())


def test_the_order_of_rows_does_not_matter() -> None:
    for seed in SEEDS:
        world = random_world(seed)
        one, other = (flows(table_of(world, order), SIDE).to_arrow() for order in (1, 2))
        assert one.equals(other)


def test_tables_of_estimates_sum_to_what_was_estimated() -> None:
    table = table_of(random_world(5))
    found = density(table, SIDE)
    rows = found.to_arrow()
    assert rows.column_names == ["hour", "x_min", "x_max", "y_min", "y_max", "people"]
    assert sum(rows["people"].to_pylist()) == pytest.approx(found.people.sum())
    assert set(np.subtract(rows["x_max"], rows["x_min"])) == {SQUARE_M}
    trips = flows(table, SIDE, "9d").to_arrow()
    assert trips.column_names[:2] == ["x_min_from", "x_max_from"]
    assert trips.column_names[-1] == "trips"
    places = homes(table)
    assert places.to_arrow().num_rows == known(places).sum()


def known(places: Places) -> Bools:
    return ~np.isnan(places.y_m)


def test_a_box_across_a_change_of_clocks_counts_by_the_clock_at_its_beginning() -> None:
    begin = 1_711_846_800  # 2024-03-31T01:00Z: clocks in Paris go from 2 to 3
    world = {"r": [Box(begin // 600 - 6, begin // 600 + 5, 0, 0, 0, 0)]}
    found = density(table_of(world), SIDE, "Europe/Paris")
    assert np.flatnonzero(found.present).tolist() == [1, 2]


def test_what_is_refused() -> None:
    table = table_of(random_world(5))
    with pytest.raises(ParameterError, match="cell must be a length such as 100m or 1km, got '5 parsecs'"):
        density(table, "5 parsecs")
    with pytest.raises(ParameterError, match="cell must be coarse enough for at most 4,194,304 squares"):
        flows(table, "0.1m")
    with pytest.raises(ParameterError, match="gap must be a duration"):
        flows(table, gap="long")
    with pytest.raises(InputError, match="Unknown time zone 'Mars/Phobos'"):
        homes(table, "Mars/Phobos")
    with pytest.raises(InputError, match="A published table must be a path or a table"):
        gyration(3)


def test_surface() -> None:
    assert shoal.utility.__all__ == [
        "Agreement", "Density", "Flows", "Places", "Precision", "Spread",
        "agreement", "density", "flows", "gyration", "homes", "precision_of", "precision_of_boxes", "workplaces",
    ]  # fmt: skip
    for name in shoal.utility.__all__:
        assert callable(getattr(shoal.utility, name))
