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
