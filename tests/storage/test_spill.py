"""Spill files: the same from memory and from disk, for their owner only, and nothing left behind."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shoal.core.boxes import BOX_ROW, Boxes, as_rows
from shoal.errors import UnfinishedError
from shoal.storage.spill import BOXES, ROWS, Spill, SpillFile, SpillPurpose, open_spill, spill_boxes

INT32 = np.dtype(np.int32)
PURPOSES = pytest.mark.parametrize("purpose", [BOXES, ROWS])


@pytest.fixture(params=["memory", "disk"])
def spill(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    with open_spill(tmp_path / "spill" if request.param == "disk" else None, ROWS) as opened:
        yield opened


def content(file: SpillFile) -> list[list[tuple[Any, list[int]]]]:
    return [[(values.dtype, values.tolist()) for values in group] for group in file]


# ---- both kinds ----------------------------------------------------------------------------------------------------


def test_groups_come_back_as_they_came(spill: Spill) -> None:
    rng = np.random.default_rng(1)
    files = spill.new_files("some", 7)
    expected: list[list[Any]] = [[] for _ in files]
    for _ in range(60):
        number = int(rng.integers(len(files)))
        group = [
            rng.integers(-9, 9, rng.integers(0, 5)),
            rng.integers(-9, 9, rng.integers(0, 5)).astype(INT32),
        ]
        files[number].append(group)
        expected[number].append([(values.dtype, values.tolist()) for values in group])
        if rng.random() < 0.1:
            files[number].clear()
            expected[number] = []
    for _ in range(2):  # as often as one likes
        assert [content(file) for file in files] == expected


def test_rows_and_columns_are_all_groups_end_to_end(spill: Spill) -> None:
    file = spill.new_file("numbers")
    assert file.rows(INT32).tolist() == []
    for begin in range(0, 40, 10):
        file.append([np.arange(begin, begin + 10, dtype=INT32)])
        assert file.rows(INT32).tolist() == list(range(begin + 10))
    column = file.column()
    assert column.part(5, 33).tolist() == list(range(5, 33))


def test_parts_of_larger_arrays(spill: Spill) -> None:
    """Views, also such as are not contiguous."""
    file = spill.new_file("views")
    table = np.arange(40).reshape(10, 4)
    file.append([table[:, 1], table[3]])
    assert [group[1] for group in content(file)[0]] == [table[:, 1].tolist(), table[3].tolist()]


def test_boxes_go_to_the_file_of_their_number(spill: Spill) -> None:
    rng = np.random.default_rng(2)
    for turn in range(40):
        files = spill.new_files(f"turn-{turn}", 5)
        n = int(rng.integers(0, 30))
        owner, *edges = rng.integers(-9, 9, (5, n)).astype(np.int32)
        boxes = Boxes(owner, np.arange(n), np.arange(n) + 3, *edges)
        number = rng.integers(rng.integers(5), 5, n).astype(rng.choice(["u1", "i4", "i8"]))
        went = spill_boxes(boxes, number, files)
        rows = as_rows(boxes, slice(None))
        for file in range(5):
            assert files[file].rows(BOX_ROW).tolist() == rows[number == file].tolist()
        assert [(file, part.tolist()) for file, part in went] == [
            (file, rows[number == file].tolist()) for file in sorted(set(number.tolist()))
        ]


# ---- on disk -------------------------------------------------------------------------------------------------------


def filled(spill: Spill) -> SpillFile:
    file = spill.new_file("some")
    file.append([np.arange(5), np.arange(3, dtype=INT32)])
    return file


def modes(folder: Path) -> tuple[int, set[int]]:
    return stat.S_IMODE(folder.stat().st_mode), {
        stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()
    }


@pytest.mark.parametrize("keep", [False, True])
def test_only_the_owner_may_read_them(keep: bool, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with open_spill(tmp_path / "spill", ROWS, keep=keep) as spill:
            filled(spill)
            assert modes(tmp_path / "spill") == (0o700, {0o600})
    finally:
        os.umask(before)
    assert (tmp_path / "spill").exists() == keep


def test_more_files_than_a_process_may_have_open(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    usual = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(200, usual[1]), usual[1]))
    try:
        with open_spill(tmp_path / "spill", ROWS) as spill:
            files = spill.new_files("some", 400)
            for file in files * 2:
                file.append([np.arange(2, dtype=INT32)])
            assert all(file.rows(INT32).tolist() == [0, 1, 0, 1] for file in files)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, usual)


@PURPOSES
def test_files_that_others_change_are_noticed(purpose: SpillPurpose, tmp_path: Path) -> None:
    with open_spill(tmp_path / "spill", purpose) as spill:
        file, numbers = filled(spill), spill.new_file("numbers")
        numbers.append([np.arange(8, dtype=INT32)])
        ((one, two),) = file
        assert (one.tolist(), two.tolist()) == ([0, 1, 2, 3, 4], [0, 1, 2])
        for values in (one, numbers.rows(INT32)):
            with pytest.raises(ValueError, match="read-only"):
                values[0] = 1
        for harm in (lambda path: path.write_bytes(b"short"), Path.unlink):
            for path in (tmp_path / "spill").iterdir():
                harm(path)
            for read in (lambda: list(file), lambda: numbers.rows(INT32)):
                with pytest.raises(UnfinishedError) as caught:
                    read()
                assert str(caught.value) == purpose.changed
        (tmp_path / "spill" / "numbers.spill").write_bytes(b"x" * 33)
        with pytest.raises(UnfinishedError, match="begin again"):
            numbers.rows(INT32)


def test_groups_of_other_types_are_refused(tmp_path: Path) -> None:
    with open_spill(tmp_path / "spill", ROWS) as spill:
        file = filled(spill)
        with pytest.raises(TypeError, match="takes no"):
            file.append([np.arange(5), np.arange(3)])
        assert len(list(file)) == 1


@PURPOSES
@pytest.mark.parametrize("broken", ["os.fdopen", "pathlib.Path.mkdir"])
def test_a_full_disk_is_told_in_one_line(
    broken: str, purpose: SpillPurpose, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(broken, full)
    with pytest.raises(UnfinishedError) as caught, open_spill(tmp_path / "spill", purpose) as spill:
        filled(spill)
    assert caught.value.for_command == (
        f"Could not write {purpose.what} (No space left on device): nothing was published;"
        f" make room or mend that, then {purpose.then}."
    )
    assert not list(tmp_path.iterdir())


def test_what_killed_runs_left_is_cleared(tmp_path: Path) -> None:
    """In a folder of its own everything, in one to keep the spill files only."""
    for keep, left in ((False, set()), (True, {"run.json"})):
        folder = tmp_path / str(keep)
        folder.mkdir()
        for name in ("some.spill", "other.spill", "run.json"):
            (folder / name).write_text("left over")
        with open_spill(folder, ROWS, keep=keep):
            assert {path.name for path in folder.iterdir()} == left


def fail(spill: Spill, error: type[BaseException]) -> None:
    filled(spill)
    raise error


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failure_leaves_nothing(error: type[BaseException], tmp_path: Path) -> None:
    for keep in (False, True):
        with pytest.raises(error), open_spill(tmp_path / "made", ROWS, keep=keep) as spill:
            fail(spill, error)
        assert not list(tmp_path.iterdir())
    (tmp_path / "run.json").touch()
    with pytest.raises(error), open_spill(tmp_path, ROWS, keep=True) as spill:
        fail(spill, error)
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]
