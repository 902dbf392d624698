"""Durations as texts and as timedeltas of Python, numpy and pandas are the same, exactly, wherever one is asked for."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.core.options import AuditOptions, HidingOptions, PromiseOptions, ReadingOptions
from shoal.core.promise import Grid, duration_text, parse_duration
from shoal.errors import ParameterError

HALF_HOUR: dict[str, Any] = {
    "text": "30min",
    "timedelta": timedelta(minutes=30),
    "Timedelta": pd.Timedelta("30min"),
    "minutes": np.timedelta64(30, "m"),
    "seconds": np.timedelta64(1800, "s"),
    "nanoseconds": pd.Timedelta("30min").to_numpy(),
    "thirds": np.timedelta64(3, "10m"),
}


@pytest.mark.parametrize("kind", HALF_HOUR)
def test_half_an_hour_is_half_an_hour(kind: str) -> None:
    half = HALF_HOUR[kind]
    assert parse_duration(half) == 1800
    promised = PromiseOptions(2, half, half, step=half)
    assert (promised.tau, promised.epsilon, promised.step) == ("30min", "30min", "30min")
    assert promised.promise == PromiseOptions(2, "30min", "30min", step="30min").promise
    audited = AuditOptions(k=2, tau=half, epsilon=half, rename_every=half, cell="100m", step=half)
    reading = ReadingOptions(resample=half)
    hiding = HidingOptions(rename_every=half)
    assert (reading.resample_s, hiding.rename_s, audited.promise(Grid()).tau) == (1800, 1800, 30)
    for options in (promised, audited, reading, hiding):
        json.dumps(options.to_dict())


@given(st.timedeltas(min_value=timedelta(microseconds=1), max_value=timedelta(days=10_000)))
def test_every_timedelta_is_exact(length: timedelta) -> None:
    microseconds = length // timedelta(microseconds=1)
    exact = Fraction(microseconds, 10**6)
    assert parse_duration(length) == parse_duration(np.timedelta64(microseconds, "us")) == exact
    assert parse_duration(pd.Timedelta(microseconds, "us")) == exact
    if exact.denominator == 1:
        assert parse_duration(duration_text(length, "tau")) == exact
    else:
        with pytest.raises(ParameterError, match="tau must be a whole number of seconds"):
            duration_text(length, "tau")


def test_nanoseconds_count() -> None:
    assert parse_duration(pd.Timedelta(1, "ns")) == Fraction(1, 10**9)


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (timedelta(days=1), "1d"),
        (timedelta(hours=6), "6h"),
        (timedelta(minutes=90), "1h30min"),
        (timedelta(days=1, seconds=61), "1d1min1s"),
        (timedelta(seconds=7), "7s"),
    ],
)
def test_what_is_saved_reads_as_people_write_it(length: timedelta, text: str) -> None:
    assert duration_text(length, "tau") == text
    assert parse_duration(text) == length.total_seconds()


@pytest.mark.parametrize(
    "wrong",
    [
        timedelta(0), timedelta(minutes=-30), pd.Timedelta(0), pd.NaT, np.timedelta64("NaT"), np.timedelta64(1, "M"),
        np.timedelta64(30), 30, 30.0, None, b"30min", pd.Timestamp(0), pd.DataFrame({"a": ["canary"]}), ["canary"],
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_duration(wrong: Any) -> None:
    with pytest.raises(ParameterError) as refused:
        parse_duration(wrong, "tau")
    assert str(refused.value).startswith("tau must be a duration such as 30min, 2h or 90s")
    assert "canary" not in str(refused.value)
    assert "\n" not in str(refused.value)
    for name in ("rename_every", "resample"):
        if wrong is not None:
            with pytest.raises(ParameterError):
                (HidingOptions if name == "rename_every" else ReadingOptions)(**{name: wrong})


def test_dates_and_times_of_python_and_pandas_are_saved_as_text() -> None:
    moments = {
        date(2024, 5, 1): "2024-05-01",
        datetime(2024, 5, 1, 6, tzinfo=UTC): "2024-05-01T06:00:00+00:00",
        pd.Timestamp("2024-05-01 06:00"): "2024-05-01T06:00:00",
    }
    for given_as, text in moments.items():
        options = ReadingOptions(start=given_as, end=given_as)  # type: ignore[arg-type]
        assert (options.start, options.end) == (text, text)
