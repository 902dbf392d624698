"""Numbers, durations and promises as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.core.formatting import (
    counted,
    duration_in_words,
    duration_of_minutes,
    percent,
    promise_in_short,
    promise_parameters,
)
from shoal.core.promise import Grid, Promise


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0 %"),
        (1e-300, "under 0.1 %"),
        (0.000499, "under 0.1 %"),
        (0.0005, "0.1 %"),
        (0.02, "2 %"),
        (0.0249, "2.5 %"),
        (1 / 3, "33.3 %"),
        (0.5, "50 %"),
        (0.9994, "99.9 %"),
        (0.9995, "over 99.9 %"),
        (0.99999, "over 99.9 %"),
        (1.0, "100 %"),
    ],
)
def test_percent(share: float, text: str) -> None:
    assert percent(share) == text


@given(st.floats(0, 1))
def test_only_none_is_nothing_and_only_all_is_everything(share: float) -> None:
    assert (percent(share) == "0 %") == (share == 0)
    assert (percent(share) == "100 %") == (share == 1)
    assert len(percent(share)) <= len("over 99.9 %")


def test_counted() -> None:
    assert [counted(n, "user") for n in (0, 1, 2, 1_234_567)] == [
        "0 users", "1 user", "2 users", "1,234,567 users",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (1800, "30 minutes"),
        (60, "1 minute"),
        (5400, "1 hour 30 minutes"),
        (86_400, "1 day"),
        (90, "1 minute 30 seconds"),
    ],
)
def test_durations_in_words(seconds: int, words: str) -> None:
    assert duration_in_words(seconds) == words


def test_durations_of_minutes() -> None:
    assert [duration_of_minutes(minutes) for minutes in (30.0, 90.0, 120.0, 0.5)] == [
        "30 min", "90 min", "2 h", "30 s",
    ]  # fmt: skip


def test_promises() -> None:
    promise, whole, grid = Promise(1200, 60, 90), Promise(2, None, None), Grid(step_s=60)
    assert promise_in_short(promise, grid) == "k 1,200 and 1 h, epsilon 90 min"
    assert (
        promise_in_short(promise, grid, duration_in_words) == "k 1,200 and 1 hour, epsilon 1 hour 30 minutes"
    )
    assert promise_in_short(whole, grid) == "k 2 over whole trajectories"
    assert promise_parameters(promise, grid) == (
        "k = 1200, tau = 1 h, epsilon = 90 min (does not divide tau: a window holds 2 h beyond it)"
    )
    assert promise_parameters(Promise(2, 60, 20), grid) == "k = 2, tau = 1 h, epsilon = 20 min"
    assert promise_parameters(whole, grid) == "k = 2 over whole trajectories"
    for write, words in (
        (promise_in_short, "k 2 over whole parts"),
        (promise_parameters, "k = 2 over whole parts"),
    ):
        assert write(whole, grid, renamed=True) == words
        assert write(promise, grid, renamed=True) == write(promise, grid)
