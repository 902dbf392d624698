"""Data made to follow a law: the fit finds it."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.synthetic.credibility.activity_statistics import (
    measure_activity,
    measure_gaps,
    measure_load,
    measure_rhythm,
)
from shoal.synthetic.credibility.mobility_statistics import (
    CUTOFF_KM,
    OFFSET_KM,
    fitted_beta,
    measure_exploration,
    measure_visits,
)
from shoal.synthetic.credibility.traces import Curve, density, slope, survival, whole_edges
from shoal.synthetic.credibility.unicity import measure_unicity
from support.synthetic_traces import DAY, HOUR, people, traces


def test_equal_activity_has_no_spread() -> None:
    found = measure_activity(traces((user, HOUR * t, 0, 0) for user in range(20) for t in range(24)))
    assert (found.mean, found.median, found.spread) == (1.0, 1.0, 1.0)


def test_poisson_is_not_bursty() -> None:
    rng = np.random.default_rng(1)
    seconds = np.concatenate([np.sort(rng.integers(0, 400 * DAY, 2_000)) for _ in range(60)])
    found = measure_gaps(people([2_000] * 60, seconds, np.zeros(len(seconds), np.int64)))
    assert found.burstiness == pytest.approx(0, abs=0.01)
    assert found.exponent is not None
    assert found.exponent < 0.3


def test_a_regular_beat_is_the_opposite_of_bursty() -> None:
    found = measure_gaps(traces((user, 600 * t, 0, 0) for user in range(3) for t in range(100)))
    assert found.burstiness == -1


@pytest.mark.parametrize("exponent", [0.7, 0.9, 1.1])
def test_power_law_gaps_give_their_exponent(exponent: float) -> None:
    rng = np.random.default_rng(2)
    low, high, power = 1.0, 1e6, 1 - exponent
    share = rng.random((80, 2_000))
    gaps = (low**power + share * (high**power - low**power)) ** (1 / power)
    seconds = np.cumsum(np.round(gaps).astype(np.int64), axis=1)
    found = measure_gaps(people([2_000] * 80, seconds.reshape(-1), np.zeros(160_000, np.int64)))
    assert found.exponent == pytest.approx(exponent, abs=0.05)


def test_the_clock_does_not_bend_the_law() -> None:
    """A day of busy users, once to the second and once to the minute: gaps that the minute cuts are left out."""
    rng = np.random.default_rng(6)
    share, power = rng.random((3_000, 20)), 1 - 0.9
    gaps = (10.0**power + share * (20_000.0**power - 10.0**power)) ** (1 / power)
    fine = np.cumsum(np.round(gaps).astype(np.int64), axis=1).reshape(-1)
    places = np.zeros(len(fine), np.int64)
    to_the_second = measure_gaps(people([20] * 3_000, fine, places)).exponent
    to_the_minute = measure_gaps(people([20] * 3_000, fine // 60 * 60, places)).exponent
    assert to_the_second == pytest.approx(0.9, abs=0.06)
    assert to_the_minute == pytest.approx(to_the_second, abs=0.06)


def test_coarse_times_have_no_exponent() -> None:
    rng = np.random.default_rng(3)
    seconds = np.concatenate([np.sort(rng.integers(0, 2_000, 100)) * 1_800 for _ in range(40)])
    found = measure_gaps(people([100] * 40, seconds, np.zeros(4_000, np.int64)))
    assert found.exponent is None
    assert found.burstiness is not None


def test_rhythm_by_the_clock_on_the_wall() -> None:
    """Awake from 8 to 22 in Tokyo, where it is nine hours later."""
    rows = [(0, day * DAY + hour * HOUR - 9 * HOUR, 0, 0) for day in range(1, 15) for hour in range(8, 22)]
    rows += [(1, day * DAY + 3 * HOUR + 60 * day - 9 * HOUR, 0, 0) for day in range(1, 15)]
    found = measure_rhythm(traces(rows, "Asia/Tokyo"))
    assert found.all_days[3] == pytest.approx(14 / len(rows))
    assert found.all_days[:3].sum() == found.all_days[22:].sum() == 0
    assert found.night_to_day == pytest.approx(1 / 4)
    assert measure_rhythm(traces(rows)).trough_hour == 0 + 13


def test_beta_of_the_law() -> None:
    rng = np.random.default_rng(4)
    r = np.geomspace(1, 300, 20_000)
    weight = np.gradient(r) * (r + OFFSET_KM) ** -1.65 * np.exp(-r / CUTOFF_KM)
    radii = rng.choice(r, 20_000, p=weight / weight.sum())
    assert fitted_beta(radii, 300) == pytest.approx(1.65, abs=0.03)
    assert fitted_beta(radii[:50], 300) is None
    assert fitted_beta(np.full(500, 0.5), 300) is None


@pytest.mark.parametrize("zeta", [1.0, 1.2, 1.5])
def test_exact_zipf(zeta: float) -> None:
    counts = np.round(4_000 * np.arange(1, 31) ** -zeta).astype(int)
    places = np.repeat(np.arange(30), counts)
    n = len(places)
    found = measure_visits(people([n] * 30, np.tile(np.arange(n), 30), np.tile(places, 30)))
    assert found.exponent == pytest.approx(zeta, abs=0.01)
    assert found.top == pytest.approx(counts[0] / n)
    assert found.top_two == pytest.approx(counts[:2].sum() / n)


def test_few_places_have_no_zipf_exponent() -> None:
    assert (
        measure_visits(traces((user, t, t % 9, 0) for user in range(50) for t in range(90))).exponent is None
    )


@pytest.mark.parametrize("mu", [0.5, 0.6, 0.8])
def test_distinct_places_that_grow_as_a_power(mu: float) -> None:
    """In every hour the user goes to as many new places as make it 50 t^mu."""
    rows, been = [], 0
    for hour in range(14 * 24):
        reached = round(50 * ((hour + 1) / 24) ** mu)
        rows += [(0, HOUR * hour + n, been + n, 0) for n in range(reached - been)]
        been = reached
    found = measure_exploration(traces([*rows, (0, 14 * DAY - 1, 0, 0)]))
    assert found.exponent == pytest.approx(mu, abs=0.005)


def test_moves_to_new_places() -> None:
    """In the second day of two, one user goes to and fro, the other always further."""
    rows = [(0, HOUR * t, t % 2, 0) for t in range(48)] + [(1, HOUR * t, t, 0) for t in range(48)]
    assert measure_exploration(traces(rows)).new_share == 0.5


def test_unicity_of_twins_and_hermits() -> None:
    twins = [(user, HOUR * t, t, 0) for user in range(10) for t in range(6)]
    hermits = [(user, HOUR * t, 1_000 * user + t, 0) for user in range(10, 20) for t in range(6)]
    assert measure_unicity(traces(twins), seed=0).share == 0
    assert measure_unicity(traces(hermits), seed=0).share == 1
    both = measure_unicity(traces(twins + hermits), seed=0)
    assert both.share == 0.5
    assert both.low < 0.35
    assert both.high > 0.65


def test_unicity_draws_by_seed() -> None:
    rng = np.random.default_rng(5)
    rows = [(user, HOUR * int(t), int(x), 0) for user in range(300) for t, x in rng.integers(0, 8, (12, 2))]
    shares = [measure_unicity(traces(rows), seed, n_draws=50).share for seed in (0, 0, 1, 2, 3)]
    assert shares[0] == shares[1]
    assert len(set(shares[1:])) > 1


def test_load_even_and_all_at_one() -> None:
    even = measure_load(traces((0, t, t % 20, 0) for t in range(400)))
    assert (even.gini, even.top_tenth) == (pytest.approx(0), pytest.approx(0.1))
    assert even.per_antenna == 20
    skewed = measure_load(
        traces([(0, t, 0, 0) for t in range(981)] + [(0, 5_000 + x, x, 0) for x in range(1, 20)])
    )
    assert skewed.top_tenth == pytest.approx((981 + 1) / 1_000)
    assert skewed.gini > 0.9


# ---- what the fits rest on -----------------------------------------------------------------------------------------


def test_density_of_whole_numbers_is_exact_and_complete() -> None:
    values = np.array([1, 1, 2, 3, 5, 8, 13, 100])
    edges = whole_edges(100)
    assert edges[0] == 1
    assert edges[-1] > 100
    assert len(set(edges.tolist())) == len(edges)
    curve = density(values, edges, shift=0.5)
    assert curve.y[0] == pytest.approx(2 / 8)  # of 1 alone
    assert curve.x[0] == pytest.approx(np.sqrt(0.5 * 1.5))
    counts, _ = np.histogram(values, edges)
    assert counts.sum() == len(values)


def test_slope_of_a_power_law_within_a_range() -> None:
    x = np.geomspace(1, 1_000, 30)
    bent = np.where(x < 10, x**-1.0, 10**0.5 * x**-1.5)
    assert slope(Curve(x, x**-1.7), 1, 1_000) == pytest.approx(-1.7)
    assert slope(Curve(x, bent), 11, 1_000) == pytest.approx(-1.5)
    assert slope(Curve(x, bent), 1, 9) == pytest.approx(-1.0)
    assert slope(Curve(x, bent), 1, 1.3) is None


def test_survival_goes_down_from_one() -> None:
    curve = survival(np.array([3.0, 1.0, 1.0, 2.0]))
    assert curve.x.tolist() == [1.0, 2.0, 3.0]
    assert curve.y.tolist() == [1.0, 0.5, 0.25]
