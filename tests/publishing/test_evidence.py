"""The evidence beside a key: every row is true in the published file, none is missing, and only its owner reads it."""

from __future__ import annotations

import stat
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from shoal.core.promise import Grid
from shoal.reading import evidence_beside, read_events, read_evidence, read_published
from support.killed_runs import Killed, end_after
from support.run_command import anonymize, boxes_in, city, read_table, run, seconds, write

STEP, CELL = 60, 100
WAYS: dict[str, tuple[str, ...]] = {
    "matching": (),
    "unhardened": ("--harden", "0"),
    "hardened-most": ("--harden", "3"),
    "long-windows": ("--tau", "1h", "--epsilon", "30min"),
    "short-windows": ("--tau", "30min", "--epsilon", "10min"),
    "whole": ("--whole",),
    "mutual": ("--selector", "mutual"),
    "spectral": ("--selector", "spectral", "--repair"),
}


class EvidenceRow(NamedTuple):
    """A row of the evidence, and whose record it is."""

    begin: int
    end: int
    user: str
    record: str
    span: str


class Made(NamedTuple):
    """A release with all that is secret about it, in plain Python."""

    rows: list[EvidenceRow]
    boxes: dict[str, list[tuple[float, ...]]]
    own: dict[str, str]
    samples: dict[str, list[tuple[int, int, int]]]


def made(events: Path, output: Path, key: Path) -> Made:
    """What stands in the files of a release; samples in seconds and metres, the lower edges of slots and cells."""
    table = read_table(output)
    boxes: dict[str, list[tuple[float, ...]]] = {}
    edges = [table[name].to_pylist() for name in ("x_min", "x_max", "y_min", "y_max")]
    for record, *box in zip(
        table["record"].to_pylist(), seconds(table["t_start"]), seconds(table["t_end"]), *edges, strict=True
    ):
        boxes.setdefault(record, []).append(tuple(box))
    keyed = read_table(key).to_pydict()
    found = read_events(events, grid=Grid(float(CELL), STEP)).samples
    samples: dict[str, list[tuple[int, int, int]]] = {}
    columns = (found.user.tolist(), found.t.tolist(), found.x.tolist(), found.y.tolist())
    for user, t, x, y in zip(*columns, strict=True):
        samples.setdefault(str(found.users[user]), []).append((STEP * t, CELL * x, CELL * y))
    evidence = read_table(evidence_of(key)).to_pylist()
    rows = [EvidenceRow(**row) for row in evidence]
    return Made(rows, boxes, dict(zip(map(str, keyed["user"]), keyed["record"], strict=True)), samples)


def evidence_of(key: Path) -> Path:
    return key.with_name(key.name + ".evidence.parquet")


def holds(boxes: list[tuple[float, ...]], sample: tuple[int, int, int]) -> bool:
    t, x, y = sample
    return any(t0 <= t < t1 and x0 <= x < x1 and y0 <= y < y1 for t0, t1, x0, x1, y0, y1 in boxes)


def untrue(release: Made) -> int:
    """How many samples are published, but not where the evidence says."""
    missing = 0
    for row in release.rows:
        there = [sample for sample in release.samples[row.user] if row.begin <= sample[0] < row.end]
        published = [sample for sample in there if holds(release.boxes[release.own[row.user]], sample)]
        missing += sum(not holds(release.boxes[row.record], sample) for sample in published)
    return missing


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("k", [2, 3])
def test_every_row_is_true_and_none_is_missing(way: str, k: int, tmp_path: Path) -> None:
    if way == "spectral":
        pytest.importorskip("sklearn")
    events = write(city(80), tmp_path / "events.csv")
    output, key = tmp_path / "out.parquet", tmp_path / "key.csv"
    assert anonymize(events, output, "--key-out", key, *WAYS[way], k=k).code == 0
    release = made(events, output, key)
    assert release.rows
    assert untrue(release) == 0
    assert all(release.own[row.user] != row.record for row in release.rows)
    windows = [row for row in release.rows if row.span == "window"]
    most = 2 * k - 2 if way == "whole" else k - 1  # groups of more than k hold each other, too
    for column in ("user", "record"):  # everybody is picked k - 1 times and picks k - 1
        times = Counter((row.begin, row.end, getattr(row, column)) for row in windows)
        assert k - 1 in set(times.values()) <= set(range(k - 1, most + 1))
    for user, samples in release.samples.items():
        if user in release.own:
            held = [sample for sample in samples if holds(release.boxes[release.own[user]], sample)]
            told = [(row.begin, row.end) for row in windows if row.user == user]
            assert all(any(begin <= t < end for begin, end in told) for t, _, _ in held)
    assert ("epoch" in {row.span for row in release.rows}) == (
        way not in ("unhardened", "whole", "mutual", "spectral")
    )


@pytest.mark.parametrize("k", [2, 3])
def test_suppressed_afterwards(k: int, tmp_path: Path) -> None:
    """The paper's selector, unrepaired: what is told holds in every epoch in which the record has boxes."""
    pytest.importorskip("sklearn")
    events, output, key = write(city(80), tmp_path / "events.csv"), tmp_path / "out.csv", tmp_path / "key.csv"
    assert anonymize(events, output, "--key-out", key, "--selector", "spectral", k=k).code == 0
    release = made(events, output, key)
    shown = {(record, box[0] // 1800) for record, boxes in release.boxes.items() for box in boxes}
    for row in release.rows:
        own, told = release.boxes[release.own[row.user]], release.boxes[row.record]
        there = [sample for sample in release.samples[row.user] if row.begin <= sample[0] < row.end]
        both = [sample for sample in there if holds(own, sample) and (row.record, sample[0] // 1800) in shown]
        assert all(holds(told, sample) for sample in both)


def test_a_row_about_another_record_is_noticed(tmp_path: Path) -> None:
    """The check above can fail: with users and records exchanged most rows are untrue."""
    events, output, key = write(city(80), tmp_path / "events.csv"), tmp_path / "out.csv", tmp_path / "key.csv"
    assert anonymize(events, output, "--key-out", key, "--harden", "0", k=3).code == 0
    release = made(events, output, key)
    owner = {record: user for user, record in release.own.items()}
    turned = [row._replace(user=owner[row.record], record=release.own[row.user]) for row in release.rows]
    assert untrue(release) == 0
    assert untrue(release._replace(rows=turned)) > len(turned) // 2


def test_windows_as_long_as_promised(tmp_path: Path) -> None:
    events, output, key = write(city(80), tmp_path / "events.csv"), tmp_path / "out.csv", tmp_path / "key.csv"
    assert anonymize(events, output, "--key-out", key, "--tau", "1h", "--epsilon", "30min").code == 0
    rows = made(events, output, key).rows
    lengths = {
        part: {row.end - row.begin for row in rows if row.span == part} for part in ("window", "epoch")
    }
    assert lengths == {"window": {90 * 60}, "epoch": {30 * 60}}
    assert all(row.begin % (30 * 60) == 0 for row in rows)


def facts(folder: Path) -> Counter[Any]:
    """The evidence, with records told by their owners: names are fresh at every run."""
    release = made(folder / "events.csv", folder / "out.csv", folder / "key.csv")
    owner = {record: user for user, record in release.own.items()}
    return Counter(row._replace(record=owner[row.record]) for row in release.rows)


@pytest.mark.parametrize("selector", ["matching", "mutual"])
def test_a_resumed_run_tells_the_same(selector: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = [tmp_path / "whole", tmp_path / "resumed"]
    for folder in folders:
        folder.mkdir()
        write(city(80), folder / "events.csv")
    commands = [
        (folder / "events.csv", folder / "out.csv", "--selector", selector, "--key-out", folder / "key.csv")
        for folder in folders
    ]
    assert anonymize(*commands[0]).code == 0
    with monkeypatch.context() as patched:
        end_after(20, patched)
        with pytest.raises(Killed):
            anonymize(*commands[1])
    assert anonymize(*commands[1], "--resume").code == 0
    assert boxes_in(folders[0] / "out.csv") == boxes_in(folders[1] / "out.csv")
    assert facts(folders[0]) == facts(folders[1])


def test_for_its_owner_only_and_only_where_wanted(tmp_path: Path) -> None:
    events, output, key = write(city(80), tmp_path / "events.csv"), tmp_path / "out.csv", tmp_path / "key.csv"
    assert anonymize(events, output).code == 0
    assert not list(tmp_path.glob("*.evidence.parquet"))
    assert anonymize(events, output, "--key-out", key, "--no-evidence", "--force").code == 0
    assert evidence_beside(key) is None
    assert anonymize(events, output, "--key-out", key, "--force").code == 0
    assert evidence_beside(key) == evidence_of(key)
    assert stat.S_IMODE(evidence_of(key).stat().st_mode) == 0o600
    key.unlink()
    output.unlink()
    (tmp_path / "out.csv.manifest.json").unlink()
    again = anonymize(events, output, "--key-out", key)
    assert (again.code, "key.csv" in again.err, "exists already" in again.err) == (2, True, True)


def test_read_back_by_number(tmp_path: Path) -> None:
    events, output, key = write(city(80), tmp_path / "events.csv"), tmp_path / "out.csv", tmp_path / "key.csv"
    assert anonymize(events, output, "--key-out", key, k=3).code == 0
    table, store = read_published(output), read_events(events, grid=Grid(float(CELL), STEP)).store
    found = read_evidence(evidence_of(key), store.users, table.names, STEP)
    told = [
        EvidenceRow(
            begin * STEP, end * STEP, str(store.users[user]), table.names[record], ("window", "epoch")[part]
        )
        for begin, end, user, record, part in zip(*(column.tolist() for column in found), strict=True)
    ]
    assert told == made(events, output, key).rows


def test_the_command_says_what_it_leaves_out() -> None:
    assert "--no-evidence" in run("anonymize", "--help").out
