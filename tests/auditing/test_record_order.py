"""Records that stand, or are named, in the order of their users are found; random orders are not."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.auditing.record_order import follow_users
from shoal.core.arrays import Int64s
from shoal.core.boxes import NONE, UNKNOWN

RNG = np.random.default_rng(3)


def names(n: int) -> np.typing.NDArray[np.object_]:
    """Random names in increasing order."""
    return np.array(sorted(f"r{RNG.bytes(8).hex()}" for _ in range(n)), object)


def users(n: int, form: str = "u{:05d}") -> np.typing.NDArray[np.object_]:
    return np.array([form.format(i) for i in range(n)], object)


def shuffled(n: int) -> Int64s:
    return RNG.permutation(n)


def inverse(order: Int64s) -> Int64s:
    return np.argsort(order)


@pytest.mark.parametrize("n", [12, 38, 400])
@pytest.mark.parametrize("backwards", [False, True])
def test_names_and_rows_in_the_order_of_users(n: int, backwards: bool) -> None:
    order = np.arange(n)[::-1] if backwards else np.arange(n)
    assert follow_users(names(n), users(n), order, shuffled(n))  # names given in the order of users
    own = shuffled(n)
    appearance = np.empty(n, np.int64)
    appearance[own] = order
    assert follow_users(names(n), users(n), own, appearance)  # rows sorted by user


@pytest.mark.parametrize("form", ["{}", "u{}", "{}@example"])
def test_numbers_are_compared_as_numbers_too(form: str) -> None:
    n = 60
    numbered = users(n, form)[shuffled(n)]
    value = np.array([int("".join(filter(str.isdigit, name))) for name in numbered])
    assert follow_users(names(n), numbered, value, shuffled(n))
    in_text = np.sort(users(n, "{}"))  # names of records, in increasing order of their texts
    assert follow_users(in_text, users(n), inverse(in_text.astype(np.int64)), shuffled(n))


def test_an_order_with_exceptions_counts_beyond_chance() -> None:
    n = 400
    own = np.arange(n)
    own[::2] = own[::2][shuffled(n // 2)]  # half of the users, exchanged among themselves
    assert follow_users(names(n), users(n), own, shuffled(n))


@pytest.mark.parametrize("n", [5, 12, 38, 300])
def test_random_orders_are_none(n: int) -> None:
    for _ in range(200):
        assert not follow_users(names(n), users(n), shuffled(n), shuffled(n))


def test_too_few_to_tell_and_unknown_users() -> None:
    assert not follow_users(names(11), users(11), np.arange(11), np.arange(11))
    assert not follow_users(names(50), users(50), np.full(50, UNKNOWN), np.arange(50))
    some = np.full(60, NONE)
    some[5:55] = np.arange(50)
    assert follow_users(names(50), users(60), some, shuffled(50))
