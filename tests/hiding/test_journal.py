"""A journal gives back what was noted, however the process before it ended."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shoal.core.boxes import Boxes, concatenate
from shoal.errors import InputError
from shoal.hiding.fold import DecidedWindow, Step
from shoal.hiding.hardening import Witnesses, no_witnesses
from shoal.hiding.journal import FolderJournal, Journal, MemoryJournal, check_format
from shoal.hiding.window import HidingSets
from shoal.publishing.checkpoint import open_checkpoint, was_placed
from shoal.storage.files import file_identity

IDENTITY = {"dataset": "d", "k": 2, "tau": None}


def step(number: int) -> Step:
    if number % 3 == 0:
        return Step((), concatenate([]), no_witnesses())
    values = np.arange(number, dtype=np.int32)
    boxes = Boxes(values, values.astype(np.int64), values.astype(np.int64), values, values, values, values)
    hiding_sets = HidingSets(values, values[:, None], values, values.astype(np.uint8))
    windows = tuple(DecidedWindow(number + more, number + 9, hiding_sets) for more in range(number % 3))
    witnesses = Witnesses(values, values[::-1], values.astype(np.int64))
    return Step(windows, boxes, witnesses, windows[1:] * number)


def same(one: Step, other: Step) -> bool:
    windows = [*one.windows, None, *one.tentative], [*other.windows, None, *other.tentative]
    if [each and each[:2] for each in windows[0]] != [each and each[:2] for each in windows[1]]:
        return False
    pairs = [*zip(one.boxes, other.boxes, strict=True), *zip(one.witnesses, other.witnesses, strict=True)]
    for mine, its in zip(*windows, strict=True):
        if mine is not None and its is not None:
            pairs += zip(mine.hiding_sets, its.hiding_sets, strict=True)
    return all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in pairs)


@contextmanager
def open_journal(folder: Path | None, identity: dict[str, Any], *, resume: bool) -> Iterator[Journal]:
    with open_checkpoint(folder, resume=resume) as checkpoint:
        yield checkpoint.journal(identity)


def filled(folder: Path, steps: int) -> None:
    with open_journal(folder, IDENTITY, resume=False) as journal:
        for number in range(steps):
            journal.append(step(number))


def filled_by_another(folder: Path) -> None:
    with open_journal(folder, {**IDENTITY, "k": 3, "dataset": "e"}, resume=True):
        pytest.fail("it is not the same run")


def reopened(folder: Path) -> list[Step]:
    with open_journal(folder, IDENTITY, resume=True) as journal:
        assert len(list(journal)) == len(journal)
        return list(journal)


def test_both_journals_give_back_what_was_noted(tmp_path: Path) -> None:
    in_memory = MemoryJournal()
    with open_journal(tmp_path / "journal", IDENTITY, resume=False) as on_disk:
        for number in range(7):
            in_memory.append(step(number))
            on_disk.append(step(number))
        assert len(in_memory) == len(on_disk) == 7
        assert all(same(one, other) for one, other in zip(in_memory, on_disk, strict=True))
    assert all(same(one, step(number)) for number, one in enumerate(reopened(tmp_path / "journal")))


def test_only_the_owner_may_look(tmp_path: Path) -> None:
    filled(tmp_path / "journal", 1)
    assert stat.S_IMODE((tmp_path / "journal").stat().st_mode) == 0o700


@pytest.mark.parametrize("keep", [0, 1, 100, -1])
def test_a_torn_last_file_does_not_count(keep: int, tmp_path: Path) -> None:
    filled(tmp_path / "journal", 5)
    last = tmp_path / "journal" / "step-0000004.npz"
    last.write_bytes(last.read_bytes()[:keep])
    assert len(reopened(tmp_path / "journal")) == 4


def test_flipped_bytes_in_the_middle_end_the_run_of_steps(tmp_path: Path) -> None:
    filled(tmp_path / "journal", 6)
    torn = tmp_path / "journal" / "step-0000002.npz"
    content = torn.read_bytes()
    half = content.index(b"\x93NUMPY") + 130  # inside the first array
    torn.write_bytes(content[:half] + bytes([content[half] ^ 255]) + content[half + 1 :])
    assert len(reopened(tmp_path / "journal")) == 2


def test_unfinished_files_do_not_count(tmp_path: Path) -> None:
    filled(tmp_path / "journal", 2)
    (tmp_path / "journal" / "step-0000002.part").write_bytes(b"half")
    assert len(reopened(tmp_path / "journal")) == 2


@pytest.mark.parametrize("header", [None, "", "{", "[1]", "7"])
def test_without_a_header_nothing_counts(header: str | None, tmp_path: Path) -> None:
    """A process killed before it wrote its header leaves an empty folder; steps without one are not trusted."""
    folder = tmp_path / "journal"
    filled(folder, 4)
    (folder / "run.json").unlink()
    if header is not None:
        (folder / "run.json").write_text(header)
    with open_journal(folder, IDENTITY, resume=True) as journal:
        assert len(journal) == 0
        journal.append(step(0))
    assert len(reopened(folder)) == 1  # the old steps do not come back behind the new one


def test_an_empty_folder_is_a_beginning(tmp_path: Path) -> None:
    (tmp_path / "journal").mkdir()
    assert reopened(tmp_path / "journal") == []


def test_other_runs_are_refused(tmp_path: Path) -> None:
    filled(tmp_path / "journal", 3)
    with pytest.raises(InputError, match="with another dataset and k: resume with the same"):
        filled_by_another(tmp_path / "journal")
    with pytest.raises(InputError, match="add resume=True"):
        filled(tmp_path / "journal", 1)
    assert len(reopened(tmp_path / "journal")) == 3


def test_two_processes_cannot_share_a_folder(tmp_path: Path) -> None:
    filled(tmp_path / "journal", 2)
    with (
        open_journal(tmp_path / "journal", IDENTITY, resume=True) as journal,
        pytest.raises(InputError, match="Another run is still at work"),
    ):
        reopened(tmp_path / "journal")
    assert len(journal) == 2
    assert len(reopened(tmp_path / "journal")) == 2


def test_bad_input_takes_the_folder_away_and_other_failures_leave_it(tmp_path: Path) -> None:
    with pytest.raises(InputError), open_journal(tmp_path / "journal", IDENTITY, resume=False):
        raise InputError
    assert not (tmp_path / "journal").exists()
    with pytest.raises(ZeroDivisionError), open_journal(tmp_path / "journal", IDENTITY, resume=False):
        raise ZeroDivisionError
    assert reopened(tmp_path / "journal") == []


def test_marks_and_removal(tmp_path: Path) -> None:
    folder, ours, other = tmp_path / "journal", tmp_path / "ours", tmp_path / "other"
    for path in (ours, other):
        path.write_text("content")
    assert not was_placed(folder, ours)
    with open_checkpoint(folder, resume=False) as checkpoint:
        assert isinstance(checkpoint.journal(IDENTITY), FolderJournal)
        assert not was_placed(folder, ours)
        checkpoint.note_placing([file_identity(ours)])
        ours = ours.rename(tmp_path / "in place")
        assert was_placed(folder, ours)
        assert not was_placed(folder, other)
        assert not was_placed(folder, tmp_path / "missing")
        assert checkpoint.remove()
    assert not folder.exists()
    with open_checkpoint(None, resume=False) as nothing:
        assert isinstance(nothing.journal(IDENTITY), MemoryJournal)
        assert nothing.samples is None
        assert nothing.remove()


@pytest.mark.parametrize("failure", [InputError, ZeroDivisionError, KeyboardInterrupt])
def test_what_fails_before_anything_was_decided_leaves_nothing(
    failure: type[BaseException], tmp_path: Path
) -> None:
    folder = tmp_path / "journal"
    with pytest.raises(failure), open_checkpoint(folder, resume=False):
        raise failure
    assert not folder.exists()


@pytest.mark.parametrize("failure", [InputError, ZeroDivisionError, KeyboardInterrupt])
def test_work_done_outlives_a_resume_that_fails_while_it_reads(
    failure: type[BaseException], tmp_path: Path
) -> None:
    """Whoever resumes with the wrong file must not lose hours of work; samples put aside go."""
    folder = tmp_path / "journal"
    filled(folder, 3)
    (folder / "samples").mkdir()
    with pytest.raises(failure), open_checkpoint(folder, resume=True):
        raise failure
    assert not (folder / "samples").exists()
    assert len(reopened(folder)) == 3


@pytest.mark.parametrize(
    ("found", "words"),
    [(None, "found an older one"), (3, "found format 3"), (5, "found format 5"), ("x", "found format 'x'")],
)
def test_journals_of_another_format_are_refused(found: object, words: str, tmp_path: Path) -> None:
    FolderJournal(tmp_path, {"k": 2}).append(step(0))
    header = tmp_path / "run.json"
    content = json.loads(header.read_text())
    assert content.pop("format") == 4
    header.write_text(json.dumps(content if found is None else {"format": found, **content}))
    for refuse in (lambda: check_format(tmp_path), lambda: FolderJournal(tmp_path, {"k": 2})):
        with pytest.raises(InputError, match=re.escape(words)) as caught:
            refuse()
        assert "\n" not in str(caught.value)
    assert len(list(tmp_path.glob("step-*.npz"))) == 1  # nothing was cleared away


def test_a_torn_header_is_begun_anew(tmp_path: Path) -> None:
    FolderJournal(tmp_path, {"k": 2}).append(step(0))
    (tmp_path / "run.json").write_text("{")
    check_format(tmp_path)
    assert len(FolderJournal(tmp_path, {"k": 2})) == 0
    assert not list(tmp_path.glob("step-*.npz"))
