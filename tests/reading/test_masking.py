"""Masks tell how a value is written and nothing of what it says."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.reading.masking import masked


@pytest.mark.parametrize(
    ("value", "role", "expected"),
    [
        ("22507012345", "user", "99999999999"),
        ("Zoé.O'Brien@example.ci", "user", "aaa.a'aaaaa@aaaaaaa.aa"),
        ("2024-05-17T08:30:00Z", "time", "9999-99-99T99:99:99Z"),
        ("17-Mar-24 8:30 PM", "time", "99-aaa-99 9:99 aa"),
        (datetime(2024, 5, 17, 8, 30, tzinfo=UTC), "time", "9999-99-99 99:99:99+99:99"),
        (1715934600, "time", "9999999999"),
        ("-4.0271", "lon", "9.9999"),
        (105.3, "lat", "9.9"),
        ("105,3", "lat", "9,9"),
        (583960.5, "x", "9.9"),
        (None, "user", "(empty)"),
        ("  ", "lat", "(empty)"),
        ("x" * 64, "user", "aaaaaaaaaaaaaaaa... (64)"),
        ("٣٤ Ж", "user", "99 a"),
        ("\x1b[31m", "user", "?[99a"),
    ],
)
def test_masks(value: object, role: str, expected: str) -> None:
    mask = masked(value, role)
    assert mask == expected or (role == "time" and len(expected) > 24 and mask.startswith(expected[:16]))


@given(st.text(max_size=30), st.sampled_from(["user", "time", "lat", "x", "site"]))
def test_nothing_but_its_shape_is_left(text: str, role: str) -> None:
    mask = masked(text, role)
    assert mask == "(empty)" or re.fullmatch(r"[a9TZ?.,:;+/_@#()\[\]'\"|*&%=<> -]*(\.\.\. \(\d+\))?", mask)
    assert len(mask) <= 24
