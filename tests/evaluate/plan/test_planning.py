"""Plans: stretches and weights, forecasts against full runs, and the words."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import shoal
from shoal.cli.text.plan import advice, plan_lines
from shoal.core.options import HidingOptions
from shoal.core.progress import SilentProgress
from shoal.core.promise import Grid
from shoal.core.workers import Workers
from shoal.errors import ParameterError
from shoal.evaluate.plan.forecasting import Forecast
from shoal.evaluate.plan.planning import Budget, Plan, forecast_points, plan, points_of
from shoal.evaluate.plan.presumed_history import EpochPlaces, HistoryGuesser
from shoal.evaluate.plan.stretches import Census, choose_stretches, take_census
from shoal.hiding.pipeline import anonymize_samples
from shoal.reading import read_events
from shoal.reporting.figures.sweep import write_plan
from shoal.utility import precision_of

GRID = Grid()
DAY = 48
HOURS = np.tile(np.concatenate([np.full(16, 10), np.full(32, 100)]), 3).astype(np.int64)


@pytest.fixture(scope="module")
def store():
    return read_events(shoal.make_city(1_500, days=1, seed=1), grid=GRID).store


# ---- stretches ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("reach", [1, 4])
def test_stretches_lie_apart_inside_and_stand_for_all(n: int, reach: int) -> None:
    stretches = choose_stretches(Census(1_000, HOURS), n, reach, DAY, seed=0)
    assert len(stretches) == n
    assert sum(stretch.samples for stretch in stretches) == HOURS.sum()
    epochs = [epoch for stretch in stretches for epoch in stretch.epochs(reach)]
    assert len(set(epochs)) == len(epochs)
    assert min(epochs) >= 1_000
    assert max(epochs) < 1_000 + len(HOURS)


def test_stretches_are_spread_over_hours_and_days() -> None:
    stretches = choose_stretches(Census(0, HOURS), 3, 1, DAY, seed=0)
    assert {stretch.first // DAY for stretch in stretches} == {0, 1, 2}
    hours = sorted(stretch.first % DAY for stretch in stretches)
    assert all(later - earlier >= 6 for earlier, later in pairwise(hours))


def test_no_stretches_in_short_data() -> None:
    assert choose_stretches(Census(0, np.full(8, 5)), 1, 4, DAY, seed=0) == []
    assert choose_stretches(Census(0, np.full(DAY, 5)), 6, 4, DAY, seed=0) == []


def test_census(store) -> None:
    census = take_census(store, 30)
    assert census.samples.sum() == len(store)
    epoch = census.first_epoch + 20
    assert census.of(range(epoch, epoch + 2)) == len(store.between(epoch * 30, (epoch + 2) * 30).user)


# ---- presumed history ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 5])
def test_presumed_hiding_sets_are_permutations_of_users_who_come_and_go_alike(k: int) -> None:
    draw = np.random.default_rng(k)
    guesser = HistoryGuesser(60, reach=1, k=k, seed=0)
    there: list[set[int]] = [set()]
    for _ in range(12):
        users = np.flatnonzero(draw.random(60) < 0.5).astype(np.int32)
        there.append(set(users.tolist()))
        guesser.see(EpochPlaces(users, draw.integers(0, 9, len(users)).astype(np.uint32)))
        owners, members = guesser.guess()
        for column in members.T:
            assert sorted(column.tolist()) == sorted(owners.tolist())
        for owner, hiders in zip(owners.tolist(), members.tolist(), strict=True):
            assert len({owner, *hiders}) == k
            for epoch in there[-2:]:
                assert len({user in epoch for user in (owner, *hiders)}) == 1


def test_nobody_to_hide() -> None:
    owners, members = HistoryGuesser(5, reach=1, k=3, seed=0).guess()
    assert (len(owners), members.shape) == (0, (0, 2))


# ---- forecasts ----------------------------------------------------------------------------------------------------


def test_forecasts_are_near_a_full_run(store) -> None:
    points, settings = points_of([2, 5], ["30min", "2h"], ["30min"], GRID), HidingOptions()
    with Workers(1) as alone:
        told = forecast_points(store, points, settings, alone, GRID, Budget(0, 1e6), SilentProgress())
        for point, row in zip(points, told, strict=True):
            outcome = anonymize_samples(store, point.promise, settings, alone)
            full = precision_of(outcome.box_sizes, GRID)
            assert row.sampled
            assert row.longer_side_km_median == pytest.approx(full.longer_side_km.median, rel=0.25)
            assert row.time_min_median == pytest.approx(full.time_minutes.median, rel=0.25)
            assert row.suppressed_share == outcome.n_suppressed / outcome.n_samples
            assert row.n_boxes == pytest.approx(outcome.n_boxes, rel=0.15)
            assert outcome.seconds / 5 < row.seconds < 5 * outcome.seconds + 5
            assert row.memory_bytes > 0


def test_small_data_are_tried_as_a_whole() -> None:
    city = shoal.make_city(80, days=1, seed=1)
    found = plan(city, ks=[2, 3], taus=["1h"])
    assert [(row.k, row.tau_min, row.sampled) for row in found.forecasts] == [(2, 60, False), (3, 60, False)]
    swept = shoal.sweep(city, over=["k"], tau="1h", ks=[2], selectors=["matching"], harden=0)
    assert found.to_arrow().num_rows == 2
    assert found.n_samples == len(read_events(city, grid=GRID).store)
    again = plan(city, ks=[2], taus=["1h"], epsilons=["1h"], harden=0)
    measured = next(iter(swept.measured.values()))
    assert again.forecasts[0].longer_side_km_median == measured.longer_side_km_median
    assert again.forecasts[0].suppressed_share == measured.suppressed_share


def test_the_same_on_any_number_of_workers(store) -> None:
    points = points_of([2], ["30min"], ["30min"], GRID)
    rows = []
    for n in (1, 2):
        with Workers(n) as workers:
            row = forecast_points(
                store, points, HidingOptions(), workers, GRID, Budget(0, 1e6), SilentProgress()
            )[0]
            rows.append(row._replace(seconds=0, processor_seconds=0))
    assert rows[0] == rows[1]


def test_an_epsilon_must_divide_tau() -> None:
    taus, epsilons = ["30min", "45min", "1h"], ["30min", "15min"]
    points = points_of([2], taus, epsilons, GRID)
    assert [(point.tau, point.epsilon) for point in points] == [
        (30, 15),
        (45, 15),
        (60, 15),
        (30, 30),
        (60, 30),
    ]
    with pytest.raises(
        ParameterError, match=r"epsilon must divide tau, got 20 min for 30 min.*15 min or 30 min"
    ):
        points_of([2], ["30min", "45min"], ["15min", "20min"], GRID)
    found = plan(shoal.make_city(40), ks=[2], taus=taus[:2], epsilons=["30min"])
    assert found.warnings == ["Left out, since epsilon must divide tau: epsilon 30 min with tau 45 min."]
    assert len(found.forecasts) == 1


def test_points() -> None:
    points = points_of([3, 2, 3], ["1h", "30min"], ["30min"], GRID)
    assert [(point.k, point.tau) for point in points] == [(2, 30), (3, 30), (2, 60), (3, 60)]
    for empty in ("ks", "taus", "epsilons"):
        wishes = {"ks": [2], "taus": ["1h"], "epsilons": ["1h"]} | {empty: []}
        with pytest.raises(ParameterError, match=f"{empty} must name at least one value"):
            points_of(**wishes, grid=GRID)
    with pytest.raises(ParameterError, match="at most 27 points, got 28"):
        points_of(range(2, 30), ["1h"], ["1h"], GRID)
    with pytest.raises(ParameterError, match="k must be a whole number of at least 2"):
        points_of([1], ["1h"], ["1h"], GRID)


# ---- table, words and figure --------------------------------------------------------------------------------------


def row(
    k: int,
    tau: float,
    km: float,
    suppressed: float = 0.0,
    reused: float = 0.0,
    epsilon: float = 30.0,
    n_stretches: int = 4,
) -> Forecast:
    n_boxes, memory = 0 if suppressed == 1 else 1_000, 1_100_000_000
    measured = (n_boxes, 4_000.0, 7_000.0, memory, True, n_stretches)
    return Forecast(k, tau, epsilon, 1, km, 9.0, suppressed, reused, *measured)


def test_words() -> None:
    rows = [row(2, 30, 1.0), row(3, 30, 1.4), row(5, 30, 3.5), row(2, 60, 1.0, reused=0.02)]
    assert advice([*rows, row(5, 60, 0.5, suppressed=0.08), row(7, 30, 9.0, n_stretches=1)]) == [
        "k 3 at 30 min costs 40 % more space than k 2 at 30 min.",
        "k 5 at 30 min costs 2.5 times the space of k 3 at 30 min.",
        "k 7 at 30 min costs 2.6 times the space of k 5 at 30 min.",
        "k 2 at 1 h costs as much space as k 2 at 30 min.",
        "Much is suppressed with k 5 at 1 h: a smaller k or tau keeps more.",
        "Partners run out with k 2 at 1 h: some would have to serve again, and whoever finds the k records of a"
        " person could follow them for longer than epsilon.",
        "Forecast from a single hour, and perhaps off by a quarter: k 7 at 30 min.",
    ]
    assert advice([row(2, 30, float("nan"), 1.0)])[0].startswith("Everything would be suppressed")


def test_words_where_little_is_left_or_epsilons_differ() -> None:
    """What is left after much was suppressed looks cheap: it is compared with nothing."""
    assert advice([row(2, 30, 3.0), row(2, 1800, 1.0, suppressed=0.6)]) == [
        "Much is suppressed with k 2 at 30 h: a smaller k or tau keeps more."
    ]
    assert advice([row(2, 60, 4.5, epsilon=30.0), row(2, 60, 3.0, epsilon=60.0)]) == [
        "k 2 at 1 h (epsilon 30 min) costs 50 % more space than k 2 at 1 h (epsilon 1 h)."
    ]


def test_table_fits_and_tells_what_is_unknown() -> None:
    lines = plan_lines(Plan([row(2, 30, 0.2), row(5, 120, float("nan"), 1.0)], 8_866_735, 29_191, [], []))
    assert max(map(len, lines)) <= 80
    assert lines[4].split() == ["2", "30", "min", "30", "min", "0.2", "9", "0", "%", "0", "%", "67", "min",
                                "1.1", "GB"]  # fmt: skip
    assert lines[5].split()[5:9] == ["-", "-", "100", "%"]


def test_json_and_figure(tmp_path) -> None:
    found = Plan([row(2, 30, 0.2), row(2, 60, float("nan"), 1.0)], 10, 5, [], [])
    assert [each["longer_side_km_median"] for each in found.to_dict()["forecasts"]] == [0.2, None]
    for suffix in (".svg", ".png"):
        write_plan(found, tmp_path / f"plan{suffix}")
        assert (tmp_path / f"plan{suffix}").stat().st_size > 1_000
