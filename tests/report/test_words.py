"""The promise in words."""

from __future__ import annotations

import pytest

from shoal.promise import Grid, Promise
from shoal.report.words import beyond_in_words, duration_in_words, headline, promise_in_words


def test_the_promise_in_words() -> None:
    promise = Promise(k=3, tau=30, epsilon=30)
    assert headline(promise, Grid()) == "Watch anyone for 30 minutes: at least 3 records fit"
    assert "watched a person for any 30 minutes" in promise_in_words(promise, Grid())
    assert "one stretch of at most 1 hour," in (beyond_in_words(promise, Grid()) or "")
    long = Promise(k=3, tau=3 * 1440, epsilon=1440)
    assert headline(long, Grid()).startswith("Watch anyone for 3 days")


def test_whole_trajectories_in_words() -> None:
    promise = Promise(k=3, tau=None, epsilon=None)
    assert headline(promise, Grid()) == "Know anyone's whole trajectory: at least 3 records fit"
    assert "knows every sample of a person" in promise_in_words(promise, Grid())
    assert beyond_in_words(promise, Grid()) is None


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
