"""Published tables come back as the boxes they were made of, whoever wrote them and however."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reading.refusals import refusal
from shoal.core.boxes import Boxes
from shoal.core.promise import Grid
from shoal.errors import InputError
from shoal.publishing.record_names import NamedBoxes, named_boxes
from shoal.publishing.tables import SUFFIXES, is_map, published_batches, write_published
from shoal.reading import Projection, PublishedTable, read_published

CANARIES = ("canary", "12345", "67890", "2024", "05-17")
GRIDS = [Grid(cell_m, step_s) for cell_m in (0.1, 1.1, 333.3, 100.0) for step_s in (1, 60, 3600)]
MOST = 2**30


def some_boxes(rng: np.random.Generator, n: int) -> Boxes:
    """Boxes on both sides of every origin, some at the ends of what cells can be; overlapping, in any order."""
    t0 = rng.integers(-400_000, 400_000, n)
    x0, y0 = (rng.integers(-reach, reach + 1, n).astype(np.int32) for reach in (1000, MOST))
    x1 = np.minimum(x0 + rng.integers(0, 50, n), MOST).astype(np.int32)
    y1 = np.minimum(y0 + rng.integers(0, 2, n), MOST).astype(np.int32)
    y0[:1], y1[:1] = -MOST, MOST
    return Boxes(rng.integers(0, 7, n).astype(np.int32), t0, t0 + rng.integers(0, 90, n), x0, x1, y0, y1)


def notes(grid: Grid, crs: str | None = None) -> dict[str, Any]:
    """What a release tells of its coordinates."""
    return {"format": 1, "grid": {"cell_m": grid.cell_m, "step_s": grid.step_s, "crs": crs}}


def write(path: Path, named: NamedBoxes, grid: Grid, *, manifest: bool = True) -> Path:
    """A published file with its manifest."""
    suffix = next(suffix for suffix in SUFFIXES if path.name.lower().endswith(suffix))
    plane = Projection(lon_0=10, lat_0=50) if is_map(path) else None
    with path.open("wb") as file:
        write_published(file, suffix, named, grid, plane, notes(grid))
    if manifest:
        path.with_name(path.name + ".manifest.json").write_text(json.dumps(notes(grid)))
    return path


def records_of(names: Any, boxes: Boxes) -> dict[str, Counter[Any]]:
    """Every record's multiset of boxes."""
    records: dict[str, Counter[Any]] = {}
    for name, *box in zip(names, *(column.tolist() for column in boxes[1:]), strict=True):
        records.setdefault(str(name), Counter())[tuple(box)] += 1
    return records


def assert_equal(table: PublishedTable, named: NamedBoxes, grid: Grid) -> None:
    """The table holds the boxes, sorted, in the types that the engine uses."""
    assert table.grid == grid
    assert table.names.tolist() == sorted(set(named.name.tolist()))
    (boxes,) = named.pieces(10**6)
    expected = records_of(named.name[boxes.owner], boxes)
    assert records_of(table.names[table.boxes.owner], table.boxes) == expected
    assert [column.dtype for column in table.boxes] == [column.dtype for column in boxes]
    order = np.lexsort((table.boxes.t0, table.boxes.owner))
    assert (order == np.arange(table.boxes.n_boxes)).all()


@pytest.mark.parametrize("grid", GRIDS, ids=lambda grid: f"{grid.cell_m}m-{grid.step_s}s")
@pytest.mark.parametrize("suffix", [*SUFFIXES, ".CSV.GZ", ".GeoParquet", ".GeoJSON.gz"])
def test_files_come_back(tmp_path: Path, suffix: str, grid: Grid) -> None:
    named = named_boxes(some_boxes(np.random.default_rng(len(suffix)), 300))
    path = write(tmp_path / f"out{suffix}", named, grid)
    table = read_published(path)
    assert_equal(table, named, grid)
    assert table.manifest == notes(grid)
    assert table.crs is None
    assert_equal(read_published(str(path), grid=grid), named, grid)


def in_memory(named: NamedBoxes, grid: Grid) -> pa.Table:
    return pa.Table.from_batches(published_batches(named, grid, None))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 60), st.floats(0.001, 5000), st.integers(1, 100_000))
def test_any_grid_comes_back(seed: int, n: int, cell_m: float, step_s: int) -> None:
    grid = Grid(cell_m, step_s)
    named = named_boxes(some_boxes(np.random.default_rng(seed), n))
    assert_equal(read_published(in_memory(named, grid), grid=grid), named, grid)


def test_a_million_boxes_come_back(tmp_path: Path) -> None:
    """More than Arrow keeps in one piece, and more than one batch."""
    rng, n = np.random.default_rng(0), 1_100_000
    t0, place = rng.integers(0, 10_000, n), rng.integers(-500, 500, n).astype(np.int32)
    boxes = Boxes(rng.integers(0, 9000, n).astype(np.int32), t0, t0 + 5, place, place, place, place)
    named = named_boxes(boxes)
    table = read_published(write(tmp_path / "out.parquet", named, Grid()))
    (in_order,) = named.pieces(n)
    for column, expected in zip(table.boxes[1:], in_order[1:], strict=True):
        assert (column == expected).all()
    assert (table.names[table.boxes.owner] == named.name[in_order.owner]).all()


def test_tables_in_memory_come_back(tmp_path: Path) -> None:
    grid = Grid(50.0, 300)
    named = named_boxes(some_boxes(np.random.default_rng(3), 50))
    arrow = pq.read_table(write(tmp_path / "out.parquet", named, grid, manifest=False))
    assert_equal(read_published(arrow), named, grid)  # its metadata tell the grid
    assert_equal(read_published(pa.RecordBatchReader.from_stream(arrow)), named, grid)
    for frame in (
        arrow.to_pandas(),
        pl.from_arrow(arrow),
        pd.read_csv(write(tmp_path / "a.csv", named, grid)),
    ):
        assert_equal(read_published(frame, grid=grid), named, grid)
        message = refusal(lambda frame=frame: read_published(frame), CANARIES)
        assert message == (
            "The table does not tell its grid, neither in metadata nor in a manifest beside it:"
            " give its cell and step with --cell and --step."
        )


def test_shuffled_rows_and_other_columns_do_not_matter() -> None:
    grid = Grid(10.0, 60)
    named = named_boxes(some_boxes(np.random.default_rng(4), 400))
    table = in_memory(named, grid)
    shuffled = table.take(np.random.default_rng(5).permutation(len(table)))
    with_more = shuffled.add_column(0, "note", [["canary"] * 400]).append_column("note", [[{"a": 1}] * 400])
    assert_equal(read_published(with_more, grid=grid), named, grid)


ROWS = {
    "record": ["7", "7", "-12"],
    "t_start": [-120, 60, 1_715_904_000],
    "t_end": [-60, 3660, 1_715_990_400],
    "x_min": [-300, 0, 16_000_000],
    "x_max": [-100, 100, 16_000_100],
    "y_min": [-100, 0, -100],
    "y_max": [300, 200, 0],
}
AS_BOXES = {"7": [(-2, -2, -3, -2, -1, 2), (1, 60, 0, 0, 0, 1)]} | {
    "-12": [(28_598_400, 28_599_839, 160_000, 160_000, -1, -1)]
}


def rows_as(record: Any = None, time: Any = None, edge: Any = None) -> pa.Table:
    """The rows above with functions applied to the arrays of records, times and edges."""
    arrays: dict[str, Any] = {}
    for name, values in ROWS.items():
        change = {"r": record, "t": time}.get(name[0], edge)
        array = pa.array(values)
        arrays[name] = change(array) if change else array.cast("timestamp[s]") if name[0] == "t" else array
    return pa.table(arrays)


def stamps(unit: str, zone: str | None) -> Callable[[pa.Array], pa.Array]:
    """Times as timestamps of a unit, with or without a zone."""
    return lambda times: times.cast("timestamp[s]").cast(pa.timestamp(unit, zone))


def iso(zone: str, ahead_s: int = 0) -> Callable[[pa.Array], pa.Array]:
    """Times as text on a clock that is so many seconds ahead of UTC."""

    def written(times: pa.Array) -> pa.Array:
        clock = [np.datetime64(time + ahead_s, "s") for time in times.to_pylist()]
        return pa.array([f"{time}{zone}" for time in clock])

    return written


VARIATIONS = {
    "as they are": {},
    "integer records": {"record": lambda a: a.cast(pa.int64())},
    "float records": {"record": lambda a: a.cast(pa.int64()).cast(pa.float64())},
    "large strings": {"record": lambda a: a.cast(pa.large_string())},
    "string views": {"record": lambda a: a.cast(pa.string_view())},
    "categories": {"record": lambda a: a.dictionary_encode()},
    "categories of integers": {"record": lambda a: a.cast(pa.int32()).dictionary_encode()},
    "padded records": {"record": lambda a: pa.array([f" {text} " for text in a.to_pylist()])},
    **{
        f"{unit} {zone}": {"time": stamps(unit, zone)}
        for unit in ("s", "ms", "us", "ns")
        for zone in (None, "UTC", "+02:00", "America/New_York")
    },
    "categories of times": {"time": lambda a: a.cast("timestamp[s]").dictionary_encode()},
    "text": {"time": iso("")},
    "text in UTC": {"time": iso("Z")},
    "text with a fraction of zero": {"time": iso(".000Z")},
    "text elsewhere": {"time": iso("-03:30", -12_600)},
    "edges of float32": {"edge": lambda a: a.cast(pa.float32())},
    "edges of int32": {"edge": lambda a: a.cast(pa.int32())},
    "edges of decimals": {"edge": lambda a: pa.array([Decimal(value) for value in a.to_pylist()])},
    "edges as text": {"edge": lambda a: pa.array([f"{value}.0" for value in a.to_pylist()])},
    "edges off by rounding": {"edge": lambda a: pa.array([np.nextafter(value, 1e9) for value in a.to_pylist()])},
}  # fmt: skip


@pytest.mark.parametrize("name", VARIATIONS)
@pytest.mark.parametrize("suffix", ["memory", ".parquet", ".csv"])
def test_types_do_not_matter(tmp_path: Path, name: str, suffix: str) -> None:
    source: Any = rows_as(**VARIATIONS[name])
    if suffix == ".parquet":
        pq.write_table(source, tmp_path / "out.parquet")
    elif suffix == ".csv":
        source.to_pandas().to_csv(tmp_path / "out.csv", index=False)
    table = read_published(source if suffix == "memory" else tmp_path / f"out{suffix}", grid=Grid())
    assert {
        record: sorted(boxes)
        for record, boxes in records_of(table.names[table.boxes.owner], table.boxes).items()
    } == AS_BOXES
    assert table.names.tolist() == ["-12", "7"]


@pytest.mark.parametrize("cell_m", [100.0, 1.1, 0.1])
def test_digits_beyond_those_of_whole_cells_are_refused(cell_m: float) -> None:
    """A ten-millionth of a metre is room for the numbers of all users."""
    named, grid = named_boxes(some_boxes(np.random.default_rng(2), 50)), Grid(cell_m)
    table = in_memory(named, grid)
    place = table.schema.get_field_index("x_min")
    for more in (1e-7, 4e-5, 1e-9 * cell_m):
        other = table.set_column(place, "x_min", pa.array(table["x_min"].to_numpy() + more))
        message = refusal(lambda other=other: read_published(other, grid=grid), CANARIES)
        assert "edges that are not whole cells" in message


def test_the_order_of_first_appearance_is_kept() -> None:
    table = rows_as(record=lambda _: pa.array(["b", "a", "b"]))
    assert read_published(table, grid=Grid()).appearance.tolist() == [1, 0]
    names = pa.DictionaryArray.from_arrays(pa.array([2, 1, 2]), pa.array(["unused", "a", "b"]))
    found = read_published(rows_as(record=lambda _: names), grid=Grid())
    assert (found.names.tolist(), found.appearance.tolist()) == (["a", "b"], [1, 0])


def test_large_coordinates_of_few_digits() -> None:
    """float32 tells whole cells apart up to about two million of them; beyond, no cell is sure."""
    edges = np.array([1_999_999, 2_000_000]) * 33.3

    def table(edges: Any) -> pa.Table:
        columns = {"x_min": edges[:1], "x_max": edges[1:], "y_min": edges[:1], "y_max": edges[1:]}
        times = {"t_start": pa.array([0], "timestamp[s]"), "t_end": pa.array([60], "timestamp[s]")}
        return pa.table({"record": ["a"], **times, **columns})

    boxes = read_published(table(edges.astype(np.float32)), grid=Grid(33.3)).boxes
    assert (boxes.x0[0], boxes.x1[0]) == (1_999_999, 1_999_999)
    with pytest.raises(InputError, match="edges that are not whole cells"):
        read_published(table(edges + 0.001), grid=Grid(33.3))
