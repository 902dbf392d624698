"""Files appear together and whole, or not at all."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from shoal import api
from shoal.errors import UnfinishedError
from shoal.storage.files import AtomicFiles, unfinished_path
from support.run_command import anonymize, in_metres, left_in, write

NO_SPACE = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def put(folder: Path, contents: dict[str, bytes]) -> None:
    with AtomicFiles() as files:
        for name, content in contents.items():
            with files.open(folder / name) as file:
                file.write(content)


def fail_at_rename(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Let the n-th file that is put in place find the disk full."""
    replace, turns = Path.replace, iter(range(1000))

    def failing(self: Path, target: Path) -> Path:
        if next(turns) == number:
            raise NO_SPACE
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", failing)


def test_files_appear_at_the_end_only(tmp_path: Path) -> None:
    with AtomicFiles() as files:
        with files.open(tmp_path / "a") as file:
            file.write(b"A")
        with files.open(tmp_path / "secret", mode=0o600) as file:
            file.write(b"B")
        assert not (tmp_path / "a").exists()
    assert left_in(tmp_path) == {"a", "secret"}
    assert (tmp_path / "a").read_bytes() == b"A"
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o027, 0o077])
def test_files_are_for_their_owner_only_until_they_are_put_in_place(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        with AtomicFiles() as files:
            for name, mode in {"public": 0o666, "secret": 0o600}.items():
                with files.open(tmp_path / name, mode=mode) as file:
                    file.write(b"raw")
                    assert permissions(files.waiting(tmp_path / name)) == 0o600
            assert {permissions(path) for path in tmp_path.iterdir()} == {0o600}
            assert len(left_in(tmp_path)) == 2
    finally:
        os.umask(before)
    assert {path.name: permissions(path) for path in tmp_path.iterdir()} == {
        "public": 0o666 & ~umask,
        "secret": 0o600 & ~umask,
    }


def test_a_release_is_for_its_owner_only_while_it_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[int, int] = {}
    verify = api.verify_release

    def looking(*given: Any, **options: Any) -> Any:
        seen.update({number: permissions(path) for number, path in enumerate(tmp_path.glob(".part*"))})
        return verify(*given, **options)

    monkeypatch.setattr(api, "verify_release", looking)
    events, output = write(in_metres(), tmp_path / "events.csv"), tmp_path / "out.csv"
    assert anonymize(events, output, "--key-out", tmp_path / "key.csv").code == 0
    assert seen == {0: 0o600, 1: 0o600}
    assert permissions(output) == permissions(events)
    assert permissions(tmp_path / "key.csv") == 0o600


def permissions(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("earlier", [{}, {"b": b"old"}, {"a": b"old", "b": b"older", "c": b"oldest"}])
@pytest.mark.parametrize("failing", [0, 1, 2])
def test_a_failing_rename_undoes_the_others(
    failing: int, earlier: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, content in earlier.items():
        (tmp_path / name).write_bytes(content)
    with monkeypatch.context() as patched:
        fail_at_rename(patched, failing)
        with pytest.raises(UnfinishedError, match=r"No space left on device.*nothing was published"):
            put(tmp_path, {"a": b"1", "b": b"2", "c": b"3"})
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == earlier
    put(tmp_path, {"a": b"1", "b": b"2", "c": b"3"})
    assert left_in(tmp_path) == {"a", "b", "c"}


def test_a_file_system_without_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(b"old")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    with monkeypatch.context() as patched:
        fail_at_rename(patched, 2)  # after a was set aside and replaced
        with pytest.raises(UnfinishedError):
            put(tmp_path, {"a": b"1", "b": b"2"})
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"old"}
    put(tmp_path, {"a": b"new"})
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"new"}


def test_errors_of_other_kinds_pass_through(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), AtomicFiles() as files, files.open(tmp_path / "a"):
        raise ZeroDivisionError
    assert left_in(tmp_path) == set()


def test_leftovers_of_killed_runs_go_away(tmp_path: Path) -> None:
    mine, others = unfinished_path(tmp_path / "a[1]"), unfinished_path(tmp_path / "a[1].csv")
    for path in (mine, others):
        path.write_bytes(b"half")
    put(tmp_path, {"a[1]": b"whole"})
    assert left_in(tmp_path) == {"a[1]", others.name}


# ---- through the command -----------------------------------------------------------------------------------------

BROKEN = {
    "parquet": "pyarrow.parquet.ParquetWriter.write_batch",
    "key": "shoal.publishing.release.key_table",
    "sync": "os.fsync",
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_full_disk_publishes_nothing(broken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events, output, key = (
        write(in_metres(), tmp_path / "e.csv"),
        tmp_path / "out.parquet",
        tmp_path / "key.csv",
    )
    output.write_text("earlier release")
    options = ("--key-out", key, "--force", "--resume")

    def full(*_: object, **__: object) -> None:
        raise NO_SPACE

    with monkeypatch.context() as patched:
        patched.setattr(BROKEN[broken], full)
        done = anonymize(events, output, *options)
    assert (done.code, done.out) == (3, "")
    assert done.err == (
        "shoal: Could not write the output (No space left on device): nothing was published;"
        " make room or mend that, then go on with --resume.\n"
    )
    files = {name for name in left_in(tmp_path) if "checkpoint" not in name}
    assert files == {"e.csv", "out.parquet"}
    assert output.read_text() == "earlier release"
    assert anonymize(events, output, *options).code == 0
    beside = {"key.csv", "key.csv.private.json", "key.csv.evidence.parquet"}
    assert left_in(tmp_path) == {"e.csv", "out.parquet", "out.parquet.manifest.json", *beside}


def test_a_full_disk_at_the_second_rename(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events, output = write(in_metres(), tmp_path / "events.csv"), tmp_path / "out.csv"
    assert anonymize(events, output).code == 0
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    renames = []
    replace = Path.replace

    def failing(self: Path, target: Path) -> Path:
        if Path(target).parent == tmp_path:
            renames.append(target)
            if len(renames) == 2:
                raise NO_SPACE
        return replace(self, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", failing)
        assert anonymize(events, output, "--force").code == 3
    after = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    assert after == before


def test_a_full_disk_at_a_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events, output = write(in_metres(), tmp_path / "events.csv"), tmp_path / "out.csv"

    def full(*_: object, **__: object) -> None:
        raise NO_SPACE

    with monkeypatch.context() as patched:
        patched.setattr("numpy.savez", full)
        done = anonymize(events, output)
    assert done.code == 3
    assert done.err.startswith("shoal: Could not write the checkpoint (No space left on device)")
    assert anonymize(events, output, "--resume").code == 0
