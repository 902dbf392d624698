"""Random k-tuples: who is in them, and the averages over them."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.core.promise import Grid
from shoal.errors import InputError, ParameterError
from shoal.evaluate.baselines import PAPER_GRIDS, W4M, Glove, KMerge, Limits, Static, draw_tuples, on_tuples
from shoal.evaluate.baselines.tuples import only
from support.baseline_worlds import samples_of, trajectories_of

CROWD = [[(user, user, 0), (100 + user, 0, user)] for user in range(9)]


def test_only_keeps_names_and_samples_together() -> None:
    some = only(samples_of(CROWD), np.array([7, 2]))
    assert some.users.tolist() == ["2", "7"]
    assert trajectories_of(some) == [CROWD[2], CROWD[7]]


def test_tuples_hold_k_different_users_and_hang_on_the_seed() -> None:
    samples = samples_of(CROWD)
    tuples = draw_tuples(samples, 4, 50, seed=1)
    assert all(len(set(members.users)) == members.n_users == 4 for members in tuples)
    assert {name for members in tuples for name in members.users} == set(samples.users)
    again, others = draw_tuples(samples, 4, 50, seed=1), draw_tuples(samples, 4, 50, seed=2)
    assert [m.users.tolist() for m in tuples] == [m.users.tolist() for m in again]
    assert [m.users.tolist() for m in tuples] != [m.users.tolist() for m in others]


def test_too_few_for_a_tuple() -> None:
    with pytest.raises(InputError, match="k = 10 needs at least 10 users"):
        draw_tuples(samples_of(CROWD), 10, 1, seed=0)


ALIKE = samples_of(
    [[(0, 0, 0), (200, 0, 0)], [(60, 39, 0), (239, 10, 39)]]
)  # in the same parts of 2 h and 4 km
APART = samples_of([[(0, 0, 0), (200, 0, 0)], [(60, 40, 0), (239, 10, 39)]])  # a cell too far


def test_success_of_a_static_grid_by_hand() -> None:
    """2 h and 4 km: slots 0-119 and 120-239, cells 0-39. One of the two tuples becomes identical."""
    figures = on_tuples(Static.parse("2h", "4km"), [ALIKE, APART], 2)
    assert figures == pytest.approx((0.5, 120.0, 8.0, 0.0, 0.0, 0.0, 0.0))


def test_coarser_grids_of_the_paper_succeed_more_often() -> None:
    rng = np.random.default_rng(0)
    days = [
        [(int(t), *rng.integers(0, 100, 2).tolist()) for t in rng.integers(0, 1440, 6)] for _ in range(40)
    ]
    tuples = draw_tuples(samples_of(days), 2, 60, seed=0)
    fine, middle, coarse = (on_tuples(Static.parse(*size), tuples, 2).success for size in PAPER_GRIDS)
    assert fine <= middle < coarse


def test_a_static_grid_from_texts() -> None:
    assert Static.parse("2h", "4km") == Static(cells=40, slots=120)
    assert Static.parse("4h", "10km", Grid(500.0, 3600)) == Static(20, 4, Grid(500.0, 3600))
    with pytest.raises(ParameterError, match="space must be a whole number of cells of 300 m, got '4km'"):
        Static.parse("2h", "4km", Grid(cell_m=300.0))
    with pytest.raises(ParameterError, match="at least 1 cell and 1 slot, got 0 and 1"):
        Static(cells=0, slots=1)


def test_others_always_merge_a_tuple() -> None:
    tuples = draw_tuples(samples_of(CROWD), 3, 20, seed=0)
    for method in (KMerge(), Glove(limits=None), W4M()):
        figures = on_tuples(method, tuples, 3)
        assert figures.success == 1.0
        assert figures.suppressed == figures.trashed == 0.0


def test_tuples_of_which_nothing_is_left_do_not_count_as_precise() -> None:
    """At most 60 slots and cells: the first tuple loses all four samples, the second none; its two boxes have a slot
    and 1 + 1 cells."""
    near = samples_of([[(0, 0, 0), (200, 0, 0)]] * 2)
    far = samples_of([[(0, 0, 0), (200, 0, 0)], [(100, 90, 0), (300, 90, 0)]])
    figures = on_tuples(Glove(limits=Limits(6000.0, 3600.0)), [far, near], 2)
    assert figures == pytest.approx((0.5, 1.0, 0.2, 0.5, 0.0, 0.0, 0.0))
    assert np.isnan(on_tuples(Glove(limits=Limits(6000.0, 3600.0)), [far], 2).space_km)
