"""W4M-L: examples computed by hand, and every step against the plain oracle."""

from __future__ import annotations

import random

import numpy as np
import pytest

from oracles import w4m as oracle
from shoal.core.promise import Grid
from shoal.errors import ParameterError
from shoal.evaluate.baselines import W4M, Anonymized
from shoal.evaluate.baselines.kernels.w4m import align
from shoal.evaluate.baselines.w4m import common_speed, make_tracks
from support.baseline_worlds import samples_of, tiny_trajectories


def aligned(trajectories, unit: float) -> tuple[float, float, list[int]]:
    """Distance, farthest and matches of the first two."""
    match = np.empty(len(trajectories[0]), np.int64)
    distance, farthest = align(make_tracks(samples_of(trajectories)), 0, 1, unit, match)
    return distance, farthest, match.tolist()


def published(result: Anonymized) -> dict[int, list[tuple[int, float, float]]]:
    """The points of every user with a record."""
    records: dict[int, list[tuple[int, float, float]]] = {}
    for owner, *place in zip(*(column.tolist() for column in result.points), strict=True):
        records.setdefault(owner, []).append(tuple(place))
    return records


# ---- by hand -----------------------------------------------------------------------------------------------------


def test_the_common_speed_by_hand() -> None:
    """50 cells (30 and 40) in 10 slots, 10 cells in 10 slots: the mean of 5 and 1; one sample has no speed."""
    trajectories = [[(0, 0, 0), (10, 30, 40)], [(5, 0, 0), (15, 10, 0)], [(3, 9, 9)]]
    assert common_speed(samples_of(trajectories)) == 3.0


# Both go at a cell a slot, so V = 1 and a slot is as far as a cell.
A = [(0, 0, 0), (10, 10, 0), (20, 20, 0)]
B = [(0, 0, 0), (20, 20, 0)]


def test_an_alignment_by_hand() -> None:
    """delta = 10. Start: c(A0, B0) = 0. Next: both, |A1 - B1| = sqrt(10^2 + 10^2) = 14.1, c = 1; B alone, |A0 - B1| =
    28.3, c = 2; A alone, |A1 - B0| = 14.1, c = 1, not strictly smaller. Both: 1 in all, A1 matches B1, 10 cells apart.
    B is at its end: A2 matches B1, c = 0.
    """
    assert aligned([A, B], 10.0) == (1.0, 10.0, [0, 1, 1])


def test_the_other_way_round_by_hand() -> None:
    """Both, c(B1, A1) = 1, is not above A alone, c(B0, A1) = 1; B alone, c(B1, A0) = 2. B1 matches A1; A2 meets B1."""
    assert aligned([B, A], 10.0) == (1.0, 10.0, [0, 1])


def test_distances_count_to_10_at_most() -> None:
    assert aligned([[(0, 0, 0)], [(0, 109, 0)]], 10.0)[0] == 10.0
    assert aligned([[(0, 0, 0)], [(0, 99, 0)]], 10.0)[0] == 9.0
    assert aligned([[(0, 0, 0)], [(0, 10_000, 0)]], 10.0)[:2] == (10.0, 10_000.0)


def test_a_tail_meets_the_last_point_by_hand() -> None:
    """A single point meets cells 0, 10 and 20, all in one slot: c = 0 + 1 + 2, farthest 20."""
    assert aligned([[(0, 0, 0)], [(0, 0, 0), (0, 10, 0), (0, 20, 0)]], 10.0) == (3.0, 20.0, [0])


def test_a_translation_by_hand() -> None:
    """A and B are one cluster; delta / 2 = 5 cells, and the matches are those above (with that unit, too).

    Pivot A, 3 points. At slot 0 B0 stays; at slot 10 B1 (cell 20) is 10 from A1 (cell 10) and is published 5 from it,
    in cell 15; at slot 20 B1 stays. One point created. B's points shift by 0, 10, 0 slots and 0, 5, 0 cells, A's by
    nothing: 10 / 6 slots and 5 / 6 cells on average.
    Pivot B, 2 points. At slot 0 A0 stays; at slot 20 A1 (cell 10) is 10 from B1 (cell 20) and is published in cell 15.
    One point deleted; 10 / 4 slots and 5 / 4 cells.
    """
    pivots = set()
    for seed in range(12):
        result = W4M(delta_m=1000, seed=seed)(samples_of([A, B]), 2)
        assert result.succeeded
        if result.counts.created:
            pivots.add("A")
            assert published(result) == {0: A, 1: [(0, 0, 0), (10, 15, 0), (20, 20, 0)]}
            assert result.counts == (5, 6, 0, 0, 1, 0)
            assert result.precision == pytest.approx((10 / 6, 0.5 / 6))
        else:
            pivots.add("B")
            assert published(result) == {0: [(0, 0, 0), (20, 15, 0)], 1: B}
            assert result.counts == (5, 4, 0, 0, 0, 1)
            assert result.precision == pytest.approx((10 / 4, 0.5 / 4))
    assert pivots == {"A", "B"}


FAR_ONE = [[(0, 0, 0)], [(0, 1, 0)], [(0, 2, 0)], [(0, 1000, 0)]]


def test_somebody_far_off_is_trashed_by_hand() -> None:
    """Half the diagonal is 500 cells, 0.5 % of it 2.5: cells 0 to 2 fit, cell 1000 does not; one in four may go."""
    result = W4M(trash_share=0.25)(samples_of(FAR_ONE), 3)
    assert result.group.tolist() == [0, 0, 0, -1]
    assert result.counts == (4, 3, 0, 1, 0, 0)
    assert not result.succeeded


def test_the_radius_grows_until_few_enough_are_trashed() -> None:
    """Nobody may go: 2.5 * 1.5^15 = 1,095 cells hold everybody, and all end within 5 cells of the pivot."""
    result = W4M(trash_share=0.1)(samples_of(FAR_ONE), 3)
    assert result.succeeded
    assert result.counts == (4, 4, 0, 0, 0, 0)
    assert np.ptp(result.points.x) <= 10


# ---- against the oracle ------------------------------------------------------------------------------------------


def test_alignments_equal_the_oracle() -> None:
    rng = random.Random(1)
    for _ in range(3_000):
        pair = tiny_trajectories(rng, most_users=2)
        unit = rng.choice([0.5, 1.0, 3.0])
        speed = oracle.common_speed(pair)
        assert common_speed(samples_of(pair)) == pytest.approx(speed, rel=1e-12)
        distance, farthest, match = aligned(pair, unit)
        assert distance == oracle.distance(*pair, speed, unit)
        assert farthest == pytest.approx(oracle.farthest(*pair, speed, unit))
        assert match == oracle.matches(*pair, speed, unit)


@pytest.mark.parametrize("seed", range(4))
def test_whole_runs_equal_the_oracle(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(300):
        trajectories = tiny_trajectories(rng)
        k = rng.randint(2, len(trajectories))
        method = W4M(
            grid=Grid(cell_m=100.0), delta_m=rng.choice([50.0, 200.0]), trash_share=rng.choice([0, 0.1, 0.4]),
            seed=rng.randrange(100),
        )  # fmt: skip
        delta = method.delta_m / 100
        result = method(samples_of(trajectories), k)
        clusters, trash = oracle.w4m(trajectories, k, delta, method.trash_share, method.seed)
        assert [np.flatnonzero(result.group == g).tolist() for g in range(len(clusters))] == [
            sorted(members) for members in clusters.values()
        ]
        assert result.counts.trashed == sum(len(trajectories[user]) for user in trash)
        records = published(result)
        for pivot, members in clusters.items():
            for member in members:
                expected = oracle.record(trajectories, pivot, member, delta)
                assert np.array(records[member]) == pytest.approx(np.array(expected)), (trajectories, member)


# ---- what it promises, and its weakness --------------------------------------------------------------------------


def test_clusters_stay_within_delta_and_pivots_are_published_unchanged() -> None:
    rng = random.Random(3)
    trajectories = [
        sorted({(rng.randrange(600), rng.randrange(80), rng.randrange(80)) for _ in range(rng.randint(1, 9))})
        for _ in range(60)
    ]
    result = W4M(delta_m=500.0)(samples_of(trajectories), 4)
    records = published(result)
    for group in range(result.group.max() + 1):
        members = np.flatnonzero(result.group == group).tolist()
        assert len(members) >= 4
        assert any(records[member] == trajectories[member] for member in members)
        for one in members:
            for other in members:
                for (t, x, y), (s, v, w) in zip(records[one], records[other], strict=True):
                    assert t == s
                    assert np.hypot(x - v, y - w) <= 5.0 + 1e-9


def test_settings_are_checked() -> None:
    with pytest.raises(ParameterError, match="delta must be more than zero metres, got 0"):
        W4M(delta_m=0)
    with pytest.raises(ParameterError, match="share of trash"):
        W4M(trash_share=1.0)
