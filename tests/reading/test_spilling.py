"""Rows kept in files while they are read: the same samples as in memory, and as a slow reader in plain Python finds."""

from __future__ import annotations

import math
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from reading import oracle
from shoal.core.options import ReadingOptions
from shoal.core.promise import Grid
from shoal.errors import InputError, UnfinishedError
from shoal.reading import Events, Projection, read_events
from shoal.storage.sample_store import FileColumn
from shoal.storage.spill import Spill
from support.reading import read_with

NOW = 1_700_000_000
DAY = 86_400
SITES = pd.DataFrame({"site": list("pqrs"), "x": [5.0, 512.0, -88.0, 4000.0], "y": [5.0, -7.5, 91.0, 0.0]})

Row = tuple[str, int, float, float]  # user, second, x or longitude, y or latitude


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many batches and many partitions, however few rows."""
    monkeypatch.setattr("shoal.reading.tables.BATCH_ROWS", 7)
    monkeypatch.setattr("shoal.reading.csv_files._BLOCK_BYTES", 300)
    monkeypatch.setattr("shoal.reading.sorting._PARTITION_ROWS", 5)
    monkeypatch.setattr("shoal.reading.resolving._SHORTEST_STRETCH_S", 1)
    monkeypatch.setattr("shoal.reading.sorting._AT_LEAST", 3)


def random_rows(rng: random.Random) -> tuple[str, list[Row]]:
    """Rows in metres, degrees or at sites, some of them twice or close in time, now and then one from 1970."""
    kind = rng.choice(("metres", "degrees", "sites"))
    span = rng.choice((30, 3_000, 5 * DAY))
    rows = []
    for _ in range(rng.choice((1, 20, 90))):
        place: tuple[float, float] = (rng.uniform(-500, 500), rng.uniform(-500, 500))
        if kind == "degrees":
            place = rng.choice((2.3, 2.31, 2.4)), rng.uniform(48.8, 48.82)
        if kind == "sites":
            _, *place = rng.choice(SITES.to_numpy().tolist())
        rows.append((rng.choice("abcdef"), NOW + rng.randrange(span), *place))
    rows += rng.choices(rows, k=rng.randrange(5))
    if rng.random() < 0.2:
        rows.append((rows[0][0], 5, *rows[0][2:]))
    rng.shuffle(rows)
    return kind, rows


def table_of(kind: str, rows: list[Row], per_second: int) -> pd.DataFrame:
    user, when, first, second = zip(*rows, strict=True)
    frame = pd.DataFrame({"user": user, "time": [second * per_second for second in when]})
    if kind == "sites":
        names = {(x, y): site for site, x, y in SITES.to_numpy().tolist()}
        return frame.assign(site=[names[place] for place in zip(first, second, strict=True)])
    names = ("lon", "lat") if kind == "degrees" else ("x", "y")
    return frame.assign(**dict(zip(names, (first, second), strict=True)))


def random_options(rng: random.Random, kind: str, rows: list[Row]) -> dict[str, Any]:
    box = "2.305,48.805,2.5,48.9" if kind == "degrees" else "-300,-200,4000,250"
    return {
        "grid": Grid(cell_m=rng.choice((10.0, 250.0)), step_s=rng.choice((1, 7, 60))),
        "exclude_users": rng.choice((None, ["b", "nobody"])) if "b" in {row[0] for row in rows} else None,
        "start": rng.choice((None, "2001-01-01", "2023-11-14T22:13:30")),
        "bbox": rng.choice((None, None, box)),
        "min_days_active": rng.choice((None, None, 2)) if len(rows) > 5 else None,
        "resample": rng.choice((None, "1s", "10s", "11min")),
        "sites": SITES if kind == "sites" else None,
    }


def slow(kind: str, rows: list[Row], options: dict[str, Any], projection: Any) -> tuple[list, Counter, int]:
    """Samples by (t, user, x, y), why rows were dropped, and how many were duplicates."""
    grid, dropped = options["grid"], Counter()
    filters = ReadingOptions.from_keywords(options)
    starts = {None: -(10**12), "2001-01-01": 978_307_200, "2023-11-14T22:13:30": 1_700_000_010}

    def keep(rows: list, holds: Any, reason: str) -> list:
        kept = [row for row in rows if holds(row)]
        dropped[reason] += len(rows) - len(kept)
        return kept

    rows = keep(rows, lambda row: row[1] >= starts[options["start"]], "before --from or after --to")
    rows = keep(rows, lambda row: row[0] not in (options["exclude_users"] or ()), "excluded user")
    if filters.bounding_box is not None:
        west, south, east, north = vars(filters.bounding_box).values()
        rows = keep(rows, lambda row: west <= row[2] <= east and south <= row[3] <= north, "outside --bbox")
    if filters.min_days_active is not None:
        days = Counter(user for user, _ in {(row[0], row[1] // DAY) for row in rows})
        few = "user active on fewer than --min-days-active days"
        rows = keep(rows, lambda row: days[row[0]] >= filters.min_days_active, few)
    on_grid = []
    for user, when, *place in rows:
        x, y = oracle.metres(projection, *place) if kind == "degrees" else place
        on_grid.append((user, when, math.floor(x / grid.cell_m), math.floor(y / grid.cell_m)))
    if filters.resample_s is not None:
        firsts: dict[Any, tuple] = {}
        for row in sorted(on_grid):
            firsts.setdefault((row[0], row[1] // filters.resample_s), row)
        dropped["not the first in its --resample period"] += len(on_grid) - len(firsts)
        on_grid = list(firsts.values())
    samples = {(when // grid.step_s, user, x, y) for user, when, x, y in on_grid}
    return sorted(samples), +dropped, len(on_grid) - len(samples)


def rows_of(events: Events) -> list[tuple[int, str, int, int]]:
    rows = events.store.between(-(2**60), 2**60)
    columns = (column.tolist() for column in (rows.t, rows.user, rows.x, rows.y))
    return [(t, events.store.users[user], x, y) for t, user, x, y in zip(*columns, strict=True)]


def content(events: Events) -> tuple[object, ...]:
    """Everything that was read, byte for byte."""
    store = events.store
    columns = (getattr(store, name).part(0, len(store)) for name in ("user", "x", "y"))
    arrays = [(array.dtype, array.tobytes()) for array in (store.slots, store.first, *columns)]
    return arrays, store.users.tolist(), events.read_summary, events.projection, events.timezone


def forms(frame: pd.DataFrame, folder: Path) -> Iterator[Any]:
    """The same rows as a table, as CSV, and as a folder of Parquet files with several row groups each."""
    yield frame
    frame.to_csv(folder / "events.csv", index=False)
    yield folder / "events.csv"
    parts = folder / "events"
    for number, start in enumerate(range(0, len(frame), 40)):
        (parts / f"day={number}").mkdir(parents=True)
        table = pa.Table.from_pandas(frame[start : start + 40], preserve_index=False)
        pq.write_table(table, parts / f"day={number}" / "part-0.parquet", row_group_size=9)
    yield parts


def outcome(form: Any, options: dict[str, Any], spill: Path | None = None) -> Events | str:
    """What was read, or why nothing was."""
    try:
        return read_with(form, threads=2, **options, spill=spill)
    except InputError as error:
        return str(error)


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("seed", range(40))
def test_the_same_in_files_as_in_memory_and_by_hand(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    kind, rows = random_rows(rng)
    options = random_options(rng, kind, rows)
    frame = table_of(kind, rows, rng.choice((1, 1000)))
    for number, form in enumerate(forms(frame, tmp_path)):
        spill = tmp_path / f"spill{number}"
        in_memory, in_files = outcome(form, options), outcome(form, options, spill)
        if isinstance(in_memory, str) or isinstance(in_files, str):
            assert in_memory == in_files
            assert not spill.exists()
            assert slow(kind, rows, options, Projection(2, 49))[0] == []
            continue
        assert isinstance(in_files.store.user, FileColumn)
        assert content(in_files) == content(in_memory)
        expected, dropped, duplicates = slow(kind, rows, options, in_memory.projection)
        assert rows_of(in_memory) == expected
        assert in_memory.read_summary.dropped == dropped
        assert (in_memory.read_summary.duplicates, in_memory.read_summary.rows_read) == (
            duplicates,
            len(rows),
        )
        assert set(in_memory.store.users) == {user for _, user, _, _ in expected}


@pytest.mark.usefixtures("tiny")
def test_the_constants_matter_only_for_memory(tmp_path: Path) -> None:
    """One partition, and as many as there are slots."""
    kind, rows = random_rows(random.Random(3))
    frame = table_of(kind, rows, 1)
    options = {"grid": Grid(), "sites": SITES if kind == "sites" else None}
    many = content(read_with(frame, **options, spill=tmp_path / "many"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shoal.reading.sorting._PARTITION_ROWS", 10**6)
        assert content(read_with(frame, **options, spill=tmp_path / "one")) == many


# ---- the folder ----------------------------------------------------------------------------------------------------

FRAME = pd.DataFrame({"user": ["a", "b"] * 30, "time": range(NOW, NOW + 60), "x": 5.0, "y": range(60)})


def test_only_the_samples_stay_and_only_for_their_owner(tmp_path: Path) -> None:
    spill = tmp_path / "spill"
    before = os.umask(0)
    try:
        read_events(FRAME, grid=Grid(), spill=spill)
    finally:
        os.umask(before)
    assert spill.stat().st_mode & 0o777 == 0o700
    assert sorted(path.name for path in spill.iterdir()) == ["user.spill", "x.spill", "y.spill"]
    assert {path.stat().st_mode & 0o777 for path in spill.iterdir()} == {0o600}


def test_what_an_earlier_run_left_is_cleared_and_nothing_else(tmp_path: Path) -> None:
    expected = content(read_events(FRAME, grid=Grid()))
    for name in (
        "batch-0000000.spill",
        "partition-0000000.spill",
        "partition-0000099.spill",
        "user.spill",
        "run.json",
    ):
        (tmp_path / name).write_text("left over")
    assert content(read_events(FRAME, grid=Grid(), spill=tmp_path)) == expected
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["run.json", "user.spill", "x.spill", "y.spill"]
    assert content(read_events(FRAME, grid=Grid(), spill=tmp_path)) == expected


@pytest.mark.usefixtures("tiny")
def test_never_more_files_than_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches are gone once their rows are parted by time, and partitions once sorted."""
    seen = []
    real = Spill.new_file

    def counting(spill: Spill, name: str) -> Any:
        seen.append((name, sorted(path.name.split("-")[0] for path in tmp_path.iterdir())))
        return real(spill, name)

    monkeypatch.setattr(Spill, "new_file", counting)
    read_events(FRAME, grid=Grid(step_s=1), spill=tmp_path)
    at_columns = next(there for name, there in seen if name == "user")
    assert at_columns == ["partition"] * 12
    assert next(there for name, there in seen if name == "partition-0000000") == ["batch"] * 9


def test_a_full_disk_is_told_in_one_line_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no device that is always full")
    spill = tmp_path / "spill"
    monkeypatch.setattr("shoal.storage.spill.append_private", lambda _: open("/dev/full", "ab"))  # noqa: PTH123, SIM115
    with pytest.raises(
        UnfinishedError, match=r"\(No space left on device\): nothing was published;"
    ) as caught:
        read_events(FRAME, grid=Grid(), spill=spill)
    assert "\n" not in str(caught.value)
    assert str(tmp_path) not in str(caught.value)
    assert not spill.exists()


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    for path in (tmp_path / "no" / "folder", tmp_path / "file"):
        (tmp_path / "file").touch()
        with pytest.raises(UnfinishedError, match="Could not write"):
            read_events(FRAME, grid=Grid(), spill=path)
    assert (tmp_path / "file").exists()


# ---- memory --------------------------------------------------------------------------------------------------------

MEASURE = """
import sys
from pathlib import Path
from shoal.core.promise import Grid
from shoal.reading import read_events, sorting, tables

tables.BATCH_ROWS, sorting._PARTITION_ROWS = 1 << 16, 1 << 17

def peak_kb():
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])

source, few, spill = sys.argv[1:]
read_events(few, grid=Grid(), threads=1)  # so that what is loaded once is
before = peak_kb()
events = read_events(source, grid=Grid(), threads=1, spill=Path(spill) if spill else None)
print(peak_kb() - before, len(events.store), events.store.fingerprint())
"""


def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    """Four million rows in three files: with files for them, a fraction of the memory that holds them all."""
    if not Path("/proc/self/status").exists():
        pytest.skip("this system does not tell how much memory a process had")
    rng = np.random.default_rng(1)
    users, n = pa.array([f"user{number}" for number in range(1000)]), 1_300_000
    (tmp_path / "many").mkdir()
    for part in range(3):
        columns = {
            "user": pa.DictionaryArray.from_arrays(rng.integers(0, 1000, n, np.int32), users),
            "time": rng.integers(NOW, NOW + 30 * DAY, n),
            "x": rng.integers(0, 300, n) * 100.0,
            "y": rng.integers(0, 300, n) * 100.0,
        }
        pq.write_table(pa.table(columns), tmp_path / "many" / f"{part}.parquet", row_group_size=n // 4)
    pq.write_table(pa.table(columns)[: n // 20], tmp_path / "few.parquet")

    def measured(spill: str) -> tuple[int, list[str]]:
        command = [
            sys.executable,
            "-c",
            MEASURE,
            str(tmp_path / "many"),
            str(tmp_path / "few.parquet"),
            spill,
        ]
        grown_kb, *found = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        return int(grown_kb), found

    in_memory, found = measured("")
    in_files, found_again = measured(str(tmp_path / "spill"))
    assert found == found_again
    assert in_memory > 3.9 * 16_000  # each row takes 16 bytes at the least
    assert in_files < in_memory / 2
