"""Numbers as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.core.formatting import counted, percent


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
