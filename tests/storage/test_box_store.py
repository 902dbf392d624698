"""Boxes by time: the same whatever stretch is asked for, in memory and in files that only their owner may read."""

from __future__ import annotations

import stat
from pathlib import Path

import numpy as np
import pytest

from shoal.core.boxes import Boxes
from shoal.errors import UnfinishedError
from shoal.storage.box_store import BoxStore, open_box_store


def random_boxes(rng: np.random.Generator) -> Boxes:
    n = int(rng.integers(1, 40))
    owner, *edges = rng.integers(-3, 9, (5, n)).astype(np.int32)
    t0 = rng.integers(-30, 30, n)
    return Boxes(owner, t0, t0 + rng.integers(0, 12, n), *edges)


def as_rows(boxes: Boxes) -> list[tuple[int, ...]]:
    return list(zip(*(column.tolist() for column in boxes), strict=True))


def one_of(boxes: Boxes, wanted: np.typing.NDArray[np.bool_]) -> Boxes:
    return Boxes._make(column[wanted] for column in boxes)


@pytest.mark.parametrize("on_disk", [False, True])
def test_a_stretch_is_what_meets_it(on_disk: bool, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    for _ in range(150):
        edges = np.unique(rng.integers(-35, 35, rng.integers(0, 6)))
        parts = [random_boxes(rng) for _ in range(rng.integers(1, 4))]
        every = Boxes._make(np.concatenate(columns) for columns in zip(*parts, strict=True))
        with open_box_store(edges, tmp_path if on_disk else None) as buckets:
            for part in parts:
                buckets.add(part)
            assert len(buckets) == every.n_boxes
            assert (buckets.begin, buckets.end) == (every.t0.min(), every.t1.max() + 1)
            for _ in range(5):
                begin, end = sorted(rng.integers(-45, 45, 2).tolist())
                found = buckets.between(begin, end)
                expected = one_of(every, (every.t0 < end) & (every.t1 >= begin))
                assert sorted(as_rows(found)) == sorted(as_rows(expected))
                assert np.all(np.diff(np.searchsorted(edges, found.t0, side="right")) >= 0)
                assert [column.dtype for column in found] == [column.dtype for column in every]


def filled(buckets: BoxStore) -> BoxStore:
    buckets.add(random_boxes(np.random.default_rng(2)))
    return buckets


def test_files_are_for_their_owner_and_go_away(tmp_path: Path) -> None:
    with open_box_store(np.array([-5, 0, 5]), tmp_path) as buckets:
        filled(buckets)
        (folder,) = tmp_path.iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        modes = {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
        assert modes == {0o600}
    assert not list(tmp_path.iterdir())
    with pytest.raises(AttributeError), open_box_store(np.array([0]), tmp_path) as buckets:
        filled(buckets).fail()  # type: ignore[attr-defined]
    assert not list(tmp_path.iterdir())


def test_what_a_killed_run_left_is_not_taken_for_boxes(tmp_path: Path) -> None:
    with open_box_store(np.array([0]), tmp_path) as buckets:
        filled(buckets)
        with open_box_store(np.array([0]), tmp_path) as again:
            filled(again)
            assert again.between(-99, 99).n_boxes == len(again)


def test_a_file_that_changed_is_not_read_as_if_it_were_whole(tmp_path: Path) -> None:
    for harm in (Path.unlink, lambda path: path.write_bytes(b"")):
        with open_box_store(np.array([0]), tmp_path) as buckets:
            filled(buckets)
            (folder,) = tmp_path.iterdir()
            harm(next(folder.iterdir()))
            with pytest.raises(UnfinishedError, match=r"begin again|go on with resume=True"):
                buckets.between(-99, 99)


def test_no_room_is_told_in_a_line(tmp_path: Path) -> None:
    with (
        pytest.raises(UnfinishedError, match="nothing was published; make room"),
        open_box_store(np.array([0]), tmp_path / "gone"),
    ):
        pass
