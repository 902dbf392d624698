"""A release that is not what it should be is not published, whatever went wrong before or while it was written."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import shoal
from shoal.core.box_sizes import box_sizes_of
from shoal.core.boxes import Boxes, BoxSource, concatenate
from shoal.core.parts import find_parts
from shoal.core.periods import ONE_PERIOD
from shoal.core.progress import SilentProgress
from shoal.core.workers import Workers
from shoal.errors import UnfinishedError
from shoal.hiding.pipeline import anonymize_samples
from shoal.publishing.record_names import NamedBoxes
from shoal.publishing.self_check import verify_release
from shoal.publishing.tables import SUFFIXES, write_published
from support.run_command import CANARY, anonymize, audit, boxes_in, in_metres, left_in, write

HALF_HOURS: dict[str, Any] = {"k": 2, "tau": "30min", "epsilon": "30min"}
DAY = 1440  # slots
Fault = Callable[[Boxes], Boxes]


def table() -> pa.Table:
    """Twelve who spread over a few kilometres; their names hold the canary."""
    events = in_metres()
    return events.set_column(0, "user", pa.array([f"{CANARY}-{user}" for user in events["user"].to_pylist()]))


def in_degrees(events: pa.Table) -> pa.Table:
    """Metres as parts of a degree, somewhere: GeoJSON takes nothing else."""
    lon, lat = (pc.divide(events[name], 1e5) for name in ("x", "y"))
    return pa.table({"user": events["user"], "time": events["time"], "lon": lon, "lat": pc.add(lat, 45.0)})


def crowd() -> pa.Table:
    """Twelve who are always at one place: everybody is hidden by all, so that one fewer leaves enough."""
    events = table()
    at_once = pa.array([1_700_000_100 + 900 * (row % 8) for row in range(len(events))])
    nowhere = pa.array([0.0] * len(events))
    return pa.table({"user": events["user"], "time": at_once, "x": nowhere, "y": nowhere})


def with_box(boxes: Boxes, **changes: int) -> Boxes:
    """One more box for the owner of the first one: the same box, with changes."""
    extra = {name: np.append(column, column[:1]) for name, column in boxes._asdict().items()}
    for name, value in changes.items():
        extra[name][-1] = value
    return Boxes(**extra).by_owner()


def only(boxes: Boxes, wanted: Any) -> Boxes:
    return Boxes._make(column[wanted] for column in boxes)


def shrunk(boxes: Boxes) -> Boxes:
    x1 = boxes.x1.copy()
    widest = int(np.argmax(boxes.x1 - boxes.x0))
    x1[widest] = boxes.x0[widest]
    return boxes._replace(x1=x1)


def shortened(boxes: Boxes) -> Boxes:
    t1 = boxes.t1.copy()
    longest = int(np.argmax(boxes.t1 - boxes.t0))
    t1[longest] = boxes.t0[longest]
    return boxes._replace(t1=t1)


def invented(boxes: Boxes) -> Boxes:
    """A box on another day; it is longer than tau, so that no attacker can rule its record out."""
    return with_box(boxes, t0=int(boxes.t1.max()) + DAY, t1=int(boxes.t1.max()) + DAY + 100)


def doubled(boxes: Boxes) -> Boxes:
    return with_box(boxes)


def without_the_end(boxes: Boxes) -> Boxes:
    """All records end early together: nobody stands out, but samples are gone that nobody suppressed."""
    return only(boxes, boxes.t1 < np.sort(boxes.t0)[-12] // 30 * 30)


def without_a_record(boxes: Boxes) -> Boxes:
    return only(boxes, boxes.owner != boxes.owner[0])


# The fault, the events, and what the check says.
FAULTS: dict[str, tuple[Fault, Callable[[], pa.Table], str]] = {
    "a box too small": (shrunk, table, "would be hidden among fewer than k = 2 records"),
    "a box too short": (shortened, table, "would be hidden among fewer than k = 2 records"),
    "a record lost": (without_a_record, table, "would be hidden among fewer than k = 2 records"),
    "a record lost in a crowd": (
        without_a_record, crowd, "8 samples in no box of their user, where 0 were suppressed",
    ),
    "samples lost": (without_the_end, table, " in no box of their user, where 0 were suppressed"),
    "a box invented": (invented, table, "boxes without a sample of their own user: 1, boxes that overlap: 0"),
    "a box doubled": (doubled, table, "boxes that overlap: 1"),
}  # fmt: skip


def decide_wrongly(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    """Something goes wrong while it is decided what to publish."""

    def faulty(*arguments: Any, **options: Any) -> Any:
        outcome = anonymize_samples(*arguments, **options)
        boxes = fault(outcome.boxes)
        parts = find_parts([boxes], ONE_PERIOD, outcome.n_users)
        return replace(outcome, source=BoxSource(lambda: [boxes]), parts=parts, box_sizes=box_sizes_of(boxes))

    monkeypatch.setattr("shoal.api.anonymize_samples", faulty)


def write_wrongly(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    """The decision is right, but something else is written."""

    def faulty(file: IO[bytes], suffix: str, named: NamedBoxes, *others: Any) -> None:
        changed: Any = copy.copy(named)
        lines = fault(concatenate(named.pieces(1000)))
        changed.pieces = lambda *_: iter([lines])
        write_published(file, suffix, changed, *others)

    monkeypatch.setattr("shoal.publishing.outputs.write_published", faulty)


def files_in(folder: Path) -> set[str]:
    return {name for name in left_in(folder) if ".checkpoint" not in name}


@pytest.mark.parametrize("most_samples", [1, 10**6])
@pytest.mark.parametrize("case", FAULTS)
def test_nothing_is_published(
    case: str, most_samples: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In chunks that are as short as can be, and all at once."""
    monkeypatch.setattr("shoal.auditing.coverage.chunks.MOST_SAMPLES", most_samples)
    fault, events, words = FAULTS[case]
    path = write(events(), tmp_path / "events.parquet")
    decide_wrongly(fault, monkeypatch)
    outputs = (
        tmp_path / "out.parquet",
        "--key-out",
        tmp_path / "key.csv",
        "--json",
        tmp_path / "summary.json",
    )
    done = anonymize(path, *outputs)
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith("shoal: Self-check failed: ")
    assert f"{words}. Nothing was published; this is a fault of shoal" in done.err
    assert done.err.count("\n") == 1
    assert CANARY not in done.err
    assert files_in(tmp_path) == {"events.parquet"}
    with pytest.raises(UnfinishedError, match="Self-check failed"):
        shoal.anonymize(events(), **HALF_HOURS)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_is_checked_is_what_was_written(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files of an earlier release stay as they were, and a run that writes properly goes on from the checkpoint."""
    events, output, key = (
        write(in_degrees(table()), tmp_path / "events.csv"), tmp_path / f"out{suffix}", tmp_path / "key.csv",
    )  # fmt: skip
    options = ("--key-out", key, "--force")
    assert anonymize(events, output, *options).code == 0
    names = {"events.csv", output.name, f"{output.name}.manifest.json", "key.csv"}
    names |= {"key.csv.private.json", "key.csv.evidence.parquet"}
    before = {name: (tmp_path / name).read_bytes() for name in names}
    for fault, words in (
        (shrunk, "would be hidden among fewer than k = 2 records"),
        (without_a_record, "the records read back are not those written"),
    ):
        with monkeypatch.context() as patched:
            write_wrongly(fault, patched)
            done = anonymize(events, output, *options, "--resume")
        assert (done.code, done.out) == (3, "")
        assert words in done.err
        assert files_in(tmp_path) == names
        assert before == {name: (tmp_path / name).read_bytes() for name in names}
    assert anonymize(events, output, *options, "--resume").code == 0
    assert left_in(tmp_path) == names
    assert before[output.name] != output.read_bytes()


def mixed(published: pa.Table) -> pa.Table:
    """The boxes of two records take turns."""
    return pa.concat_tables([published.slice(1), published.slice(0, 1)])


def the_other_way_round(published: pa.Table) -> pa.Table:
    return published.sort_by([("record", "descending"), ("t_start", "ascending")])


@pytest.mark.parametrize("disorder", [mixed, the_other_way_round])
def test_records_stand_together_and_in_order(
    disorder: Callable[[pa.Table], pa.Table], tmp_path: Path
) -> None:
    release = shoal.anonymize(table(), **HALF_HOURS, verify=False)
    written = disorder(release.to_arrow())
    with Workers(1) as workers:
        verify_release(release, release, workers=workers, progress=SilentProgress(), folder=tmp_path, run=map)
        with pytest.raises(UnfinishedError, match="the records read back are not those written"):
            verify_release(release, written, workers=workers, progress=SilentProgress(), folder=tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_box_that_reaches_over_many_chunks_is_judged_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """It holds a sample of its user, long before it ends; where it ends, another box of the record has begun."""
    monkeypatch.setattr("shoal.auditing.coverage.chunks.MOST_SAMPLES", 1)
    release = shoal.anonymize(crowd(), **HALF_HOURS, verify=False)
    written = release.to_arrow()
    ends = written["t_end"].to_pylist()
    ends[0] = ends[written["record"].to_pylist().count(written["record"][0].as_py()) - 1]
    place = written.schema.get_field_index("t_end")
    longer = written.set_column(place, "t_end", pa.array(ends, written.schema.field(place).type))
    with (
        Workers(1) as workers,
        pytest.raises(UnfinishedError, match=r"own user: 0, boxes that overlap: [1-9]"),
    ):
        verify_release(release, longer, workers=workers, progress=SilentProgress())


def test_what_cannot_be_read_back_is_not_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "shoal.publishing.outputs.write_published", lambda file, *_: file.write(CANARY.encode())
    )
    events = write(table(), tmp_path / "events.csv")
    done = anonymize(events, tmp_path / "out.parquet")
    assert (done.code, done.out) == (3, "")
    assert "Self-check failed: what was written cannot be read back." in done.err
    assert CANARY not in done.err
    assert files_in(tmp_path) == {"events.csv"}


@pytest.mark.parametrize("case", FAULTS)
def test_without_verification_it_is_published_and_says_so(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault, events, _ = FAULTS[case]
    decide_wrongly(fault, monkeypatch)
    path, output = write(events(), tmp_path / "events.parquet"), tmp_path / "out.parquet"
    done = anonymize(path, output, "--no-verify")
    assert (done.code, done.err) == (0, "")
    assert "Verified    no, as asked (--no-verify)" in done.out
    assert json.loads((tmp_path / "out.parquet.manifest.json").read_text())["verified"] is False
    assert boxes_in(output)
    published = shoal.anonymize(events(), **HALF_HOURS, verify=False)
    assert published.verified is published.manifest["verified"] is published.summary["verified"] is False


@pytest.mark.parametrize("promise", [HALF_HOURS, {"k": 3, "whole": True}])
def test_a_good_release_is_verified(promise: dict[str, Any], tmp_path: Path) -> None:
    published = shoal.anonymize(table(), **promise)
    assert published.verified is published.manifest["verified"] is published.summary["verified"] is True
    output = tmp_path / "out.csv"
    shoal.anonymize(table(), **promise, output=output)
    assert json.loads((tmp_path / "out.csv.manifest.json").read_text())["verified"] is True
    assert audit(write(table(), tmp_path / "events.csv"), output).code == 0


def test_suppressed_samples_are_no_fault(tmp_path: Path) -> None:
    """One who comes alone and on another day has no record."""
    alone = pa.table({"user": ["alone"], "time": [1_700_500_000], "x": [50.0], "y": [50.0]})
    events = write(pa.concat_tables([table(), alone]), tmp_path / "events.csv")
    done = anonymize(events, tmp_path / "out.csv", "--json", "-")
    assert done.code == 0
    summary = json.loads(done.out)
    assert (summary["verified"], summary["suppressed_users"], summary["suppressed_samples"]) == (True, 1, 1)
