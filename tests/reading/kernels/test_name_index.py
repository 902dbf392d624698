"""Numbering texts against a dictionary, with hashes that differ and with hashes that are all the same."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.reading.kernels import name_index
from shoal.reading.kernels.name_index import FREE, NameTable, number_names, refill

Texts = st.lists(st.binary(max_size=3) | st.binary(min_size=15, max_size=20), max_size=40)


def empty(room: int = 64, letters: int = 1024) -> NameTable:
    return NameTable(np.full(2 * room, FREE), np.zeros(room, np.int64), np.zeros(letters, np.uint8))


def columns(texts: list[bytes]) -> tuple[Any, Any]:
    ends = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    return np.frombuffer(b"".join(texts) + b"\0", np.uint8), ends


def number_all(number: Any, texts: list[bytes]) -> tuple[list[int], list[bytes]]:
    known, numbers = empty(), np.zeros(len(texts), np.int32)
    row, count = number(known, 0, *columns(texts), numbers, 0)
    assert row == len(texts)
    written = known.letters.tobytes()
    return numbers.tolist(), [written[a:b] for a, b in pairwise(known.ends[: count + 1].tolist())]


def by_dictionary(texts: list[bytes]) -> tuple[list[int], list[bytes]]:
    known: dict[bytes, int] = {}
    return [known.setdefault(text, len(known)) if text else -1 for text in texts], list(known)


@settings(deadline=None)  # the first call compiles
@given(Texts)
def test_numbers_by_first_occurrence(texts: list[bytes]) -> None:
    assert number_all(number_names, texts) == by_dictionary(texts)


def test_many_blocks() -> None:
    texts = [b"%d" % (i % 61) for i in range(2_000)]
    assert number_all(number_names, texts) == by_dictionary(texts)


@settings(deadline=None, max_examples=25)
@given(Texts)
def test_texts_of_one_hash_stay_apart(texts: list[bytes]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(name_index, "_hash", lambda *_: np.uint64(126))  # near the last slot: goes round
        assert number_all(number_names.py_func, texts) == by_dictionary(texts)  # type: ignore[attr-defined]


def test_stops_where_room_ends() -> None:
    texts = [b"a", b"", b"b", b"a", b"c"]
    numbers = np.full(5, 9, np.int32)
    assert number_names(empty(room=3), 0, *columns(texts), numbers, 0) == (4, 2)
    assert numbers[:4].tolist() == [0, -1, 1, 0]
    assert number_names(empty(letters=2), 0, *columns(texts), numbers, 0) == (4, 2)


def test_refilled_slots_find_the_same() -> None:
    texts = [b"%d" % i for i in range(60)]
    known, numbers = empty(), np.zeros(60, np.int32)
    _, count = number_names(known, 0, *columns(texts), numbers, 0)
    slots = np.full(4 * len(known.slots), FREE)
    refill(slots, known.slots)
    assert number_names(known._replace(slots=slots), count, *columns(texts[::-1]), numbers, 0) == (60, 60)
    assert numbers.tolist() == list(range(60))[::-1]
