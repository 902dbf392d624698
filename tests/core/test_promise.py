"""The promise in seconds and as it is noted in manifests."""

from __future__ import annotations

from typing import Any

import pytest

from shoal.core.promise import Grid, Promise
from shoal.errors import ParameterError

GRID = Grid(step_s=60)


@pytest.mark.parametrize("promise", [Promise(2, 30, 30), Promise(5, 45, 30), Promise(3, None, None)])
def test_notes_come_back(promise: Promise) -> None:
    noted = promise.to_dict(GRID)
    assert Promise.from_dict(noted, GRID) == promise
    assert noted["whole"] == promise.whole


def test_lengths_in_seconds() -> None:
    assert Promise(2, 45, 30).in_seconds(GRID) == (2700, 1800, 3 * 1800)
    assert Promise(2, None, None).in_seconds(GRID) is None


@pytest.mark.parametrize(
    "change",
    [
        {"k": 1},
        {"k": "2"},
        {"tau_s": 1801},
        {"tau_s": None},
        {"tau_s": "1800"},
        {"epsilon_s": 0},
        {"epsilon_s": -1800},
        {"epsilon_s": 1800.0},
        {"tau_s": float("nan")},
    ],
)
def test_notes_that_are_no_promise(change: dict[str, Any]) -> None:
    noted = Promise(2, 30, 30).to_dict(GRID)
    with pytest.raises(ParameterError):
        Promise.from_dict(noted | change, GRID)
    for name in change:
        with pytest.raises(ParameterError):
            Promise.from_dict({key: value for key, value in noted.items() if key != name}, GRID)


@pytest.mark.parametrize(
    ("tau", "epsilon", "nearest", "beyond"),
    [
        (30, 20, [15, 30], 30), (30, 30, [15], 30), (30, 60, [30], 90), (30, 7, [6, 10], 12), (30, 1, [2], 1),
        (31, 20, [1, 31], 29), (5, 120, [5], 235), (60, 59, [30, 60], 117), (2**31 - 1, 2, [1, 2**31 - 1], 3),
    ],
)  # fmt: skip
def test_epsilons_near_by_that_divide_tau(tau: int, epsilon: int, nearest: list[int], beyond: int) -> None:
    promise = Promise(2, tau, epsilon)
    assert promise.nearest_epsilons() == nearest
    assert promise.epsilon_divides_tau == (beyond == epsilon)
    seconds = promise.in_seconds(Grid())
    assert seconds is not None
    assert seconds.beyond_tau == 60 * beyond < 2 * 60 * epsilon
    assert seconds.beyond_tau >= 60 * epsilon


def test_whole_trajectories_have_no_epsilon_to_divide() -> None:
    assert Promise(2, None, None).epsilon_divides_tau
    assert Promise(2, None, None).nearest_epsilons() == []
