"""Comparisons: every row is the method it names, on the same tuples and users."""

from __future__ import annotations

import math

import numpy as np
import pytest

import shoal
from shoal.core.promise import Grid
from shoal.core.workers import Workers
from shoal.errors import InputError, ParameterError
from shoal.evaluate.baselines import Glove, KMerge, draw_tuples, on_tuples
from shoal.evaluate.baselines.tuples import only
from shoal.evaluate.compare import TupleDraw, compare, draw
from shoal.reading import read_events

NAMES = ["static 2h 4km", "static 4h 10km", "static 8h 20km", "w4m", "glove"]


@pytest.fixture(scope="module")
def city():
    return shoal.make_city(60, seed=2)


@pytest.fixture(scope="module")
def compared(city):
    return compare(city, ks=(3, 2), tuples=6, whole_users=20, seed=4)


def test_rows(compared) -> None:
    assert [(row.on, row.k, row.method) for row in compared.rows] == [
        *(("tuples", k, name) for k in (2, 3) for name in ["k-merge", *NAMES]),
        *(("whole", k, name) for k in (2, 3) for name in ["shoal", *NAMES]),
    ]
    assert (compared.n_tuples, compared.n_users, compared.n_whole_users) == (6, 60, 20)
    assert compared.to_arrow().num_rows == len(compared.rows)


def test_every_row_is_its_method_on_the_same_tuples(city, compared) -> None:
    samples = read_events(city, grid=Grid()).samples
    rows = {(row.on, row.method, row.k): row for row in compared.rows}
    for k in (2, 3):
        drawn = draw_tuples(samples, k, 6, seed=4)
        assert rows["tuples", "k-merge", k][3:-1] == tuple(on_tuples(KMerge(), drawn, k))
        assert rows["tuples", "glove", k][3:-1] == tuple(on_tuples(Glove(limits=None), drawn, k))
    part = only(samples, np.random.default_rng(4).choice(60, 20, replace=False))
    glove = Glove()(part, 2)
    assert rows["whole", "glove", 2].success == glove.hidden.mean()
    assert rows["whole", "glove", 2].suppressed == glove.counts.suppressed / glove.counts.samples


def test_merges_succeed_and_invent_nothing(compared) -> None:
    for row in compared.rows:
        if row.method in ("k-merge", "shoal", "glove") and row.on == "tuples":
            assert row.success == 1
            assert row.created == row.deleted == row.trashed == 0
        if row.method == "shoal":
            assert row.success == 1
            assert row.suppressed == 0
        assert row.seconds > 0
        assert row.time_min > 0 or math.isnan(row.time_min)


def test_without_whole_trajectories(city) -> None:
    found = compare(city, ks=(2,), tuples=2, whole_users=0)
    assert {row.on for row in found.rows} == {"tuples"}
    assert found.n_whole_users == 0


@pytest.mark.parametrize(
    ("wishes", "words"),
    [
        ({"ks": ()}, "ks must name at least one k"),
        ({"ks": (1,)}, "k must be a whole number of at least 2, got 1"),
        ({"ks": (61,)}, "k = 61 needs at least 61 users"),
        ({"tuples": 0}, "tuples must be a whole number of at least 1"),
        ({"whole_users": 2}, "whole_users must be at least 8, the largest k, or 0, got 2"),
        ({"whole_users": 3, "ks": (5,)}, "whole_users must be at least 5, the largest k"),
        ({"cell": "300m"}, "space must be a whole number of cells of 300 m"),
    ],
)
def test_bad_wishes(wishes: dict[str, object], words: str, city) -> None:
    with pytest.raises((ParameterError, InputError)) as caught:
        compare(city, **({"tuples": 2} | wishes))
    assert words in str(caught.value)


def cost_of_merging(samples, *users: int) -> int:
    return int(KMerge()(only(samples, np.array(users)), len(users)).boxes.cost().sum())


def test_near_tuples_are_a_user_with_those_cheapest_to_merge_with(city) -> None:
    samples = read_events(city, grid=Grid()).samples
    with Workers(1) as workers:
        drawn = draw(TupleDraw.NEAR, samples, (2, 4), 5, 3, workers)
    first = np.random.default_rng(3).permutation(samples.n_users)[:5]
    for user, pair, four in zip(first.tolist(), drawn[2], drawn[4], strict=True):
        others = [other for other in range(samples.n_users) if other != user]
        costs = sorted((cost_of_merging(samples, user, other), other) for other in others)
        nearest = [samples.users[other] for _, other in costs[:3]]
        assert set(pair.users) == {samples.users[user], nearest[0]}
        assert set(four.users) == {samples.users[user], *nearest}


def test_more_near_tuples_than_users() -> None:
    with Workers(1) as workers:
        samples = read_events(shoal.make_city(5), grid=Grid()).samples
        drawn = draw(TupleDraw.NEAR, samples, (2,), 12, 0, workers)[2]
    assert len(drawn) == 12
    assert all(members.n_users == 2 for members in drawn)


def test_near_tuples_lose_less(city) -> None:
    near = compare(city, ks=(2,), tuples=6, drawn="near", whole_users=0, seed=4)
    random = compare(city, ks=(2,), tuples=6, whole_users=0, seed=4)
    assert near.rows[0].space_km < random.rows[0].space_km
    with pytest.raises(ParameterError, match="drawn must be one of random, near, got 'far'"):
        compare(city, drawn="far")
