"""Boxes -> tables and files: Parquet, CSV, GeoParquet, GeoJSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from shoal.core.arrays import Int32s
from shoal.core.geographic_hulls import Bounds, as_polygons, in_degrees
from shoal.core.parts import Parts
from shoal.core.projection import Plane
from shoal.core.promise import Grid
from shoal.core.schema import (
    GEOMETRY,
    KEY_SCHEMA,
    LAT_MAX,
    LAT_MIN,
    LON_MAX,
    LON_MIN,
    NOTES,
    PART,
    PARTS_KEY_SCHEMA,
    RECORD,
    T_END,
    T_START,
    USER,
    X_MAX,
    X_MIN,
    Y_MAX,
    Y_MIN,
    published_schema,
)
from shoal.errors import InputError
from shoal.publishing.geojson import feature_collection
from shoal.publishing.record_names import NamedBoxes

SUFFIXES = (".parquet", ".geoparquet", ".csv", ".csv.gz", ".geojson", ".geojson.gz")
_ROWS_AT_A_TIME = 1_000_000


def suffix_of(path: Path) -> str:
    """The suffix that decides the format of a published file."""
    for suffix in SUFFIXES:
        if path.name.lower().endswith(suffix):
            return suffix
    found = f"'{path.suffix}'" if path.suffix else "none"
    raise InputError(f"The output must end in one of {', '.join(SUFFIXES)}, found {found}: rename it.")


def is_map(path: Path) -> bool:
    """Whether a published file of that name holds longitudes and latitudes and nothing else will do."""
    return suffix_of(path).startswith(".geojson")


def published_batches(
    named: NamedBoxes,
    grid: Grid,
    projection: Plane | None,
    *,
    geometry: bool = False,
    spill: Path | None = None,
) -> Iterator[pa.RecordBatch]:
    """The published table, piece by piece; ``geometry`` adds a column of polygons.

    The boxes are put in order in files in the folder ``spill``, or in memory without one.
    """
    schema = full_schema(projection, geometry=geometry)
    for boxes in named.pieces(_ROWS_AT_A_TIME, spill):
        edges = (boxes.x0, boxes.x1 + np.int64(1), boxes.y0, boxes.y1 + np.int64(1))
        metres = Bounds._make(edge * np.float64(grid.cell_m) for edge in edges)
        columns: dict[str, Any] = {
            RECORD: _names(named, boxes.owner),
            T_START: boxes.t0 * (1000 * grid.step_s),
            T_END: (boxes.t1 + 1) * (1000 * grid.step_s),
            **dict(zip((X_MIN, X_MAX, Y_MIN, Y_MAX), metres, strict=True)),
        }
        hulls = metres
        if projection is not None:
            hulls = in_degrees(metres, projection)
            columns |= dict(zip((LON_MIN, LON_MAX, LAT_MIN, LAT_MAX), hulls, strict=True))
        if geometry:
            columns[GEOMETRY] = as_polygons(hulls)
        arrays = [pa.array(columns[field.name], type=field.type) for field in schema]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def published_table(
    named: NamedBoxes, grid: Grid, projection: Plane | None, *, geometry: bool = False
) -> pa.Table:
    """All boxes of a release as a table in memory."""
    return pa.Table.from_batches(published_batches(named, grid, projection, geometry=geometry))


def _names(named: NamedBoxes, record: Int32s) -> pa.Array:
    """The names of records given by number, in increasing order."""
    first, last = (int(record[0]), int(record[-1])) if len(record) else (0, -1)
    # A list, since Arrow cuts long arrays of texts in pieces.
    names = pa.array(named.name[first : last + 1].tolist(), pa.string())
    return names.take(pa.array(record - first))


def full_schema(projection: Plane | None, *, geometry: bool) -> pa.Schema:
    """Columns of a published table."""
    schema = published_schema(geographic=projection is not None)
    return schema.append(pa.field(GEOMETRY, pa.binary(), nullable=False)) if geometry else schema


def key_table(named: NamedBoxes, users: np.typing.NDArray[np.object_]) -> pa.Table:
    """Which record is whose; sorted by user, so that its order tells nothing of the file's."""
    names = [str(name) for name in users[named.owner]]
    return pa.table([pa.array(names), pa.array(named.name)], schema=KEY_SCHEMA).sort_by(USER)


def parts_key_table(named: NamedBoxes, users: np.typing.NDArray[np.object_], parts: Parts) -> pa.Table:
    """Which record is whose, and the number of its period, from 1 on; sorted by user and period."""
    names = [str(name) for name in users[parts.user[named.owner]]]
    columns = [pa.array(names), pa.array(parts.period[named.owner] + 1, pa.int32()), pa.array(named.name)]
    return pa.table(columns, schema=PARTS_KEY_SCHEMA).sort_by([(USER, "ascending"), (PART, "ascending")])


def write_published(
    file: IO[bytes],
    suffix: str,
    named: NamedBoxes,
    grid: Grid,
    projection: Plane | None,
    notes: dict[str, Any],
    spill: Path | None = None,
) -> None:
    """Write the published table in the format that the suffix names; ``notes`` go into Parquet's metadata."""
    geometry = suffix == ".geoparquet"
    batches = published_batches(named, grid, projection, geometry=geometry, spill=spill)
    schema = full_schema(projection, geometry=geometry)
    if suffix.startswith((".csv", ".geojson")):
        sink = pa.CompressedOutputStream(file, "gzip") if suffix.endswith(".gz") else pa.PythonFile(file)
        told = map(_with_times_as_text, batches)
        with sink:
            if suffix.startswith(".csv"):
                _write_csv(sink, told)
            else:
                for piece in feature_collection(told):
                    sink.write(piece)
        return
    metadata = {NOTES: json.dumps(notes)}
    if geometry:
        metadata[b"geo"] = json.dumps(_geo_metadata(geographic=projection is not None))
    schema = schema.with_metadata(metadata)
    with pa.parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for batch in batches:
            writer.write_batch(batch.cast(schema) if batch.schema != schema else batch)


def _write_csv(sink: Any, batches: Iterator[pa.RecordBatch]) -> None:
    writer = None
    for batch in batches:
        if writer is None:
            writer = pa.csv.CSVWriter(
                sink, batch.schema, write_options=pa.csv.WriteOptions(quoting_style="none")
            )
        writer.write_batch(batch)
    if writer is not None:
        writer.close()


def _with_times_as_text(batch: pa.RecordBatch) -> pa.RecordBatch:
    texts = {name: _as_text(batch.column(name)) for name in (T_START, T_END)}
    columns = [texts.get(name, batch.column(name)) for name in batch.schema.names]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _as_text(times: pa.Array) -> pa.Array:
    """UTC timestamps as ISO 8601; as local ones first, since zones need a database that not every system has."""
    seconds = times.cast(pa.int64()).cast(pa.timestamp("ms")).cast(pa.timestamp("s"))
    return pc.strftime(seconds, format="%Y-%m-%dT%H:%M:%SZ")


def _geo_metadata(*, geographic: bool) -> dict[str, Any]:
    """GeoParquet's description of the geometry column; without a crs it is longitude and latitude (CRS84)."""
    column: dict[str, Any] = {
        "encoding": "WKB",
        "geometry_types": ["Polygon"],
        "orientation": "counterclockwise",
    }
    if not geographic:
        column["crs"] = None
    return {"version": "1.1.0", "primary_column": GEOMETRY, "columns": {GEOMETRY: column}}
