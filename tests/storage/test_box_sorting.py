"""Boxes come out by record and time, whatever the size of buckets and pieces, and leave nothing behind."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shoal.core.boxes import Boxes, concatenate
from shoal.core.promise import Grid
from shoal.errors import UnfinishedError
from shoal.publishing.record_names import NamedBoxes
from shoal.publishing.tables import SUFFIXES, write_published
from shoal.reading import Projection
from shoal.storage import box_sorting
from support.run_command import left_in

NO_SPACE = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def some_parts(rng: np.random.Generator, n_users: int) -> list[Boxes]:
    """Steps as a journal has them, some empty; not all users have boxes, some have many, and times may be equal."""
    parts = []
    for _ in range(int(rng.integers(1, 9))):
        n = int(rng.integers(0, 40))
        owner = np.minimum(rng.integers(0, n_users, n), rng.integers(0, n_users, n)).astype(np.int32)
        t0 = rng.integers(0, 50, n)
        places = (rng.integers(-100, 100, n).astype(np.int32) for _ in range(2))
        x0, y0 = places
        parts.append(Boxes(owner, t0, t0 + rng.integers(0, 9, n), x0, x0 + 1, y0, y0 + 2))
    return parts


def named(parts: list[Boxes], n_users: int) -> NamedBoxes:
    return NamedBoxes(parts, np.bincount(concatenate(parts).owner, minlength=n_users))


def in_order(some: NamedBoxes, parts: list[Boxes]) -> list[tuple[int, ...]]:
    """The slow obvious version: all rows, sorted by the name of their record and time, ties as they came."""
    name = dict(zip(some.owner.tolist(), some.name.tolist(), strict=True))
    number = {each: place for place, each in enumerate(sorted(name.values()))}
    rows = [row for part in parts for row in zip(*(column.tolist() for column in part), strict=True)]
    rows.sort(key=lambda row: (name[row[0]], row[1]))
    return [(number[name[row[0]]], *row[1:]) for row in rows]


def rows_of(pieces: Iterator[Boxes]) -> list[tuple[int, ...]]:
    return [row for piece in pieces for row in zip(*(column.tolist() for column in piece), strict=True)]


@pytest.mark.parametrize("bucket", [1, 2, 7, 50, 10**6])
def test_any_buckets_give_the_same_order(
    bucket: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.storage.box_sorting._BUCKET", bucket)
    rng = np.random.default_rng(bucket)
    for _ in range(60):
        n_users = int(rng.integers(1, 12))
        parts = some_parts(rng, n_users)
        some, most = named(parts, n_users), int(rng.integers(1, 90))
        expected = in_order(some, parts)
        for spill in (None, tmp_path / "spill"):
            assert rows_of(some.pieces(most, spill)) == expected  # also the second time
        assert left_in(tmp_path) == set()


def test_pieces_do_not_tell_of_the_parts() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        parts = some_parts(rng, 5)
        whole, most = concatenate(parts), int(rng.integers(1, 100))
        pieces = list(box_sorting.in_pieces(parts, most))
        assert [piece.n_boxes for piece in pieces[:-1]] == [most] * (len(pieces) - 1)
        assert pieces[-1].n_boxes > 0 or whole.n_boxes == 0
        assert rows_of(iter(pieces)) == rows_of(iter([whole]))


def test_buckets_are_secret_and_go_away_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.storage.box_sorting._BUCKET", 10)
    parts, spill = some_parts(np.random.default_rng(1), 20), tmp_path / "spill"
    sizes = np.bincount(concatenate(parts).owner, minlength=20)
    seen = []
    for _ in box_sorting.in_order(parts, np.arange(20, dtype=np.int32), sizes, spill):
        assert stat.S_IMODE(spill.stat().st_mode) == 0o700
        assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in spill.iterdir())
        seen.append(len(list(spill.iterdir())))
    assert seen[0] > 3
    assert seen == sorted(seen, reverse=True)
    assert seen[-1] == 0
    assert not spill.exists()


def test_what_a_killed_run_left_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.storage.box_sorting._BUCKET", 10)
    parts, spill = some_parts(np.random.default_rng(2), 20), tmp_path / "spill"
    spill.mkdir()
    (spill / "bucket-0000000.spill").write_bytes(b"x" * 360)
    some = named(parts, 20)
    assert rows_of(some.pieces(100, spill)) == in_order(some, parts)


def full(*_: object, **__: object) -> None:
    raise NO_SPACE


@pytest.mark.parametrize("broken", ["os.fdopen", "pathlib.Path.mkdir"])
def test_a_full_disk(broken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.storage.box_sorting._BUCKET", 10)
    pieces = named(some_parts(np.random.default_rng(1), 20), 20).pieces(10, tmp_path / "spill")
    monkeypatch.setattr(broken, full)
    with pytest.raises(UnfinishedError) as caught:
        list(pieces)
    assert str(caught.value) == (
        "Could not write the checkpoint (No space left on device): nothing was published;"
        " make room or mend that, then go on with resume=True."
    )
    assert left_in(tmp_path) == set()


@pytest.mark.parametrize("harm", [lambda path: path.unlink(), lambda path: path.write_bytes(b"")])
def test_buckets_that_change_meanwhile(harm: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.storage.box_sorting._BUCKET", 10)
    spill = tmp_path / "spill"
    pieces = named(some_parts(np.random.default_rng(1), 20), 20).pieces(10, spill)
    next(pieces)
    for path in spill.iterdir():
        harm(path)
    with pytest.raises(UnfinishedError, match="changed or removed while they were in use"):
        list(pieces)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_files_do_not_tell_how_they_were_sorted(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Byte for byte the same from memory at once, from memory in buckets, and from files in buckets."""
    monkeypatch.setattr("shoal.publishing.tables._ROWS_AT_A_TIME", 30)
    parts = some_parts(np.random.default_rng(5), 12)
    some = named(parts, 12)
    written = []
    for bucket, spill in ((10**6, None), (10, None), (10, tmp_path / "spill"), (25, tmp_path / "spill")):
        monkeypatch.setattr("shoal.storage.box_sorting._BUCKET", bucket)
        with (tmp_path / "out").open("wb") as file:
            write_published(file, suffix, some, Grid(), Projection(lon_0=10, lat_0=50), {"format": 1}, spill)
        written.append((tmp_path / "out").read_bytes())
    assert len(written[0]) > 1000
    assert written == [written[0]] * 4
    assert left_in(tmp_path) == {"out"}
