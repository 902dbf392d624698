"""Samples by time: the same as by user, whatever stretch is asked for."""

from __future__ import annotations

import hashlib
import hmac
import struct

import numpy as np
import pytest

from shoal.core.samples import samples_from_columns
from shoal.errors import UnfinishedError
from shoal.storage import sample_store
from shoal.storage.sample_store import FileColumn, store_of


def random_samples(rng):
    n = int(rng.integers(1, 60))
    columns = (rng.integers(low, high, n) for low, high in ((0, 5), (-20, 20), (-3, 3), (-3, 3)))
    return samples_from_columns(np.array(list("abcde"), object), *columns)


def test_a_stretch_is_what_lies_in_it():
    rng = np.random.default_rng(1)
    for _ in range(300):
        samples = random_samples(rng)
        begin, end = rng.integers(-25, 25, 2).tolist()
        inside = (samples.t >= begin) & (samples.t < end)
        expected = sorted(
            zip(
                *(column[inside].tolist() for column in (samples.t, samples.user, samples.x, samples.y)),
                strict=True,
            )
        )
        rows = store_of(samples).between(begin, end)
        assert (
            list(zip(rows.t.tolist(), rows.user.tolist(), rows.x.tolist(), rows.y.tolist(), strict=True))
            == expected
        )


def test_loading_gives_back_the_samples():
    rng = np.random.default_rng(2)
    for _ in range(100):
        samples = random_samples(rng)
        again = store_of(samples).load()
        for name in ("users", "user", "t", "x", "y"):
            assert np.array_equal(getattr(samples, name), getattr(again, name))


def test_fingerprints_tell_datasets_apart():
    rng = np.random.default_rng(3)
    seen = {}
    for _ in range(200):
        samples = random_samples(rng)
        content = tuple(map(tuple, (samples.users, samples.user, samples.t, samples.x, samples.y)))
        assert seen.setdefault(store_of(samples).fingerprint(), content) == content


def test_a_file_that_lost_its_end_is_not_read_as_if_it_were_whole(tmp_path):
    path = tmp_path / "user"
    np.arange(10, dtype=np.int32).tofile(path)
    assert FileColumn(path).part(3, 10).tolist() == [3, 4, 5, 6, 7, 8, 9]
    with pytest.raises(UnfinishedError, match="begin again"):
        FileColumn(path).part(3, 11)
    with pytest.raises(UnfinishedError, match="begin again"):
        FileColumn(tmp_path / "gone").part(0, 1)


def code_by_hand(samples, key):
    """The canonical bytes as docs/formats.md has them, one number at a time."""
    content = struct.pack("<qq", samples.n_users, len(samples))
    for name in samples.users:
        content += struct.pack("<q", len(name.encode())) + name.encode()
    columns = (samples.t.tolist(), samples.user.tolist(), samples.x.tolist(), samples.y.tolist())
    for row in sorted(zip(*columns, strict=True)):
        content += struct.pack("<qiii", *row)
    return hmac.new(key, content, hashlib.sha256).hexdigest()


@pytest.mark.parametrize("at_a_time", [1, 7, 1 << 20])
def test_the_code_of_samples(at_a_time, monkeypatch):
    monkeypatch.setattr(sample_store, "_AT_A_TIME", at_a_time)
    rng = np.random.default_rng(5)
    codes = set()
    for _ in range(50):
        samples = random_samples(rng)
        key = rng.bytes(32)
        assert store_of(samples).authentication_code(key) == code_by_hand(samples, key)
        codes.add(store_of(samples).authentication_code(b"0" * 32))
    assert len(codes) == 50


def test_the_code_does_not_depend_on_order_or_repetition_but_on_everything_else():
    key, names = b"k" * 32, ["a", "bé"]

    def code(rows, names=names, key=key):
        columns = np.array(rows, np.int64).reshape(-1, 4).T
        return store_of(samples_from_columns(np.array(names, object), *columns)).authentication_code(key)

    rows = [(0, 5, 1, 2), (1, 5, 1, 2), (0, 7, -1, 2)]
    assert code(rows) == code(rows[::-1]) == code(rows + rows[:2])
    others = [code(rows[:2]), code(rows, key=b"l" * 32), code(rows, names=["a", "be"])]
    changed = ((1, 7, -1, 2), (0, 8, -1, 2), (0, 7, 0, 2), (0, 7, -1, 3))
    others += [code([*rows[:2], row]) for row in changed]
    assert len({code(rows), *others}) == len(others) + 1
